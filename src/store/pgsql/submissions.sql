-- SPDX-License-Identifier: Apache-2.0
-- Submissions and their documents: see engine.sql for the form of this file.

-- The PDFs that anybody was given, by their content: a document as it was signed, uploaded or normalised; a certificate
-- of completion.
CREATE VIEW sigreq.known_file AS
    SELECT r.whole_sha256 AS sha256, d.submission_id, d.uuid AS document_uuid, d.name
    FROM sigreq.revision r JOIN sigreq.document d ON d.uuid = r.document_uuid
    UNION ALL
    SELECT d.sha256, d.submission_id, d.uuid, d.name FROM sigreq.document d
    UNION ALL
    SELECT d.rewritten_sha256, d.submission_id, d.uuid, d.name FROM sigreq.document d
    UNION ALL
    SELECT s.certificate_sha256, s.id, NULL, s.name FROM sigreq.submission s

-- The hot one: token and submission in one query, and only a miss asks why.
-- @op submission_get(token_hash hash, now time, uuid uuid, version int) → ok representation | missing | unauthorized
CREATE FUNCTION sigreq.submission_get(p_token_hash text, p_now bigint, p_uuid uuid, p_version integer) RETURNS text
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
DECLARE
    v_representation text;
BEGIN
    SELECT CASE WHEN s.representation_version >= p_version THEN s.representation END INTO v_representation
    FROM sigreq.token t
    JOIN sigreq.submission s ON @SCOPE(s, t)
    WHERE @CALLER(t)
      AND s.uuid = p_uuid;
    IF NOT FOUND THEN
        RETURN sigreq.why_nothing(p_token_hash, p_now);
    END IF;
    RETURN coalesce(E'ok\n' || v_representation, 'ok');
END $$

-- A document with all that became of it, as store.h describes its row.
CREATE VIEW sigreq.document_row AS
    SELECT d.submission_id, d.position, d.uuid,
           json_build_object('uuid', d.uuid, 'name', d.name, 'sha256', d.sha256, 'size', d.size, 'pages', d.pages,
               'key', d.key, 'rewritten_key', d.rewritten_key,
               'rewritten_sha256', d.rewritten_sha256, 'rewritten_size', d.rewritten_size, 'warnings', d.warnings::json,
               'revisions', (SELECT coalesce(json_agg(json_build_object('sha256', r.sha256, 'key', r.key, 'size', r.size,
                                        'whole_sha256', r.whole_sha256, 'whole_size', r.whole_size)
                                        ORDER BY r.number), '[]')
                             FROM sigreq.revision r WHERE r.document_uuid = d.uuid)) AS body
    FROM sigreq.document d

-- All that is stored of a submission, as store.h describes its row.
CREATE VIEW sigreq.submission_row AS
    SELECT s.id, s.uuid, s.user_id, s.organization_id, s.environment,
           json_build_object('uuid', s.uuid, 'name', s.name, 'template_uuid', s.template_uuid,
               'skip_intro', s.skip_intro, 'send_email', s.send_email, 'state', s.state, 'created_at', s.created_at,
               'updated_at', s.updated_at, 'events', s.events, 'events_hash', s.events_hash,
               'access_epoch', s.access_epoch, 'certificate_sha256', s.certificate_sha256,
               'certificate_size', s.certificate_size,
               'certificate_key', s.certificate_key, 'warnings', s.warnings::json,
               'created_by', json_build_object('firstname', u.firstname, 'lastname', u.lastname, 'email', u.email),
               'documents', (SELECT json_agg(d.body ORDER BY d.position) FROM sigreq.document_row d
                             WHERE d.submission_id = s.id),
               'signers', (SELECT json_agg(json_build_object('uuid', g.uuid, 'firstname', g.firstname,
                                      'lastname', g.lastname, 'email', g.email, 'locale', g.locale, 'state', g.state,
                                      'opened_at', g.opened_at, 'completed_at', g.completed_at,
                                      'refused_at', g.refused_at, 'refusal_reason', g.refusal_reason, 'ip', g.ip,
                                      'user_agent', g.user_agent, 'signature_type', g.signature_type,
                                      'consent', g.consent, 'fields', g.fields::json) ORDER BY g.position)
                           FROM sigreq.signer g WHERE g.submission_id = s.id)) AS body
    FROM sigreq.submission s
    JOIN sigreq.user_account u ON u.id = s.user_id

-- @op submission_record(token_hash hash, now time, uuid uuid) → ok body | missing | unauthorized
CREATE FUNCTION sigreq.submission_record(p_token_hash text, p_now bigint, p_uuid uuid) RETURNS text
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
DECLARE
    v_body text;
BEGIN
    SELECT r.body::text INTO v_body
    FROM sigreq.token t
    JOIN sigreq.submission_row r ON @SCOPE(r, t)
    WHERE @CALLER(t)
      AND r.uuid = p_uuid;
    RETURN coalesce(E'ok\n' || v_body, sigreq.why_nothing(p_token_hash, p_now));
END $$

