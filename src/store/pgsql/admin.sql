-- SPDX-License-Identifier: Apache-2.0
-- Operations of sigreqctl that lock tokens. ../common/engine.sql describes the form of this file.

-- @op admin_token_revoke(uuid uuid, now time, children bool) → ok token[] | missing
CREATE FUNCTION sigreq.admin_token_revoke(p_uuid uuid, p_now bigint, p_children boolean)
RETURNS @ROWS
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_id bigint := (SELECT t.id FROM sigreq.token_row t WHERE t.uuid = p_uuid);
BEGIN
    IF v_id IS NULL THEN
        outcome := 'missing';
        RETURN NEXT;
        RETURN;
    END IF;
    PERFORM sigreq.token_revoke_tree(v_id, p_now, p_children);
    RETURN QUERY SELECT 'ok', @COLUMNS(r) FROM sigreq.token_row r
    WHERE r.id IN (SELECT sigreq.token_tree(v_id, p_children)) ORDER BY r.id;
END $$

-- The new token expires after the time that the old one had. Without p_until, the old one ends at once.
-- @op admin_token_rotate(token uuid, uuid uuid, secret_hash hash, now time, until time?) → ok token | missing | conflict
CREATE FUNCTION sigreq.admin_token_rotate(p_token uuid, p_uuid uuid, p_secret_hash text, p_now bigint, p_until bigint)
RETURNS @ROWS
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    t sigreq.token;
BEGIN
    SELECT * INTO t FROM sigreq.token WHERE uuid = p_token AND kind = 'api' FOR NO KEY UPDATE;
    IF t.id IS NULL OR (t.revoked_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM sigreq.token WHERE uuid = p_uuid)) THEN
        outcome := CASE WHEN t.id IS NULL THEN 'missing' ELSE 'conflict' END;
        RETURN NEXT;
        RETURN;
    END IF;
    INSERT INTO sigreq.token (uuid, user_id, organization_id, environment, name, secret_hash, sent_webhook_url,
                              signed_webhook_url, completed_webhook_url, created_at, expires_at, parent_id)
    VALUES (p_uuid, t.user_id, t.organization_id, t.environment, t.name, p_secret_hash, t.sent_webhook_url,
            t.signed_webhook_url, t.completed_webhook_url, p_now, p_now + (t.expires_at - t.created_at), t.parent_id)
    ON CONFLICT (uuid) DO NOTHING;
    UPDATE sigreq.token SET revoked_at = CASE WHEN p_until IS NULL THEN coalesce(revoked_at, p_now) ELSE revoked_at END,
                            expires_at = least(expires_at, p_until)
    WHERE id = t.id;
    RETURN QUERY SELECT 'ok', @COLUMNS(r) FROM sigreq.token_row r WHERE r.uuid = p_uuid;
END $$
