-- The operations of store.h on SQLite: see pgsql.sql for the form of this file. Here an operation may be a sequence:
--
--   -- @op NAME n write   runs in one BEGIN IMMEDIATE … COMMIT; without "write" it is one statement that only reads
--   -- @answer            the statement answers: its rows end the operation, and when it gives none the next
--                         statement runs. An outcome that is not 'ok' ends it by ROLLBACK.
--
-- A statement takes the operation's arguments in order, all of them or the first few. They are bound as text, and
-- each can be used once: WITH gives them names and types. CROSS JOIN keeps the order of the tables as written; a
-- LEFT JOIN of a view would make all its rows first, so a body that may be missing is a subquery.

-- @op TOKEN_CURRENT 2
-- @answer
WITH a(hash, now) AS (SELECT %s, CAST(%s AS INTEGER))
SELECT CASE WHEN t.id IS NULL THEN 'unauthorized' ELSE 'ok' END, (SELECT r.body FROM token_row r WHERE r.id = t.id), NULL
FROM a LEFT JOIN token t ON t.secret_hash = a.hash AND t.revoked_at IS NULL
                        AND (t.expires_at IS NULL OR t.expires_at > a.now)

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
INSERT INTO delivery (uuid, event_id, submission_id, token_id, user_id, organization_id, environment, kind, created_at,
                      url, body)
SELECT lower(w.value->>'$.event_id'), lower(w.value->>'$.event_id'), l.submission_id, l.token_id, l.user_id,
       l.organization_id, l.environment, w.value->>'$.kind', p.j->>'$.now',
       coalesce(w.value->>'$.url', l.urls->>(w.value->>'$.kind')), w.value->>'$.body'
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

-- @op WEBHOOK_SET 4 write
-- @answer
WITH a(hash, now, kind, url) AS (SELECT %s, CAST(%s AS INTEGER), %s, %s)
UPDATE token
SET sent_webhook_url = CASE a.kind WHEN 'sent' THEN a.url ELSE sent_webhook_url END,
    signed_webhook_url = CASE a.kind WHEN 'signed' THEN a.url ELSE signed_webhook_url END,
    completed_webhook_url = CASE a.kind WHEN 'completed' THEN a.url ELSE completed_webhook_url END
FROM a
WHERE token.secret_hash = a.hash AND token.revoked_at IS NULL AND (token.expires_at IS NULL OR token.expires_at > a.now)
RETURNING 'ok', NULL, NULL

-- @answer
SELECT 'unauthorized', NULL, NULL

-- @op TOKEN_CREATE 6 write
-- @answer
WITH a(hash, now) AS (SELECT %s, CAST(%s AS INTEGER))
SELECT 'unauthorized', NULL, NULL FROM a
WHERE NOT EXISTS (SELECT 1 FROM token t WHERE t.secret_hash = a.hash AND t.revoked_at IS NULL
                                          AND (t.expires_at IS NULL OR t.expires_at > a.now))

WITH a(hash, now, uuid, name, secret_hash, expires_at) AS (
    SELECT %s, CAST(%s AS INTEGER), lower(%s), %s, %s, CAST(%s AS INTEGER))
INSERT INTO token (uuid, user_id, organization_id, environment, name, secret_hash, created_at, expires_at, parent_id)
SELECT a.uuid, t.user_id, t.organization_id, t.environment, a.name, a.secret_hash, a.now, a.expires_at, t.id
FROM a CROSS JOIN token t
WHERE t.secret_hash = a.hash
ON CONFLICT (uuid) DO NOTHING

-- @answer
WITH a(hash, now, uuid) AS (SELECT %s, %s, lower(%s))
SELECT 'ok', r.body, NULL FROM a CROSS JOIN token_row r WHERE r.uuid = a.uuid

-- @op TOKEN_GET 3
-- @answer
WITH a(hash, now, uuid) AS (SELECT %s, CAST(%s AS INTEGER), lower(%s))
SELECT CASE WHEN t.id IS NULL THEN 'unauthorized' WHEN r.id IS NULL THEN 'missing' ELSE 'ok' END,
       (SELECT b.body FROM token_row b WHERE b.id = r.id), NULL
FROM a
LEFT JOIN token t ON t.secret_hash = a.hash AND t.revoked_at IS NULL
                 AND (t.expires_at IS NULL OR t.expires_at > a.now)
LEFT JOIN token r ON r.uuid = a.uuid AND r.user_id = t.user_id AND r.organization_id = t.organization_id
                 AND r.environment = t.environment

-- @op TOKEN_LIST 6
-- @answer
WITH a(hash, now, n, direction, at, id) AS (
    SELECT %s, CAST(%s AS INTEGER), CAST(%s AS INTEGER), %s, CAST(%s AS INTEGER), CAST(%s AS INTEGER)),
b AS MATERIALIZED (
    SELECT n,
           CASE WHEN direction = 'newer' THEN coalesce(at, -1) ELSE 9223372036854775807 END AS low_at,
           CASE WHEN direction <> 'newer' THEN coalesce(at, 9223372036854775807) ELSE -1 END AS high_at,
           coalesce(id, 0) AS id
    FROM a),
me AS MATERIALIZED (
    SELECT t.user_id, t.organization_id, t.environment FROM a CROSS JOIN token t
    WHERE t.secret_hash = a.hash AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > a.now))
