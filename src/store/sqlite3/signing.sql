-- SPDX-License-Identifier: Apache-2.0
-- Signing: transitions of a submission, and reading for them. engine.sql describes the form of this file.

-- As in SUBMISSION_CREATE, the first statement gives the outcome if the change is refused or repeated.
-- @op signing_change(submission uuid, now time, change json, representation text, folder uuid?, blobs json?,
--     replaced json?, revisions json?, webhooks json?, timers json?) → ok | stale | missing write
-- @answer
WITH @ARGUMENTS,
verdict AS (
    SELECT CASE WHEN s.id IS NULL THEN 'missing'
                WHEN s.events_hash = a.change->>'$.events[#-1].hash' THEN 'ok'
                WHEN s.events <> a.change->>'$.seen' OR s.events_hash <> a.change->>'$.seen_hash' THEN 'stale'
                WHEN coalesce(s.expires_at <= @CLOCK(), 0) <> a.change->>'$.over' THEN 'stale'
                WHEN EXISTS (SELECT 1 FROM json_each(a.blobs) c
                             WHERE NOT EXISTS (SELECT 1 FROM blob_reservation r WHERE r.key = c.value->>'$.key'))
                THEN 'stale' END AS outcome
    FROM a LEFT JOIN submission s ON s.uuid = a.submission)
SELECT outcome, NULL, NULL FROM verdict WHERE outcome IS NOT NULL

-- Ends the reservations and inserts their keys, as sigreq.blob_settle on PostgreSQL.
-- @if blobs
WITH @ARGUMENTS
INSERT INTO blob (folder, sha256, key, size)
SELECT a.folder, c.value->>'$.sha256', c.value->>'$.key', c.value->>'$.size'
FROM a CROSS JOIN json_each(a.blobs) c
WHERE true
ON CONFLICT (folder, sha256) DO NOTHING

-- @if blobs
WITH @ARGUMENTS
INSERT INTO blob_tombstone (folder, key)
SELECT a.folder, c.value->>'$.key' FROM a CROSS JOIN json_each(a.blobs) c
WHERE NOT EXISTS (SELECT 1 FROM blob b WHERE b.key = c.value->>'$.key')

-- @if blobs
WITH @ARGUMENTS
DELETE FROM blob_reservation WHERE key IN (SELECT c.value->>'$.key' FROM a CROSS JOIN json_each(a.blobs) c)

WITH @ARGUMENTS,
p AS (SELECT a.*, change AS j FROM a)
UPDATE submission
SET updated_at = p.now, representation = p.representation,
    representation_version = CAST(p.j->>'$.representation_version' AS INTEGER),
    access_epoch = access_epoch + (state <> p.j->>'$.submission_state' OR p.replaced IS NOT NULL),
    state = p.j->>'$.submission_state', closed_at = p.j->>'$.closed_at', expires_at = p.j->>'$.expires_at',
    cancel_reason = p.j->>'$.cancel_reason', held_at = p.j->>'$.held_at',
    hold_reason = iif(p.j->>'$.held_at' IS NULL, NULL, coalesce(p.j->>'$.hold_reason', hold_reason)),
    events = events + json_array_length(p.j, '$.events'),
    events_hash = p.j->>'$.events[#-1].hash',
    certificate_sha256 = coalesce(p.j->>'$.certificate_sha256', certificate_sha256),
    certificate_key = coalesce((SELECT b.key FROM blob b WHERE b.folder = p.folder
                                                           AND b.sha256 = p.j->>'$.certificate_sha256'),
                               certificate_key),
    certificate_size = coalesce(p.j->>'$.certificate_size', certificate_size),
    stamped_until = coalesce(p.j->>'$.stamped_until', stamped_until)
FROM p
WHERE submission.uuid = p.submission

-- A signer takes the position of another one, whose row moves behind all. It stays, so that its link can say so.
-- @if replaced
WITH @ARGUMENTS
UPDATE signer SET state = 'replaced',
    position = (SELECT max(h.position) + 1 FROM signer h WHERE h.submission_id = signer.submission_id)
FROM a
WHERE signer.uuid = lower(a.replaced->>'$.old')
  AND submission_id = (SELECT s.id FROM submission s WHERE s.uuid = a.submission)

