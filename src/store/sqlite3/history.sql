-- SPDX-License-Identifier: Apache-2.0
-- The history of deliveries. engine.sql describes the form of this file.

-- @macro DELIVERY(r) r.id, r.uuid, r.event_id, r.event, r.submission, r.token, r.url, r.success, r.status,
--     r.error, r.created_at, r.ended_at

-- What the history calls the event of a job.
-- @macro EVENT(d) iif(d.kind = 'reminder', 'reminder', d.event)

-- URLs are truncated to 255 characters, as the contract says.
CREATE VIEW job_row AS
    SELECT d.id, d.uuid, d.event_id, @EVENT(d) AS event,
           (SELECT s.uuid FROM submission s WHERE s.id = d.submission_id) AS submission, t.uuid AS token,
           substr(d.url, 1, 255) AS url, d.success, d.status, d.error, d.created_at, d.ended_at
    FROM job d
    JOIN token t ON t.id = d.token_id
    WHERE d.event IS NOT NULL

-- @op history_list(token_hash hash, now time, limit int, direction text, at time?, id int, event text?,
--     submission uuid?, success bool?)
--     → ok delivery[] | unauthorized
-- @answer
WITH a(token_hash, now, n, direction, at, id, event, submission, success) AS (
    SELECT %s, CAST(%s AS INTEGER), CAST(%s AS INTEGER), %s, CAST(%s AS INTEGER), CAST(%s AS INTEGER), %s, lower(%s), %s),
b AS MATERIALIZED (
    SELECT n, event, CASE success WHEN 'true' THEN 1 WHEN 'false' THEN 0 END AS success, submission IS NOT NULL AS one,
           (SELECT s.id FROM submission s WHERE s.uuid = a.submission) AS submission_id,
           CASE WHEN direction = 'newer' THEN coalesce(at, -1) ELSE 9223372036854775807 END AS low_at,
           CASE WHEN direction <> 'newer' THEN coalesce(at, 9223372036854775807) ELSE -1 END AS high_at,
           coalesce(id, 0) AS id
    FROM a),
me AS MATERIALIZED (
    SELECT t.user_id, t.organization_id, t.environment FROM a CROSS JOIN token t
    WHERE @CALLER(t))
SELECT 'unauthorized', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
WHERE NOT EXISTS (SELECT 1 FROM me)
UNION ALL
SELECT 'ok', @DELIVERY(r) FROM (
    SELECT d.id FROM job d
    WHERE d.user_id = (SELECT user_id FROM me) AND d.organization_id = (SELECT organization_id FROM me)
      AND d.environment = (SELECT environment FROM me) AND d.state = 'done' AND d.event IS NOT NULL
      AND (d.ended_at, d.id) < (SELECT high_at, id FROM b)
      AND ((SELECT event FROM b) IS NULL OR @EVENT(d) = (SELECT event FROM b))
      AND ((SELECT success FROM b) IS NULL OR d.success = (SELECT success FROM b))
      AND (NOT (SELECT one FROM b) OR d.submission_id = (SELECT submission_id FROM b))
    ORDER BY d.ended_at DESC, d.id DESC
    LIMIT (SELECT n FROM b)) page
CROSS JOIN job_row r ON r.id = page.id
UNION ALL
SELECT 'ok', @DELIVERY(r) FROM (
    SELECT d.id FROM job d
    WHERE d.user_id = (SELECT user_id FROM me) AND d.organization_id = (SELECT organization_id FROM me)
      AND d.environment = (SELECT environment FROM me) AND d.state = 'done' AND d.event IS NOT NULL
      AND (d.ended_at, d.id) > (SELECT low_at, id FROM b)
      AND ((SELECT event FROM b) IS NULL OR @EVENT(d) = (SELECT event FROM b))
      AND ((SELECT success FROM b) IS NULL OR d.success = (SELECT success FROM b))
      AND (NOT (SELECT one FROM b) OR d.submission_id = (SELECT submission_id FROM b))
    ORDER BY d.ended_at, d.id
    LIMIT (SELECT n FROM b)) page
CROSS JOIN job_row r ON r.id = page.id

