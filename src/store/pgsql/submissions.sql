-- SPDX-License-Identifier: Apache-2.0
-- Submissions and their documents. engine.sql describes the form of this file.

-- The PDFs that callers and signers can have, by their SHA-256: documents as they were signed, uploaded or rewritten,
-- and certificates of completion.
CREATE VIEW sigreq.known_file AS
    SELECT r.whole_sha256 AS sha256, d.submission_id, d.uuid AS document_uuid, d.name
    FROM sigreq.revision r JOIN sigreq.document d ON d.uuid = r.document_uuid
    UNION ALL
    SELECT d.sha256, d.submission_id, d.uuid, d.name FROM sigreq.document d
    UNION ALL
    SELECT d.rewritten_sha256, d.submission_id, d.uuid, d.name FROM sigreq.document d
    UNION ALL
    SELECT s.certificate_sha256, s.id, NULL, s.name FROM sigreq.submission s

-- Finds the few rows that have this digest first, and then their submissions (OFFSET 0 keeps this order). It never
-- reads all submissions of the caller.
-- @op document_known(token_hash hash, now time, sha256 hash) → ok file | missing | unauthorized
CREATE FUNCTION sigreq.document_known(p_token_hash text, p_now bigint, p_sha256 text)
RETURNS @ROWS
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
BEGIN
    RETURN QUERY
    SELECT 'ok', s.uuid, f.document_uuid, f.name
    FROM sigreq.token t CROSS JOIN sigreq.known_file f CROSS JOIN LATERAL (
        SELECT o.uuid FROM sigreq.submission o
        WHERE o.id = f.submission_id AND @SCOPE(o, t) OFFSET 0) s
    WHERE @CALLER(t)
      AND f.sha256 = p_sha256
    LIMIT 1;
    IF NOT FOUND THEN
        RETURN QUERY SELECT @NOTHING(), NULL::uuid, NULL::uuid, NULL::text;
    END IF;
END $$

-- A request that lost its connection sends the same again, so each part of this function must also be correct in a
-- repetition. It does not need p_new_blobs.
-- @op submission_create(token_hash hash, now time, submission uuid, creation creation, representation text,
--     metadata text?, idempotency_key text?, folder uuid, blobs [blob], new_blobs [blob]?, revisions [revision]?,
--     webhooks json?, timers [timer]?)
--     → ok | replay representation | unauthorized | quota | conflict representation | gone | missing | stale
CREATE FUNCTION sigreq.submission_create(p_token_hash text, p_now bigint, p_submission uuid, p_creation json,
    p_representation text, p_metadata text, p_idempotency_key text, p_folder uuid, p_blobs json, p_new_blobs json,
    p_revisions json, p_webhooks json, p_timers json) RETURNS @ROWS
LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    p record;
    t record;
    v_id bigint;
    v_seen record;
    v_missing boolean;
