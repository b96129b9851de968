-- SPDX-License-Identifier: Apache-2.0
-- The operations of sigreqctl on submissions and deliveries of all organisations. ../common/engine.sql describes the
-- form of this file. The list is in the order of ids, newest first, and begins after the row that p_before names.

-- The plan is made for the arguments, because the function is called once in a session. So a filter that is NULL costs
-- nothing, and v_ids finds its rows by the primary key. Other filters read submissions, the newest first, until p_n
-- fit. The first line of `search` is the folded name.
-- @op admin_submission_list(organization text?, user uuid?, environment text?, state text?, before uuid?, n int,
--     signer text?, since time?, until time?, name text?, external_id text?) → ok overview[] | missing
CREATE FUNCTION sigreq.admin_submission_list(p_organization text, p_user uuid, p_environment text, p_state text,
    p_before uuid, p_n integer, p_signer text, p_since bigint, p_until bigint, p_name text, p_external_id text)
RETURNS @ROWS
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    v_organization bigint := @WHICH(organization);
    v_before bigint := (SELECT s.id FROM sigreq.submission s WHERE s.uuid = p_before);
    v_user bigint := (SELECT u.id FROM sigreq.user_account u WHERE u.uuid = p_user);
    v_ids bigint[] := ARRAY(SELECT s.id FROM sigreq.user_account u
                            JOIN sigreq.submission s ON (s.user_id, s.organization_id) = (u.id, u.organization_id)
                            WHERE s.environment IN ('test', 'production') AND s.external_id = p_external_id);
BEGIN
    IF (p_organization IS NOT NULL AND v_organization IS NULL) OR (p_before IS NOT NULL AND v_before IS NULL) THEN
        outcome := 'missing';
        RETURN NEXT;
        RETURN;
    END IF;
    RETURN QUERY SELECT 'ok', @COLUMNS(r) FROM (
        SELECT s.id FROM sigreq.submission s
        WHERE (p_organization IS NULL OR s.organization_id = v_organization)
          AND (p_user IS NULL OR s.user_id = v_user) AND (p_environment IS NULL OR s.environment = p_environment)
          AND (p_state IS NULL OR s.state = p_state) AND (v_before IS NULL OR s.id < v_before)
          AND (p_external_id IS NULL OR s.id = ANY (v_ids))
          AND (p_since IS NULL OR s.created_at >= p_since) AND (p_until IS NULL OR s.created_at < p_until)
          AND (p_name IS NULL OR strpos(split_part(s.search, E'\n', 1), p_name) > 0)
          AND (p_signer IS NULL OR EXISTS (SELECT FROM sigreq.signer g WHERE g.submission_id = s.id
                                             AND lower(g.email) = lower(p_signer COLLATE "C")))
        ORDER BY s.id DESC LIMIT p_n) page
    JOIN sigreq.overview_row r ON r.id = page.id
    ORDER BY r.id DESC;
END $$

-- @op admin_redeliver(event uuid, uuid uuid, now time) → ok delivery | missing | conflict | stale | quota
CREATE FUNCTION sigreq.admin_redeliver(p_event uuid, p_uuid uuid, p_now bigint) RETURNS @ROWS
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    d sigreq.job;
BEGIN
    SELECT e.* INTO d FROM sigreq.job e WHERE e.uuid = p_event AND e.event_id = p_event AND e.state = 'done'
      AND e.event <> 'test'
    FOR NO KEY UPDATE;
    outcome := CASE WHEN FOUND THEN sigreq.job_repeat(d, p_now, p_uuid) ELSE 'missing' END;
    IF outcome = 'ok' THEN
        RETURN QUERY SELECT 'ok', @COLUMNS(r) FROM sigreq.job_row r WHERE r.uuid = p_uuid;
    ELSE
        RETURN NEXT;
    END IF;
END $$
