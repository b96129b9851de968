-- SPDX-License-Identifier: Apache-2.0
-- Submission locks: a lease of one submission, so that a lock whose holder has died ends. See engine.sql for the form of
-- this file. The clock is the database's. Nothing depends on a lock for its correctness: see SR_OP_SIGNING_CHANGE.

-- @op lock_take(submission uuid, holder text, lease int) → ok | stale holder | missing
CREATE FUNCTION sigreq.lock_take(p_submission uuid, p_holder text, p_lease bigint) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    v_until timestamptz := clock_timestamp() + p_lease * interval '1 microsecond';
BEGIN
    INSERT INTO sigreq.submission_lock AS l (submission_uuid, holder, ends_at)
    VALUES (p_submission, p_holder, v_until)
    ON CONFLICT (submission_uuid) DO UPDATE SET holder = excluded.holder, ends_at = excluded.ends_at
    WHERE l.ends_at <= clock_timestamp() OR l.holder = excluded.holder;
    IF FOUND THEN RETURN 'ok'; END IF;
    RETURN coalesce((SELECT E'stale\n' || holder FROM sigreq.submission_lock WHERE submission_uuid = p_submission), 'stale');
END $$

-- @op lock_release(submission uuid, holder text) → ok | missing
WITH gone AS (DELETE FROM sigreq.submission_lock WHERE submission_uuid = %s AND holder = %s)
SELECT 'ok'
