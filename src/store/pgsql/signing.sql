-- SPDX-License-Identifier: Apache-2.0
-- Signing: transitions of a submission, and reading for them. engine.sql describes the form of this file.

-- Concurrent changes wait for the lock of the submission's row. The second one then finds that the submission has
-- changed. The deadline is compared with the clock of this database after the wait.
-- @op signing_change(submission uuid, now time, change json, representation text, folder uuid?, blobs json?,
--     replaced json?, revisions json?, webhooks json?, timers json?) → ok | stale | missing
CREATE FUNCTION sigreq.signing_change(p_submission uuid, p_now bigint, p_change json, p_representation text,
    p_folder uuid, p_blobs json, p_replaced json, p_revisions json, p_webhooks json, p_timers json) RETURNS text
LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    p record;
    v_id bigint;
BEGIN
    SELECT * INTO p FROM json_to_record(p_change) AS r(
        signer uuid, seen integer, seen_hash text, submission_state text, closed_at bigint, expires_at bigint,
        cancel_reason text, held_at bigint, hold_reason text, over boolean, representation_version integer,
        signers json, events json, certificate_sha256 text, certificate_size bigint, stamped_until bigint, holder text);
    IF p_blobs IS NOT NULL AND NOT sigreq.blob_settle(p_folder, p_blobs) THEN
        RETURN coalesce((SELECT CASE WHEN events_hash = p.events->-1->>'hash' THEN 'ok' ELSE 'stale' END
                         FROM sigreq.submission WHERE uuid = p_submission), 'missing');
    END IF;
    -- The clock is read after the wait. FOR UPDATE would deadlock with a batch of jobs, whose foreign keys take KEY SHARE.
    IF p.expires_at IS NOT NULL THEN
        PERFORM 1 FROM sigreq.submission WHERE uuid = p_submission FOR NO KEY UPDATE;
    END IF;
    UPDATE sigreq.submission
    SET updated_at = p_now, representation = p_representation, representation_version = p.representation_version,
        access_epoch = access_epoch + (state <> p.submission_state OR p_replaced IS NOT NULL)::integer,
        state = p.submission_state, closed_at = p.closed_at, expires_at = p.expires_at,
        cancel_reason = p.cancel_reason, held_at = p.held_at,
        hold_reason = CASE WHEN p.held_at IS NOT NULL THEN coalesce(p.hold_reason, hold_reason) END,
        events = p.seen + json_array_length(p.events), events_hash = p.events->-1->>'hash',
        certificate_sha256 = coalesce(p.certificate_sha256, certificate_sha256),
        certificate_key = coalesce(@KEY(p_folder, p.certificate_sha256), certificate_key),
        certificate_size = coalesce(p.certificate_size, certificate_size),
        stamped_until = coalesce(p.stamped_until, stamped_until)
    WHERE uuid = p_submission AND events = p.seen AND events_hash = p.seen_hash
      AND coalesce(expires_at <= sigreq.job_clock(), false) = p.over
    RETURNING id INTO v_id;
    IF NOT FOUND THEN
        RETURN coalesce((SELECT CASE WHEN events_hash = p.events->-1->>'hash' THEN 'ok' ELSE 'stale' END
                         FROM sigreq.submission WHERE uuid = p_submission), 'missing');
    END IF;
    IF p_replaced IS NOT NULL THEN
        PERFORM sigreq.signer_replace(v_id, p_replaced);
    END IF;
    UPDATE sigreq.signer g
    SET state = r.state, due_at = r.due_at, opened_at = coalesce(g.opened_at, r.opened_at),
        completed_at = r.completed_at, refused_at = r.refused_at, refusal_reason = r.refusal_reason, ip = r.ip,
        user_agent = r.user_agent, signature_type = r.signature_type, consent = r.consent,
        reminded_at = coalesce(r.reminded_at, g.reminded_at), reminders = coalesce(r.reminders, g.reminders)
    FROM json_to_recordset(p.signers) AS r(
        uuid uuid, state text, due_at bigint, opened_at bigint, completed_at bigint, refused_at bigint,
        refusal_reason text, ip text, user_agent text, signature_type text, consent text, reminded_at bigint,
        reminders integer)
    WHERE g.uuid = r.uuid AND g.submission_id = v_id;
    PERFORM sigreq.signer_statuses(v_id);
    INSERT INTO sigreq.event (submission_id, number, hash, body, personal)
    SELECT v_id, p.seen + row_number() OVER (), e.hash, e.body, e.personal
    FROM json_to_recordset(p.events) AS e(hash text, body text, personal text);
    IF p_revisions IS NOT NULL THEN
        INSERT INTO sigreq.revision (document_uuid, number, kind, signer_uuid, sha256, key, size, whole_sha256,
                                     whole_size, created_at)
        SELECT r.document, r.number, CASE WHEN p.signer IS NULL THEN 'archive' ELSE 'signature' END,
               coalesce(p.signer, (SELECT b.signer_uuid FROM sigreq.revision b
                                   WHERE b.document_uuid = r.document AND b.number = r.number - 1)),
               r.sha256, @KEY(p_folder, r.sha256), r.size, r.whole_sha256, r.whole_size, p_now
        FROM json_to_recordset(p_revisions)
             AS r(document uuid, number integer, sha256 text, size bigint, whole_sha256 text, whole_size bigint);
    END IF;
    IF p_webhooks IS NOT NULL THEN
        PERFORM sigreq.job_write(v_id, p_now, p_webhooks);
    END IF;
    IF p_timers IS NOT NULL THEN
        DELETE FROM sigreq.timer t
        USING json_to_recordset(p_timers) AS k(kind text) WHERE t.submission_id = v_id AND t.kind = k.kind;
        DELETE FROM sigreq.job j
        USING json_to_recordset(p_timers) AS k(kind text)
        WHERE j.submission_id = v_id AND j.kind = k.kind AND j.state = 'scheduled';
        @TIMERS(v_id);
    END IF;
    DELETE FROM sigreq.submission_lock WHERE submission_uuid = p_submission AND holder = p.holder;
    RETURN 'ok';
