-- SPDX-License-Identifier: Apache-2.0
-- Signing: what becomes of a submission: see engine.sql for the form of this file.

-- @op CERTIFICATE_GET 3
-- @answer
WITH a(hash, now, submission) AS (SELECT %s, CAST(%s AS INTEGER), lower(%s))
SELECT CASE WHEN t.id IS NULL THEN 'unauthorized' WHEN s.certificate_sha256 IS NULL THEN 'missing' ELSE 'ok' END,
       CASE WHEN s.certificate_sha256 IS NOT NULL
            THEN json_object('name', s.name, 'sha256', s.certificate_sha256, 'size', s.certificate_size) END,
       NULL
FROM a
LEFT JOIN token t ON t.secret_hash = a.hash AND t.revoked_at IS NULL
                 AND (t.expires_at IS NULL OR t.expires_at > a.now)
LEFT JOIN submission s ON s.uuid = a.submission AND s.user_id = t.user_id AND s.organization_id = t.organization_id
                      AND s.environment = t.environment

-- @op AUDIT_GET 3
-- @answer
WITH a(hash, now, submission) AS (SELECT %s, CAST(%s AS INTEGER), lower(%s))
SELECT CASE WHEN t.id IS NULL THEN 'unauthorized' WHEN s.id IS NULL THEN 'missing' ELSE 'ok' END,
       (SELECT '[' || group_concat(body, ',') || ']'
        FROM (SELECT e.body FROM event e WHERE e.submission_id = s.id ORDER BY e.number)),
       NULL
FROM a
LEFT JOIN token t ON t.secret_hash = a.hash AND t.revoked_at IS NULL
                 AND (t.expires_at IS NULL OR t.expires_at > a.now)
LEFT JOIN submission s ON s.uuid = a.submission AND s.user_id = t.user_id AND s.organization_id = t.organization_id
                      AND s.environment = t.environment

-- Everybody who knows a signer's uuid has the link.
-- @op SIGNING_GET 1
-- @answer
WITH a(signer) AS (SELECT lower(%s))
SELECT CASE WHEN s.id IS NULL THEN 'missing' ELSE 'ok' END,
       CASE WHEN s.id IS NOT NULL
            THEN json_object('submission', s.uuid, 'environment', s.environment, 'organization', o.name,
                     'organization_uuid', o.uuid,
                     'events', s.events, 'events_hash', s.events_hash, 'certificate_sha256', s.certificate_sha256,
                     'certificate_size', s.certificate_size, 'base_url', s.base_url, 'view', s.view,
                     'tell_signed', t.signed_webhook_url IS NOT NULL,
                     'tell_completed', t.completed_webhook_url IS NOT NULL,
                     'documents', (SELECT json_group_array(json(body))
                                   FROM (SELECT d.body FROM document_row d WHERE d.submission_id = s.id
                                         ORDER BY d.position))) END,
       NULL
FROM a
LEFT JOIN signer g ON g.uuid = a.signer
LEFT JOIN submission s ON s.id = g.submission_id
LEFT JOIN organization o ON o.id = s.organization_id
LEFT JOIN token t ON t.id = s.token_id

-- @op SIGNING_EVENTS 1
-- @answer
WITH a(signer) AS (SELECT lower(%s))
SELECT CASE WHEN g.submission_id IS NULL THEN 'missing' ELSE 'ok' END,
       (SELECT '[' || group_concat(body, ',') || ']'
        FROM (SELECT e.body FROM event e WHERE e.submission_id = g.submission_id ORDER BY e.number)),
       NULL
FROM a
LEFT JOIN signer g ON g.uuid = a.signer

-- As with SUBMISSION_CREATE, the first statement answers whatever stops or repeats the change.
-- @op SIGNING_CHANGE 1 write
-- @answer
WITH p(j) AS (SELECT %s),
a AS (SELECT lower(j->>'$.submission') AS submission, j->>'$.seen' AS seen, j->>'$.seen_hash' AS seen_hash,
             j->>'$.events[#-1].hash' AS hash FROM p),
verdict AS (
    SELECT CASE WHEN s.id IS NULL THEN 'missing'
                WHEN s.events_hash = a.hash THEN 'ok'
                WHEN s.events <> a.seen OR s.events_hash <> a.seen_hash THEN 'stale' END AS outcome
    FROM a LEFT JOIN submission s ON s.uuid = a.submission)
SELECT outcome, NULL, NULL FROM verdict WHERE outcome IS NOT NULL

WITH p(j) AS (SELECT %s)
UPDATE submission
SET updated_at = p.j->>'$.now', view = p.j->>'$.view', events = events + json_array_length(p.j, '$.events'),
    events_hash = p.j->>'$.events[#-1].hash',
    certificate_sha256 = coalesce(p.j->>'$.certificate_sha256', certificate_sha256),
    certificate_size = coalesce(p.j->>'$.certificate_size', certificate_size)
FROM p
WHERE uuid = lower(p.j->>'$.submission')

WITH p(j) AS (SELECT %s)
UPDATE signer
SET status = p.j->>'$.status', opened_at = coalesce(opened_at, p.j->>'$.opened_at'),
    completed_at = p.j->>'$.completed_at', refused_at = p.j->>'$.refused_at',
    refusal_reason = p.j->>'$.refusal_reason', information = p.j->>'$.information'
FROM p
WHERE uuid = lower(p.j->>'$.signer')
  AND submission_id = (SELECT s.id FROM submission s WHERE s.uuid = lower(p.j->>'$.submission'))

WITH p(j) AS (SELECT %s)
INSERT INTO event (submission_id, number, hash, body)
SELECT s.id, p.j->>'$.seen' + e.key + 1, e.value->>'$.hash', e.value->>'$.body'
FROM p CROSS JOIN submission s CROSS JOIN json_each(p.j, '$.events') e
WHERE s.uuid = lower(p.j->>'$.submission')

WITH p(j) AS (SELECT %s)
INSERT INTO revision (document_uuid, number, signer_uuid, sha256, size, whole_sha256, whole_size, created_at)
SELECT lower(r.value->>'$.document'), r.value->>'$.number', lower(p.j->>'$.signer'), r.value->>'$.sha256',
       r.value->>'$.size', r.value->>'$.whole_sha256', r.value->>'$.whole_size', p.j->>'$.now'
FROM p CROSS JOIN json_each(p.j, '$.revisions') r

WITH p(j) AS (SELECT %s)
INSERT INTO job (uuid, event_id, submission_id, token_id, user_id, organization_id, environment, state, kind, event,
                 created_at, due_at, url, body)
SELECT lower(w.value->>'$.event_id'), lower(w.value->>'$.event_id'), l.submission_id, l.token_id, l.user_id,
       l.organization_id, l.environment, 'pending',
       iif(w.value->>'$.kind' = 'invitation', 'invitation', 'webhook'), w.value->>'$.kind', p.j->>'$.now',
       p.j->>'$.now', coalesce(w.value->>'$.url', l.urls->>(w.value->>'$.kind')), w.value->>'$.body'
FROM p CROSS JOIN json_each(p.j, '$.webhooks') w CROSS JOIN listener l
WHERE l.submission = lower(p.j->>'$.submission')
  AND coalesce(w.value->>'$.url', l.urls->>(w.value->>'$.kind')) IS NOT NULL

-- @answer
WITH p(j) AS (SELECT %s)
SELECT 'ok', NULL, NULL FROM p
