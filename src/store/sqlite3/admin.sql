-- SPDX-License-Identifier: Apache-2.0
-- The operations of sigreqctl. engine.sql describes the form of this file. An argument names an organisation by its
-- uuid or its name. If it matches both, the uuid is preferred.

-- The organisation that an argument names.
-- @macro WHICH() SELECT o.id FROM a CROSS JOIN organization o WHERE o.uuid = lower(a.which) OR o.name = a.which
--     ORDER BY o.uuid = lower(a.which) DESC LIMIT 1
-- @macro ORGANIZATION(r) r.uuid, r.name, r.quota, r.used, r.created_at
-- @macro USER(r) r.uuid, r.firstname, r.lastname, r.email, r.organization_uuid, r.created_at, r.disabled_at

CREATE VIEW user_row AS
    SELECT u.id, u.organization_id, u.uuid, u.firstname, u.lastname, u.email, o.uuid AS organization_uuid, u.created_at,
           u.disabled_at
    FROM user_account u
    JOIN organization o ON o.id = u.organization_id

-- @op admin_organization_create(uuid uuid, name text, quota int?, now time) → ok organization | conflict write
WITH @ARGUMENTS
INSERT INTO organization (uuid, name, quota, created_at) SELECT uuid, name, quota, now FROM a WHERE true
ON CONFLICT DO NOTHING

-- @answer
WITH a(uuid) AS (SELECT lower(%s))
SELECT 'ok', @ORGANIZATION(o) FROM a CROSS JOIN organization o WHERE o.uuid = a.uuid

-- @answer
SELECT 'conflict'

-- @op admin_organization_list() → ok organization[]
-- @answer
SELECT 'ok', @ORGANIZATION(o) FROM organization o ORDER BY o.id

-- @op admin_organization_quota(which text, quota int?) → ok organization | missing write
-- @answer
WITH @ARGUMENTS
UPDATE organization SET quota = (SELECT a.quota FROM a)
WHERE id = (@WHICH())
RETURNING 'ok', uuid, name, quota, used, created_at

-- @answer
SELECT 'missing'

-- @op admin_organization_rename(which text, name text) → ok organization | missing | conflict write
-- @answer
WITH @ARGUMENTS
SELECT 'conflict', NULL, NULL, NULL, NULL, NULL FROM a CROSS JOIN organization n
WHERE n.name = a.name AND EXISTS (@WHICH()) AND n.id <> (@WHICH())

-- @answer
WITH @ARGUMENTS
UPDATE organization SET name = (SELECT a.name FROM a)
WHERE id = (@WHICH())
RETURNING 'ok', uuid, name, quota, used, created_at

-- @answer
SELECT 'missing'

-- @op admin_user_create(uuid uuid, organization text, firstname text, lastname text, email text, now time)
--     → ok user | missing | conflict write
-- @answer
WITH a(uuid, which) AS (SELECT %s, %s)
SELECT 'missing' FROM a
WHERE NOT EXISTS (SELECT 1 FROM organization o WHERE o.uuid = lower(a.which) OR o.name = a.which)

WITH a(uuid, which, firstname, lastname, email, now) AS (SELECT lower(%s), %s, %s, %s, %s, CAST(%s AS INTEGER))
INSERT INTO user_account (uuid, organization_id, firstname, lastname, email, created_at)
SELECT a.uuid, (@WHICH()), a.firstname, a.lastname, a.email, a.now
FROM a WHERE true
ON CONFLICT DO NOTHING

-- @answer
WITH a(uuid) AS (SELECT lower(%s))
SELECT 'ok', @USER(u) FROM a CROSS JOIN user_row u WHERE u.uuid = a.uuid

-- @answer
SELECT 'conflict'

-- @op admin_user_list(organization text?) → ok user[] | missing
-- @answer
WITH a(which) AS (SELECT %s),
o AS MATERIALIZED (@WHICH())
SELECT 'missing', NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM a WHERE a.which IS NOT NULL AND NOT EXISTS (SELECT 1 FROM o)
UNION ALL
SELECT * FROM (SELECT 'ok', @USER(u) FROM a CROSS JOIN user_row u
               WHERE a.which IS NULL OR u.organization_id = (SELECT id FROM o) ORDER BY u.id)

-- @op admin_token_create(uuid uuid, organization text, user text, environment text, name text,
--     secret_hash hash, expires_at time?, now time)
--     → ok token | missing write
WITH a(uuid, which, user, environment, name, secret_hash, expires_at, now) AS (
    SELECT lower(%s), %s, %s, %s, %s, %s, CAST(%s AS INTEGER), CAST(%s AS INTEGER))
