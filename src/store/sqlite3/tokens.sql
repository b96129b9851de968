-- SPDX-License-Identifier: Apache-2.0
-- Tokens and their webhook URLs. engine.sql describes the form of this file.

-- TREE: a token, and if the argument `children` is 'true', all tokens that it made, directly or through others.
-- @macro TREE() tree(id) AS (
--     SELECT t.id FROM a CROSS JOIN token t WHERE t.uuid = a.uuid
--     UNION
--     SELECT c.id FROM tree CROSS JOIN token c WHERE c.parent_id = tree.id AND (SELECT children FROM a) = 'true')
-- URLs that are not in the argument `urls` do not change.
-- @macro URL(url, kind) url = iif(json_type(a.urls, '$.kind') IS NULL, url, a.urls->>'$.kind')
-- @macro URLS() @URL(sent_webhook_url, sent), @URL(signed_webhook_url, signed), @URL(completed_webhook_url, completed)
-- TOKEN: the columns of a row `token`, of a token t with its user and organisation. NOBODY: the same number of NULLs.
-- @macro TOKEN(t) t.id, t.uuid, t.name, t.environment, u.uuid, u.firstname, u.lastname, u.email, o.uuid,
--     o.name, t.sent_webhook_url, t.signed_webhook_url, t.completed_webhook_url, t.created_at, t.expires_at,
--     t.revoked_at, (SELECT p.uuid FROM token p WHERE p.id = t.parent_id), t.used_on
-- @macro PEOPLE(t) LEFT JOIN user_account u ON u.id = t.user_id LEFT JOIN organization o ON o.id = t.organization_id
-- @macro NOBODY() NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
--     NULL, NULL, NULL

-- @op token_current(token_hash hash, now time) → ok token | unauthorized
-- @answer
WITH @ARGUMENTS
SELECT CASE WHEN t.id IS NULL THEN 'unauthorized' ELSE 'ok' END, @TOKEN(t)
FROM a
LEFT JOIN token t ON @CALLER(t)
@PEOPLE(t)

-- @op token_used(token_hashes json, now time, day time) → ok write unsynced
WITH given(token_hashes, now, day) AS (SELECT %s, CAST(%s AS INTEGER), CAST(%s AS INTEGER)),
a(token_hash, now, day) AS (SELECT j.value, given.now, given.day FROM given CROSS JOIN json_each(given.token_hashes) j)
UPDATE token SET used_on = (SELECT day FROM given)
WHERE id IN (SELECT t.id FROM a CROSS JOIN token t ON @CALLER(t) AND (t.used_on IS NULL OR t.used_on < a.day))

-- @answer
SELECT 'ok'

-- @op webhook_set(token_hash hash, now time, kind text, url text?) → ok | unauthorized write
-- @answer
WITH @ARGUMENTS
UPDATE token
SET sent_webhook_url = CASE a.kind WHEN 'sent' THEN a.url ELSE sent_webhook_url END,
    signed_webhook_url = CASE a.kind WHEN 'signed' THEN a.url ELSE signed_webhook_url END,
    completed_webhook_url = CASE a.kind WHEN 'completed' THEN a.url ELSE completed_webhook_url END
FROM a
WHERE @CALLER(token)
RETURNING 'ok'

-- @answer
SELECT 'unauthorized'

-- @op token_create(token_hash hash, now time, uuid uuid, name text, secret_hash hash, expires_at time?)
--     → ok token | unauthorized write
-- @answer
WITH a(token_hash, now) AS (SELECT %s, CAST(%s AS INTEGER))
SELECT 'unauthorized' FROM a
WHERE NOT EXISTS (SELECT 1 FROM token t WHERE @CALLER(t))

WITH @ARGUMENTS
INSERT INTO token (uuid, user_id, organization_id, environment, name, secret_hash, created_at, expires_at, parent_id)
SELECT a.uuid, t.user_id, t.organization_id, t.environment, a.name, a.secret_hash, a.now, a.expires_at, t.id
FROM a CROSS JOIN token t
WHERE t.secret_hash = a.token_hash
ON CONFLICT (uuid) DO NOTHING

-- @answer
WITH a(token_hash, now, uuid) AS (SELECT %s, %s, lower(%s))
SELECT 'ok', @TOKEN(t) FROM a CROSS JOIN token t @PEOPLE(t) WHERE t.uuid = a.uuid

