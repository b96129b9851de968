-- SPDX-License-Identifier: Apache-2.0
-- Deleting submissions. A tombstone stays: the row without what is personal, and the events without their personal
-- values. Blobs that nothing refers to any more are collected as usual. engine.sql describes the form of this file.

-- Of the contents of a submission, those that no other submission of the organisation has: a JSON array, or NULL.
CREATE FUNCTION sigreq.erasing(p_submission bigint, p_contents json) RETURNS text
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
BEGIN
    RETURN (SELECT json_agg(c.sha256)
            FROM json_array_elements_text(p_contents) AS c(sha256)
            WHERE NOT EXISTS (SELECT 1 FROM sigreq.submission s
                              CROSS JOIN sigreq.document d
                              JOIN sigreq.submission o ON o.id = d.submission_id AND o.id <> s.id
                                   AND o.organization_id = s.organization_id AND o.environment = s.environment
                              WHERE s.id = p_submission AND (d.sha256 = c.sha256 OR d.rewritten_sha256 = c.sha256)));
END $$

-- @op signing_erase(erasure erasure) → ok | stale | missing
CREATE FUNCTION sigreq.signing_erase(p_erasure json) RETURNS text
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    p record;
    v_id bigint;
BEGIN
    SELECT * INTO p FROM @OF(erasure, p_erasure, r);
    UPDATE sigreq.submission
    SET state = 'deleted', outcome = state, updated_at = p.now, access_epoch = access_epoch + 1,
        events = p.seen + 1, events_hash = p.hash, name = '', search = '', base_url = '', representation = '',
        warnings = NULL, cancel_reason = NULL, external_id = NULL, metadata = NULL, redirect_url = NULL,
        reminders = NULL, options = NULL, certificate_sha256 = NULL, certificate_key = NULL, certificate_size = NULL,
        placement = NULL,
        erasing = sigreq.erasing(id, p.contents::json)
    WHERE uuid = p.submission AND events = p.seen AND events_hash = p.seen_hash
      AND held_at IS NULL AND state NOT IN ('open', 'deleted')
    RETURNING id INTO v_id;
    IF NOT FOUND THEN
        RETURN coalesce((SELECT CASE WHEN events_hash = p.hash THEN 'ok' ELSE 'stale' END
                         FROM sigreq.submission WHERE uuid = p.submission), 'missing');
    END IF;
    UPDATE sigreq.event
    SET personal = NULL,
        body = CASE WHEN body::json->'commitments' IS NOT NULL THEN body
                    ELSE json_build_object('number', number, 'previousHash', body::json->>'previousHash',
                                           'hash', hash)::text END
    WHERE submission_id = v_id;
    INSERT INTO sigreq.event (submission_id, number, hash, body) VALUES (v_id, p.seen + 1, p.hash, p.body);
    @NEWFEED(p.feed, p.now);
    DELETE FROM sigreq.viewer WHERE submission_id = v_id;
    DELETE FROM sigreq.former_placement WHERE submission_id = v_id;
    DELETE FROM sigreq.job WHERE submission_id = v_id;
    DELETE FROM sigreq.timer WHERE submission_id = v_id;
    DELETE FROM sigreq.idempotency WHERE submission_uuid = p.submission;
    DELETE FROM sigreq.document WHERE submission_id = v_id;
    DELETE FROM sigreq.signer WHERE submission_id = v_id;
    DELETE FROM sigreq.signer_status WHERE submission_id = v_id;
    DELETE FROM sigreq.submission_lock WHERE submission_uuid = p.submission AND holder = p.holder;
    RETURN 'ok';
END $$