-- Nothing happens where the submission has changed since, or somebody else was faster.
-- @op submission_rendered(uuid uuid, events_hash hash, version int, representation text) → ok
CREATE FUNCTION sigreq.submission_rendered(p_uuid uuid, p_events_hash text, p_version integer, p_representation text)
RETURNS text
LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    UPDATE sigreq.submission SET representation = p_representation, representation_version = p_version
    WHERE uuid = p_uuid AND events_hash = p_events_hash AND representation_version < p_version;
    RETURN 'ok';
END $$

-- @op document_get(token_hash hash, now time, submission uuid, document uuid) → ok body | missing | unauthorized
CREATE FUNCTION sigreq.document_get(p_token_hash text, p_now bigint, p_submission uuid, p_document uuid) RETURNS text
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
DECLARE
    v_body text;
BEGIN
    SELECT d.body::text INTO v_body
    FROM sigreq.token t
    JOIN sigreq.submission s ON @SCOPE(s, t)
    JOIN sigreq.document_row d ON d.submission_id = s.id
    WHERE @CALLER(t)
      AND s.uuid = p_submission AND d.uuid = p_document;
    RETURN coalesce(E'ok\n' || v_body, sigreq.why_nothing(p_token_hash, p_now));
END $$

-- From the digest, which few rows have, to their submission (OFFSET 0); never from all submissions of the caller.
-- @op document_known(token_hash hash, now time, sha256 hash) → ok file | missing | unauthorized
CREATE FUNCTION sigreq.document_known(p_token_hash text, p_now bigint, p_sha256 text)
RETURNS TABLE (outcome text, submission uuid, document uuid, name text)
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
        RETURN QUERY SELECT sigreq.why_nothing(p_token_hash, p_now), NULL::uuid, NULL::uuid, NULL::text;
    END IF;
END $$

-- Every step may be the first of a repetition: a request that lost its connection sends the same again.
-- @op submission_create(submission json)
--     → ok representation | replay representation | unauthorized | quota | conflict | stale
CREATE FUNCTION sigreq.submission_create(p_submission json) RETURNS text
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    p record;
    t record;
    v_id bigint;
    v_seen record;
BEGIN
    SELECT * INTO p FROM json_to_record(p_submission) AS r(
        token_hash text, now bigint, uuid uuid, name text, template_uuid uuid, skip_intro boolean, send_email boolean,
        search text, base_url text, warnings text, representation text, representation_version integer,
        event_hash text, event text, documents json, signers json,
        folder uuid, blobs json,
        idempotency_key text, fingerprint text, idempotency_since bigint, webhooks json);
    SELECT id, user_id, organization_id, environment INTO t FROM sigreq.token
    WHERE @VALID(token, p.token_hash, p.now);
    IF NOT FOUND THEN
        RETURN 'unauthorized';
    END IF;
    IF NOT sigreq.blob_settle(p.folder, p.blobs) THEN
        RETURN coalesce((SELECT E'ok\n' || s.representation FROM sigreq.submission s
                         WHERE s.uuid = p.uuid AND s.token_id = t.id), 'stale');
    END IF;
    IF p.idempotency_key IS NOT NULL THEN
        -- A second request with this key waits here until the first has committed or failed.
        INSERT INTO sigreq.idempotency AS i (token_id, key, fingerprint, answer, submission_uuid, created_at)
        VALUES (t.id, p.idempotency_key, p.fingerprint, p.representation, p.uuid, p.now)
        ON CONFLICT (token_id, key) DO UPDATE
            SET fingerprint = excluded.fingerprint, answer = excluded.answer,
                submission_uuid = excluded.submission_uuid, created_at = excluded.created_at
            WHERE i.created_at < p.idempotency_since;
        IF NOT FOUND THEN
            SELECT i.fingerprint, i.submission_uuid AS uuid, i.answer INTO v_seen FROM sigreq.idempotency i
            WHERE i.token_id = t.id AND i.key = p.idempotency_key;
            RETURN CASE WHEN v_seen.uuid = p.uuid THEN E'ok\n' || v_seen.answer
                        WHEN v_seen.fingerprint = p.fingerprint THEN E'replay\n' || v_seen.answer
                        ELSE 'conflict' END;
        END IF;
    END IF;
    IF t.environment = 'production' THEN
        UPDATE sigreq.organization SET used = used + 1 WHERE id = t.organization_id AND (quota IS NULL OR used < quota);
        IF NOT FOUND THEN
            SELECT representation INTO v_seen FROM sigreq.submission WHERE uuid = p.uuid AND token_id = t.id;
            IF FOUND THEN
                RETURN E'ok\n' || v_seen.representation;
            END IF;
            DELETE FROM sigreq.idempotency WHERE token_id = t.id AND key = p.idempotency_key;
            RETURN 'quota';
        END IF;
    END IF;
    INSERT INTO sigreq.submission (uuid, token_id, user_id, organization_id, environment, created_at, updated_at, name,
                                   template_uuid, skip_intro, send_email, search, base_url, warnings, representation,
                                   representation_version, events, events_hash)
    VALUES (p.uuid, t.id, t.user_id, t.organization_id, t.environment, p.now, p.now, p.name,
            p.template_uuid, p.skip_intro, p.send_email, p.search, p.base_url, p.warnings, p.representation,
            p.representation_version, 1, p.event_hash)
    ON CONFLICT (uuid) DO NOTHING
    RETURNING id INTO v_id;
    IF NOT FOUND THEN
        IF t.environment = 'production' THEN
            UPDATE sigreq.organization SET used = used - 1 WHERE id = t.organization_id;
        END IF;
        RETURN (SELECT E'ok\n' || representation FROM sigreq.submission WHERE uuid = p.uuid AND token_id = t.id);
    END IF;
    INSERT INTO sigreq.event (submission_id, number, hash, body) VALUES (v_id, 1, p.event_hash, p.event);
    INSERT INTO sigreq.document (submission_id, position, uuid, name, sha256, key, size, rewritten_sha256,
                                 rewritten_key, rewritten_size, pages, warnings)
    SELECT v_id, row_number() OVER () - 1, d.uuid, d.name, d.sha256, sigreq.blob_key(p.folder, d.sha256), d.size,
           d.rewritten_sha256, sigreq.blob_key(p.folder, d.rewritten_sha256), d.rewritten_size, d.pages, d.warnings
    FROM json_to_recordset(p.documents) AS d(uuid uuid, name text, sha256 text, size bigint, rewritten_sha256 text,
                                             rewritten_size bigint, pages integer, warnings text);
    INSERT INTO sigreq.signer (submission_id, position, uuid, state, firstname, lastname, email, locale, fields)
    SELECT v_id, row_number() OVER () - 1, s.uuid, s.state, s.firstname, s.lastname, s.email, s.locale, s.fields
    FROM json_to_recordset(p.signers) AS s(uuid uuid, state text, firstname text, lastname text, email text,
                                           locale text, fields text);
    PERFORM sigreq.job_write(v_id, p.now, p.webhooks);
    RETURN E'ok\n' || p.representation;