-- @op token_get(token_hash hash, now time, uuid uuid) → ok token | missing | unauthorized
-- @answer
WITH @ARGUMENTS
SELECT CASE WHEN t.id IS NULL THEN 'unauthorized' WHEN r.id IS NULL THEN 'missing' ELSE 'ok' END,
       @TOKEN(r)
FROM a
LEFT JOIN token t ON @CALLER(t)
LEFT JOIN token r ON r.uuid = a.uuid AND @SCOPE(r, t)
@PEOPLE(r)

-- @op token_list(token_hash hash, now time, limit int, direction text, at time?, id int) → ok token[] | unauthorized
-- @answer
WITH a(token_hash, now, n, direction, at, id) AS (
    SELECT %s, CAST(%s AS INTEGER), CAST(%s AS INTEGER), %s, CAST(%s AS INTEGER), CAST(%s AS INTEGER)),
b AS MATERIALIZED (
    SELECT n,
           CASE WHEN direction = 'newer' THEN coalesce(at, -1) ELSE 9223372036854775807 END AS low_at,
           CASE WHEN direction <> 'newer' THEN coalesce(at, 9223372036854775807) ELSE -1 END AS high_at,
           coalesce(id, 0) AS id
    FROM a),
me AS MATERIALIZED (
    SELECT t.user_id, t.organization_id, t.environment FROM a CROSS JOIN token t
    WHERE @CALLER(t))
SELECT 'unauthorized', @NOBODY() WHERE NOT EXISTS (SELECT 1 FROM me)
UNION ALL
SELECT 'ok', @TOKEN(r) FROM (
    SELECT t.id FROM token t
    WHERE t.user_id = (SELECT user_id FROM me) AND t.organization_id = (SELECT organization_id FROM me)
      AND t.environment = (SELECT environment FROM me) AND (t.created_at, t.id) < (SELECT high_at, id FROM b)
    ORDER BY t.created_at DESC, t.id DESC
    LIMIT (SELECT n FROM b)) page
CROSS JOIN token r ON r.id = page.id
@PEOPLE(r)
UNION ALL
SELECT 'ok', @TOKEN(r) FROM (
    SELECT t.id FROM token t
    WHERE t.user_id = (SELECT user_id FROM me) AND t.organization_id = (SELECT organization_id FROM me)
      AND t.environment = (SELECT environment FROM me) AND (t.created_at, t.id) > (SELECT low_at, id FROM b)
    ORDER BY t.created_at, t.id
    LIMIT (SELECT n FROM b)) page
CROSS JOIN token r ON r.id = page.id
@PEOPLE(r)

-- If `children` is "true", all tokens that this token made, directly or through others, are revoked too.
-- @op token_revoke(token_hash hash, now time, uuid uuid, children bool) → ok | missing | unauthorized write
-- @answer
WITH a(token_hash, now, uuid) AS (SELECT %s, CAST(%s AS INTEGER), lower(%s))
SELECT CASE WHEN t.id IS NULL THEN 'unauthorized' ELSE 'missing' END
FROM a
LEFT JOIN token t ON @CALLER(t)
LEFT JOIN token r ON r.uuid = a.uuid AND @SCOPE(r, t)
WHERE r.id IS NULL

-- @answer
WITH RECURSIVE a(token_hash, now, uuid, children) AS (SELECT %s, CAST(%s AS INTEGER), lower(%s), %s),
@TREE()
UPDATE token SET revoked_at = coalesce(revoked_at, (SELECT now FROM a)) WHERE id IN (SELECT id FROM tree)
RETURNING 'ok'

-- A member of the argument is a URL, or null for no URL. URLs that are not in the argument do not change.
-- @op token_webhooks(token_hash hash, now time, uuid uuid, urls json) → ok token | missing | unauthorized write
-- @answer
WITH a(token_hash, now, uuid) AS (SELECT %s, CAST(%s AS INTEGER), lower(%s))
SELECT CASE WHEN t.id IS NULL THEN 'unauthorized' ELSE 'missing' END
FROM a
LEFT JOIN token t ON @CALLER(t)
LEFT JOIN token r ON r.uuid = a.uuid AND @SCOPE(r, t)
WHERE r.id IS NULL

WITH a(token_hash, now, uuid, urls) AS (SELECT %s, %s, lower(%s), %s)
UPDATE token
SET @URLS()
FROM a WHERE token.uuid = a.uuid

-- @answer
WITH a(token_hash, now, uuid) AS (SELECT %s, %s, lower(%s))
SELECT 'ok', @TOKEN(t) FROM a CROSS JOIN token t @PEOPLE(t) WHERE t.uuid = a.uuid
