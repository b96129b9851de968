-- What becomes of webhook calls, on SQLite: see sqlite3.sql for the form of this file. The clock of claims is the
-- database's own, as on PostgreSQL, in whole milliseconds.

-- @op HISTORY_LIST 9
-- @answer
WITH a(hash, now, n, direction, at, id, kind, submission, success) AS (
    SELECT %s, CAST(%s AS INTEGER), CAST(%s AS INTEGER), %s, CAST(%s AS INTEGER), CAST(%s AS INTEGER), %s, lower(%s), %s),
b AS MATERIALIZED (
    SELECT n, kind, CASE success WHEN 'true' THEN 1 WHEN 'false' THEN 0 END AS success, submission IS NOT NULL AS one,
           (SELECT s.id FROM submission s WHERE s.uuid = a.submission) AS submission_id,
           CASE WHEN direction = 'newer' THEN coalesce(at, -1) ELSE 9223372036854775807 END AS low_at,
           CASE WHEN direction <> 'newer' THEN coalesce(at, 9223372036854775807) ELSE -1 END AS high_at,
           coalesce(id, 0) AS id
    FROM a),
me AS MATERIALIZED (
    SELECT t.user_id, t.organization_id, t.environment FROM a CROSS JOIN token t
    WHERE t.secret_hash = a.hash AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > a.now))
SELECT 'unauthorized', NULL, NULL WHERE NOT EXISTS (SELECT 1 FROM me)
UNION ALL
SELECT 'ok', r.body, r.key FROM (
    SELECT d.id FROM delivery d
    WHERE d.user_id = (SELECT user_id FROM me) AND d.organization_id = (SELECT organization_id FROM me)
      AND d.environment = (SELECT environment FROM me) AND d.state = 'done'
      AND (d.ended_at, d.id) < (SELECT high_at, id FROM b)
      AND ((SELECT kind FROM b) IS NULL OR d.kind = (SELECT kind FROM b))
      AND ((SELECT success FROM b) IS NULL OR d.success = (SELECT success FROM b))
      AND (NOT (SELECT one FROM b) OR d.submission_id = (SELECT submission_id FROM b))
    ORDER BY d.ended_at DESC, d.id DESC
    LIMIT (SELECT n FROM b)) page
CROSS JOIN delivery_row r ON r.id = page.id
UNION ALL
SELECT 'ok', r.body, r.key FROM (
    SELECT d.id FROM delivery d
    WHERE d.user_id = (SELECT user_id FROM me) AND d.organization_id = (SELECT organization_id FROM me)
      AND d.environment = (SELECT environment FROM me) AND d.state = 'done'
      AND (d.ended_at, d.id) > (SELECT low_at, id FROM b)
      AND ((SELECT kind FROM b) IS NULL OR d.kind = (SELECT kind FROM b))
      AND ((SELECT success FROM b) IS NULL OR d.success = (SELECT success FROM b))
      AND (NOT (SELECT one FROM b) OR d.submission_id = (SELECT submission_id FROM b))
    ORDER BY d.ended_at, d.id
    LIMIT (SELECT n FROM b)) page
CROSS JOIN delivery_row r ON r.id = page.id

-- @op HISTORY_REDELIVER 4 write
-- @answer
WITH a(hash, now, event) AS (SELECT %s, CAST(%s AS INTEGER), lower(%s)),
found AS (
    SELECT t.id AS caller, d.submission_id,
           (SELECT l.urls->>d.kind FROM listener l WHERE l.submission_id = d.submission_id) AS url
    FROM a
    LEFT JOIN token t ON t.secret_hash = a.hash AND t.revoked_at IS NULL
                     AND (t.expires_at IS NULL OR t.expires_at > a.now)
    LEFT JOIN delivery d ON d.uuid = a.event AND d.event_id = a.event AND d.state = 'done'
                        AND d.kind <> 'invitation' AND d.user_id = t.user_id
                        AND d.organization_id = t.organization_id AND d.environment = t.environment)
