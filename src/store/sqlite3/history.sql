-- SPDX-License-Identifier: Apache-2.0
-- The history of deliveries. engine.sql describes the form of this file.

-- @op history_list(token_hash hash, now time, n int, direction text, at time?, id int, event text?,
--     submission uuid?, success bool?)
--     → ok delivery[] | unauthorized
-- @outcome
SELECT 'unauthorized' WHERE NOT EXISTS (SELECT 1 FROM token t WHERE @CALLER(t))

-- @answer
WITH @ARGUMENTS,
b AS MATERIALIZED (
    SELECT n, event, success, submission IS NOT NULL AS one,
           (SELECT s.id FROM submission s WHERE s.uuid = a.submission) AS submission_id,
           CASE WHEN direction = 'newer' THEN coalesce(at, -1) ELSE 9223372036854775807 END AS low_at,
           CASE WHEN direction <> 'newer' THEN coalesce(at, 9223372036854775807) ELSE -1 END AS high_at,
           coalesce(id, 0) AS id
    FROM a),
me AS MATERIALIZED (
    SELECT t.user_id, t.organization_id, t.environment FROM a CROSS JOIN token t
    WHERE @CALLER(t))
SELECT 'ok', @COLUMNS(r) FROM (
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
SELECT 'ok', @COLUMNS(r) FROM (
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
-- @macro AGAIN(d) iif(@MAILED(d.kind), d.url,
--     (SELECT @URLOF(t, d.event) FROM token t WHERE t.id = d.token_id)) AS url
-- @macro JUDGED() judged AS MATERIALIZED (
--     SELECT CASE WHEN caller IS NULL THEN 'unauthorized' WHEN submission_id IS NULL THEN 'missing'
--                 WHEN EXISTS (SELECT 1 FROM job d WHERE d.uuid = found.uuid AND d.event_id = found.event) THEN NULL
--                 WHEN url IS NULL THEN 'conflict'
--                 WHEN EXISTS (SELECT 1 FROM job d
--                              WHERE d.event_id = found.event AND d.uuid <> d.event_id AND d.state <> 'done') THEN 'stale'
--                 WHEN (SELECT count(*) FROM job d
--                       WHERE d.event_id = found.event AND d.uuid <> d.event_id
--                         AND d.created_at
--                             > found.now - iif(@MAILED(found.kind), 600000000, 60000000))
--                      >= iif(@MAILED(found.kind), 1, 5) THEN 'quota' END AS outcome
--     FROM found)
-- @macro REPEAT() INSERT INTO job (uuid, event_id, submission_id, token_id, user_id, organization_id, environment, state,
--                      kind, event, created_at, due_at, url, body)
--     SELECT a.uuid, d.event_id, d.submission_id, d.token_id, d.user_id, d.organization_id, d.environment, 'pending',
--            d.kind, d.event, a.now, a.now, iif(@MAILED(d.kind), d.url, @URLOF(t, d.event)), d.body
--     FROM a CROSS JOIN job d CROSS JOIN token t
--     WHERE d.uuid = a.event AND t.id = d.token_id
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
SELECT 'ok', @COLUMNS(r) FROM job_row r WHERE r.uuid = :uuid

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
SELECT 'ok', @COLUMNS(r) FROM job_row r WHERE r.uuid = :uuid
