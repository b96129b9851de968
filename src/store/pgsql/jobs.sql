-- SPDX-License-Identifier: Apache-2.0
-- The queue of jobs. engine.sql describes the form of this file.

-- The clock of the database, because all hosts compare the times of claims. It gives whole milliseconds, as JSON shows
-- them.
CREATE FUNCTION sigreq.job_clock() RETURNS bigint
LANGUAGE sql VOLATILE AS $$
    SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint * 1000
$$

-- Makes jobs of the timers that are due.
CREATE FUNCTION sigreq.job_timers(p_now bigint) RETURNS void
LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    PERFORM 1 FROM sigreq.timer WHERE due_at <= p_now LIMIT 1;
    IF NOT FOUND THEN
        RETURN; -- the statement below would be costly all the same
    END IF;
    WITH due AS MATERIALIZED (
        SELECT submission_id, kind FROM sigreq.timer WHERE due_at <= p_now
        ORDER BY due_at LIMIT 1000 FOR UPDATE SKIP LOCKED),
    gone AS (
        DELETE FROM sigreq.timer t USING due d WHERE t.submission_id = d.submission_id AND t.kind = d.kind
        RETURNING t.submission_id, t.due_at, t.kind)
    INSERT INTO sigreq.job (submission_id, organization_id, state, kind, created_at, due_at, body)
    SELECT s.id, s.organization_id, 'pending', g.kind, p_now, g.due_at, json_build_object('submission', s.uuid)
    FROM gone g JOIN sigreq.submission s ON s.id = g.submission_id
    ORDER BY g.due_at;
END $$

-- Ends the claims whose lease is over and those of dead processes. Jobs of a kind that is repeated are scheduled again.
-- Then it counts the jobs, up to 100,000. A claim is named <process>.<batch>. '/' is the character after '.', so names
-- between '<process>.' and '<process>/' are claims of one process.
-- @op job_survey(survey json) → ok survey
CREATE FUNCTION sigreq.job_survey(p_survey json)
RETURNS TABLE (outcome text, interrupted bigint, waiting bigint, under_way bigint, oldest bigint, owners json)
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    p record;
    v_now bigint := sigreq.job_clock();
    v_interrupted bigint;
    v_waiting bigint;
    v_under_way bigint;
    v_oldest bigint;
    v_claim text := '';
    v_owners text[] := '{}';
BEGIN
    SELECT * INTO p FROM json_to_record(p_survey) AS r(now bigint, dead json, repeated json);
    UPDATE sigreq.job d
    SET state = 'scheduled', due_at = p.now + (p.repeated->d.kind->>'pause')::bigint, attempts = attempts + 1,
        claimed_by = NULL, claimed_until = NULL, error = 'interrupted, outcome unknown'
    WHERE d.id IN (SELECT l.id FROM sigreq.job l
                   WHERE l.state = 'claimed' AND l.attempts + 1 < (p.repeated->l.kind->>'attempts')::integer
                     AND (l.claimed_until < v_now
                          OR split_part(l.claimed_by, '.', 1) IN (SELECT json_array_elements_text(p.dead)))
                   FOR UPDATE SKIP LOCKED);
    WITH lost AS (
        UPDATE sigreq.job d
        SET state = 'done', ended_at = v_now, success = false, attempts = attempts + 1, status = NULL,
            error = 'interrupted, outcome unknown', body = @ENDEDBODY(d.kind, d.body)
        WHERE d.id IN (SELECT l.id FROM sigreq.job l
                       WHERE l.state = 'claimed'
                         AND (l.claimed_until < v_now
                              OR split_part(l.claimed_by, '.', 1) IN (SELECT json_array_elements_text(p.dead)))
                       FOR UPDATE SKIP LOCKED)
        RETURNING d.*),
    told AS (@FAILED(l, l.error, l.status) FROM lost l WHERE @FAILURE(l) IS NOT NULL)
    SELECT count(*) INTO v_interrupted FROM lost;
    SELECT count(*), greatest(p.now - min(w.due_at), 0) INTO v_waiting, v_oldest
    FROM (SELECT due_at FROM sigreq.job WHERE state = 'pending' AND destination <> 'archive:'
          ORDER BY organization_id, destination, id LIMIT 100000) w;
    SELECT count(*) INTO v_under_way
    FROM (SELECT 1 FROM sigreq.job WHERE state = 'claimed' LIMIT 100000) c;
    FOR i IN 1 .. 200 LOOP
        SELECT split_part(claimed_by, '.', 1) INTO v_claim FROM sigreq.job
        WHERE state = 'claimed' AND claimed_by > v_claim ORDER BY claimed_by LIMIT 1;
        EXIT WHEN NOT FOUND;
        v_owners := v_owners || v_claim;
        v_claim := v_claim || '/';
    END LOOP;
    RETURN QUERY SELECT 'ok', v_interrupted, v_waiting, v_under_way, coalesce(v_oldest, 0), to_json(v_owners);
