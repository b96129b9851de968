-- SPDX-License-Identifier: Apache-2.0
-- Submissions and their documents: see engine.sql for the form of this file.

-- A document with all that became of it, as store.h describes its row.
CREATE VIEW document_row AS
    SELECT d.submission_id, d.position, d.uuid,
           json_object('uuid', d.uuid, 'name', d.name, 'sha256', d.sha256, 'size', d.size, 'pages', d.pages,
               'rewritten_sha256', d.rewritten_sha256, 'rewritten_size', d.rewritten_size,
               'revisions', (SELECT json_group_array(json(body))
                             FROM (SELECT json_object('sha256', r.sha256, 'size', r.size,
                                              'whole_sha256', r.whole_sha256, 'whole_size', r.whole_size) AS body
                                   FROM revision r WHERE r.document_uuid = d.uuid ORDER BY r.number))) AS body
    FROM document d

-- The first statement answers whatever stops or repeats the creation; nothing can change after it, because this
-- transaction is the only writer.
-- @op SUBMISSION_CREATE 1 write
-- @answer
WITH p(j) AS (SELECT %s),
a AS (SELECT j->>'$.token_hash' AS hash, j->>'$.now' AS now, lower(j->>'$.uuid') AS uuid,
             j->>'$.idempotency_key' AS key, j->>'$.fingerprint' AS fingerprint, j->>'$.idempotency_since' AS since
      FROM p),
verdict AS (
    SELECT CASE WHEN t.id IS NULL THEN 'unauthorized'
                WHEN s.uuid = a.uuid AND s.token_id = t.id THEN 'ok'
                WHEN i.fingerprint = a.fingerprint THEN 'replay'
                WHEN i.key IS NOT NULL THEN 'conflict'
                WHEN t.environment = 'production' AND o.used >= o.quota THEN 'quota' END AS outcome,
           coalesce(i.answer, s.view) AS view
    FROM a
    LEFT JOIN token t ON t.secret_hash = a.hash AND t.revoked_at IS NULL
                     AND (t.expires_at IS NULL OR t.expires_at > a.now)
    LEFT JOIN organization o ON o.id = t.organization_id
    LEFT JOIN idempotency i ON i.token_id = t.id AND i.key = a.key AND i.created_at >= a.since
    LEFT JOIN submission s ON s.uuid = coalesce(i.submission_uuid, a.uuid))
SELECT outcome, CASE WHEN outcome IN ('ok', 'replay') THEN view END, NULL FROM verdict WHERE outcome IS NOT NULL

WITH p(j) AS (SELECT %s)
UPDATE organization SET used = used + 1
WHERE (quota IS NULL OR used < quota)
  AND id = (SELECT t.organization_id FROM p CROSS JOIN token t
            WHERE t.secret_hash = p.j->>'$.token_hash' AND t.environment = 'production')

WITH p(j) AS (SELECT %s)
INSERT INTO submission (uuid, token_id, user_id, organization_id, environment, created_at, updated_at, template_uuid,
                        skip_intro, send_email, events, events_hash, name, search, base_url, view)
SELECT lower(j->>'$.uuid'), t.id, t.user_id, t.organization_id, t.environment, j->>'$.now', j->>'$.now',
       lower(j->>'$.template_uuid'), j->>'$.skip_intro', j->>'$.send_email', 1, j->>'$.event_hash', j->>'$.name',
       j->>'$.search', j->>'$.base_url', j->>'$.view'
FROM p CROSS JOIN token t
WHERE t.secret_hash = p.j->>'$.token_hash'

WITH p(j) AS (SELECT %s)
INSERT INTO event (submission_id, number, hash, body)
SELECT s.id, 1, p.j->>'$.event_hash', p.j->>'$.event' FROM p CROSS JOIN submission s
WHERE s.uuid = lower(p.j->>'$.uuid')

WITH p(j) AS (SELECT %s)
INSERT INTO document (submission_id, position, uuid, sha256, size, rewritten_sha256, rewritten_size, pages, name)
SELECT s.id, d.key, lower(d.value->>'$.uuid'), d.value->>'$.sha256', d.value->>'$.size',
       d.value->>'$.rewritten_sha256', d.value->>'$.rewritten_size', d.value->>'$.pages', d.value->>'$.name'
FROM p CROSS JOIN submission s CROSS JOIN json_each(p.j, '$.documents') d
WHERE s.uuid = lower(p.j->>'$.uuid')

WITH p(j) AS (SELECT %s)
INSERT INTO signer (submission_id, position, uuid, status, firstname, lastname, email, fields)
SELECT s.id, d.key, lower(d.value->>'$.uuid'), 'sent', d.value->>'$.firstname', d.value->>'$.lastname',
       d.value->>'$.email', d.value->>'$.fields'
