-- SPDX-License-Identifier: Apache-2.0
-- Tokens and their webhook URLs. engine.sql describes the form of this file.

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

-- @op token_list(token_hash hash, now time, n int, direction text, at time?, id int) → ok token[] | unauthorized
CREATE FUNCTION sigreq.token_list(p_token_hash text, p_now bigint, p_n integer, p_direction text, p_at bigint,
    p_id bigint)
RETURNS @ROWS
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
        SELECT 'ok', @COLUMNS(r)
        FROM sigreq.token_row r
        WHERE r.user_id = t.user_id AND r.organization_id = t.organization_id AND r.environment = t.environment
          AND (r.created_at, r.id) > (coalesce(p_at, -1), coalesce(p_id, 0))
        ORDER BY r.created_at, r.id
        LIMIT p_n;
    ELSE
        RETURN QUERY
        SELECT 'ok', @COLUMNS(r)
        FROM sigreq.token_row r
        WHERE r.user_id = t.user_id AND r.organization_id = t.organization_id AND r.environment = t.environment
          AND (r.created_at, r.id) < (coalesce(p_at, 9223372036854775807), coalesce(p_id, 0))
        ORDER BY r.created_at DESC, r.id DESC
        LIMIT p_n;
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
    JOIN sigreq.token_row r ON @SCOPE(r, t)
    WHERE @CALLER(t)
      AND r.uuid = p_uuid;
    IF NOT FOUND THEN
        RETURN @NOTHING();
    END IF;
    PERFORM sigreq.token_revoke_tree(v_id, p_now, p_children);
    RETURN 'ok';
END $$