END $$

-- Writes the statuses that the signers of a submission have now.
CREATE FUNCTION sigreq.signer_statuses(p_submission bigint) RETURNS void
LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    DELETE FROM sigreq.signer_status x
    WHERE x.submission_id = p_submission
      AND NOT EXISTS (SELECT FROM sigreq.signer g WHERE g.submission_id = p_submission AND @STATUS(g) = x.status);
    INSERT INTO sigreq.signer_status (submission_id, user_id, organization_id, created_at, environment, status)
    SELECT s.id, s.user_id, s.organization_id, s.created_at, s.environment, @STATUS(g)
    FROM sigreq.signer g JOIN sigreq.submission s ON s.id = g.submission_id
    WHERE g.submission_id = p_submission AND g.state <> 'replaced'
    ON CONFLICT DO NOTHING;
END $$

-- A signer takes the place of another one. The old row stays, so that its link can say so.
CREATE FUNCTION sigreq.signer_replace(p_submission bigint, p_replaced json) RETURNS void
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    v_position integer := (p_replaced->>'position')::integer;
BEGIN
    UPDATE sigreq.submission SET search = p_replaced->>'search' WHERE id = p_submission;
    UPDATE sigreq.signer SET state = 'replaced',
        position = (SELECT max(position) + 1 FROM sigreq.signer WHERE submission_id = p_submission)
    WHERE submission_id = p_submission AND position = v_position;
    INSERT INTO sigreq.signer (submission_id, position, uuid, state, firstname, lastname, email, locale, fields,
                               signing_order, due_at, replaces, alias)
    SELECT p_submission, v_position, r.uuid, r.state, r.firstname, r.lastname, r.email, r.locale, g.fields,
           g.signing_order, r.due_at, g.uuid, r.alias
    FROM json_to_record(p_replaced) AS r(old uuid, uuid uuid, state text, firstname text, lastname text, email text,
                                         locale text, alias text, due_at bigint)
    JOIN sigreq.signer g ON g.uuid = r.old AND g.submission_id = p_submission;
END $$
