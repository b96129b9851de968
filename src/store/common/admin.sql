-- SPDX-License-Identifier: Apache-2.0
-- The operations of sigreqctl. engine.sql describes the form of this file.

-- WHICH: the organisation that an argument names by its uuid or its name. If it matches both, the uuid is preferred.
-- NEITHER: the first statement of an operation that is about one organisation, or about all if the argument is NULL.
-- OFONE: the column is the id of the organisation, if there is one.
-- @macro WHICH(which) (SELECT o.id FROM organization o
--     WHERE CAST(o.uuid AS text) = lower(:which) OR o.name = :which
--     ORDER BY CAST(o.uuid AS text) = lower(:which) DESC LIMIT 1)
-- @macro NEITHER() SELECT 'missing' WHERE :organization IS NOT NULL AND @WHICH(organization) IS NULL
-- @macro OFONE(column) (:organization IS NULL OR column = @WHICH(organization))

CREATE VIEW user_row AS
    SELECT u.id, u.organization_id, u.uuid, u.firstname, u.lastname, u.email, o.uuid AS organization_uuid, u.created_at,
           u.disabled_at
    FROM user_account u CROSS JOIN organization o
    WHERE o.id = u.organization_id

-- @op admin_organization_create(uuid uuid, name text, quota int?, now time) → ok organization | conflict write
INSERT INTO organization (uuid, name, quota, created_at) VALUES (:uuid, :name, :quota, :now)
ON CONFLICT DO NOTHING

-- @answer
SELECT 'ok', @COLUMNS(r) FROM organization r WHERE r.uuid = :uuid

-- @outcome
SELECT 'conflict'

-- @op admin_organization_list() → ok organization[]
-- @answer
SELECT 'ok', @COLUMNS(r) FROM organization r ORDER BY r.id

-- @op admin_organization_find(which text) → ok organization | missing
-- @answer
SELECT 'ok', @COLUMNS(r) FROM organization r WHERE r.id = @WHICH(which)

-- @outcome
SELECT 'missing'

-- @op admin_organization_quota(which text, quota int?) → ok organization | missing write
UPDATE organization SET quota = :quota WHERE id = @WHICH(which)

-- @answer
SELECT 'ok', @COLUMNS(r) FROM organization r WHERE r.id = @WHICH(which)

-- @outcome
SELECT 'missing'

-- @op admin_user_create(uuid uuid, organization text, firstname text, lastname text, email text, now time)
--     → ok user | missing | conflict write
-- @outcome
@NEITHER()

INSERT INTO user_account (uuid, organization_id, firstname, lastname, email, created_at)
VALUES (:uuid, @WHICH(organization), :firstname, :lastname, :email, :now)
ON CONFLICT DO NOTHING

-- @answer
SELECT 'ok', @COLUMNS(r) FROM user_row r WHERE r.uuid = :uuid

-- @outcome
SELECT 'conflict'

-- @op admin_user_list(organization text?) → ok user[] | missing
-- @outcome
@NEITHER()

-- @answer
SELECT 'ok', @COLUMNS(r) FROM user_row r WHERE @OFONE(r.organization_id) ORDER BY r.id

-- The users with this uuid or email, of all organisations or of one.
-- @op admin_user_find(which text, organization text?) → ok user[] | missing
-- @outcome
@NEITHER()

-- @answer
SELECT 'ok', @COLUMNS(r) FROM user_row r
WHERE (CAST(r.uuid AS text) = lower(:which) OR @SAME(r.email, :which)) AND @OFONE(r.organization_id) ORDER BY r.id

-- @op admin_user_disable(uuid uuid, disabled bool, now time) → ok user | missing write
UPDATE user_account SET disabled_at = CASE WHEN :disabled THEN coalesce(disabled_at, :now) END WHERE uuid = :uuid

-- @answer
SELECT 'ok', @COLUMNS(r) FROM user_row r WHERE r.uuid = :uuid

-- @outcome
SELECT 'missing'