-- @if replaced
WITH @ARGUMENTS,
p AS (SELECT submission, replaced AS j FROM a)
INSERT INTO signer (submission_id, position, uuid, state, firstname, lastname, email, locale, fields, signing_order,
                    due_at, replaces, alias)
SELECT g.submission_id, p.j->>'$.position', lower(p.j->>'$.uuid'), p.j->>'$.state', p.j->>'$.firstname',
       p.j->>'$.lastname', p.j->>'$.email', p.j->>'$.locale', g.fields, g.signing_order, p.j->>'$.due_at', g.uuid,
       p.j->>'$.alias'
FROM p CROSS JOIN signer g CROSS JOIN submission s
WHERE g.uuid = lower(p.j->>'$.old') AND s.id = g.submission_id AND s.uuid = p.submission

-- A statement of its own: a column that is set makes SQLite write its indexes again, also if it stays the same.
-- @if replaced
WITH @ARGUMENTS
UPDATE submission SET search = a.replaced->>'$.search'
FROM a
WHERE submission.uuid = a.submission

WITH @ARGUMENTS
UPDATE signer
SET state = r.value->>'$.state', due_at = r.value->>'$.due_at',
    opened_at = coalesce(opened_at, r.value->>'$.opened_at'),
    completed_at = r.value->>'$.completed_at', refused_at = r.value->>'$.refused_at',
    refusal_reason = r.value->>'$.refusal_reason', ip = r.value->>'$.ip', user_agent = r.value->>'$.user_agent',
    signature_type = r.value->>'$.signature_type', consent = r.value->>'$.consent',
    reminded_at = coalesce(r.value->>'$.reminded_at', reminded_at),
    reminders = coalesce(r.value->>'$.reminders', reminders)
FROM a CROSS JOIN json_each(a.change, '$.signers') r
WHERE uuid = lower(r.value->>'$.uuid')
  AND submission_id = (SELECT s.id FROM submission s WHERE s.uuid = a.submission)

WITH @ARGUMENTS
DELETE FROM signer_status
WHERE submission_id = (SELECT s.id FROM a CROSS JOIN submission s WHERE s.uuid = a.submission)
  AND NOT EXISTS (SELECT 1 FROM signer g
                  WHERE g.submission_id = signer_status.submission_id AND @STATUS(g) = signer_status.status)

@STATUSES(submission)

WITH @ARGUMENTS
INSERT INTO event (submission_id, number, hash, body, personal)
SELECT s.id, a.change->>'$.seen' + e.key + 1, e.value->>'$.hash', e.value->>'$.body', e.value->>'$.personal'
FROM a CROSS JOIN submission s CROSS JOIN json_each(a.change, '$.events') e
WHERE s.uuid = a.submission

-- @if revisions
WITH @ARGUMENTS
INSERT INTO revision (document_uuid, number, kind, signer_uuid, sha256, key, size, whole_sha256, whole_size, created_at)
SELECT lower(r.value->>'$.document'), r.value->>'$.number',
       CASE WHEN a.change->>'$.signer' IS NULL THEN 'archive' ELSE 'signature' END,
       coalesce(lower(a.change->>'$.signer'),
                (SELECT b.signer_uuid FROM revision b WHERE b.document_uuid = lower(r.value->>'$.document')
                                                        AND b.number = r.value->>'$.number' - 1)),
       r.value->>'$.sha256',
       (SELECT b.key FROM blob b WHERE b.folder = a.folder AND b.sha256 = r.value->>'$.sha256'),
       r.value->>'$.size', r.value->>'$.whole_sha256', r.value->>'$.whole_size', a.now
FROM a CROSS JOIN json_each(a.revisions) r

-- @if webhooks
@JOBS(submission)

-- @if timers
WITH @ARGUMENTS
DELETE FROM timer
WHERE submission_id = (SELECT s.id FROM a CROSS JOIN submission s WHERE s.uuid = a.submission)
  AND kind IN (SELECT k.value->>'$.kind' FROM a CROSS JOIN json_each(a.timers) k)

-- @if timers
WITH @ARGUMENTS
DELETE FROM job
WHERE submission_id = (SELECT s.id FROM a CROSS JOIN submission s WHERE s.uuid = a.submission)
  AND kind IN (SELECT k.value->>'$.kind' FROM a CROSS JOIN json_each(a.timers) k) AND state = 'scheduled'

-- @if timers
@TIMERS(submission)

-- @answer
SELECT 'ok', NULL, NULL
