-- SPDX-License-Identifier: Apache-2.0
-- Signing: transitions of a submission, and reading for them. engine.sql describes the form of this file.

-- As in SUBMISSION_CREATE, the first statement gives the outcome if the change is refused or repeated.
-- @op signing_change(submission uuid, now time, change change, representation text, folder uuid?, blobs [blob]?,
--     replaced replacement?, revisions [revision]?, webhooks json?, timers [timer]?, ended [ended]?,
--     sent [sent]?) → ok | stale | missing | quota write
-- @outcome
WITH verdict AS (
    SELECT CASE WHEN s.id IS NULL THEN 'missing'
                WHEN s.events_hash = @LASTHASH() THEN 'ok'
                WHEN s.events <> p.seen OR s.events_hash <> p.seen_hash OR s.saves <> p.saves THEN 'stale'
                WHEN coalesce(s.expires_at <= @CLOCK(), 0) <> p.over THEN 'stale'
                WHEN :sent IS NOT NULL AND s.environment = 'production'
                     AND EXISTS (SELECT 1 FROM organization o WHERE o.id = s.organization_id AND o.used >= o.quota)
                THEN 'quota'
                WHEN @LOSTBLOBS() THEN 'stale' END AS outcome
    FROM @OF(change, :change, p) LEFT JOIN submission s ON s.uuid = :submission)
SELECT outcome FROM verdict WHERE outcome IS NOT NULL

-- Ends the reservations and inserts their keys, as sigreq.blob_settle on PostgreSQL.
-- @if blobs
INSERT INTO blob (folder, sha256, key, size)
SELECT :folder, w.sha256, w.key, w.size FROM @EACH(blob, :blobs, w)
WHERE w.key IS NOT NULL
ON CONFLICT (folder, sha256) DO NOTHING

-- @if blobs
INSERT INTO blob_tombstone (folder, key)
SELECT :folder, w.key FROM @EACH(blob, :blobs, w)
WHERE w.key IS NOT NULL AND NOT EXISTS (SELECT 1 FROM blob b WHERE b.key = w.key)

-- @if blobs
DELETE FROM blob_reservation WHERE key IN (SELECT w.key FROM @EACH(blob, :blobs, w))

-- @if sent
UPDATE organization SET used = used + 1
WHERE id = (SELECT s.organization_id FROM submission s WHERE s.uuid = :submission AND s.environment = 'production')

@CHANGEDSUBMISSION()
FROM @OF(change, :change, p)
WHERE submission.uuid = :submission

-- @if replaced
@REPLACEDSIGNER()

-- @if replaced
@REPLACINGSIGNER()

-- @if replaced
@REPLACEDSEARCH()

-- @if sent
@SENTDOCUMENTS()

@CHANGEDSIGNERS(:change->'signers')

@OLDSTATUSES()

@NEWSTATUSES()

@NEWEVENTS(:change->'events')

@NEWFEED(:change->'feed', :now)

@CHANGEDVIEWERS(:change->'viewers')

-- @if revisions
@NEWREVISIONS()

-- @if webhooks
@NEWJOBS()

-- @if timers
@OLDTIMERS()

-- @if timers
@OLDTIMERJOBS()

-- @if timers
@NEWTIMERS()

-- @if ended
@ENDEDSESSIONS()

-- @outcome
SELECT 'ok'
