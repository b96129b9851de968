-- SPDX-License-Identifier: Apache-2.0
-- Signing: transitions of a submission, and reading for them. engine.sql describes the form of this file.

-- UNCHANGED: the submission s is as it was read, and its deadline is over or not, as it must be.
-- @macro UNCHANGED(s) s.events = p.seen AND s.events_hash = p.seen_hash AND s.saves = coalesce(p.saves, s.saves)
--     AND coalesce(s.expires_at <= sigreq.job_clock(), false) = p.over
-- Concurrent changes wait for the lock of the submission's row. The second one then finds that the submission has
-- changed. The deadline is compared with the clock of this database after the wait.
-- @op signing_change(submission uuid, now time, change change, representation text, folder uuid?, blobs [blob]?,
--     replaced replacement?, revisions [revision]?, webhooks json?, timers [timer]?, ended [ended]?,
--     sent [sent]?) → ok | stale | missing | quota
CREATE FUNCTION sigreq.signing_change(p_submission uuid, p_now bigint, p_change json, p_representation text,
    p_folder uuid, p_blobs json, p_replaced json, p_revisions json, p_webhooks json, p_timers json, p_ended json,
    p_sent json) RETURNS text
LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    p record;
    v_id bigint;
    v_full boolean;
BEGIN
    SELECT * INTO p FROM @OF(change, p_change, r);
    IF p_blobs IS NOT NULL AND NOT sigreq.blob_settle(p_folder, p_blobs) THEN
        RETURN coalesce((SELECT CASE WHEN events_hash = @LASTHASH() THEN 'ok' ELSE 'stale' END
                         FROM sigreq.submission WHERE uuid = p_submission), 'missing');
    END IF;
    -- The clock is read after the wait. FOR UPDATE would deadlock with a batch of jobs, whose foreign keys take KEY SHARE.
    IF p.expires_at IS NOT NULL OR p_sent IS NOT NULL THEN
        PERFORM 1 FROM sigreq.submission WHERE uuid = p_submission FOR NO KEY UPDATE;
    END IF;
    IF p_sent IS NOT NULL THEN
        SELECT o.used >= o.quota INTO v_full
        FROM sigreq.submission s JOIN sigreq.organization o ON o.id = s.organization_id
        WHERE s.uuid = p_submission AND s.environment = 'production' FOR NO KEY UPDATE OF o;
        IF v_full AND EXISTS (SELECT FROM sigreq.submission s WHERE s.uuid = p_submission AND @UNCHANGED(s)) THEN
            RETURN 'quota';
        END IF;
    END IF;
    @CHANGEDSUBMISSION()
    WHERE uuid = p_submission AND @UNCHANGED(submission)
    RETURNING id INTO v_id;
    IF NOT FOUND THEN
        RETURN coalesce((SELECT CASE WHEN events_hash = @LASTHASH() THEN 'ok' ELSE 'stale' END
                         FROM sigreq.submission WHERE uuid = p_submission), 'missing');
    END IF;
    IF p_replaced IS NOT NULL THEN
        @REPLACEDSEARCH();
        @REPLACEDSIGNER();
        @REPLACINGSIGNER();
    END IF;
    IF p_sent IS NOT NULL THEN
        @SENTDOCUMENTS();
        UPDATE sigreq.organization SET used = used + 1
        WHERE id = (SELECT s.organization_id FROM sigreq.submission s
                    WHERE s.id = v_id AND s.environment = 'production');
    END IF;
    @CHANGEDSIGNERS(p.signers);
    @OLDSTATUSES();
    @NEWSTATUSES();
    @NEWEVENTS(p.events);
    @NEWFEED(p.feed, p_now);
    IF p.viewers IS NOT NULL THEN
        @CHANGEDVIEWERS(p.viewers);
    END IF;
    IF p_revisions IS NOT NULL THEN
        @NEWREVISIONS();
    END IF;
    IF p_webhooks IS NOT NULL THEN
        @NEWJOBS();
    END IF;
    IF p_timers IS NOT NULL THEN
        @OLDTIMERS();
        @OLDTIMERJOBS();
        @NEWTIMERS();
    END IF;
    IF p_ended IS NOT NULL THEN
        @ENDEDSESSIONS();
    END IF;
    DELETE FROM sigreq.submission_lock WHERE submission_uuid = p_submission AND holder = p.holder;
    RETURN 'ok';
END $$
