-- SPDX-License-Identifier: Apache-2.0
-- The operations of sigreqctl that disable users, delete users and organisations, and revoke their tokens.
-- engine.sql describes the form of this file.

-- USERS: the ids of the user a.user, or of all users of the organisation a.organization.
-- @macro USERS() SELECT u.id FROM a CROSS JOIN user_account u
--     WHERE u.uuid = a.user OR u.organization_id = (SELECT o.id FROM organization o WHERE o.uuid = a.organization)

-- The users with this uuid or email, of all organisations or of one.
-- @op admin_user_find(which text, organization text?) → ok user[] | missing
-- @answer
WITH a(user, which) AS (SELECT %s, %s),
o AS MATERIALIZED (@WHICH())
SELECT 'missing', NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM a WHERE a.which IS NOT NULL AND NOT EXISTS (SELECT 1 FROM o)
UNION ALL
SELECT * FROM (SELECT 'ok', @USER(r) FROM a CROSS JOIN user_row r
               WHERE (r.uuid = lower(a.user) OR r.email = a.user COLLATE NOCASE)
                 AND (a.which IS NULL OR r.organization_id = (SELECT id FROM o)) ORDER BY r.id)

-- @op admin_user_disable(uuid uuid, disabled bool, now time) → ok user | missing write
WITH @ARGUMENTS
UPDATE user_account SET disabled_at = iif(a.disabled, coalesce(disabled_at, a.now), NULL)
FROM a WHERE user_account.uuid = a.uuid

-- @answer
WITH a(uuid) AS (SELECT lower(%s))
SELECT 'ok', @USER(r) FROM a CROSS JOIN user_row r WHERE r.uuid = a.uuid

-- @answer
SELECT 'missing'

-- An argument that is NULL changes nothing.
-- @op admin_user_rename(uuid uuid, firstname text?, lastname text?, email text?) → ok user | missing | conflict write
-- @answer
WITH @ARGUMENTS
SELECT 'conflict', NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM a CROSS JOIN user_account u
CROSS JOIN user_account x ON x.organization_id = u.organization_id AND x.id <> u.id AND x.email = a.email COLLATE NOCASE
WHERE u.uuid = a.uuid

WITH @ARGUMENTS
UPDATE user_account
SET firstname = coalesce(a.firstname, user_account.firstname), lastname = coalesce(a.lastname, user_account.lastname),
    email = coalesce(a.email, user_account.email)
FROM a WHERE user_account.uuid = a.uuid

-- @answer
WITH a(uuid) AS (SELECT lower(%s))
SELECT 'ok', @USER(r) FROM a CROSS JOIN user_row r WHERE r.uuid = a.uuid

-- @answer
SELECT 'missing'

-- @op admin_organization_find(which text) → ok organization | missing
-- @answer
WITH @ARGUMENTS,
o AS MATERIALIZED (@WHICH())
SELECT 'ok', @ORGANIZATION(r) FROM o CROSS JOIN organization r WHERE r.id = o.id
UNION ALL
SELECT 'missing', NULL, NULL, NULL, NULL, NULL WHERE NOT EXISTS (SELECT 1 FROM o)

-- @op admin_token_revoke_all(organization uuid?, user uuid?, now time) → ok token[] write
WITH @ARGUMENTS
UPDATE token SET revoked_at = (SELECT now FROM a)
WHERE user_id IN (@USERS()) AND revoked_at IS NULL

-- @answer
WITH @ARGUMENTS
SELECT 'ok', @TOKEN(r) FROM token r @PEOPLE(r)
WHERE r.user_id IN (@USERS()) AND r.revoked_at = (SELECT now FROM a) ORDER BY r.id

-- How many submissions a user has, or all users of an organisation. One of the arguments is NULL.
-- @op admin_remains(organization uuid?, user uuid?) → ok remains
-- @answer
WITH @ARGUMENTS
SELECT 'ok', count(*) FILTER (WHERE s.state = 'open'), count(*) FILTER (WHERE s.held_at IS NOT NULL),
       count(*) FILTER (WHERE s.state NOT IN ('open', 'deleted')), count(*) FILTER (WHERE s.state = 'deleted')
FROM submission s WHERE s.user_id IN (@USERS())

-- UNLESS: the outcome if the users are missing, or have a submission s of which this is true.
-- @macro UNLESS(hinders) SELECT iif(hindered, 'conflict', 'missing')
--     FROM (SELECT EXISTS (SELECT 1 FROM submission s WHERE s.user_id IN (@USERS()) AND (hinders)) AS hindered,
--                  EXISTS (SELECT 1 FROM user_account u WHERE u.uuid = a.user
--                          UNION ALL SELECT 1 FROM organization o WHERE o.uuid = a.organization) AS exist
--           FROM a)
--     WHERE hindered OR NOT exist

-- @op admin_people_freeze(organization uuid?, user uuid?, now time) → ok | missing | conflict write
-- @answer
WITH @ARGUMENTS
@UNLESS(s.state = 'open' OR s.held_at IS NOT NULL)

WITH @ARGUMENTS
UPDATE user_account SET disabled_at = coalesce(disabled_at, (SELECT now FROM a)) WHERE id IN (@USERS())

-- @answer
SELECT 'ok'

-- @op admin_people_closed(organization uuid?, user uuid?, n int) → ok past[]
-- @answer
WITH @ARGUMENTS
SELECT 'ok', s.uuid FROM submission s
WHERE s.user_id IN (@USERS())
  AND (s.erasing IS NOT NULL OR (s.state NOT IN ('open', 'deleted') AND s.held_at IS NULL))
LIMIT (SELECT n FROM a)

-- @op admin_people_delete(organization uuid?, user uuid?, tombstones bool) → ok | missing | conflict write
-- @answer
WITH @ARGUMENTS
@UNLESS(NOT a.tombstones OR s.state <> 'deleted' OR s.erasing IS NOT NULL)

WITH @ARGUMENTS
DELETE FROM submission WHERE user_id IN (@USERS())

WITH @ARGUMENTS
DELETE FROM token WHERE user_id IN (@USERS())

WITH @ARGUMENTS
DELETE FROM user_account WHERE id IN (@USERS())

WITH a(organization) AS (SELECT lower(%s))
DELETE FROM organization WHERE uuid = (SELECT a.organization FROM a)

-- @answer
SELECT 'ok'
