-- SPDX-License-Identifier: Apache-2.0
-- The operations of sigreqctl. engine.sql describes the form of this file. An argument names an organisation by its
-- uuid or its name. If it matches both, the uuid is preferred.

-- @macro ORGANIZATIONS() TABLE (outcome text, uuid uuid, name text, quota bigint, used bigint, created_at
--     bigint)
-- @macro ORGANIZATION(r) r.uuid, r.name, r.quota, r.used, r.created_at
-- @macro USERS() TABLE (outcome text, uuid uuid, firstname text, lastname text, email text, organization_uuid
--     uuid, created_at bigint, disabled_at bigint)
-- @macro USER(r) r.uuid, r.firstname, r.lastname, r.email, r.organization_uuid, r.created_at, r.disabled_at

CREATE VIEW sigreq.user_row AS
    SELECT u.id, u.organization_id, u.uuid, u.firstname, u.lastname, u.email, o.uuid AS organization_uuid, u.created_at,
           u.disabled_at
    FROM sigreq.user_account u
    JOIN sigreq.organization o ON o.id = u.organization_id

CREATE FUNCTION sigreq.organization_find(p_which text) RETURNS bigint
LANGUAGE sql STABLE AS $$
    SELECT id FROM sigreq.organization WHERE uuid::text = lower(p_which) OR name = p_which
    ORDER BY uuid::text = lower(p_which) DESC LIMIT 1
$$

-- @op admin_organization_create(uuid uuid, name text, quota int?, now time) → ok organization | conflict
CREATE FUNCTION sigreq.admin_organization_create(p_uuid uuid, p_name text, p_quota bigint, p_now bigint)
RETURNS @ORGANIZATIONS()
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    INSERT INTO sigreq.organization (uuid, name, quota, created_at) VALUES (p_uuid, p_name, p_quota, p_now)
    ON CONFLICT DO NOTHING;
    @ONE(ORGANIZATION, organization, uuid, p_uuid, conflict)
END $$

-- @op admin_organization_quota(which text, quota int?) → ok organization | missing
CREATE FUNCTION sigreq.admin_organization_quota(p_which text, p_quota bigint) RETURNS @ORGANIZATIONS()
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_id bigint := sigreq.organization_find(p_which);
BEGIN
    UPDATE sigreq.organization SET quota = p_quota WHERE id = v_id;
    @ONE(ORGANIZATION, organization, id, v_id, missing)
END $$

-- @op admin_organization_rename(which text, name text) → ok organization | missing | conflict
CREATE FUNCTION sigreq.admin_organization_rename(p_which text, p_name text) RETURNS @ORGANIZATIONS()
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_id bigint := sigreq.organization_find(p_which);
BEGIN
    UPDATE sigreq.organization SET name = p_name WHERE id = v_id;
    @ONE(ORGANIZATION, organization, id, v_id, missing)
EXCEPTION WHEN unique_violation THEN
    outcome := 'conflict';
    RETURN NEXT;
END $$

-- @op admin_user_create(uuid uuid, organization text, firstname text, lastname text, email text, now time)
--     → ok user | missing | conflict
CREATE FUNCTION sigreq.admin_user_create(p_uuid uuid, p_organization text, p_firstname text, p_lastname text,
    p_email text, p_now bigint) RETURNS @USERS()
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_organization bigint := sigreq.organization_find(p_organization);
BEGIN
    IF v_organization IS NULL THEN
        outcome := 'missing';
        RETURN NEXT;
        RETURN;
    END IF;
    INSERT INTO sigreq.user_account (uuid, organization_id, firstname, lastname, email, created_at)
    VALUES (p_uuid, v_organization, p_firstname, p_lastname, p_email, p_now)
    ON CONFLICT DO NOTHING;
    @ONE(USER, user_row, uuid, p_uuid, conflict)
END $$

-- @op admin_user_list(organization text?) → ok user[] | missing
CREATE FUNCTION sigreq.admin_user_list(p_organization text)
RETURNS @USERS()
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
@ONEORALL()
    RETURN QUERY SELECT 'ok', @USER(r) FROM sigreq.user_row r
    WHERE p_organization IS NULL OR r.organization_id = v_organization ORDER BY r.id;
END $$