END $$

-- Claims jobs of one destination of an organisation: of the kinds that this process knows, each for the lease of its
-- kind. MATERIALIZED prevents that the join evaluates the subquery again and locks more rows.
CREATE FUNCTION sigreq.job_claim(p_organization bigint, p_destination text, p_room integer, p_claim text,
    p_until jsonb) RETURNS integer
LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    v_count integer;
BEGIN
    IF p_room <= 0 THEN
        RETURN 0;
    END IF;
    WITH free AS MATERIALIZED (
        SELECT o.id FROM sigreq.job o
        WHERE o.state = 'pending' AND o.organization_id = p_organization AND o.destination = p_destination
          AND p_until->o.kind IS NOT NULL
          AND (o.kind <> 'webhook'
               OR NOT EXISTS (SELECT 1 FROM sigreq.job e
                              WHERE e.submission_id = o.submission_id AND e.id < o.id AND e.state <> 'done'
                                AND e.kind = 'webhook'))
        ORDER BY o.id
        LIMIT p_room
        FOR UPDATE SKIP LOCKED)
    UPDATE sigreq.job d SET state = 'claimed', claimed_by = p_claim, claimed_until = (p_until->>d.kind)::bigint
    FROM free WHERE d.id = free.id;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END $$

-- Claims one job of each destination that is not listed. The walk begins after p_after, continues at the first
-- destination after the last one, and ends at p_after. It reads at most 400 destinations, and the next walk begins
-- elsewhere.
CREATE FUNCTION sigreq.job_claim_other(p_organization bigint, p_most integer, p_listed jsonb, p_after text,
    p_claim text, p_until jsonb) RETURNS integer
LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    v_at text := p_after;
    v_around boolean := p_after = '';
    v_count integer := 0;
BEGIN
    FOR i IN 1 .. 400 + (SELECT count(*) FROM jsonb_object_keys(p_listed)) LOOP
        EXIT WHEN v_count >= p_most;
        SELECT destination INTO v_at FROM sigreq.job
        WHERE state = 'pending' AND organization_id = p_organization AND destination > v_at
        ORDER BY destination LIMIT 1;
        IF NOT FOUND THEN
            EXIT WHEN v_around;
            v_around := true;
            v_at := '';
            CONTINUE;
        END IF;
        EXIT WHEN v_around AND p_after <> '' AND v_at > p_after;
        CONTINUE WHEN p_listed->v_at IS NOT NULL;
        v_count := v_count + sigreq.job_claim(p_organization, v_at, 1, p_claim, p_until);
    END LOOP;
    RETURN v_count;
END $$

-- Claims jobs of one organisation after the other until there are enough rows. The walk begins after `from`, continues
-- at the first organisation after the last one, and ends at `from`. Each organisation gets jobs up to its share, first
-- of listed destinations, beginning with those that have the most room, then of the others.
CREATE FUNCTION sigreq.job_claims(p_until jsonb, p_batch json) RETURNS void
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    p record;
    v_at bigint;
    v_around boolean;
    v_left integer;
    v_room integer;
    v_count integer;
    v_share jsonb;
    v_listed jsonb;
    v_destination record;
BEGIN
    SELECT * INTO p FROM json_to_record(p_batch) AS r(claim text, rows integer, "from" bigint, other integer,
        share jsonb, organizations jsonb, destinations jsonb);
    v_at := p."from";
    v_around := p."from" < 0;
    v_left := p.rows;
    WHILE v_left > 0 LOOP
        SELECT organization_id INTO v_at FROM sigreq.job
        WHERE state = 'pending' AND organization_id > v_at ORDER BY organization_id LIMIT 1;
        IF NOT FOUND THEN
            EXIT WHEN v_around;
            v_around := true;
            v_at := -1;
            CONTINUE;
        END IF;
        EXIT WHEN v_around AND p."from" >= 0 AND v_at > p."from";
        v_share := coalesce(p.organizations->v_at::text, p.share);
        v_listed := coalesce(p.destinations->v_at::text, '{}');
        v_room := least((v_share->>'room')::integer, greatest(v_left / 2, 16), v_left);
        v_left := v_left - v_room;
        FOR v_destination IN SELECT key AS name, value::integer AS room FROM jsonb_each_text(v_listed)
                             ORDER BY room DESC LOOP
            v_room := v_room - sigreq.job_claim(v_at, v_destination.name, least(v_destination.room, v_room), p.claim,
                                                p_until);
        END LOOP;
        IF v_room > 0 AND p.other > 0 THEN
            v_count := sigreq.job_claim_other(v_at, least(v_room, p.other, (v_share->>'other')::integer), v_listed,
                                              v_share->>'after', p.claim, p_until);
            v_room := v_room - v_count;
            p.other := p.other - v_count;
        END IF;
        v_left := v_left + v_room;
    END LOOP;
