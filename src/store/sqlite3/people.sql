-- SPDX-License-Identifier: Apache-2.0
-- The operations of sigreqctl that disable users, delete users and organisations, and revoke their tokens.
-- engine.sql describes the form of this file.

-- @op admin_token_revoke_all(organization uuid?, user uuid?, now time) → ok token[] write
UPDATE token SET revoked_at = :now
WHERE user_id IN (@USERS()) AND kind = 'api' AND revoked_at IS NULL

-- @answer
SELECT 'ok', @COLUMNS(r) FROM token_row r
WHERE r.user_id IN (@USERS()) AND r.revoked_at = :now ORDER BY r.id

-- UNLESS: the outcome if the users are missing, or have a submission s of which this is true.
-- @macro UNLESS(hinders) SELECT iif(hindered, 'conflict', 'missing')
--     FROM (SELECT EXISTS (SELECT 1 FROM submission s WHERE s.user_id IN (@USERS()) AND (hinders)) AS hindered,
--                  EXISTS (SELECT 1 FROM user_account u WHERE u.uuid = :user
--                          UNION ALL SELECT 1 FROM organization o WHERE o.uuid = :organization) AS exist)
--     WHERE hindered OR NOT exist

-- @op admin_people_freeze(organization uuid?, user uuid?, now time) → ok | missing | conflict write
-- @outcome
@UNLESS(s.state = 'open' OR s.held_at IS NOT NULL)

UPDATE user_account SET disabled_at = coalesce(disabled_at, :now) WHERE id IN (@USERS())

-- @answer
SELECT 'ok'

-- @op admin_people_delete(organization uuid?, user uuid?, tombstones bool) → ok | missing | conflict write
-- @outcome
@UNLESS(NOT :tombstones OR s.state <> 'deleted' OR s.erasing IS NOT NULL)

DELETE FROM submission WHERE user_id IN (@USERS())

DELETE FROM token WHERE user_id IN (@USERS())

DELETE FROM feed WHERE user_id IN (@USERS())

DELETE FROM feed_scope WHERE user_id IN (@USERS())

DELETE FROM user_account WHERE id IN (@USERS())

DELETE FROM organization WHERE uuid = :organization

-- @answer
SELECT 'ok'