-- @op admin_token_create(uuid uuid, organization text, user text, environment text, name text,
--     secret_hash hash, expires_at time?, now time)
--     → ok token | missing write
INSERT INTO token (uuid, user_id, organization_id, environment, name, secret_hash, created_at, expires_at)
SELECT :uuid, u.id, u.organization_id, :environment, :name, :secret_hash, :now, :expires_at
FROM user_account u
WHERE u.organization_id = @WHICH(organization) AND (CAST(u.uuid AS text) = lower(:user) OR @SAME(u.email, :user))
ON CONFLICT (uuid) DO NOTHING

-- @answer
SELECT 'ok', @COLUMNS(r) FROM token_row r WHERE r.uuid = :uuid

-- @outcome
SELECT 'missing'

-- @op admin_token_list(organization text?, user uuid?, now time, until time?) → ok token[] | missing
-- @outcome
@NEITHER()

-- @answer
SELECT 'ok', @COLUMNS(r) FROM token_row r
WHERE @OFONE(r.organization_id) AND (:user IS NULL OR r.user_uuid = :user)
  AND (:until IS NULL OR (r.revoked_at IS NULL AND r.expires_at > :now AND r.expires_at <= :until))
ORDER BY r.id

-- @op admin_token_webhooks(uuid uuid, urls json) → ok token | missing write
UPDATE token SET @URLS() WHERE uuid = :uuid AND kind = 'api'

-- @answer
SELECT 'ok', @COLUMNS(r) FROM token_row r WHERE r.uuid = :uuid

-- @outcome
SELECT 'missing'

-- USERS: the ids of the user :user, or of all users of the organisation :organization. One of the arguments is NULL.
-- @macro USERS() SELECT u.id FROM user_account u
--     WHERE u.uuid = :user OR u.organization_id = (SELECT o.id FROM organization o WHERE o.uuid = :organization)

-- How many submissions a user has, or all users of an organisation.
-- @op admin_remains(organization uuid?, user uuid?) → ok remains
-- @answer
SELECT 'ok', count(*) FILTER (WHERE s.state = 'open'), count(*) FILTER (WHERE s.held_at IS NOT NULL),
       count(*) FILTER (WHERE s.state NOT IN ('open', 'deleted')), count(*) FILTER (WHERE s.state = 'deleted')
FROM submission s WHERE s.user_id IN (@USERS())

-- @op admin_people_closed(organization uuid?, user uuid?, n int) → ok past[]
-- @answer
SELECT 'ok', s.uuid FROM submission s
WHERE s.user_id IN (@USERS())
  AND (s.erasing IS NOT NULL OR (s.state NOT IN ('open', 'deleted') AND s.held_at IS NULL))
LIMIT :n

-- @op admin_organization_rename(which text, name text) → ok organization | missing | conflict write
-- @outcome
SELECT 'conflict' FROM organization n WHERE n.name = :name AND n.id <> @WHICH(which)

-- @answer
UPDATE organization SET name = :name WHERE id = @WHICH(which)
RETURNING 'ok', uuid, name, quota, used, created_at

-- @outcome
SELECT 'missing'

-- An argument that is NULL changes nothing.
-- @op admin_user_rename(uuid uuid, firstname text?, lastname text?, email text?) → ok user | missing | conflict write
-- @outcome
SELECT 'conflict' FROM user_account u CROSS JOIN user_account x
WHERE u.uuid = :uuid AND x.organization_id = u.organization_id AND x.id <> u.id AND @SAME(x.email, :email)

UPDATE user_account
SET firstname = coalesce(:firstname, firstname), lastname = coalesce(:lastname, lastname),
    email = coalesce(:email, email)
WHERE uuid = :uuid

-- @answer
SELECT 'ok', @COLUMNS(r) FROM user_row r WHERE r.uuid = :uuid

-- @outcome
SELECT 'missing'

-- @op admin_expire(before time) → ok count write
DELETE FROM idempotency
WHERE (token_id, key) IN (SELECT i.token_id, i.key FROM idempotency i WHERE i.created_at < :before LIMIT 1000)

-- @answer
SELECT 'ok', @CHANGES()
