-- SPDX-License-Identifier: Apache-2.0
-- Tokens and their webhook URLs: see engine.sql for the form of this file.

CREATE VIEW token_row AS
    SELECT t.id, t.uuid, t.user_id, t.organization_id, t.environment, t.secret_hash, t.created_at, t.expires_at,
           t.revoked_at, t.parent_id,
           json_object('uuid', t.uuid, 'name', t.name, 'environment', t.environment, 'user_uuid', u.uuid,
               'firstname', u.firstname, 'lastname', u.lastname, 'email', u.email, 'organization_uuid', o.uuid,
               'organization_name', o.name, 'sent_webhook_url', t.sent_webhook_url,
               'signed_webhook_url', t.signed_webhook_url, 'completed_webhook_url', t.completed_webhook_url,
               'created_at', t.created_at, 'expires_at', t.expires_at, 'revoked_at', t.revoked_at,
               'parent', (SELECT p.uuid FROM token p WHERE p.id = t.parent_id)) AS body,
           t.created_at || ':' || t.id AS key
    FROM token t
    JOIN user_account u ON u.id = t.user_id
    JOIN organization o ON o.id = t.organization_id

-- @op TOKEN_CURRENT 2
-- @answer
WITH a(hash, now) AS (SELECT %s, CAST(%s AS INTEGER))
SELECT CASE WHEN t.id IS NULL THEN 'unauthorized' ELSE 'ok' END, (SELECT r.body FROM token_row r WHERE r.id = t.id), NULL
FROM a LEFT JOIN token t ON t.secret_hash = a.hash AND t.revoked_at IS NULL
                        AND (t.expires_at IS NULL OR t.expires_at > a.now)

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
