-- SPDX-License-Identifier: Apache-2.0
-- Blobs: the keys of contents, and which keys may be removed. ../pgsql/blobs.sql has the rule, and engine.sql describes
-- the form of this file. The reservations of a creation or a transition are ended by its own statements
-- (SUBMISSION_CREATE, SIGNING_CHANGE). There is one writer at a time, so no rows are locked.

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
