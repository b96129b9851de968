-- SPDX-License-Identifier: Apache-2.0
-- Gives events of the feed their positions. engine.sql describes the form of this file.

-- The lock of the row orders all who do this. The statement after it has a snapshot that is newer than the lock, so it sees
-- all positions that were given before.
CREATE FUNCTION sigreq.feed_number_scope(p_user bigint, p_environment text) RETURNS void
LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    v_last bigint;
    v_count bigint;
BEGIN
    INSERT INTO sigreq.feed_scope AS s (user_id, environment) VALUES (p_user, p_environment)
    ON CONFLICT (user_id, environment) DO UPDATE SET last = s.last
    RETURNING s.last INTO v_last;
    UPDATE sigreq.feed e SET position = v_last + n.nth
    FROM (SELECT x.id, row_number() OVER (ORDER BY x.id) AS nth
          FROM (SELECT f.id FROM sigreq.feed f
                WHERE f.user_id = p_user AND f.environment = p_environment AND f.position = 0
                ORDER BY f.id LIMIT 1000) x) n
    WHERE e.id = n.id;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    UPDATE sigreq.feed_scope SET last = v_last + v_count WHERE user_id = p_user AND environment = p_environment;
END $$

-- @op feed_number(token_hash hash, now time) → ok | unauthorized
CREATE FUNCTION sigreq.feed_number(p_token_hash text, p_now bigint) RETURNS text
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    t record;
BEGIN
    SELECT user_id, environment INTO t FROM sigreq.token WHERE @CALLER(token);
    IF NOT FOUND THEN
        RETURN 'unauthorized';
    END IF;
    PERFORM sigreq.feed_number_scope(t.user_id, t.environment);
    RETURN 'ok';
END $$

-- @op admin_feed_expire(before time) → ok count
CREATE FUNCTION sigreq.admin_feed_expire(p_before bigint) RETURNS @ROWS
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    v_scope record;
    v_deleted bigint;
BEGIN
    FOR v_scope IN SELECT DISTINCT o.user_id, o.environment FROM @OLDEST() o ORDER BY o.user_id, o.environment LOOP
        PERFORM sigreq.feed_number_scope(v_scope.user_id, v_scope.environment);
    END LOOP;
    @PRUNE();
    @PRUNED();
    GET DIAGNOSTICS v_deleted = ROW_COUNT;
    RETURN QUERY SELECT 'ok', v_deleted;
END $$
