-- SPDX-License-Identifier: Apache-2.0
-- Signing: transitions of a submission, and reading for them. engine.sql describes the form of this file.

-- As in SUBMISSION_CREATE, the first statement gives the outcome if the change is refused or repeated.
-- @op signing_change(submission uuid, now time, change change, representation text, folder uuid?, blobs json?,
--     replaced replacement?, revisions [revision]?, webhooks json?, timers [timer]?) → ok | stale | missing write
-- @outcome
WITH verdict AS (
    SELECT CASE WHEN s.id IS NULL THEN 'missing'
                WHEN s.events_hash = @LASTHASH() THEN 'ok'
                WHEN s.events <> p.seen OR s.events_hash <> p.seen_hash THEN 'stale'
                WHEN coalesce(s.expires_at <= @CLOCK(), 0) <> p.over THEN 'stale'
                WHEN EXISTS (SELECT 1 FROM json_each(:blobs) c
                             WHERE NOT EXISTS (SELECT 1 FROM blob_reservation r WHERE r.key = c.value->>'$.key'))
                THEN 'stale' END AS outcome
    FROM @OF(change, :change, p) LEFT JOIN submission s ON s.uuid = :submission)
SELECT outcome FROM verdict WHERE outcome IS NOT NULL

-- Ends the reservations and inserts their keys, as sigreq.blob_settle on PostgreSQL.
-- @if blobs
INSERT INTO blob (folder, sha256, key, size)
SELECT :folder, c.value->>'$.sha256', c.value->>'$.key', c.value->>'$.size' FROM json_each(:blobs) c
WHERE true
ON CONFLICT (folder, sha256) DO NOTHING

-- @if blobs
INSERT INTO blob_tombstone (folder, key)
SELECT :folder, c.value->>'$.key' FROM json_each(:blobs) c
WHERE NOT EXISTS (SELECT 1 FROM blob b WHERE b.key = c.value->>'$.key')

-- @if blobs
DELETE FROM blob_reservation WHERE key IN (SELECT c.value->>'$.key' FROM json_each(:blobs) c)

@CHANGEDSUBMISSION()
FROM @OF(change, :change, p)
WHERE submission.uuid = :submission

-- @if replaced
@REPLACEDSIGNER()

-- @if replaced
@REPLACINGSIGNER()

-- @if replaced
@REPLACEDSEARCH()

@CHANGEDSIGNERS(:change->'signers')

@OLDSTATUSES()

@NEWSTATUSES()

@NEWEVENTS(:change->'events')

-- @if revisions
@NEWREVISIONS()

-- @if webhooks
@JOBS()

-- @if timers
@OLDTIMERS()

-- @if timers
@OLDTIMERJOBS()

-- @if timers
@NEWTIMERS()

-- @outcome
SELECT 'ok'
