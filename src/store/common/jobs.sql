-- SPDX-License-Identifier: Apache-2.0
-- What the job thread and the metrics ask. engine.sql describes the form of this file.

-- When the next job is due after a time.
-- @macro NEXTDUE(now) (SELECT min(x.due_at)
--     FROM (SELECT min(due_at) AS due_at FROM job WHERE state = 'scheduled' AND due_at > now
--           UNION ALL SELECT min(due_at) FROM timer WHERE due_at > now) x)

-- What is stored of a job that has ended: the code that was sent to a signer is forgotten.
-- @macro ENDEDBODY(kind, body) CASE kind WHEN 'code' THEN '{}' ELSE body END

-- @op job_poll(now time) → ok | missing due
-- @outcome
SELECT 'ok'
WHERE EXISTS (SELECT 1 FROM job WHERE state = 'pending')
   OR EXISTS (SELECT 1 FROM job WHERE state = 'scheduled' AND due_at <= :now)
   OR EXISTS (SELECT 1 FROM timer WHERE due_at <= :now)

-- @answer
SELECT 'missing', @NEXTDUE(:now) - :now

-- How much of their quotas the organizations have used.
-- @op job_quotas() → ok quotas
-- @answer
SELECT 'ok', count(*) FILTER (WHERE quota IS NULL), count(*) FILTER (WHERE used < quota - quota / 10),
    count(*) FILTER (WHERE used >= quota - quota / 10 AND used < quota), count(*) FILTER (WHERE used >= quota)
FROM organization

-- Whether a code is still valid.
-- @op job_code(until time) → ok | missing
-- @outcome
SELECT 'ok' WHERE @CLOCK() < :until

-- @outcome
SELECT 'missing'

-- What the feed tells of the job d that has failed for the last time: one event, or nothing, as of a job without a user.
-- `said` is the error without email addresses.
-- @macro FAILURE(d) CASE WHEN d.user_id IS NULL OR d.uuid IS NULL THEN NULL
--     WHEN d.kind = 'webhook' THEN 'delivery.failed'
--     WHEN @MAILED(d.kind) OR d.kind = 'code' THEN 'mail.failed' END
-- @macro FAILED(d, said, code) INSERT INTO feed (user_id, environment, created_at, submission_id, type, mark, detail)
--     SELECT d.user_id, d.environment, @CLOCK(), d.submission_id, @FAILURE(d), substr(CAST(d.uuid AS text), 1, 8),
--         CAST(@OBJECT()('event', coalesce(@EVENT(d), d.kind), 'eventId', coalesce(d.event_id, d.uuid), 'error', said,
--                          'statusCode', code) AS text)
