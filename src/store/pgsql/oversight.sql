-- SPDX-License-Identifier: Apache-2.0
-- The operations of sigreqctl on submissions and deliveries of all organisations. engine.sql describes the form of this
-- file. Lists are in the order of ids, newest first, and begin after the row that p_before names.

-- The columns of an overview.
-- @macro OVERVIEWS() TABLE (outcome text, uuid uuid, environment text, organization text, email text, name text,
--     state text, signers bigint, completed bigint, created_at bigint, updated_at bigint, closed_at bigint,
--     expires_at bigint, held_at bigint, hold_reason text)
-- @macro OVERVIEW(r) r.uuid, r.environment, r.organization, r.email, r.name, r.state, r.signers, r.completed, r.created_at,
--     r.updated_at, r.closed_at, r.expires_at, r.held_at, r.hold_reason

CREATE VIEW sigreq.overview_row AS
    SELECT s.id, s.uuid, s.environment::text AS environment, o.name AS organization,
           u.email::text AS email, s.name, s.state::text AS state,
           (SELECT count(*) FROM sigreq.signer g WHERE g.submission_id = s.id AND g.state <> 'replaced') AS signers,
           (SELECT count(*) FROM sigreq.signer g WHERE g.submission_id = s.id AND g.state = 'completed') AS completed,
           s.created_at, s.updated_at, s.closed_at, s.expires_at, s.held_at, s.hold_reason
    FROM sigreq.submission s
    JOIN sigreq.organization o ON o.id = s.organization_id
    JOIN sigreq.user_account u ON u.id = s.user_id

-- The plan is made for the arguments, because the function is called once in a session. So a filter that is NULL costs
-- nothing, and v_ids finds its rows by the primary key. Other filters read submissions, the newest first, until p_limit
-- fit. The first line of `search` is the folded name.
-- @op admin_submission_list(organization text?, user uuid?, environment text?, state text?, before uuid?, limit int,
--     signer text?, since time?, until time?, name text?, external_id text?) → ok overview[] | missing
CREATE FUNCTION sigreq.admin_submission_list(p_organization text, p_user uuid, p_environment text, p_state text,
    p_before uuid, p_limit integer, p_signer text, p_since bigint, p_until bigint, p_name text, p_external_id text)
RETURNS @OVERVIEWS()
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    v_organization bigint := sigreq.organization_find(p_organization);
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
    RETURN QUERY SELECT 'ok', @OVERVIEW(r) FROM (
        SELECT s.id FROM sigreq.submission s
        WHERE (p_organization IS NULL OR s.organization_id = v_organization)
          AND (p_user IS NULL OR s.user_id = v_user) AND (p_environment IS NULL OR s.environment = p_environment)
          AND (p_state IS NULL OR s.state = p_state) AND (v_before IS NULL OR s.id < v_before)
          AND (p_external_id IS NULL OR s.id = ANY (v_ids))
          AND (p_since IS NULL OR s.created_at >= p_since) AND (p_until IS NULL OR s.created_at < p_until)
          AND (p_name IS NULL OR strpos(split_part(s.search, E'\n', 1), p_name) > 0)
          AND (p_signer IS NULL OR EXISTS (SELECT FROM sigreq.signer g WHERE g.submission_id = s.id
                                             AND lower(g.email) = lower(p_signer COLLATE "C")))
        ORDER BY s.id DESC LIMIT p_limit) page
    JOIN sigreq.overview_row r ON r.id = page.id
    ORDER BY r.id DESC;
END $$

-- A signer's uuid is the secret of their link, so only its first characters are shown, as in logs.
-- @op admin_submission_get(submission uuid) → ok body | missing
CREATE FUNCTION sigreq.admin_submission_get(p_submission uuid) RETURNS text
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN coalesce((SELECT E'ok\n' || (to_jsonb(r) - 'id' || jsonb_build_object(
        'cancel_reason', s.cancel_reason, 'external_id', s.external_id,
        'people', (SELECT coalesce(jsonb_agg(jsonb_build_object('link', left(g.uuid::text, 8), 'firstname', g.firstname,
                          'lastname', g.lastname, 'email', g.email, 'state', g.state, 'due_at', g.due_at,
                          'opened_at', g.opened_at, 'completed_at', g.completed_at, 'refused_at', g.refused_at,
                          'refusal_reason', g.refusal_reason) ORDER BY g.position), '[]')
                   FROM sigreq.signer g WHERE g.submission_id = s.id),
        'documents', (SELECT coalesce(jsonb_agg(jsonb_build_object('uuid', d.uuid, 'name', d.name, 'size', d.size,
                             'sha256', d.sha256, 'revisions', (SELECT count(*) FROM sigreq.revision v
                                                               WHERE v.document_uuid = d.uuid)) ORDER BY d.position), '[]')
                      FROM sigreq.document d WHERE d.submission_id = s.id),
        'events', (SELECT jsonb_agg(jsonb_build_object('number', e.number, 'event', e.body::json->>'event',
                          'at', e.body::json->>'at', 'link', left(e.body::json->>'signer', 8), 'hash', e.hash)
                          ORDER BY e.number)
                   FROM sigreq.event e WHERE e.submission_id = s.id)))::text
        FROM sigreq.overview_row r JOIN sigreq.submission s ON s.id = r.id WHERE r.uuid = p_submission), 'missing');