INSERT INTO token (uuid, user_id, organization_id, environment, name, secret_hash, created_at, expires_at)
SELECT a.uuid, u.id, u.organization_id, a.environment, a.name, a.secret_hash, a.now, a.expires_at
FROM a CROSS JOIN user_account u
WHERE u.organization_id = (@WHICH())
  AND (u.uuid = lower(a.user) OR u.email = a.user COLLATE NOCASE)
ON CONFLICT (uuid) DO NOTHING

-- @answer
WITH a(uuid) AS (SELECT lower(%s))
SELECT 'ok', @TOKEN(t) FROM a CROSS JOIN token t @PEOPLE(t) WHERE t.uuid = a.uuid

-- @answer
SELECT 'missing'

-- @op admin_token_list(organization text?, user uuid?, now time, until time?) → ok token[] | missing
-- @answer
WITH a(which, user, now, until) AS (SELECT %s, lower(%s), CAST(%s AS INTEGER), CAST(%s AS INTEGER)),
o AS MATERIALIZED (@WHICH())
SELECT 'missing', @NOBODY() FROM a WHERE a.which IS NOT NULL AND NOT EXISTS (SELECT 1 FROM o)
UNION ALL
SELECT * FROM (SELECT 'ok', @TOKEN(r) FROM a CROSS JOIN token r @PEOPLE(r)
               WHERE (a.which IS NULL OR r.organization_id = (SELECT id FROM o)) AND (a.user IS NULL OR u.uuid = a.user)
                 AND (a.until IS NULL
                      OR (r.revoked_at IS NULL AND r.expires_at > a.now AND r.expires_at <= a.until)) ORDER BY r.id)

-- @op admin_token_revoke(uuid uuid, now time, children bool) → ok token[] | missing write
WITH RECURSIVE a(uuid, now, children) AS (SELECT lower(%s), CAST(%s AS INTEGER), %s),
@TREE()
UPDATE token SET revoked_at = coalesce(revoked_at, (SELECT now FROM a)) WHERE id IN (SELECT id FROM tree)

-- @answer
WITH RECURSIVE a(uuid, now, children) AS (SELECT lower(%s), %s, %s),
@TREE()
SELECT 'ok', @TOKEN(r) FROM tree CROSS JOIN token r ON r.id = tree.id @PEOPLE(r) ORDER BY r.id

-- @answer
SELECT 'missing'

-- @op admin_token_rotate(token uuid, uuid uuid, secret_hash hash, now time, until time?)
--     → ok token | missing | conflict write
-- @answer
WITH a(token) AS (SELECT lower(%s))
SELECT 'conflict', @NOBODY() FROM a CROSS JOIN token t WHERE t.uuid = a.token AND t.revoked_at IS NOT NULL

WITH @ARGUMENTS
INSERT INTO token (uuid, user_id, organization_id, environment, name, secret_hash, sent_webhook_url, signed_webhook_url,
                   completed_webhook_url, created_at, expires_at, parent_id)
SELECT a.uuid, t.user_id, t.organization_id, t.environment, t.name, a.secret_hash, t.sent_webhook_url,
       t.signed_webhook_url, t.completed_webhook_url, a.now, a.now + (t.expires_at - t.created_at), t.parent_id
FROM a CROSS JOIN token t
WHERE t.uuid = a.token
ON CONFLICT (uuid) DO NOTHING

WITH @ARGUMENTS
UPDATE token SET revoked_at = iif(a.until IS NULL, a.now, NULL),
                 expires_at = min(coalesce(expires_at, a.until), coalesce(a.until, expires_at))
FROM a WHERE token.uuid = a.token

-- @answer
WITH a(token, uuid) AS (SELECT %s, lower(%s))
SELECT 'ok', @TOKEN(t) FROM a CROSS JOIN token t @PEOPLE(t) WHERE t.uuid = a.uuid

-- @answer
SELECT 'missing'

-- @op admin_token_webhooks(uuid uuid, urls json) → ok token | missing write
WITH @ARGUMENTS
UPDATE token
SET @URLS()
FROM a WHERE token.uuid = a.uuid

-- @answer
WITH a(uuid) AS (SELECT lower(%s))
SELECT 'ok', @TOKEN(t) FROM a CROSS JOIN token t @PEOPLE(t) WHERE t.uuid = a.uuid

-- @answer
SELECT 'missing'

-- @op admin_expire(before time) → ok count write
DELETE FROM idempotency
WHERE (token_id, key) IN (SELECT i.token_id, i.key FROM idempotency i WHERE i.created_at < CAST(%s AS INTEGER) LIMIT 1000)

-- @answer
SELECT 'ok', changes()
