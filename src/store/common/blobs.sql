-- SPDX-License-Identifier: Apache-2.0
-- Lists of blobs. ../pgsql/blobs.sql has the rule for their keys, and engine.sql describes the form of this file.

-- @op admin_blob_list(folder uuid, after text, n int) → ok blob[]
-- @answer
SELECT 'ok', b.sha256, b.key, b.size FROM blob b
WHERE b.folder = :folder AND b.sha256 > :after ORDER BY b.sha256 LIMIT :n

-- @op admin_blob_strangers(keys json) → ok key[]
-- @answer
SELECT 'ok', k.value FROM @VALUES(:keys) k
WHERE NOT EXISTS (SELECT 1 FROM blob b WHERE b.key = k.value)
  AND NOT EXISTS (SELECT 1 FROM blob_reservation r WHERE r.key = k.value)
  AND NOT EXISTS (SELECT 1 FROM blob_tombstone t WHERE t.key = k.value)

-- Blobs that no submission needs.
CREATE VIEW blob_unnamed AS
    SELECT b.folder, b.sha256, b.key FROM blob b
    WHERE NOT EXISTS (SELECT 1 FROM document d WHERE d.sha256 = b.sha256 AND d.key = b.key)
      AND NOT EXISTS (SELECT 1 FROM document d WHERE d.rewritten_sha256 = b.sha256 AND d.rewritten_key = b.key)
      AND NOT EXISTS (SELECT 1 FROM revision r WHERE r.sha256 = b.sha256 AND r.key = b.key)
      AND NOT EXISTS (SELECT 1 FROM submission s WHERE s.certificate_sha256 = b.sha256 AND s.certificate_key = b.key)

-- The next contents in the order of their SHA-256, and the keys of those that no submission needs.
-- @op admin_blob_unnamed(folder uuid, after text, n int) → ok body
-- @answer
SELECT 'ok', json_object('after', max(page.sha256), 'seen', count(*),
           'unnamed', json(coalesce(json_group_array(page.key) FILTER (WHERE page.unnamed), '[]')))
FROM (SELECT b.key, b.sha256, EXISTS (SELECT 1 FROM blob_unnamed u
                                      WHERE u.folder = b.folder AND u.sha256 = b.sha256 AND u.key = b.key) AS unnamed
      FROM blob b
      WHERE b.folder = :folder AND b.sha256 > :after ORDER BY b.sha256 LIMIT :n) page

-- @op admin_blob_late(folder uuid, age int, n int) → ok key[]
-- @answer
SELECT 'ok', r.key FROM blob_reservation r
WHERE r.folder = :folder AND r.reserved_at <= @CLOCK() - :age ORDER BY r.reserved_at LIMIT :n

-- @op admin_blob_tombstones(folder uuid, after text, n int) → ok tombstone[]
-- @answer
SELECT 'ok', t.key, NOT EXISTS (SELECT 1 FROM blob b WHERE b.folder = t.folder AND b.sha256 = substr(t.key, 1, 64))
FROM blob_tombstone t
WHERE t.folder = :folder AND t.key > :after ORDER BY t.key LIMIT :n

-- @op admin_blob_bury(keys json) → ok write
DELETE FROM blob_tombstone WHERE key IN (SELECT k.value FROM @VALUES(:keys) k)

-- @answer
SELECT 'ok'