SELECT CASE WHEN caller IS NULL THEN 'unauthorized' WHEN submission_id IS NULL THEN 'missing' ELSE 'conflict' END, NULL, NULL
FROM found WHERE url IS NULL

WITH a(hash, now, event, uuid) AS (SELECT %s, CAST(%s AS INTEGER), lower(%s), lower(%s))
INSERT INTO delivery (uuid, event_id, submission_id, token_id, user_id, organization_id, environment, kind, created_at,
                      url, body)
SELECT a.uuid, d.event_id, d.submission_id, d.token_id, d.user_id, d.organization_id, d.environment, d.kind, a.now,
       l.urls->>d.kind, d.body
FROM a CROSS JOIN delivery d CROSS JOIN listener l
WHERE d.uuid = a.event AND l.submission_id = d.submission_id
ON CONFLICT (uuid) DO NOTHING

-- @answer
WITH a(hash, now, event, uuid) AS (SELECT %s, %s, %s, lower(%s))
SELECT 'ok', r.body, NULL FROM a CROSS JOIN delivery_row r WHERE r.uuid = a.uuid

-- @op DELIVERY_LOOK 0
-- @answer
SELECT CASE WHEN EXISTS (SELECT 1 FROM delivery WHERE state = 'pending') THEN 'ok' ELSE 'missing' END, NULL, NULL

-- What was lost ends; what there is, is counted, as far as 100,000.
-- @op DELIVERY_SURVEY 0 write
UPDATE delivery
SET state = 'done', ended_at = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) * 1000, success = 0,
    error = 'interrupted, outcome unknown'
WHERE state = 'claimed' AND claimed_until < CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) * 1000

-- @answer
WITH waiting AS MATERIALIZED (
    SELECT count(*) AS n, min(id) AS id
    FROM (SELECT id FROM delivery WHERE state = 'pending' ORDER BY destination, id LIMIT 100000)),
oldest AS MATERIALIZED (
    SELECT max(CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) * 1000 - d.created_at, 0) AS age
    FROM waiting w CROSS JOIN delivery d WHERE d.id = w.id)
SELECT 'ok', json_object('interrupted', changes(), 'waiting', (SELECT n FROM waiting), 'under_way',
           (SELECT count(*) FROM (SELECT 1 FROM delivery WHERE state = 'claimed' LIMIT 100000)),
           'oldest', coalesce((SELECT age FROM oldest), 0)), NULL

-- What ended; then claims, if there are none of this very turn already, whose answer was lost.
-- @op DELIVERY_TURN 1 write
WITH p(j) AS (SELECT %s),
e AS MATERIALIZED (
    SELECT CAST(v.value->>'$.id' AS INTEGER) AS id, v.value->>'$.claim' AS claim, v.value->>'$.status' AS status,
           v.value->>'$.success' AS success, v.value->>'$.error' AS error
    FROM p CROSS JOIN json_each(p.j, '$.ended') v)
UPDATE delivery
SET state = 'done', ended_at = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) * 1000, status = e.status,
    success = e.success, error = e.error
FROM e
WHERE delivery.id = e.id AND delivery.claimed_by = e.claim

WITH p(j) AS (SELECT %s),
e AS MATERIALIZED (
    SELECT CAST(v.value->>'$.id' AS INTEGER) AS id, v.value->>'$.claim' AS claim
    FROM p CROSS JOIN json_each(p.j, '$.released') v)
UPDATE delivery SET state = 'pending', claimed_by = NULL, claimed_until = NULL
FROM e
WHERE delivery.id = e.id AND delivery.claimed_by = e.claim
  AND delivery.state = 'claimed'

