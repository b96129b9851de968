-- SPDX-License-Identifier: Apache-2.0
-- Tokens and their webhook URLs. engine.sql describes the form of this file.

-- The result of a function that gives tokens, and the columns of a token. If there is no token, the function sets only
-- `outcome`.
-- @macro TOKENS() TABLE (outcome text, id bigint, uuid uuid, name text, environment text, user_uuid uuid,
--     firstname text, lastname text, email text, organization_uuid uuid, organization_name text,
--     sent_webhook_url text, signed_webhook_url text, completed_webhook_url text, created_at bigint, expires_at
--     bigint, revoked_at bigint, parent uuid, used_on bigint)
-- @macro TOKEN(r) r.id, r.uuid, r.name, r.environment, r.user_uuid, r.firstname, r.lastname, r.email,
--     r.organization_uuid, r.organization_name, r.sent_webhook_url, r.signed_webhook_url,
--     r.completed_webhook_url, r.created_at, r.expires_at, r.revoked_at, r.parent, r.used_on

CREATE VIEW sigreq.token_row AS
    SELECT t.id, t.uuid, t.user_id, t.organization_id, t.environment, t.secret_hash, t.name, t.created_at, t.expires_at,
           t.revoked_at, u.uuid AS user_uuid, u.firstname, u.lastname, u.email, o.uuid AS organization_uuid,
           o.name AS organization_name, t.sent_webhook_url::text AS sent_webhook_url,
           t.signed_webhook_url::text AS signed_webhook_url, t.completed_webhook_url::text AS completed_webhook_url,
           (SELECT p.uuid FROM sigreq.token p WHERE p.id = t.parent_id) AS parent, t.used_on
    FROM sigreq.token t
    JOIN sigreq.user_account u ON u.id = t.user_id
    JOIN sigreq.organization o ON o.id = t.organization_id

-- @op token_current(token_hash hash, now time) → ok token | unauthorized
CREATE FUNCTION sigreq.token_current(p_token_hash text, p_now bigint) RETURNS @TOKENS()
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT 'ok', @TOKEN(r) FROM sigreq.token_row r
    WHERE @CALLER(r);
    @OTHERWISE(unauthorized)
END $$

-- The outcome of an operation whose query found nothing.
CREATE FUNCTION sigreq.why_nothing(p_token_hash text, p_now bigint) RETURNS text
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
BEGIN
    PERFORM 1 FROM sigreq.token
    WHERE @CALLER(token);
    RETURN CASE WHEN FOUND THEN 'missing' ELSE 'unauthorized' END;
END $$

-- Locked tokens are left out, so the statement never waits. A statement that has locked a token changes or ends the
-- token, or records the same day.
-- @op token_used(token_hashes json, now time, day time) → ok
CREATE FUNCTION sigreq.token_used(p_token_hashes jsonb, p_now bigint, p_day bigint) RETURNS text
LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    UPDATE sigreq.token SET used_on = p_day
    WHERE id IN (SELECT t.id FROM jsonb_array_elements_text(p_token_hashes) AS h (token_hash)
                 JOIN sigreq.token t ON @VALID(t, h.token_hash, p_now)
                 WHERE t.used_on IS NULL OR t.used_on < p_day
                 FOR NO KEY UPDATE OF t SKIP LOCKED);
    RETURN 'ok';
END $$

-- @op webhook_set(token_hash hash, now time, kind text, url text?) → ok | unauthorized
CREATE FUNCTION sigreq.webhook_set(p_token_hash text, p_now bigint, p_kind text, p_url text) RETURNS text
LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    UPDATE sigreq.token
    SET sent_webhook_url = CASE p_kind WHEN 'sent' THEN p_url ELSE sent_webhook_url END,
        signed_webhook_url = CASE p_kind WHEN 'signed' THEN p_url ELSE signed_webhook_url END,
        completed_webhook_url = CASE p_kind WHEN 'completed' THEN p_url ELSE completed_webhook_url END
    WHERE @CALLER(token);
    RETURN CASE WHEN FOUND THEN 'ok' ELSE 'unauthorized' END;
END $$

-- Sets the URL of each member of p_urls, to NULL if the member is null. URLs that are not in p_urls do not change.
CREATE FUNCTION sigreq.token_webhooks_change(p_id bigint, p_urls jsonb) RETURNS void
LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    UPDATE sigreq.token
    SET sent_webhook_url = CASE WHEN p_urls ? 'sent' THEN p_urls->>'sent' ELSE sent_webhook_url END,
        signed_webhook_url = CASE WHEN p_urls ? 'signed' THEN p_urls->>'signed' ELSE signed_webhook_url END,
        completed_webhook_url = CASE WHEN p_urls ? 'completed' THEN p_urls->>'completed' ELSE completed_webhook_url END
    WHERE id = p_id AND p_urls <> '{}';
END $$

-- @op token_webhooks(token_hash hash, now time, uuid uuid, urls json) → ok token | missing | unauthorized
CREATE FUNCTION sigreq.token_webhooks(p_token_hash text, p_now bigint, p_uuid uuid, p_urls jsonb) RETURNS @TOKENS()
LANGUAGE plpgsql SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    v_id bigint;
BEGIN
    SELECT r.id INTO v_id
    FROM sigreq.token t
    JOIN sigreq.token r ON @SCOPE(r, t)
    WHERE @CALLER(t)
      AND r.uuid = p_uuid;
    IF NOT FOUND THEN
        outcome := sigreq.why_nothing(p_token_hash, p_now);
        RETURN NEXT;
        RETURN;
    END IF;
    PERFORM sigreq.token_webhooks_change(v_id, p_urls);
    RETURN QUERY SELECT 'ok', @TOKEN(r) FROM sigreq.token_row r WHERE r.id = v_id;
