-- SPDX-License-Identifier: Apache-2.0
-- Signing: what becomes of a submission: see engine.sql for the form of this file.

-- @op certificate_get(token_hash hash, now time, submission uuid) → ok certificate | missing | unauthorized
-- @answer
WITH @ARGUMENTS
SELECT CASE WHEN t.id IS NULL THEN 'unauthorized' WHEN s.certificate_sha256 IS NULL THEN 'missing' ELSE 'ok' END,
       s.name, s.certificate_sha256, s.certificate_size, s.certificate_key
FROM a
LEFT JOIN token t ON @CALLER(t)
LEFT JOIN submission s ON s.uuid = a.submission AND @SCOPE(s, t)

-- @op audit_get(token_hash hash, now time, submission uuid) → ok body | missing | unauthorized
-- @answer
WITH @ARGUMENTS
SELECT CASE WHEN t.id IS NULL THEN 'unauthorized' WHEN s.id IS NULL THEN 'missing' ELSE 'ok' END,
       (SELECT '[' || group_concat(body, ',') || ']'
        FROM (SELECT e.body FROM event e WHERE e.submission_id = s.id ORDER BY e.number)),
       NULL
FROM a
LEFT JOIN token t ON @CALLER(t)
LEFT JOIN submission s ON s.uuid = a.submission AND @SCOPE(s, t)

-- Everybody who knows a signer's uuid has the link. Without a body, if nothing has changed since the version was read.
-- @op signing_get(signer uuid, version text?) → ok signing | missing
-- @answer
WITH @ARGUMENTS,
b AS MATERIALIZED (
    SELECT s.id, s.environment, o.name AS organization, o.uuid AS organization_uuid, s.base_url, a.version AS known,
           t.signed_webhook_url IS NOT NULL AS tell_signed, t.completed_webhook_url IS NOT NULL AS tell_completed,
           s.events_hash || '.' || (t.signed_webhook_url IS NOT NULL) || (t.completed_webhook_url IS NOT NULL)
               AS version
    FROM a
    LEFT JOIN signer g ON g.uuid = a.signer
    LEFT JOIN submission s ON s.id = g.submission_id
    LEFT JOIN organization o ON o.id = s.organization_id
    LEFT JOIN token t ON t.id = s.token_id)
SELECT CASE WHEN id IS NULL THEN 'missing' ELSE 'ok' END,
       CASE WHEN id IS NOT NULL AND version IS NOT known
            THEN json_object('submission', json((SELECT r.body FROM submission_row r WHERE r.id = b.id)),
                     'version', version, 'environment', environment, 'organization', organization,
                     'organization_uuid', organization_uuid, 'base_url', base_url, 'tell_signed', tell_signed,
                     'tell_completed', tell_completed) END
FROM b

-- @op signing_access(signer uuid) → ok access | missing
-- @answer
WITH @ARGUMENTS
SELECT CASE WHEN s.id IS NULL THEN 'missing' ELSE 'ok' END, s.access_epoch
FROM a
LEFT JOIN signer g ON g.uuid = a.signer
LEFT JOIN submission s ON s.id = g.submission_id

-- @op signing_events(signer uuid) → ok body | missing
-- @answer
WITH @ARGUMENTS
SELECT CASE WHEN g.submission_id IS NULL THEN 'missing' ELSE 'ok' END,
       (SELECT '[' || group_concat(body, ',') || ']'
        FROM (SELECT e.body FROM event e WHERE e.submission_id = g.submission_id ORDER BY e.number)),
       NULL
FROM a
LEFT JOIN signer g ON g.uuid = a.signer

-- As with SUBMISSION_CREATE, the first statement answers whatever stops or repeats the change.
-- @op signing_change(change json) → ok | stale | missing write
-- @answer
WITH p(j) AS (SELECT %s),
a AS (SELECT lower(j->>'$.submission') AS submission, j->>'$.seen' AS seen, j->>'$.seen_hash' AS seen_hash,
             j->>'$.events[#-1].hash' AS hash FROM p),