-- AGAIN: where the call d is made again. JUDGED: why that is not possible. The limits are one repetition of an event at a
-- time and five in a minute, and for mail one in ten minutes. REPEAT: makes it again.
-- @macro AGAIN(d) iif(d.kind IN ('invitation', 'reminder'), d.url,
--     (SELECT l.urls->>d.event FROM listener l WHERE l.submission_id = d.submission_id)) AS url
-- @macro JUDGED() judged AS MATERIALIZED (
--     SELECT CASE WHEN caller IS NULL THEN 'unauthorized' WHEN submission_id IS NULL THEN 'missing'
--                 WHEN EXISTS (SELECT 1 FROM job d WHERE d.uuid = found.uuid AND d.event_id = found.event) THEN NULL
--                 WHEN url IS NULL THEN 'conflict'
--                 WHEN EXISTS (SELECT 1 FROM job d
--                              WHERE d.event_id = found.event AND d.uuid <> d.event_id AND d.state <> 'done') THEN 'stale'
--                 WHEN (SELECT count(*) FROM job d
--                       WHERE d.event_id = found.event AND d.uuid <> d.event_id
--                         AND d.created_at
--                             > found.now - iif(found.kind IN ('invitation', 'reminder'), 600000000, 60000000))
--                      >= iif(found.kind IN ('invitation', 'reminder'), 1, 5) THEN 'quota' END AS outcome
--     FROM found)
-- @macro REPEAT() INSERT INTO job (uuid, event_id, submission_id, token_id, user_id, organization_id, environment, state,
--                      kind, event, created_at, due_at, url, body)
--     SELECT a.uuid, d.event_id, d.submission_id, d.token_id, d.user_id, d.organization_id, d.environment, 'pending',
--            d.kind, d.event, a.now, a.now, iif(d.kind IN ('invitation', 'reminder'), d.url, l.urls->>d.event), d.body
--     FROM a CROSS JOIN job d CROSS JOIN listener l
--     WHERE d.uuid = a.event AND l.submission_id = d.submission_id
--     ON CONFLICT (uuid) DO NOTHING

-- @op history_redeliver(token_hash hash, now time, event uuid, uuid uuid)
--     → ok delivery | missing | conflict | stale | quota | unauthorized write
-- @answer
WITH @ARGUMENTS,
found AS MATERIALIZED (
    SELECT t.id AS caller, d.submission_id, a.now, a.event, a.uuid, d.kind, @AGAIN(d)
    FROM a
    LEFT JOIN token t ON @CALLER(t)
    LEFT JOIN job d ON d.uuid = a.event AND d.event_id = a.event AND d.state = 'done' AND @SCOPE(d, t)),
@JUDGED()
SELECT outcome FROM judged WHERE outcome IS NOT NULL

WITH @ARGUMENTS
@REPEAT()

-- @answer
WITH a(token_hash, now, event, uuid) AS (SELECT %s, %s, %s, lower(%s))
SELECT 'ok', @DELIVERY(r) FROM a CROSS JOIN job_row r WHERE r.uuid = a.uuid

-- @op history_test(token_hash hash, now time, url text, uuid uuid, body text)
--     → ok delivery | quota | unauthorized write
-- @answer
WITH @ARGUMENTS,
found AS MATERIALIZED (SELECT t.id, a.now, a.uuid FROM a LEFT JOIN token t ON @CALLER(t)),
judged AS MATERIALIZED (
    SELECT CASE WHEN id IS NULL THEN 'unauthorized'
                WHEN EXISTS (SELECT 1 FROM job d WHERE d.uuid = found.uuid) THEN NULL
                WHEN (SELECT count(*) FROM job d WHERE d.token_id = found.id AND d.event = 'test'
                      AND d.created_at > found.now - 60000000) >= 5 THEN 'quota' END AS outcome
    FROM found)
SELECT outcome FROM judged WHERE outcome IS NOT NULL

WITH @ARGUMENTS
INSERT INTO job (uuid, event_id, token_id, user_id, organization_id, environment, state, kind, event, created_at, due_at,
                 url, body)
SELECT a.uuid, a.uuid, t.id, t.user_id, t.organization_id, t.environment, 'pending', 'webhook', 'test', a.now, a.now,
       a.url, a.body
FROM a CROSS JOIN token t ON @CALLER(t)
ON CONFLICT (uuid) DO NOTHING

-- @answer
WITH @ARGUMENTS
SELECT 'ok', @DELIVERY(r) FROM a CROSS JOIN job_row r WHERE r.uuid = a.uuid

-- @op history_invitation(token_hash hash, now time, event uuid) → ok invitation | missing | unauthorized
-- @answer
WITH @ARGUMENTS,
found AS MATERIALIZED (
    SELECT t.id AS caller, o.uuid AS organization, d.environment, d.url
    FROM a
    LEFT JOIN token t ON @CALLER(t)
    LEFT JOIN organization o ON o.id = t.organization_id
    LEFT JOIN job d ON d.uuid = a.event AND d.kind IN ('invitation', 'reminder') AND @SCOPE(d, t))
SELECT CASE WHEN caller IS NULL THEN 'unauthorized' WHEN url IS NULL THEN 'missing' ELSE 'ok' END,
       organization, environment, url
FROM found

-- @op admin_history_expire(before time) → ok count write
DELETE FROM job WHERE id IN (SELECT j.id FROM job j WHERE j.state = 'done' AND j.ended_at < CAST(%s AS INTEGER)
                                        ORDER BY j.ended_at LIMIT 1000)

-- @answer
SELECT 'ok', changes()
