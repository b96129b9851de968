-- SPDX-License-Identifier: Apache-2.0
-- The history of deliveries. engine.sql describes the form of this file.

-- EVENT: what the history calls the event of a job.
-- @macro EVENT(d) CASE WHEN @MAILED(d.kind) THEN d.kind ELSE d.event END

-- URLs are truncated to 255 characters, as the contract says.
CREATE VIEW job_row AS
    SELECT d.id, d.submission_id, d.user_id, d.organization_id, d.environment, d.state, d.uuid, d.event_id,
           @EVENT(d) AS event, (SELECT s.uuid FROM submission s WHERE s.id = d.submission_id) AS submission,
           t.uuid AS token, substr(d.url, 1, 255) AS url, d.success, CAST(d.status AS bigint) AS status, d.error,
           d.created_at, d.ended_at
    FROM job d CROSS JOIN token t
    WHERE t.id = d.token_id AND d.event IS NOT NULL

-- The recipient of a mail, read before it is sent again.
-- @op history_invitation(token_hash hash, now time, event uuid) → ok invitation | missing | unauthorized
-- @answer
SELECT 'ok', o.uuid, d.environment, d.url
FROM token t CROSS JOIN organization o CROSS JOIN job d
WHERE @CALLER(t) AND o.id = t.organization_id AND @SCOPE(d, t)
  AND d.uuid = :event AND @MAILED(d.kind)

-- @outcome
SELECT @NOTHING()

-- @op admin_history_expire(before time) → ok count write
DELETE FROM job WHERE id IN (SELECT j.id FROM job j WHERE j.state = 'done' AND j.ended_at < :before
                             ORDER BY j.ended_at LIMIT 1000)

-- @answer
SELECT 'ok', @CHANGES()