END $$

-- What happened to submissions: (organization_id, environment, at, created, completed, refused, bytes). A rewritten document
-- is stored beside the upload, and a revision has only what was appended. Deleted submissions have no documents.
CREATE VIEW sigreq.happened AS
    SELECT organization_id, environment, created_at AS at, 1 AS created, 0 AS completed, 0 AS refused, 0::bigint AS bytes
    FROM sigreq.submission
    UNION ALL
    SELECT organization_id, environment, closed_at, 0, (coalesce(outcome, state) = 'completed')::int,
           (coalesce(outcome, state) = 'refused')::int, coalesce(certificate_size, 0)
    FROM sigreq.submission WHERE closed_at IS NOT NULL
    UNION ALL
    SELECT s.organization_id, s.environment, s.created_at, 0, 0, 0, d.size + coalesce(d.rewritten_size, 0)
    FROM sigreq.document d JOIN sigreq.submission s ON s.id = d.submission_id
    UNION ALL
    SELECT s.organization_id, s.environment, r.created_at, 0, 0, 0, r.size
    FROM sigreq.revision r JOIN sigreq.document d ON d.uuid = r.document_uuid
    JOIN sigreq.submission s ON s.id = d.submission_id

-- @op admin_stats(organization text?, since time?, until time?) → ok stat[] | missing
CREATE FUNCTION sigreq.admin_stats(p_organization text, p_since bigint, p_until bigint)
RETURNS TABLE (outcome text, month text, organization text, uuid uuid, environment text, created bigint,
    completed bigint, refused bigint, bytes bigint)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
@ONEORALL()
    RETURN QUERY
    SELECT 'ok', h.month, o.name, o.uuid, h.environment, h.created, h.completed, h.refused, h.bytes
    FROM (SELECT to_char(to_timestamp(x.at / 1000000) AT TIME ZONE 'UTC', 'YYYY-MM') AS month, x.organization_id,
                 x.environment::text AS environment, sum(x.created)::bigint AS created,
                 sum(x.completed)::bigint AS completed, sum(x.refused)::bigint AS refused, sum(x.bytes)::bigint AS bytes
          FROM sigreq.happened x
          WHERE (p_organization IS NULL OR x.organization_id = v_organization)
            AND (p_since IS NULL OR x.at >= p_since) AND (p_until IS NULL OR x.at < p_until)
          GROUP BY 1, 2, 3) h
    JOIN sigreq.organization o ON o.id = h.organization_id
    ORDER BY h.month, o.id, h.environment;
END $$

-- @op admin_delivery_list(organization text?, submission uuid?, success bool?, before uuid?, limit int)
--     → ok delivery[] | missing
CREATE FUNCTION sigreq.admin_delivery_list(p_organization text, p_submission uuid, p_success boolean, p_before uuid,
    p_limit integer) RETURNS @DELIVERIES()
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    v_organization bigint := sigreq.organization_find(p_organization);
    v_submission bigint := (SELECT s.id FROM sigreq.submission s WHERE s.uuid = p_submission);
    v_before bigint := (SELECT d.id FROM sigreq.job d WHERE d.uuid = p_before);
BEGIN
    IF (p_organization IS NOT NULL AND v_organization IS NULL) OR (p_submission IS NOT NULL AND v_submission IS NULL)
       OR (p_before IS NOT NULL AND v_before IS NULL) THEN
        outcome := 'missing';
        RETURN NEXT;
        RETURN;
    END IF;
    RETURN QUERY SELECT 'ok', @DELIVERY(r) FROM sigreq.job_row r
    WHERE (p_organization IS NULL OR r.organization_id = v_organization)
      AND (p_submission IS NULL OR r.submission_id = v_submission)
      AND (p_success IS NULL OR r.success = p_success) AND (v_before IS NULL OR r.id < v_before)
    ORDER BY r.id DESC LIMIT p_limit;
END $$

-- @op admin_redeliver(event uuid, uuid uuid, now time) → ok delivery | missing | conflict | stale | quota
CREATE FUNCTION sigreq.admin_redeliver(p_event uuid, p_uuid uuid, p_now bigint) RETURNS @DELIVERIES()
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
        RETURN QUERY SELECT 'ok', @DELIVERY(r) FROM sigreq.job_row r WHERE r.uuid = p_uuid;
    ELSE
        RETURN NEXT;
    END IF;
END $$

-- @op admin_archive_due(before time, stamped_until time, id int, n int) → ok archivable[]
CREATE FUNCTION sigreq.admin_archive_due(p_before bigint, p_stamped_until bigint, p_id bigint, p_n integer)
RETURNS TABLE (outcome text, submission uuid, stamped_until bigint, id bigint)
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT 'ok', s.uuid, coalesce(s.stamped_until, 0), s.id FROM sigreq.submission s
    WHERE s.state = 'completed' AND coalesce(s.stamped_until, 0) <= p_before
      AND (coalesce(s.stamped_until, 0), s.id) > (p_stamped_until, p_id)
    ORDER BY coalesce(s.stamped_until, 0), s.id LIMIT p_n;
END $$