BEGIN
    SELECT * INTO p FROM @OF(creation, p_creation, r);
    SELECT id, user_id, organization_id, environment INTO t FROM sigreq.token
    WHERE @CALLER(token);
    IF NOT FOUND THEN
        outcome := 'unauthorized';
        RETURN NEXT;
        RETURN;
    END IF;
    v_missing := p.from_template AND NOT EXISTS (SELECT 1 FROM sigreq.submission s
                                                 WHERE @TEMPLATE(s, t, p.template_uuid) AND s.template_deleted_at IS NULL);
    IF NOT coalesce(v_missing, false) AND NOT sigreq.blob_settle(p_folder, p_blobs) THEN
        outcome := coalesce((SELECT 'ok' FROM sigreq.submission s WHERE s.uuid = p_submission AND s.token_id = t.id), 'stale');
        RETURN NEXT;
        RETURN;
    END IF;
    IF p_idempotency_key IS NOT NULL THEN
        -- A second request with this key waits here until the first has committed or failed.
        INSERT INTO sigreq.idempotency AS i (token_id, key, fingerprint, answer, submission_uuid, created_at)
        VALUES (t.id, p_idempotency_key, p.fingerprint, p_representation, p_submission, p_now)
        ON CONFLICT (token_id, key) DO UPDATE
            SET fingerprint = excluded.fingerprint, answer = excluded.answer,
                submission_uuid = excluded.submission_uuid, created_at = excluded.created_at
            WHERE i.created_at < p.idempotency_since;
        IF NOT FOUND THEN
            SELECT i.fingerprint, i.submission_uuid AS uuid, i.answer INTO v_seen FROM sigreq.idempotency i
            WHERE i.token_id = t.id AND i.key = p_idempotency_key;
            outcome := CASE WHEN v_seen.uuid = p_submission THEN 'ok'
                            WHEN left(v_seen.fingerprint, 64) = left(p.fingerprint, 64) THEN 'replay' ELSE 'conflict' END;
            representation := CASE outcome WHEN 'replay' THEN v_seen.answer WHEN 'conflict' THEN v_seen.fingerprint END;
            RETURN NEXT;
            RETURN;
        END IF;
        IF p.only_replay THEN
            DELETE FROM sigreq.idempotency WHERE token_id = t.id AND key = p_idempotency_key;
            outcome := 'gone';
            RETURN NEXT;
            RETURN;
        END IF;
    END IF;
    IF v_missing THEN
        DELETE FROM sigreq.idempotency WHERE token_id = t.id AND key = p_idempotency_key;
        outcome := coalesce((SELECT 'ok' FROM sigreq.submission s WHERE s.uuid = p_submission AND s.token_id = t.id),
                            'missing');
        RETURN NEXT;
        RETURN;
    END IF;
    IF t.environment = 'production' AND p.draft_until IS NULL THEN
        UPDATE sigreq.organization SET used = used + 1 WHERE id = t.organization_id AND (quota IS NULL OR used < quota);
        IF NOT FOUND THEN
            PERFORM 1 FROM sigreq.submission WHERE uuid = p_submission AND token_id = t.id;
            IF FOUND THEN
                outcome := 'ok';
                RETURN NEXT;
                RETURN;
            END IF;
            DELETE FROM sigreq.idempotency WHERE token_id = t.id AND key = p_idempotency_key;
            outcome := 'quota';
            RETURN NEXT;
            RETURN;
        END IF;
    END IF;
    @NEWSUBMISSION()
    ON CONFLICT (uuid) DO NOTHING
    RETURNING id INTO v_id;
    IF NOT FOUND THEN
        IF t.environment = 'production' AND p.draft_until IS NULL THEN
            UPDATE sigreq.organization SET used = used - 1 WHERE id = t.organization_id;
        END IF;
        outcome := (SELECT 'ok' FROM sigreq.submission WHERE uuid = p_submission AND token_id = t.id);
        RETURN NEXT;
        RETURN;
    END IF;
    INSERT INTO sigreq.event (submission_id, number, hash, body, personal)
    VALUES (v_id, 1, p.event_hash, p.event, p.event_personal);
    @NEWFEED(p.feed, p_now);
    @NEWDOCUMENTS(p.documents);
    -- NEWSTATUSES would read the signers and the submission again: 3 % of the instructions of this function.
    WITH g AS (@NEWSIGNERS(p.signers) RETURNING state)
    INSERT INTO sigreq.signer_status (submission_id, status, user_id, organization_id, environment, created_at)
    SELECT v_id, @STATUS(g), t.user_id, t.organization_id, t.environment, p_now FROM g
    ON CONFLICT DO NOTHING;
    IF p.viewers IS NOT NULL THEN
        @NEWVIEWERS(p.viewers);
    END IF;
    IF p_revisions IS NOT NULL THEN
        @FIRSTREVISIONS();
    END IF;
    IF p_webhooks IS NOT NULL THEN
        @NEWJOBS();
    END IF;
    IF p_timers IS NOT NULL THEN
        @NEWTIMERS();
    END IF;
    outcome := 'ok';
    RETURN NEXT;
END $$