FROM p CROSS JOIN submission s CROSS JOIN json_each(p.j, '$.signers') d
WHERE s.uuid = lower(p.j->>'$.uuid')

WITH p(j) AS (SELECT %s)
INSERT INTO idempotency (token_id, key, fingerprint, answer, submission_uuid, created_at)
SELECT t.id, j->>'$.idempotency_key', j->>'$.fingerprint', j->>'$.view', lower(j->>'$.uuid'), j->>'$.now'
FROM p CROSS JOIN token t
WHERE t.secret_hash = p.j->>'$.token_hash' AND p.j->>'$.idempotency_key' IS NOT NULL
ON CONFLICT (token_id, key) DO UPDATE
    SET fingerprint = excluded.fingerprint, answer = excluded.answer, submission_uuid = excluded.submission_uuid,
        created_at = excluded.created_at

WITH p(j) AS (SELECT %s)
INSERT INTO job (uuid, event_id, submission_id, token_id, user_id, organization_id, environment, state, kind, event,
                 created_at, due_at, url, body)
SELECT lower(w.value->>'$.event_id'), lower(w.value->>'$.event_id'), l.submission_id, l.token_id, l.user_id,
       l.organization_id, l.environment, 'pending',
       iif(w.value->>'$.kind' = 'invitation', 'invitation', 'webhook'), w.value->>'$.kind', p.j->>'$.now',
       p.j->>'$.now', coalesce(w.value->>'$.url', l.urls->>(w.value->>'$.kind')), w.value->>'$.body'
FROM p CROSS JOIN json_each(p.j, '$.webhooks') w CROSS JOIN listener l
WHERE l.submission = lower(p.j->>'$.uuid')
  AND coalesce(w.value->>'$.url', l.urls->>(w.value->>'$.kind')) IS NOT NULL

-- @answer
WITH p(j) AS (SELECT %s)
SELECT 'ok', j->>'$.view', NULL FROM p

-- @op SUBMISSION_GET 3
-- @answer
WITH a(hash, now, uuid) AS (SELECT %s, CAST(%s AS INTEGER), lower(%s))
SELECT CASE WHEN t.id IS NULL THEN 'unauthorized' WHEN s.id IS NULL THEN 'missing' ELSE 'ok' END, s.view, NULL
FROM a
LEFT JOIN token t ON t.secret_hash = a.hash AND t.revoked_at IS NULL
                 AND (t.expires_at IS NULL OR t.expires_at > a.now)
LEFT JOIN submission s ON s.uuid = a.uuid AND s.user_id = t.user_id AND s.organization_id = t.organization_id
                      AND s.environment = t.environment

-- The key's place and the two dates make one lower and one upper bound of (created_at, id), so that each direction
-- is one range of the index; the direction that was not asked for gets an empty range. The sizes are added up in the
-- order in which the range gives them; only the views that are answered are then read into the result.
-- @op SUBMISSION_LIST 11
-- @answer
WITH a(hash, now, n, direction, at, id, status, q, after, before, bytes) AS (
    SELECT %s, CAST(%s AS INTEGER), CAST(%s AS INTEGER), %s, CAST(%s AS INTEGER), CAST(%s AS INTEGER), %s, %s,
           coalesce(CAST(%s AS INTEGER), -1), coalesce(CAST(%s AS INTEGER), 9223372036854775807),
           CAST(%s AS INTEGER)),
b AS MATERIALIZED (
    SELECT n, status, q, bytes, direction = 'newer' AS newer,
           CASE WHEN direction = 'newer' AND (at, id) > (after, 9223372036854775807) THEN at ELSE after END AS low_at,
           CASE WHEN direction = 'newer' AND (at, id) > (after, 9223372036854775807) THEN id
                ELSE 9223372036854775807 END AS low_id,
           CASE WHEN direction <> 'newer' AND (at, id) < (before, 0) THEN at ELSE before END AS high_at,
           CASE WHEN direction <> 'newer' AND (at, id) < (before, 0) THEN id ELSE 0 END AS high_id
    FROM a),
me AS MATERIALIZED (
    SELECT t.user_id, t.organization_id, t.environment FROM a CROSS JOIN token t
    WHERE t.secret_hash = a.hash AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > a.now))
