-- SPDX-License-Identifier: Apache-2.0
-- Operations of sigreqctl on tokens. ../common/engine.sql describes the form of this file.

-- @op admin_token_revoke(uuid uuid, now time, children bool) → ok token[] | missing write
WITH RECURSIVE @TREE()
UPDATE token SET revoked_at = coalesce(revoked_at, :now) WHERE id IN (SELECT id FROM tree)

-- @answer
WITH RECURSIVE @TREE()
SELECT 'ok', @COLUMNS(r) FROM tree CROSS JOIN token_row r WHERE r.id = tree.id ORDER BY r.id

-- @outcome
SELECT 'missing'

-- @op admin_token_rotate(token uuid, uuid uuid, secret_hash hash, now time, until time?)
--     → ok token | missing | conflict write
-- @outcome
SELECT 'conflict' FROM token t WHERE t.uuid = :token AND t.revoked_at IS NOT NULL

INSERT INTO token (uuid, user_id, organization_id, environment, name, secret_hash, sent_webhook_url, signed_webhook_url,
                   completed_webhook_url, created_at, expires_at, parent_id)
SELECT :uuid, t.user_id, t.organization_id, t.environment, t.name, :secret_hash, t.sent_webhook_url,
       t.signed_webhook_url, t.completed_webhook_url, :now, :now + (t.expires_at - t.created_at), t.parent_id
FROM token t
WHERE t.uuid = :token AND t.kind = 'api'
ON CONFLICT (uuid) DO NOTHING

UPDATE token SET revoked_at = iif(:until IS NULL, :now, NULL),
                 expires_at = min(coalesce(expires_at, :until), coalesce(:until, expires_at))
WHERE uuid = :token AND kind = 'api'

-- @answer
SELECT 'ok', @COLUMNS(r) FROM token_row r WHERE r.uuid = :uuid

-- @outcome
SELECT 'missing'
