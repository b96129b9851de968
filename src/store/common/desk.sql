-- SPDX-License-Identifier: Apache-2.0
-- The users of the desk, whom httpd has authenticated. Each has a token for each environment, whose secret nobody knows.
-- engine.sql describes the form of this file.

CREATE VIEW desk_row AS
    SELECT u.id AS user_id, o.id AS organization_id, u.uuid AS user_uuid, u.firstname, u.lastname, u.email,
           o.uuid AS organization_uuid, o.name AS organization_name, e.environment, t.uuid AS token,
           t.secret_hash AS token_hash
    FROM user_account u
    JOIN organization o ON o.id = u.organization_id
    CROSS JOIN (SELECT 'production' AS environment UNION ALL SELECT 'test') e
    LEFT JOIN token t ON t.user_id = u.id AND t.environment = e.environment AND t.kind = 'desk'
    WHERE u.disabled_at IS NULL

-- @op desk_scopes(email text) → ok desk[]
-- @answer
SELECT 'ok', @COLUMNS(r) FROM desk_row r WHERE @SAME(r.email, :email)

-- @macro OFUSER(r) @SAME(r.email, :email) AND r.organization_uuid = :organization AND r.environment = :environment

-- @op desk_token(email text, organization uuid, environment text, uuid uuid, secret_hash hash, now time)
--     → ok desk | missing write
INSERT INTO token (uuid, user_id, organization_id, environment, name, secret_hash, created_at, kind)
SELECT :uuid, r.user_id, r.organization_id, r.environment, 'Desk', :secret_hash, :now, 'desk'
FROM desk_row r
WHERE @OFUSER(r)
ON CONFLICT DO NOTHING

-- @answer
SELECT 'ok', @COLUMNS(r) FROM desk_row r WHERE @OFUSER(r)

-- @outcome
SELECT 'missing'
