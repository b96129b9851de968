-- SPDX-License-Identifier: Apache-2.0
-- Blobs: the keys of contents, and which keys may be removed. ../pgsql/blobs.sql has the rule, and engine.sql describes
-- the form of this file. The reservations of a creation or a transition are ended by its own statements
-- (SUBMISSION_CREATE, SIGNING_CHANGE). There is one writer at a time, so no rows are locked.

-- Blobs that no submission needs.
CREATE VIEW blob_unnamed AS
    SELECT b.folder, b.sha256, b.key FROM blob b
    WHERE NOT EXISTS (SELECT 1 FROM document d WHERE d.sha256 = b.sha256 AND d.key = b.key)
      AND NOT EXISTS (SELECT 1 FROM document d WHERE d.rewritten_sha256 = b.sha256 AND d.rewritten_key = b.key)
      AND NOT EXISTS (SELECT 1 FROM revision r WHERE r.sha256 = b.sha256 AND r.key = b.key)
      AND NOT EXISTS (SELECT 1 FROM submission s WHERE s.certificate_sha256 = b.sha256 AND s.certificate_key = b.key)

-- A reservation that is lost when the machine crashes only makes its transaction stale, and the next commit that waits
-- for the disk makes it durable too: both are in one log.
-- @op blob_reserve(folder uuid, contents json) → ok reserved[] write unsynced
-- @answer
WITH @ARGUMENTS
INSERT INTO blob_reservation (folder, key, reserved_at)
SELECT a.folder, c.value || '.' || lower(hex(randomblob(8))),
       CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) * 1000
FROM a CROSS JOIN json_each(a.contents) c
WHERE true
RETURNING 'ok', key, (SELECT b.key FROM blob b WHERE b.folder = blob_reservation.folder
                                                 AND b.sha256 = substr(blob_reservation.key, 1, 64))

-- @op blob_find(folder uuid, contents json) → ok key[]
-- @answer
WITH @ARGUMENTS
SELECT 'ok', b.key FROM a CROSS JOIN json_each(a.contents) c CROSS JOIN blob b
WHERE b.folder = a.folder AND b.sha256 = c.value

-- @op admin_blob_list(folder uuid, after text, n int) → ok blob[]
-- @answer
WITH @ARGUMENTS
SELECT 'ok', b.sha256, b.key, b.size FROM a CROSS JOIN blob b
WHERE b.folder = a.folder AND b.sha256 > a.after ORDER BY b.sha256 LIMIT (SELECT n FROM a)

-- @op admin_blob_strangers(keys json) → ok key[]
-- @answer
WITH @ARGUMENTS
SELECT 'ok', k.value FROM a CROSS JOIN json_each(a.keys) k
WHERE NOT EXISTS (SELECT 1 FROM blob b WHERE b.key = k.value)
  AND NOT EXISTS (SELECT 1 FROM blob_reservation r WHERE r.key = k.value)
  AND NOT EXISTS (SELECT 1 FROM blob_tombstone t WHERE t.key = k.value)

-- @op admin_blob_unnamed(folder uuid, after text, n int) → ok body
-- @answer
WITH @ARGUMENTS,
page AS MATERIALIZED (
    SELECT b.key, b.sha256 FROM a CROSS JOIN blob b WHERE b.folder = a.folder AND b.sha256 > a.after
    ORDER BY b.sha256 LIMIT (SELECT n FROM a))
SELECT 'ok', json_object('after', max(sha256), 'seen', count(*),
           'unnamed', (SELECT json_group_array(u.key) FROM page CROSS JOIN blob_unnamed u WHERE u.key = page.key))
FROM page

-- @op admin_blob_late(folder uuid, age int, n int) → ok key[]
-- @answer
WITH @ARGUMENTS
SELECT 'ok', r.key FROM a CROSS JOIN blob_reservation r
WHERE r.folder = a.folder
  AND r.reserved_at <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) * 1000 - a.age
ORDER BY r.reserved_at LIMIT (SELECT n FROM a)

-- @op admin_blob_doom(doomed json) → ok write
WITH @ARGUMENTS
INSERT INTO blob_tombstone (folder, key)
SELECT u.folder, u.key FROM a CROSS JOIN json_each(a.doomed, '$.named') k CROSS JOIN blob_unnamed u
WHERE u.key = k.value

WITH @ARGUMENTS
DELETE FROM blob
WHERE key IN (SELECT k.value FROM a CROSS JOIN json_each(a.doomed, '$.named') k)
  AND EXISTS (SELECT 1 FROM blob_tombstone t WHERE t.key = blob.key)

WITH @ARGUMENTS
INSERT INTO blob_tombstone (folder, key)
SELECT r.folder, r.key FROM a CROSS JOIN json_each(a.doomed, '$.reserved') k CROSS JOIN blob_reservation r
WHERE r.key = k.value

WITH @ARGUMENTS
DELETE FROM blob_reservation WHERE key IN (SELECT k.value FROM a CROSS JOIN json_each(a.doomed, '$.reserved') k)

-- @answer
SELECT 'ok'

-- @op admin_blob_tombstones(folder uuid, after text, n int) → ok tombstone[]
-- @answer
WITH @ARGUMENTS
SELECT 'ok', t.key, NOT EXISTS (SELECT 1 FROM blob b WHERE b.folder = t.folder AND b.sha256 = substr(t.key, 1, 64))
FROM a CROSS JOIN blob_tombstone t
WHERE t.folder = a.folder AND t.key > a.after ORDER BY t.key LIMIT (SELECT n FROM a)

-- @op admin_blob_bury(keys json) → ok write
WITH @ARGUMENTS
DELETE FROM blob_tombstone WHERE key IN (SELECT k.value FROM a CROSS JOIN json_each(a.keys) k)

-- @answer
SELECT 'ok'
