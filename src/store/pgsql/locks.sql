-- SPDX-License-Identifier: Apache-2.0
-- Submission locks: a lease of one submission, so that a lock whose holder has died ends. See engine.sql for the form of
-- this file. The clock is the database's. Nothing depends on a lock for its correctness: see SR_OP_SIGNING_CHANGE.

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
    RETURN E'stale\n' || coalesce((SELECT holder FROM sigreq.submission_lock WHERE submission_uuid = p_submission), '');
END $$

-- @op LOCK_TAKE 3
SELECT sigreq.lock_take(%s, %s, %s)

-- @op LOCK_RELEASE 2
WITH gone AS (DELETE FROM sigreq.submission_lock WHERE submission_uuid = %s AND holder = %s)
SELECT 'ok', NULL, NULL