SELECT 'unauthorized', NULL, NULL WHERE NOT EXISTS (SELECT 1 FROM me)
UNION ALL
SELECT 'ok', r.body, r.key FROM (
    SELECT t.id FROM token t
    WHERE t.user_id = (SELECT user_id FROM me) AND t.organization_id = (SELECT organization_id FROM me)
      AND t.environment = (SELECT environment FROM me) AND (t.created_at, t.id) < (SELECT high_at, id FROM b)
    ORDER BY t.created_at DESC, t.id DESC
    LIMIT (SELECT n FROM b)) page
CROSS JOIN token_row r ON r.id = page.id
UNION ALL
SELECT 'ok', r.body, r.key FROM (
    SELECT t.id FROM token t
    WHERE t.user_id = (SELECT user_id FROM me) AND t.organization_id = (SELECT organization_id FROM me)
      AND t.environment = (SELECT environment FROM me) AND (t.created_at, t.id) > (SELECT low_at, id FROM b)
    ORDER BY t.created_at, t.id
    LIMIT (SELECT n FROM b)) page
CROSS JOIN token_row r ON r.id = page.id

-- With "true", all that the token made, directly or through others, ends too.
-- @op TOKEN_REVOKE 4 write
-- @answer
WITH a(hash, now, uuid) AS (SELECT %s, CAST(%s AS INTEGER), lower(%s))
SELECT CASE WHEN t.id IS NULL THEN 'unauthorized' ELSE 'missing' END, NULL, NULL
FROM a
LEFT JOIN token t ON t.secret_hash = a.hash AND t.revoked_at IS NULL
                 AND (t.expires_at IS NULL OR t.expires_at > a.now)
LEFT JOIN token r ON r.uuid = a.uuid AND r.user_id = t.user_id AND r.organization_id = t.organization_id
                 AND r.environment = t.environment
WHERE r.id IS NULL

-- @answer
WITH RECURSIVE a(hash, now, uuid, children) AS (SELECT %s, CAST(%s AS INTEGER), lower(%s), %s),
tree(id) AS (
    SELECT t.id FROM a CROSS JOIN token t WHERE t.uuid = a.uuid
    UNION
    SELECT c.id FROM tree CROSS JOIN token c WHERE c.parent_id = tree.id AND (SELECT children FROM a) = 'true')
UPDATE token SET revoked_at = coalesce(revoked_at, (SELECT now FROM a)) WHERE id IN (SELECT id FROM tree)
RETURNING 'ok', NULL, NULL

-- A member of the argument is a URL, or null for none. What it does not name stays as it is.
-- @op TOKEN_WEBHOOKS 4 write
-- @answer
WITH a(hash, now, uuid) AS (SELECT %s, CAST(%s AS INTEGER), lower(%s))
SELECT CASE WHEN t.id IS NULL THEN 'unauthorized' ELSE 'missing' END, NULL, NULL
FROM a
LEFT JOIN token t ON t.secret_hash = a.hash AND t.revoked_at IS NULL
                 AND (t.expires_at IS NULL OR t.expires_at > a.now)
LEFT JOIN token r ON r.uuid = a.uuid AND r.user_id = t.user_id AND r.organization_id = t.organization_id
                 AND r.environment = t.environment
WHERE r.id IS NULL

WITH a(hash, now, uuid, urls) AS (SELECT %s, %s, lower(%s), %s)
UPDATE token
SET sent_webhook_url = CASE WHEN json_type(a.urls, '$.sent') IS NULL THEN sent_webhook_url
                            ELSE a.urls->>'$.sent' END,
    signed_webhook_url = CASE WHEN json_type(a.urls, '$.signed') IS NULL THEN signed_webhook_url
                              ELSE a.urls->>'$.signed' END,
    completed_webhook_url = CASE WHEN json_type(a.urls, '$.completed') IS NULL THEN completed_webhook_url
                                 ELSE a.urls->>'$.completed' END
FROM a WHERE token.uuid = a.uuid

-- @answer
WITH a(hash, now, uuid) AS (SELECT %s, %s, lower(%s))
SELECT 'ok', r.body, NULL FROM a CROSS JOIN token_row r WHERE r.uuid = a.uuid

-- @op PING 0
-- @answer
SELECT 'ok', json_object('schema', max(v.version), 'database', (SELECT i.uuid FROM installation i)), NULL
FROM schema_version v

-- @op REWRITE 0 write
-- @answer
UPDATE installation SET uuid = uuid RETURNING 'ok', NULL, NULL

-- Once for each connection, before anything is prepared; once for the file, in which it stays.
-- @engine CONNECT 0
PRAGMA foreign_keys = ON

-- @engine CREATE 0
PRAGMA journal_mode = WAL

-- @engine BEGIN 0
BEGIN IMMEDIATE

-- @engine COMMIT 0
COMMIT

-- @engine ROLLBACK 0
ROLLBACK

-- A row when the schema's table is there.
-- @engine SCHEMA_EXISTS 0
SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema_version'

-- @engine SCHEMA_VERSION 0
SELECT coalesce(max(version), 0) FROM schema_version

-- @engine SCHEMA_RECORD 3
INSERT INTO schema_version (version, name, applied_at) VALUES (%s, %s, %s)