END $$

-- Records the jobs that ended, then claims jobs. If there are claims of this name already, the batch was committed
-- before, and its response was lost.
-- @op job_batch(batch json) → ok job[]
CREATE FUNCTION sigreq.job_batch(p_batch json)
RETURNS TABLE (outcome text, id bigint, kind text, organization bigint, destination text, url text, token uuid,
    due_at bigint, attempts integer, body json, due_in bigint)
LANGUAGE plpgsql SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    p record;
    v_now bigint := sigreq.job_clock();
    v_failed bigint[];
BEGIN
    SELECT * INTO p FROM json_to_record(p_batch) AS r(
        claim text, now bigint, leases json, rows integer, "from" bigint, ended json, released json);
    -- A later result of a job that is done is recorded, but not told again.
    v_failed := ARRAY(SELECT d.id
                      FROM json_to_recordset(p.ended) AS e(id bigint, claim text, success boolean, due_at bigint)
                      JOIN sigreq.job d ON d.id = e.id AND d.claimed_by = e.claim
                      WHERE NOT e.success AND e.due_at IS NULL AND d.state = 'claimed' AND @FAILURE(d) IS NOT NULL
                      ORDER BY d.id FOR UPDATE OF d);
    UPDATE sigreq.job d
    SET state = CASE WHEN e.due_at IS NOT NULL AND d.state = 'claimed' THEN 'scheduled' ELSE 'done' END,
        ended_at = CASE WHEN e.due_at IS NOT NULL AND d.state = 'claimed' THEN NULL ELSE v_now END,
        success = CASE WHEN e.due_at IS NOT NULL AND d.state = 'claimed' THEN NULL ELSE e.success END,
        due_at = CASE WHEN e.due_at IS NOT NULL AND d.state = 'claimed' THEN e.due_at ELSE d.due_at END,
        attempts = d.attempts + (NOT e.success AND d.state = 'claimed')::integer,
        claimed_by = CASE WHEN e.due_at IS NOT NULL AND d.state = 'claimed' THEN NULL ELSE d.claimed_by END,
        status = e.status, error = e.error,
        body = CASE WHEN e.due_at IS NOT NULL AND d.state = 'claimed' THEN d.body ELSE @ENDEDBODY(d.kind, d.body) END
    FROM json_to_recordset(p.ended) AS e(id bigint, claim text, status integer, success boolean, error text,
                                         due_at bigint)
    WHERE d.id = ANY (ARRAY(SELECT (l->>'id')::bigint FROM json_array_elements(p.ended) AS l))
      AND d.id = e.id AND d.claimed_by = e.claim;
    IF v_failed <> '{}' THEN
        @FAILED(d, e.said, e.status)
        FROM sigreq.job d JOIN json_to_recordset(p.ended) AS e(id bigint, status integer, said text) ON e.id = d.id
        WHERE d.id = ANY (v_failed) ORDER BY d.id;
    END IF;
    UPDATE sigreq.job d
    SET state = 'pending', claimed_by = NULL, claimed_until = NULL
    FROM json_to_recordset(p.released) AS e(id bigint, claim text)
    WHERE d.id = ANY (ARRAY(SELECT (l->>'id')::bigint FROM json_array_elements(p.released) AS l))
      AND d.id = e.id AND d.claimed_by = e.claim AND d.state = 'claimed';
    PERFORM 1 FROM sigreq.job WHERE state = 'claimed' AND claimed_by = p.claim LIMIT 1;
    IF NOT FOUND AND p.rows > 0 THEN
        UPDATE sigreq.job SET state = 'pending'
        WHERE id IN (SELECT id FROM sigreq.job WHERE state = 'scheduled' AND due_at <= p.now
                     ORDER BY due_at LIMIT 1000 FOR UPDATE SKIP LOCKED);
        PERFORM sigreq.job_timers(p.now);
        PERFORM sigreq.job_claims((SELECT jsonb_object_agg(l.key, v_now + l.value::bigint)
                                   FROM json_each_text(p.leases) l), p_batch);
    END IF;
    RETURN QUERY
    SELECT 'ok', d.id, d.kind, d.organization_id, d.destination, d.url,
           (SELECT t.uuid FROM sigreq.token t WHERE t.id = d.token_id), d.due_at, d.attempts, d.body, NULL::bigint
    FROM sigreq.job d
    WHERE d.state = 'claimed' AND d.claimed_by = p.claim
    ORDER BY d.organization_id <= p."from", d.organization_id, d.id;
    RETURN QUERY SELECT 'ok', 0::bigint, '', 0::bigint, '', NULL::text, NULL::uuid, 0::bigint, 0, '{}'::json,
                        @NEXTDUE(p.now) - p.now;
