-- SPDX-License-Identifier: Apache-2.0
-- Signing: what becomes of a submission: see engine.sql for the form of this file.

-- @op certificate_get(token_hash hash, now time, submission uuid) → ok certificate | missing | unauthorized
CREATE FUNCTION sigreq.certificate_get(p_token_hash text, p_now bigint, p_submission uuid)
RETURNS TABLE (outcome text, name text, sha256 text, size bigint, key text)
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
BEGIN
    RETURN QUERY
    SELECT 'ok', s.name, s.certificate_sha256::text, s.certificate_size, s.certificate_key::text
    FROM sigreq.token t
    JOIN sigreq.submission s ON @SCOPE(s, t)
    WHERE @CALLER(t)
      AND s.uuid = p_submission AND s.certificate_sha256 IS NOT NULL;
    IF NOT FOUND THEN
        RETURN QUERY SELECT sigreq.why_nothing(p_token_hash, p_now), NULL::text, NULL::text, NULL::bigint, NULL::text;
    END IF;
END $$

-- @op audit_get(token_hash hash, now time, submission uuid) → ok body | missing | unauthorized
CREATE FUNCTION sigreq.audit_get(p_token_hash text, p_now bigint, p_submission uuid) RETURNS text
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
DECLARE
    v_body text;
BEGIN
    SELECT string_agg(e.body, ',' ORDER BY e.number) INTO v_body
    FROM sigreq.token t
    JOIN sigreq.submission s ON @SCOPE(s, t)
    JOIN sigreq.event e ON e.submission_id = s.id
    WHERE @CALLER(t)
      AND s.uuid = p_submission;
    RETURN coalesce(E'ok\n[' || v_body || ']', sigreq.why_nothing(p_token_hash, p_now));
END $$

-- Everybody who knows a signer's uuid has the link. Without a body, if nothing has changed since p_version was read.
-- @op signing_get(signer uuid, version text?) → ok signing | missing
CREATE FUNCTION sigreq.signing_get(p_signer uuid, p_version text) RETURNS text
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
DECLARE
    v record;
    v_version text;
BEGIN
    SELECT s.id, s.environment, o.name AS organization, o.uuid AS organization_uuid, s.events_hash, s.base_url,
           (t.signed_webhook_url IS NOT NULL)::integer AS tell_signed,
           (t.completed_webhook_url IS NOT NULL)::integer AS tell_completed
    INTO v
    FROM sigreq.signer g
    JOIN sigreq.submission s ON s.id = g.submission_id
    JOIN sigreq.organization o ON o.id = s.organization_id
    JOIN sigreq.token t ON t.id = s.token_id
    WHERE g.uuid = p_signer;
    IF NOT FOUND THEN
        RETURN 'missing';
    END IF;
    v_version := v.events_hash || '.' || v.tell_signed || v.tell_completed;
    IF v_version = p_version THEN
        RETURN 'ok';
    END IF;
    RETURN E'ok\n' || json_build_object('submission', (SELECT r.body FROM sigreq.submission_row r WHERE r.id = v.id),
        'version', v_version, 'environment', v.environment, 'organization', v.organization,
        'organization_uuid', v.organization_uuid, 'base_url', v.base_url, 'tell_signed', v.tell_signed,
        'tell_completed', v.tell_completed)::text;
END $$

-- @op signing_access(signer uuid) → ok access | missing
CREATE FUNCTION sigreq.signing_access(p_signer uuid) RETURNS text
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
BEGIN
    RETURN coalesce((SELECT E'ok\n' || s.access_epoch
                     FROM sigreq.signer g
                     JOIN sigreq.submission s ON s.id = g.submission_id
                     WHERE g.uuid = p_signer), 'missing');
END $$

-- @op signing_events(signer uuid) → ok body | missing
CREATE FUNCTION sigreq.signing_events(p_signer uuid) RETURNS text
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
DECLARE
    v_body text;
BEGIN
    SELECT string_agg(e.body, ',' ORDER BY e.number) INTO v_body
    FROM sigreq.signer g
    JOIN sigreq.event e ON e.submission_id = g.submission_id
    WHERE g.uuid = p_signer;
    RETURN coalesce(E'ok\n[' || v_body || ']', 'missing');
END $$

-- The row of the submission is what changes meet at: the second waits there, and then sees that it came too late.
-- @op signing_change(change json) → ok | stale | missing
CREATE FUNCTION sigreq.signing_change(p_change json) RETURNS text
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    p record;
    v_id bigint;
BEGIN
    SELECT * INTO p FROM json_to_record(p_change) AS r(
        submission uuid, signer uuid, now bigint, seen integer, seen_hash text, submission_state text,
        representation text, representation_version integer, state text, opened_at bigint, completed_at bigint,
        refused_at bigint, refusal_reason text, ip text, user_agent text, signature_type text, consent text,
        events json, revisions json, folder uuid, blobs json, certificate_sha256 text, certificate_size bigint,
        webhooks json);
    IF NOT sigreq.blob_settle(p.folder, p.blobs) THEN
        RETURN coalesce((SELECT CASE WHEN events_hash = p.events->-1->>'hash' THEN 'ok' ELSE 'stale' END
                         FROM sigreq.submission WHERE uuid = p.submission), 'missing');
    END IF;
    UPDATE sigreq.submission
    SET updated_at = p.now, representation = p.representation, representation_version = p.representation_version,
        access_epoch = access_epoch + (state <> p.submission_state)::integer, state = p.submission_state,
        events = p.seen + json_array_length(p.events), events_hash = p.events->-1->>'hash',
        certificate_sha256 = coalesce(p.certificate_sha256, certificate_sha256),
        certificate_key = coalesce(sigreq.blob_key(p.folder, p.certificate_sha256), certificate_key),
        certificate_size = coalesce(p.certificate_size, certificate_size)
    WHERE uuid = p.submission AND events = p.seen AND events_hash = p.seen_hash
    RETURNING id INTO v_id;
    IF NOT FOUND THEN
        RETURN coalesce((SELECT CASE WHEN events_hash = p.events->-1->>'hash' THEN 'ok' ELSE 'stale' END
                         FROM sigreq.submission WHERE uuid = p.submission), 'missing');
    END IF;
    UPDATE sigreq.signer
    SET state = p.state, opened_at = coalesce(opened_at, p.opened_at), completed_at = p.completed_at,
        refused_at = p.refused_at, refusal_reason = p.refusal_reason, ip = p.ip, user_agent = p.user_agent,
        signature_type = p.signature_type, consent = p.consent
    WHERE uuid = p.signer AND submission_id = v_id;
    INSERT INTO sigreq.event (submission_id, number, hash, body)
    SELECT v_id, p.seen + row_number() OVER (), e.hash, e.body
    FROM json_to_recordset(p.events) AS e(hash text, body text);
    INSERT INTO sigreq.revision (document_uuid, number, signer_uuid, sha256, key, size, whole_sha256, whole_size,
                                 created_at)
    SELECT r.document, r.number, p.signer, r.sha256, sigreq.blob_key(p.folder, r.sha256), r.size, r.whole_sha256,
           r.whole_size, p.now
    FROM json_to_recordset(p.revisions)
         AS r(document uuid, number integer, sha256 text, size bigint, whole_sha256 text, whole_size bigint);
    PERFORM sigreq.job_write(v_id, p.now, p.webhooks);
    RETURN 'ok';
END $$