END $$

-- FOR SHARE waits for a revocation of the caller's token, so no token can be made that token_revoke_tree does not see.
-- @op token_create(token_hash hash, now time, uuid uuid, name text, secret_hash hash, expires_at time?)
--     → ok token | unauthorized
CREATE FUNCTION sigreq.token_create(p_token_hash text, p_now bigint, p_uuid uuid, p_name text, p_secret_hash text,
    p_expires_at bigint) RETURNS @TOKENS()
LANGUAGE plpgsql SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    t record;
BEGIN
    SELECT id, user_id, organization_id, environment INTO t FROM sigreq.token
    WHERE @CALLER(token)
    FOR SHARE;
    IF NOT FOUND THEN
        outcome := 'unauthorized';
        RETURN NEXT;
        RETURN;
    END IF;
    INSERT INTO sigreq.token (uuid, user_id, organization_id, environment, name, secret_hash, created_at, expires_at,
                              parent_id)
    VALUES (p_uuid, t.user_id, t.organization_id, t.environment, p_name, p_secret_hash, p_now, p_expires_at, t.id)
    ON CONFLICT (uuid) DO NOTHING;
    RETURN QUERY SELECT 'ok', @TOKEN(r) FROM sigreq.token_row r WHERE r.uuid = p_uuid;
END $$

-- @op token_get(token_hash hash, now time, uuid uuid) → ok token | missing | unauthorized
CREATE FUNCTION sigreq.token_get(p_token_hash text, p_now bigint, p_uuid uuid) RETURNS @TOKENS()
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT 'ok', @TOKEN(r)
    FROM sigreq.token t
    JOIN sigreq.token_row r ON @SCOPE(r, t)
    WHERE @CALLER(t)
      AND r.uuid = p_uuid;
    IF NOT FOUND THEN
        outcome := sigreq.why_nothing(p_token_hash, p_now);
        RETURN NEXT;
    END IF;
END $$

-- @op token_list(token_hash hash, now time, limit int, direction text, at time?, id int) → ok token[] | unauthorized
CREATE FUNCTION sigreq.token_list(p_token_hash text, p_now bigint, p_limit integer, p_direction text, p_at bigint,
    p_id bigint)
RETURNS @TOKENS()
LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    t record;
BEGIN
    SELECT user_id, organization_id, environment INTO t FROM sigreq.token
    WHERE @CALLER(token);
    IF NOT FOUND THEN
        outcome := 'unauthorized';
        RETURN NEXT;
    ELSIF p_direction = 'newer' THEN
        RETURN QUERY
        SELECT 'ok', @TOKEN(r)
        FROM sigreq.token_row r
        WHERE r.user_id = t.user_id AND r.organization_id = t.organization_id AND r.environment = t.environment
          AND (r.created_at, r.id) > (coalesce(p_at, -1), coalesce(p_id, 0))
        ORDER BY r.created_at, r.id
        LIMIT p_limit;
    ELSE
        RETURN QUERY
        SELECT 'ok', @TOKEN(r)
        FROM sigreq.token_row r
        WHERE r.user_id = t.user_id AND r.organization_id = t.organization_id AND r.environment = t.environment
          AND (r.created_at, r.id) < (coalesce(p_at, 9223372036854775807), coalesce(p_id, 0))
        ORDER BY r.created_at DESC, r.id DESC
        LIMIT p_limit;
    END IF;
END $$

-- The ids of a token and, with p_children, of all tokens that it made, directly or through others.
CREATE FUNCTION sigreq.token_tree(p_id bigint, p_children boolean) RETURNS SETOF bigint
LANGUAGE sql STABLE SET enable_seqscan = off AS $$
    WITH RECURSIVE tree(id) AS (
        SELECT p_id
        UNION
        SELECT c.id FROM tree JOIN sigreq.token c ON c.parent_id = tree.id WHERE p_children)
    SELECT id FROM tree
$$

-- Each round of the loop sees what was committed before it. When a round finds nothing, every token of the tree is
-- revoked and locked by this transaction, so none of them can make another token. The order by id avoids deadlocks.
CREATE FUNCTION sigreq.token_revoke_tree(p_id bigint, p_now bigint, p_children boolean) RETURNS void
LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    LOOP
        PERFORM 1 FROM sigreq.token WHERE id IN (SELECT sigreq.token_tree(p_id, p_children)) AND revoked_at IS NULL
        ORDER BY id FOR NO KEY UPDATE;
        EXIT WHEN NOT FOUND;
        UPDATE sigreq.token SET revoked_at = p_now
        WHERE id IN (SELECT sigreq.token_tree(p_id, p_children)) AND revoked_at IS NULL;
    END LOOP;
END $$

-- @op token_revoke(token_hash hash, now time, uuid uuid, children bool) → ok | missing | unauthorized
CREATE FUNCTION sigreq.token_revoke(p_token_hash text, p_now bigint, p_uuid uuid, p_children boolean) RETURNS text
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    v_id bigint;
BEGIN
    SELECT r.id INTO v_id
    FROM sigreq.token t
    JOIN sigreq.token r ON @SCOPE(r, t)
    WHERE @CALLER(t)
      AND r.uuid = p_uuid;
    IF NOT FOUND THEN
        RETURN sigreq.why_nothing(p_token_hash, p_now);
    END IF;
    PERFORM sigreq.token_revoke_tree(v_id, p_now, p_children);
    RETURN 'ok';
END $$
