-- SPDX-License-Identifier: Apache-2.0
-- Submission locks. A lock is a lease, so that it ends if its holder has died. The clock is the database's. Locks only
-- save work: without them transitions would still be correct (SR_OP_SIGNING_CHANGE). engine.sql describes the form of
-- this file.

-- Takes the lease and then reads the submission, as SIGNING_GET does for a signer, or SIGNING_DUE: another transition that ended while
-- this one waited for the lease is seen. No commit of a lease waits for the disk or for a standby: if a lease is lost,
-- two transitions are tried at once.
-- @op lock_take(submission uuid, holder text, lease int, signer uuid?, version text?)
--     → ok lease | stale lease | missing | deleted | gone
CREATE FUNCTION sigreq.lock_take(p_submission uuid, p_holder text, p_lease bigint, p_signer uuid, p_version text)
RETURNS @ROWS
LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    v_until timestamptz := clock_timestamp() + p_lease * interval '1 microsecond';
    v_read record;
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    INSERT INTO sigreq.submission_lock AS l (submission_uuid, holder, ends_at)
    VALUES (p_submission, p_holder, v_until)
    ON CONFLICT (submission_uuid) DO UPDATE SET holder = excluded.holder, ends_at = excluded.ends_at
    WHERE l.ends_at <= clock_timestamp() OR l.holder = excluded.holder;
    IF NOT FOUND THEN
        RETURN QUERY SELECT 'stale', NULL::text,
                            (SELECT l.holder FROM sigreq.submission_lock l WHERE l.submission_uuid = p_submission);
        RETURN;
    END IF;
    IF p_signer IS NULL THEN
        SELECT * INTO v_read FROM sigreq.signing_due(p_submission, p_version);
    ELSE
        SELECT * INTO v_read FROM sigreq.signing_get(p_signer, p_version);
    END IF;
    IF v_read.outcome <> 'ok' THEN
        DELETE FROM sigreq.submission_lock WHERE submission_uuid = p_submission;
    END IF;
    RETURN QUERY SELECT v_read.outcome, v_read.body, NULL::text;
END $$

-- @op lock_release(submission uuid, holder text) → ok | missing
WITH gone AS (DELETE FROM sigreq.submission_lock WHERE submission_uuid = %s AND holder = %s)
SELECT 'ok' FROM set_config('synchronous_commit', 'off', true)