END $$

-- Jobs that archive. The submissions s of an organisation that are due: NEVER, those that were never archived, and were
-- closed at p_test or p_production (by their environment) or before; ENDING, those whose stamped_until is not later than
-- p_before. 10,000 of an organisation stand for more. Only one process at a time inserts jobs.
-- @macro NEVER(s, o) s.organization_id = o AND s.state = 'completed' AND coalesce(s.stamped_until, 0) = 0
--     AND s.closed_at <= greatest(p_test, p_production)
--     AND s.closed_at <= CASE s.environment WHEN 'test' THEN p_test ELSE p_production END
-- @macro ENDING(s, o) s.organization_id = o AND s.state = 'completed' AND coalesce(s.stamped_until, 0) > 0
--     AND coalesce(s.stamped_until, 0) <= p_before
-- FREE: a submission that has no job to archive it, and had none in the last 24 hours.
-- @macro FREE(s) NOT EXISTS (SELECT 1 FROM sigreq.job j WHERE j.submission_id = s.id AND j.kind = 'archive'
--     AND (j.state <> 'done' OR j.ended_at > v_now - 86400000000))
-- ROOM: how many jobs an organisation may get.
-- @macro ROOM(o) greatest(0, p_n - (SELECT count(*) FROM sigreq.job j WHERE j.state = 'pending'
--     AND j.organization_id = o AND j.destination = 'archive:'))
-- @macro INORDER(s) ORDER BY coalesce(s.stamped_until, 0), s.closed_at, s.id
-- The body of a job has the folder of the documents, because a database may have several.
-- @op job_archive(test time, production time, before time, now time, n int) → ok archiving
CREATE FUNCTION sigreq.job_archive(p_test bigint, p_production bigint, p_before bigint, p_now bigint, p_n integer)
RETURNS @ROWS
LANGUAGE plpgsql SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    v_now bigint := sigreq.job_clock();
    v_due bigint;
    v_made bigint := 0;
BEGIN
    SELECT coalesce(sum(c.n), 0) INTO v_due FROM sigreq.organization o CROSS JOIN LATERAL (
        SELECT (SELECT count(*) FROM (SELECT 1 FROM sigreq.submission s WHERE @NEVER(s, o.id) LIMIT 10000) x)
               + (SELECT count(*) FROM (SELECT 1 FROM sigreq.submission s WHERE @ENDING(s, o.id) LIMIT 10000) x) AS n) c;
    IF v_due > 0 AND pg_try_advisory_xact_lock(hashtext('sigreq.job_archive')) THEN
        INSERT INTO sigreq.job (submission_id, organization_id, state, kind, created_at, due_at, body)
        SELECT s.id, s.organization_id, 'pending', 'archive', p_now, p_now, json_build_object('submission', s.uuid,
                   'folder', (SELECT b.folder FROM sigreq.document d JOIN sigreq.blob b ON b.key = d.key
                              WHERE d.submission_id = s.id LIMIT 1))
        FROM sigreq.organization o
        CROSS JOIN LATERAL (
            SELECT f.id FROM (
                (SELECT s.id, 0 AS part, coalesce(s.stamped_until, 0) AS stamped_until, s.closed_at
                 FROM sigreq.submission s WHERE @NEVER(s, o.id) AND @FREE(s) @INORDER(s) LIMIT p_n)
                UNION ALL
                (SELECT s.id, 1, coalesce(s.stamped_until, 0), s.closed_at
                 FROM sigreq.submission s WHERE @ENDING(s, o.id) AND @FREE(s) @INORDER(s) LIMIT p_n)) f
            ORDER BY f.part, f.stamped_until, f.closed_at, f.id LIMIT @ROOM(o.id)) n
        JOIN sigreq.submission s ON s.id = n.id;
        GET DIAGNOSTICS v_made = ROW_COUNT;
    END IF;
    RETURN QUERY SELECT 'ok', v_due, v_made;
END $$