-- The destinations in two walks: from the one after `after` to the last, and from the first to `after`.
WITH RECURSIVE p(j) AS (SELECT %s),
a AS MATERIALIZED (
    SELECT j, j->>'$.claim' AS claim, j->>'$.rows' AS n, j->>'$.each' AS each, j->>'$.after' AS after,
           CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) * 1000 + (j->>'$.lease') AS until
    FROM p),
first_walk(destination) AS (
    SELECT (SELECT o.destination FROM delivery o WHERE o.state = 'pending' AND o.destination > a.after
            ORDER BY o.destination LIMIT 1) FROM a
    UNION ALL
    SELECT (SELECT o.destination FROM delivery o WHERE o.state = 'pending' AND o.destination > w.destination
            ORDER BY o.destination LIMIT 1) FROM first_walk w WHERE w.destination IS NOT NULL),
second_walk(destination) AS (
    SELECT (SELECT o.destination FROM delivery o WHERE o.state = 'pending' AND o.destination > ''
            ORDER BY o.destination LIMIT 1)
    UNION ALL
    SELECT (SELECT o.destination FROM delivery o WHERE o.state = 'pending' AND o.destination > w.destination
            ORDER BY o.destination LIMIT 1)
    FROM second_walk w CROSS JOIN a WHERE w.destination < a.after),
walk AS MATERIALIZED (
    SELECT 1 AS part, destination, coalesce((SELECT b.value FROM json_each(a.j, '$.room') b
                                             WHERE b.key = w.destination), a.each) AS room
    FROM a CROSS JOIN first_walk w WHERE w.destination IS NOT NULL
    UNION ALL
    SELECT 2, destination, coalesce((SELECT b.value FROM json_each(a.j, '$.room') b
                                     WHERE b.key = w.destination), a.each)
    FROM a CROSS JOIN second_walk w WHERE w.destination <= a.after),
free AS MATERIALIZED (
    SELECT w.part, w.destination, w.room, o.id,
           row_number() OVER (PARTITION BY w.destination ORDER BY o.id) AS number
    FROM walk w CROSS JOIN delivery o
    WHERE w.room > 0
      AND o.id IN (SELECT c.id FROM delivery c
                   WHERE c.state = 'pending' AND c.destination = w.destination
                     AND (c.kind = 'invitation'
                          OR NOT EXISTS (SELECT 1 FROM delivery e
                                         WHERE e.submission_id = c.submission_id AND e.id < c.id
                                           AND e.state <> 'done' AND e.kind <> 'invitation'))
                   ORDER BY c.id LIMIT (SELECT n FROM a)))
UPDATE delivery SET state = 'claimed', claimed_by = a.claim, claimed_until = a.until
FROM a
WHERE id IN (SELECT f.id FROM free f WHERE f.number <= f.room ORDER BY f.part, f.destination, f.id
             LIMIT (SELECT n FROM a))
  AND NOT EXISTS (SELECT 1 FROM delivery c WHERE c.state = 'claimed' AND c.claimed_by = a.claim)

-- @answer
WITH p(j) AS (SELECT %s),
a AS MATERIALIZED (SELECT j->>'$.claim' AS claim, j->>'$.after' AS after FROM p)
SELECT * FROM (
    SELECT 'ok', '{"userTokenId":"' || t.uuid || '","webhookUrl":' || json_quote(d.url) || ',' || substr(d.body, 2),
           d.id || ' ' || d.created_at || ' ' || d.destination || ' ' || d.url
    FROM a CROSS JOIN delivery d CROSS JOIN token t
    WHERE d.state = 'claimed' AND d.claimed_by = a.claim AND t.id = d.token_id
    ORDER BY d.destination <= a.after, d.destination, d.id)
UNION ALL
SELECT 'ok', NULL, NULL

-- @op ADMIN_HISTORY_EXPIRE 1 write
DELETE FROM delivery WHERE state = 'done' AND ended_at < CAST(%s AS INTEGER)

-- @answer
SELECT 'ok', json_object('deleted', changes()), NULL