END $$

-- A part of a list, in one of the two orders of the index.
-- @macro PAGE(way) SELECT 'ok', p.uuid,
--            CASE WHEN p.total - p.size < p_bytes AND p.version >= p_version THEN p.representation END,
--            p.total - p.size < p_bytes AND p.version < p_version, p.created_at, p.id
--     FROM (SELECT page.*, sum(page.size)
--                      OVER (ORDER BY page.created_at way, page.id way ROWS UNBOUNDED PRECEDING) AS total
--           FROM (SELECT s.representation, octet_length(s.representation) AS size,
--                        s.representation_version AS version, s.uuid, s.created_at, s.id
--                 FROM sigreq.submission s
--                 WHERE s.user_id = t.user_id AND s.organization_id = t.organization_id
--                   AND s.environment = t.environment
--                   AND (s.created_at, s.id) > (low_at, low_id) AND (s.created_at, s.id) < (high_at, high_id)
--                   AND (p_states IS NULL OR (SELECT true FROM sigreq.signer g
--                                             WHERE g.submission_id = s.id
--                                               AND g.state = ANY (string_to_array(p_states, ',')) LIMIT 1))
--                   AND (p_q IS NULL OR strpos(s.search, p_q) > 0)
--                 ORDER BY s.created_at way, s.id way
--                 LIMIT p_limit) page) p
--     ORDER BY p.created_at way, p.id way

-- The key's place and the two dates make one lower and one upper bound of (created_at, id), without NULLs: each
-- direction is then one range of the index, whatever is asked. The scalar subquery cannot become a hash join over
-- all signers. There is one good plan, so it is made once (generic); sorting and bitmaps are off because such a plan
-- does not know how many rows a user has. octet_length takes the size of a text that is stored out of line from its
-- pointer, without reading it: only the texts that are answered are read.
-- @op submission_list(token_hash hash, now time, limit int, direction text, at time?, id int, states text?,
--     q text?, after time?, before time?, bytes int, version int)
--     → ok listed[] | unauthorized
CREATE FUNCTION sigreq.submission_list(p_token_hash text, p_now bigint, p_limit integer, p_direction text, p_at bigint,
    p_id bigint, p_states text, p_q text, p_after bigint, p_before bigint, p_bytes bigint,
    p_version integer)
RETURNS TABLE (outcome text, uuid uuid, representation text, old boolean, created_at bigint, id bigint)
LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    t record;
    low_at bigint := coalesce(p_after, -1);
    low_id bigint := 9223372036854775807;
    high_at bigint := coalesce(p_before, 9223372036854775807);
    high_id bigint := 0;
BEGIN
    SELECT user_id, organization_id, environment INTO t FROM sigreq.token
    WHERE @CALLER(token);
    IF NOT FOUND THEN
        outcome := 'unauthorized';
        RETURN NEXT;
    ELSIF p_direction = 'newer' THEN
        IF (p_at, p_id) > (low_at, low_id) THEN
            low_at := p_at;
            low_id := p_id;
        END IF;
        RETURN QUERY @PAGE(ASC);
    ELSE
        IF (p_at, p_id) < (high_at, high_id) THEN
            high_at := p_at;
            high_id := p_id;
        END IF;
        RETURN QUERY @PAGE(DESC);
    END IF;
END $$
