-- SPDX-License-Identifier: Apache-2.0
-- Tokens of the API and their webhook URLs. engine.sql describes the form of this file.

-- Tokens of the desk (desk.sql) are not in it, so nobody sees or changes them.
CREATE VIEW token_row AS
    SELECT t.id, t.uuid, t.user_id, t.organization_id, t.environment, t.secret_hash, t.name, t.created_at, t.expires_at,
           t.revoked_at, u.uuid AS user_uuid, u.firstname, u.lastname, u.email, o.uuid AS organization_uuid,
           o.name AS organization_name, CAST(t.sent_webhook_url AS text) AS sent_webhook_url,
           CAST(t.signed_webhook_url AS text) AS signed_webhook_url,
           CAST(t.completed_webhook_url AS text) AS completed_webhook_url,
           (SELECT p.uuid FROM token p WHERE p.id = t.parent_id) AS parent, t.used_on
    FROM token t CROSS JOIN user_account u CROSS JOIN organization o
    WHERE u.id = t.user_id AND o.id = t.organization_id AND t.kind = 'api'

-- @op token_current(token_hash hash, now time) → ok token | unauthorized
-- @named
-- @answer
SELECT 'ok', @COLUMNS(r) FROM token_row r WHERE @CALLER(r)

-- @outcome
SELECT 'unauthorized'

-- @op webhook_set(token_hash hash, now time, kind text, url text?) → ok | unauthorized write
-- @outcome
UPDATE token
SET sent_webhook_url = CASE :kind WHEN 'sent' THEN :url ELSE sent_webhook_url END,
    signed_webhook_url = CASE :kind WHEN 'signed' THEN :url ELSE signed_webhook_url END,
    completed_webhook_url = CASE :kind WHEN 'completed' THEN :url ELSE completed_webhook_url END
WHERE @CALLER(token)
RETURNING 'ok'

-- @outcome
SELECT 'unauthorized'

-- FORSHARE waits for a revocation of the caller's token, so no token can be made that token_revoke_tree does not see.
-- @op token_create(token_hash hash, now time, uuid uuid, name text, secret_hash hash, expires_at time?)
--     → ok token | unauthorized write
INSERT INTO token (uuid, user_id, organization_id, environment, name, secret_hash, created_at, expires_at, parent_id)
SELECT :uuid, t.user_id, t.organization_id, t.environment, :name, :secret_hash, :now, :expires_at, t.id
FROM token t
WHERE @CALLER(t) @FORSHARE(t)
ON CONFLICT (uuid) DO NOTHING

-- @answer
SELECT 'ok', @COLUMNS(r) FROM token t CROSS JOIN token_row r WHERE @CALLER(t) AND r.uuid = :uuid

-- @outcome
SELECT 'unauthorized'

-- ITS: r has this uuid and is in the scope of the caller's token t.
-- @macro ITS() @CALLER(t) AND r.uuid = :uuid AND @SCOPE(r, t)

-- @op token_get(token_hash hash, now time, uuid uuid) → ok token | missing | unauthorized
-- @answer
SELECT 'ok', @COLUMNS(r) FROM token t CROSS JOIN token_row r WHERE @ITS()

-- @outcome
SELECT @NOTHING()

-- A member of the argument `urls` is a URL, or null for no URL. URLs that are not in it do not change.
-- @macro URL(url, kind) url = CASE WHEN @HAS(:urls, kind) THEN :urls->>'kind' ELSE url END
-- @macro URLS() @URL(sent_webhook_url, sent), @URL(signed_webhook_url, signed), @URL(completed_webhook_url, completed)

-- @op token_webhooks(token_hash hash, now time, uuid uuid, urls json) → ok token | missing | unauthorized write
UPDATE token SET @URLS() WHERE id = (SELECT r.id FROM token t CROSS JOIN token_row r WHERE @ITS())

-- @answer
SELECT 'ok', @COLUMNS(r) FROM token t CROSS JOIN token_row r WHERE @ITS()

-- @outcome
SELECT @NOTHING()