SELECT 'unauthorized', NULL, NULL WHERE NOT EXISTS (SELECT 1 FROM me)
UNION ALL
SELECT 'ok', CASE WHEN total - size < (SELECT bytes FROM b) THEN (SELECT view FROM submission WHERE id = page.id) END,
       created_at || ':' || id FROM (
    SELECT *, sum(size) OVER (ROWS UNBOUNDED PRECEDING) AS total FROM (
    SELECT s.id, s.created_at, length(CAST(s.view AS BLOB)) AS size FROM submission s
    WHERE s.user_id = (SELECT user_id FROM me) AND s.organization_id = (SELECT organization_id FROM me)
      AND s.environment = (SELECT environment FROM me)
      AND (s.created_at, s.id) < (SELECT CASE WHEN newer THEN -2 ELSE high_at END, high_id FROM b)
      AND (s.created_at, s.id) > (SELECT low_at, low_id FROM b)
      AND ((SELECT status FROM b) IS NULL
           OR EXISTS (SELECT 1 FROM signer g WHERE g.submission_id = s.id AND g.status = (SELECT status FROM b)))
      AND ((SELECT q FROM b) IS NULL OR instr(s.search, (SELECT q FROM b)) > 0)
    ORDER BY s.created_at DESC, s.id DESC
    LIMIT (SELECT n FROM b))) page
UNION ALL
SELECT 'ok', CASE WHEN total - size < (SELECT bytes FROM b) THEN (SELECT view FROM submission WHERE id = page.id) END,
       created_at || ':' || id FROM (
    SELECT *, sum(size) OVER (ROWS UNBOUNDED PRECEDING) AS total FROM (
    SELECT s.id, s.created_at, length(CAST(s.view AS BLOB)) AS size FROM submission s
    WHERE s.user_id = (SELECT user_id FROM me) AND s.organization_id = (SELECT organization_id FROM me)
      AND s.environment = (SELECT environment FROM me)
      AND (s.created_at, s.id) < (SELECT CASE WHEN newer THEN high_at ELSE -2 END, high_id FROM b)
      AND (s.created_at, s.id) > (SELECT low_at, low_id FROM b)
      AND ((SELECT status FROM b) IS NULL
           OR EXISTS (SELECT 1 FROM signer g WHERE g.submission_id = s.id AND g.status = (SELECT status FROM b)))
      AND ((SELECT q FROM b) IS NULL OR instr(s.search, (SELECT q FROM b)) > 0)
    ORDER BY s.created_at, s.id
    LIMIT (SELECT n FROM b))) page

-- @op DOCUMENT_GET 4
-- @answer
WITH a(hash, now, submission, document) AS (SELECT %s, CAST(%s AS INTEGER), lower(%s), lower(%s))
SELECT CASE WHEN t.id IS NULL THEN 'unauthorized' WHEN d.uuid IS NULL THEN 'missing' ELSE 'ok' END,
       (SELECT w.body FROM document_row w WHERE w.uuid = d.uuid), NULL
FROM a
LEFT JOIN token t ON t.secret_hash = a.hash AND t.revoked_at IS NULL
                 AND (t.expires_at IS NULL OR t.expires_at > a.now)
LEFT JOIN submission s ON s.uuid = a.submission AND s.user_id = t.user_id AND s.organization_id = t.organization_id
                      AND s.environment = t.environment
LEFT JOIN document d ON d.uuid = a.document AND d.submission_id = s.id

-- From the digest, which few rows have, to their submission; never from all submissions of the caller.
-- @op DOCUMENT_KNOWN 3
-- @answer
WITH a(hash, now, sha256) AS (SELECT %s, CAST(%s AS INTEGER), lower(%s)),
b AS MATERIALIZED (
    SELECT t.id, (SELECT json_object('submission', s.uuid, 'document', f.document_uuid, 'name', f.name)
                  FROM (SELECT d.submission_id, d.uuid AS document_uuid, d.name FROM revision r
                        CROSS JOIN document d ON d.uuid = r.document_uuid WHERE r.whole_sha256 = a.sha256
                        UNION ALL
                        SELECT submission_id, uuid, name FROM document d WHERE d.sha256 = a.sha256
                        UNION ALL
                        SELECT submission_id, uuid, name FROM document d WHERE d.rewritten_sha256 = a.sha256
                        UNION ALL
                        SELECT id, NULL, name FROM submission s WHERE s.certificate_sha256 = a.sha256) f
                  CROSS JOIN submission s ON s.id = f.submission_id AND s.user_id = t.user_id
                       AND s.organization_id = t.organization_id AND s.environment = t.environment LIMIT 1) AS body
    FROM a
    LEFT JOIN token t ON t.secret_hash = a.hash AND t.revoked_at IS NULL
                     AND (t.expires_at IS NULL OR t.expires_at > a.now))
SELECT CASE WHEN id IS NULL THEN 'unauthorized' WHEN body IS NULL THEN 'missing' ELSE 'ok' END, body, NULL FROM b