verdict AS (
    SELECT CASE WHEN s.id IS NULL THEN 'missing'
                WHEN s.events_hash = a.hash THEN 'ok'
                WHEN s.events <> a.seen OR s.events_hash <> a.seen_hash THEN 'stale'
                WHEN EXISTS (SELECT 1 FROM p CROSS JOIN json_each(p.j, '$.blobs') c
                             WHERE NOT EXISTS (SELECT 1 FROM blob_reservation r WHERE r.key = c.value->>'$.key'))
                THEN 'stale' END AS outcome
    FROM a LEFT JOIN submission s ON s.uuid = a.submission)
SELECT outcome, NULL, NULL FROM verdict WHERE outcome IS NOT NULL

-- The keys that were reserved for it are settled, as sigreq.blob_settle does in PostgreSQL.
WITH p(j) AS (SELECT %s)
INSERT INTO blob (folder, sha256, key, size)
SELECT lower(p.j->>'$.folder'), c.value->>'$.sha256', c.value->>'$.key', c.value->>'$.size'
FROM p CROSS JOIN json_each(p.j, '$.blobs') c
WHERE true
ON CONFLICT (folder, sha256) DO NOTHING

WITH p(j) AS (SELECT %s)
INSERT INTO blob_tombstone (folder, key)
SELECT lower(p.j->>'$.folder'), c.value->>'$.key' FROM p CROSS JOIN json_each(p.j, '$.blobs') c
WHERE NOT EXISTS (SELECT 1 FROM blob b WHERE b.key = c.value->>'$.key')

WITH p(j) AS (SELECT %s)
DELETE FROM blob_reservation WHERE key IN (SELECT c.value->>'$.key' FROM p CROSS JOIN json_each(p.j, '$.blobs') c)

WITH p(j) AS (SELECT %s)
UPDATE submission
SET updated_at = p.j->>'$.now', representation = p.j->>'$.representation',
    representation_version = CAST(p.j->>'$.representation_version' AS INTEGER),
    access_epoch = access_epoch + (state <> p.j->>'$.submission_state'), state = p.j->>'$.submission_state',
    events = events + json_array_length(p.j, '$.events'),
    events_hash = p.j->>'$.events[#-1].hash',
    certificate_sha256 = coalesce(p.j->>'$.certificate_sha256', certificate_sha256),
    certificate_key = coalesce((SELECT b.key FROM blob b WHERE b.folder = lower(p.j->>'$.folder')
                                                           AND b.sha256 = p.j->>'$.certificate_sha256'),
                               certificate_key),
    certificate_size = coalesce(p.j->>'$.certificate_size', certificate_size)
FROM p
WHERE uuid = lower(p.j->>'$.submission')

WITH p(j) AS (SELECT %s)
UPDATE signer
SET state = p.j->>'$.state', opened_at = coalesce(opened_at, p.j->>'$.opened_at'),
    completed_at = p.j->>'$.completed_at', refused_at = p.j->>'$.refused_at',
    refusal_reason = p.j->>'$.refusal_reason', ip = p.j->>'$.ip', user_agent = p.j->>'$.user_agent',
    signature_type = p.j->>'$.signature_type', consent = p.j->>'$.consent'
FROM p
WHERE uuid = lower(p.j->>'$.signer')
  AND submission_id = (SELECT s.id FROM submission s WHERE s.uuid = lower(p.j->>'$.submission'))

WITH p(j) AS (SELECT %s)
INSERT INTO event (submission_id, number, hash, body)
SELECT s.id, p.j->>'$.seen' + e.key + 1, e.value->>'$.hash', e.value->>'$.body'
FROM p CROSS JOIN submission s CROSS JOIN json_each(p.j, '$.events') e
WHERE s.uuid = lower(p.j->>'$.submission')

WITH p(j) AS (SELECT %s)
INSERT INTO revision (document_uuid, number, signer_uuid, sha256, key, size, whole_sha256, whole_size, created_at)
SELECT lower(r.value->>'$.document'), r.value->>'$.number', lower(p.j->>'$.signer'), r.value->>'$.sha256',
       (SELECT b.key FROM blob b WHERE b.folder = lower(p.j->>'$.folder') AND b.sha256 = r.value->>'$.sha256'),
       r.value->>'$.size', r.value->>'$.whole_sha256', r.value->>'$.whole_size', p.j->>'$.now'
FROM p CROSS JOIN json_each(p.j, '$.revisions') r

@JOBS(submission)

-- @answer
WITH p(j) AS (SELECT %s)
SELECT 'ok', NULL, NULL FROM p