-- The rows of one response to a list query, in one of the two directions of the index, from all submissions or from few.
-- @macro PAGE(way, SOURCE) SELECT 'ok', p.uuid,
--            CASE WHEN p.total - p.size < p_bytes AND p.version >= p_version THEN p.representation END,
--            p.total - p.size < p_bytes AND p.version < p_version, p.created_at, p.id, p.updated_at, p.template_uuid
--     FROM (SELECT page.*, sum(page.size)
--                      OVER (ORDER BY page.created_at way, page.id way ROWS UNBOUNDED PRECEDING) AS total
--           FROM (SELECT s.representation, octet_length(s.representation) AS size,
--                        s.representation_version AS version, s.uuid, s.created_at, s.id, s.updated_at,
--                        s.template_uuid
--                 FROM SOURCE s
--                 WHERE s.user_id = t.user_id AND s.organization_id = t.organization_id
--                   AND s.environment = t.environment AND (s.state <> 'deleted' OR p_state = 'deleted')
--                   AND (s.created_at, s.id) > (low_at, low_id) AND (s.created_at, s.id) < (high_at, high_id)
--                 ORDER BY s.created_at way, s.id way
--                 LIMIT p_limit) page) p
--     ORDER BY p.created_at way, p.id way

-- The rows that a list with filters looks at: the first 5,000 of the range that the most selective filter finds by its
-- index, in the direction of the list, and whether the other filters fit. The arguments are those of the USING below.
CREATE FUNCTION sigreq.list_looked(p_by text, p_way text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT replace(replace(replace(replace(
        'SELECT s.id, s.created_at, (s.state <> ''deleted'' OR $8 = ''deleted'') AND ($8 IS NULL OR s.state = $8)
                AND ($9 IS NULL OR EXISTS (SELECT FROM sigreq.signer_status f WHERE f.submission_id = s.id AND f.status = $9))
                AND ($10 IS NULL OR s.external_id = $10) AND ($11 IS NULL OR s.updated_at > $11)
                AND ($12 IS NULL OR strpos(s.search, $12) > 0) AS fits
         FROM #from
         WHERE (#on.user_id, #on.organization_id, #on.environment) = ($1, $2, $3)
           AND (#on.created_at, #key) > ($4, $5) AND (#on.created_at, #key) < ($6, $7)
         ORDER BY #on.created_at #way, #key #way
         LIMIT 5000',
        '#from', CASE p_by
            WHEN 'status' THEN '(SELECT * FROM sigreq.signer_status WHERE status = $9) x
                                JOIN sigreq.submission s ON s.id = x.submission_id'
            WHEN 'external' THEN '(SELECT * FROM sigreq.submission WHERE external_id = $10) s'
            WHEN 'state' THEN '(SELECT * FROM sigreq.submission WHERE state = $8) s'
            WHEN 'updated' THEN '(SELECT * FROM sigreq.submission WHERE id = ANY ($13) OFFSET 0) s'
            ELSE 'sigreq.submission s' END),
        '#on', CASE p_by WHEN 'status' THEN 'x' ELSE 's' END),
        '#key', CASE p_by WHEN 'status' THEN 'x.submission_id' ELSE 's.id' END),
        '#way', p_way)
$$

-- The cursor and the two dates become one lower and one upper bound of (created_at, id), without NULLs, so every query
-- reads one range of an index. Without filters one plan is good for all arguments, so it is generic. Sorting and bitmaps
-- are off, because a generic plan does not know how many rows a user has. octet_length takes the size of a text that is
-- stored out of line from its pointer. So only the texts of the response are read.
-- With filters, the ids of the rows are found first. If the 5,000 rows that one response may look at do not fill it, a
-- row without a uuid follows: the place of the last one. updated_at is used to find rows if at most 5,000 are later.
-- @op submission_list(token_hash hash, now time, limit int, direction text, at time?, id int, states text?,
--     state text?, external_id text?, updated time?, q text?, after time?, before time?, bytes int, version int)
--     → ok listed[] | unauthorized
CREATE FUNCTION sigreq.submission_list(p_token_hash text, p_now bigint, p_limit integer, p_direction text, p_at bigint,
    p_id bigint, p_states text, p_state text, p_external_id text, p_updated bigint, p_q text, p_after bigint,
    p_before bigint, p_bytes bigint, p_version integer)
RETURNS TABLE (outcome text, uuid uuid, representation text, old boolean, created_at bigint, id bigint,
               updated_at bigint, template uuid)
LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET jit = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    t record;
    low_at bigint := coalesce(p_after, -1);
    low_id bigint := 9223372036854775807;
    high_at bigint := coalesce(p_before, 9223372036854775807);
    high_id bigint := 0;
    v_status text := split_part(p_states, ',', 1);
    v_late bigint[];
    v_looked text;
    v_few bigint[];
    v_last_at bigint;
    v_last_id bigint;
BEGIN
    SELECT user_id, organization_id, environment INTO t FROM sigreq.token
    WHERE @CALLER(token);
    IF NOT FOUND THEN
        outcome := 'unauthorized';
        RETURN NEXT;
        RETURN;
    END IF;
    IF p_direction = 'newer' AND (p_at, p_id) > (low_at, low_id) THEN
        low_at := p_at;
        low_id := p_id;
    ELSIF p_direction <> 'newer' AND (p_at, p_id) < (high_at, high_id) THEN
        high_at := p_at;
        high_id := p_id;
    END IF;
    IF p_updated IS NOT NULL THEN
        v_late := ARRAY(SELECT s.id FROM sigreq.submission s
                        WHERE @SCOPE(s, t) AND s.updated_at > p_updated ORDER BY s.updated_at DESC LIMIT 5001);
    END IF;
    IF p_updated IS NOT NULL OR coalesce(p_states, p_state, p_external_id, p_q) IS NOT NULL THEN
        v_looked := sigreq.list_looked(CASE WHEN p_external_id IS NOT NULL THEN 'external'
                                            WHEN cardinality(v_late) <= 5000 THEN 'updated'
                                            WHEN p_states IS NOT NULL THEN 'status'
                                            WHEN p_state IS NOT NULL THEN 'state' ELSE '' END,
                                       CASE p_direction WHEN 'newer' THEN 'ASC' ELSE 'DESC' END);
        EXECUTE 'SELECT ARRAY(SELECT l.id FROM (' || v_looked || ') l WHERE l.fits LIMIT $14)' INTO v_few
        USING t.user_id, t.organization_id, t.environment, low_at, low_id, high_at, high_id,
              p_state, v_status, p_external_id, p_updated, p_q, v_late, p_limit;
        IF cardinality(v_few) < p_limit THEN
            EXECUTE 'SELECT l.created_at, l.id FROM (' || v_looked || ') l OFFSET 4999' INTO v_last_at, v_last_id
            USING t.user_id, t.organization_id, t.environment, low_at, low_id, high_at, high_id,
                  p_state, v_status, p_external_id, p_updated, p_q, v_late;
        END IF;
    END IF;
    IF v_few IS NULL AND p_direction = 'newer' THEN
        RETURN QUERY @PAGE(ASC, sigreq.submission);
    ELSIF v_few IS NULL THEN
        RETURN QUERY @PAGE(DESC, sigreq.submission);
    ELSIF p_direction = 'newer' THEN
        RETURN QUERY
        WITH few AS MATERIALIZED (SELECT f.* FROM sigreq.submission f WHERE f.id = ANY (v_few))
        @PAGE(ASC, few);
    ELSE
        RETURN QUERY
        WITH few AS MATERIALIZED (SELECT f.* FROM sigreq.submission f WHERE f.id = ANY (v_few))
        @PAGE(DESC, few);
    END IF;
    IF v_last_at IS NOT NULL THEN
        RETURN QUERY SELECT 'ok', NULL::uuid, NULL::text, false, v_last_at, v_last_id, 0::bigint, NULL::uuid;
    END IF;
END $$