-- @op admin_token_create(uuid uuid, organization text, user text, environment text, name text,
--     secret_hash hash, expires_at time?, now time)
--     → ok token | missing
CREATE FUNCTION sigreq.admin_token_create(p_uuid uuid, p_organization text, p_user text, p_environment text,
    p_name text, p_secret_hash text, p_expires_at bigint, p_now bigint) RETURNS @TOKENS()
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_organization bigint := sigreq.organization_find(p_organization);
BEGIN
    INSERT INTO sigreq.token (uuid, user_id, organization_id, environment, name, secret_hash, created_at, expires_at)
    SELECT p_uuid, u.id, u.organization_id, p_environment, p_name, p_secret_hash, p_now, p_expires_at
    FROM sigreq.user_account u
    WHERE u.organization_id = v_organization
      AND (u.uuid::text = lower(p_user) OR lower(u.email) = lower(p_user COLLATE "C"))
    ON CONFLICT (uuid) DO NOTHING;
    @ONE(TOKEN, token_row, uuid, p_uuid, missing)
END $$

-- @op admin_token_list(organization text?, user uuid?, now time, until time?) → ok token[] | missing
CREATE FUNCTION sigreq.admin_token_list(p_organization text, p_user uuid, p_now bigint, p_until bigint)
RETURNS @TOKENS()
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
@ONEORALL()
    RETURN QUERY SELECT 'ok', @TOKEN(r) FROM sigreq.token_row r
    WHERE (p_organization IS NULL OR r.organization_id = v_organization) AND (p_user IS NULL OR r.user_uuid = p_user)
      AND (p_until IS NULL OR (r.revoked_at IS NULL AND r.expires_at > p_now AND r.expires_at <= p_until))
    ORDER BY r.id;
END $$

-- @op admin_token_revoke(uuid uuid, now time, children bool) → ok token[] | missing
CREATE FUNCTION sigreq.admin_token_revoke(p_uuid uuid, p_now bigint, p_children boolean)
RETURNS @TOKENS()
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_id bigint := (SELECT t.id FROM sigreq.token t WHERE t.uuid = p_uuid);
BEGIN
    IF v_id IS NULL THEN
        outcome := 'missing';
        RETURN NEXT;
        RETURN;
    END IF;
    PERFORM sigreq.token_revoke_tree(v_id, p_now, p_children);
    RETURN QUERY SELECT 'ok', @TOKEN(r) FROM sigreq.token_row r
    WHERE r.id IN (SELECT sigreq.token_tree(v_id, p_children)) ORDER BY r.id;
END $$

-- The new token expires after the time that the old one had. Without p_until, the old one ends at once.
-- @op admin_token_rotate(token uuid, uuid uuid, secret_hash hash, now time, until time?) → ok token | missing | conflict
CREATE FUNCTION sigreq.admin_token_rotate(p_token uuid, p_uuid uuid, p_secret_hash text, p_now bigint, p_until bigint)
RETURNS @TOKENS()
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    t sigreq.token;
BEGIN
    SELECT * INTO t FROM sigreq.token WHERE uuid = p_token FOR NO KEY UPDATE;
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
    @ONE(TOKEN, token_row, uuid, p_uuid, missing)
END $$

-- @op admin_token_webhooks(uuid uuid, urls json) → ok token | missing
CREATE FUNCTION sigreq.admin_token_webhooks(p_uuid uuid, p_urls jsonb) RETURNS @TOKENS()
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_id bigint := (SELECT t.id FROM sigreq.token t WHERE t.uuid = p_uuid);
BEGIN
    PERFORM sigreq.token_webhooks_change(v_id, p_urls);
    @ONE(TOKEN, token_row, id, v_id, missing)
END $$

-- @op admin_expire(before time) → ok count
CREATE FUNCTION sigreq.admin_expire(p_before bigint) RETURNS text
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    v_deleted bigint;
BEGIN
    DELETE FROM sigreq.idempotency WHERE (token_id, key) IN (SELECT i.token_id, i.key FROM sigreq.idempotency i
                                                             WHERE i.created_at < p_before LIMIT 1000);
    GET DIAGNOSTICS v_deleted = ROW_COUNT;
    RETURN E'ok\n' || v_deleted;
END $$

-- @op admin_organization_list() → ok organization[]
SELECT 'ok', @ORGANIZATION(o) FROM sigreq.organization o ORDER BY o.id
