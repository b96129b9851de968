-- SPDX-License-Identifier: Apache-2.0
-- The history of deliveries. engine.sql describes the form of this file.

-- Each direction reads one range of the index, as in submission_list. The filters are applied to the rows of one user.
-- @op history_list(token_hash hash, now time, n int, direction text, at time?, id int, event text?,
--     submission uuid?, success bool?)
--     → ok delivery[] | unauthorized
CREATE FUNCTION sigreq.history_list(p_token_hash text, p_now bigint, p_n integer, p_direction text, p_at bigint,
    p_id bigint, p_event text, p_submission uuid, p_success boolean)
RETURNS @ROWS
LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    t record;
    v_submission bigint;
BEGIN
    SELECT user_id, organization_id, environment INTO t FROM sigreq.token
    WHERE @CALLER(token);
    IF NOT FOUND THEN
        outcome := 'unauthorized';
        RETURN NEXT;
        RETURN;
    END IF;
    IF p_submission IS NOT NULL THEN
        SELECT s.id INTO v_submission FROM sigreq.submission s WHERE s.uuid = p_submission;
        IF NOT FOUND THEN
            RETURN;
        END IF;
    END IF;
    IF p_direction = 'newer' THEN
        RETURN QUERY
        SELECT 'ok', @COLUMNS(r)
        FROM sigreq.job_row r
        WHERE r.user_id = t.user_id AND r.organization_id = t.organization_id AND r.environment = t.environment
          AND r.state = 'done' AND (r.ended_at, r.id) > (coalesce(p_at, -1), coalesce(p_id, 0))
          AND (p_event IS NULL OR r.event = p_event) AND (p_success IS NULL OR r.success = p_success)
          AND (v_submission IS NULL OR r.submission_id = v_submission)
        ORDER BY r.ended_at, r.id
        LIMIT p_n;
    ELSE
        RETURN QUERY
        SELECT 'ok', @COLUMNS(r)
        FROM sigreq.job_row r
        WHERE r.user_id = t.user_id AND r.organization_id = t.organization_id AND r.environment = t.environment
          AND r.state = 'done' AND (r.ended_at, r.id) < (coalesce(p_at, 9223372036854775807), coalesce(p_id, 0))
          AND (p_event IS NULL OR r.event = p_event) AND (p_success IS NULL OR r.success = p_success)
          AND (v_submission IS NULL OR r.submission_id = v_submission)
        ORDER BY r.ended_at DESC, r.id DESC
        LIMIT p_n;
    END IF;
END $$

-- Repeats the call d, whose row is locked. The event is sent to the URL that its token has now, because it may have been
-- corrected. A mail is sent to its recipient again. The limits are one repetition at a time and five
-- in a minute, and for mail one in ten minutes.
CREATE FUNCTION sigreq.job_repeat(d sigreq.job, p_now bigint, p_uuid uuid) RETURNS text
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    v_url text := d.url;
    v_most integer := 1;
    v_since bigint := p_now - 600000000;
BEGIN
    IF EXISTS (SELECT 1 FROM sigreq.job WHERE uuid = p_uuid AND event_id = d.event_id) THEN
        RETURN 'ok';
    END IF;
    IF NOT @MAILED(d.kind) THEN
        v_most := 5;
        v_since := p_now - 60000000;
        v_url := (SELECT @URLOF(t, d.event) FROM sigreq.token t WHERE t.id = d.token_id);
    END IF;
    IF v_url IS NULL THEN
        RETURN 'conflict';
    END IF;
    IF EXISTS (SELECT 1 FROM sigreq.job WHERE event_id = d.event_id AND uuid <> event_id AND state <> 'done') THEN
        RETURN 'stale';
    END IF;
    IF (SELECT count(*) FROM sigreq.job
        WHERE event_id = d.event_id AND uuid <> event_id AND created_at > v_since) >= v_most THEN
        RETURN 'quota';
    END IF;
    INSERT INTO sigreq.job (uuid, event_id, submission_id, token_id, user_id, organization_id, environment, state, kind,
                            event, created_at, due_at, url, body)
    VALUES (p_uuid, d.event_id, d.submission_id, d.token_id, d.user_id, d.organization_id, d.environment, 'pending',
            d.kind, d.event, p_now, p_now, v_url, d.body);
    RETURN 'ok';
END $$

-- @op history_redeliver(token_hash hash, now time, event uuid, uuid uuid)
--     → ok delivery | missing | conflict | stale | quota | unauthorized
CREATE FUNCTION sigreq.history_redeliver(p_token_hash text, p_now bigint, p_event uuid, p_uuid uuid)
RETURNS @ROWS
LANGUAGE plpgsql SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    d sigreq.job;
BEGIN
    SELECT e.* INTO d
    FROM sigreq.token t
    JOIN sigreq.job e ON @SCOPE(e, t)
    WHERE @CALLER(t)
      AND e.uuid = p_event AND e.event_id = p_event AND e.state = 'done' AND e.event <> 'test'
    FOR NO KEY UPDATE OF e;
    outcome := CASE WHEN FOUND THEN sigreq.job_repeat(d, p_now, p_uuid)
                    ELSE @NOTHING() END;
    IF outcome = 'ok' THEN
        RETURN QUERY SELECT 'ok', @COLUMNS(r) FROM sigreq.job_row r WHERE r.uuid = p_uuid;
    ELSE
        RETURN NEXT;
    END IF;
END $$

-- A call to a URL of the caller, which tries it: at most five of a token in a minute. Its body is JSON text.
-- @op history_test(token_hash hash, now time, url text, uuid uuid, body text) → ok delivery | quota | unauthorized
CREATE FUNCTION sigreq.history_test(p_token_hash text, p_now bigint, p_url text, p_uuid uuid, p_body text)
RETURNS @ROWS
LANGUAGE plpgsql SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    t sigreq.token;
BEGIN
    SELECT c.* INTO t FROM sigreq.token c WHERE @CALLER(c) FOR NO KEY UPDATE;
    outcome := CASE WHEN NOT FOUND THEN 'unauthorized'
                    WHEN EXISTS (SELECT 1 FROM sigreq.job d WHERE d.uuid = p_uuid) THEN 'ok'
                    WHEN (SELECT count(*) FROM sigreq.job d WHERE d.token_id = t.id AND d.event = 'test'
                          AND d.created_at > p_now - 60000000) >= 5 THEN 'quota' END;
    IF outcome <> 'ok' THEN
        RETURN NEXT;
        RETURN;
    END IF;
    IF outcome IS NULL THEN
        INSERT INTO sigreq.job (uuid, event_id, token_id, user_id, organization_id, environment, state, kind, event,
                                created_at, due_at, url, body)
        VALUES (p_uuid, p_uuid, t.id, t.user_id, t.organization_id, t.environment, 'pending', 'webhook', 'test', p_now,
                p_now, p_url, p_body::json);
    END IF;
    RETURN QUERY SELECT 'ok', @COLUMNS(r) FROM sigreq.job_row r WHERE r.uuid = p_uuid;
END $$
