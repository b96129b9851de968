-- SPDX-License-Identifier: Apache-2.0
-- The queue of jobs. engine.sql describes the form of this file. The clock of claims is the database's own one, as on
-- PostgreSQL, in whole milliseconds.

-- The process that has a claim.
-- @macro OWNER(claim) substr(claim, 1, instr(claim || '.', '.') - 1)
-- A later event of a submission waits for the earlier ones.
-- @macro NEXT(d) (d.kind <> 'webhook' OR NOT EXISTS (
--     SELECT 1 FROM job e WHERE e.submission_id = d.submission_id AND e.id < d.id AND e.state <> 'done'
--     AND e.kind = 'webhook'))
-- The timers that become jobs in a batch.
-- @macro DUE() (SELECT t.submission_id, t.kind, t.due_at FROM p CROSS JOIN timer t
--     WHERE t.due_at <= p.j->>'$.now' AND p.j->>'$.rows' > 0 ORDER BY t.due_at, t.submission_id, t.kind LIMIT 1000)

-- Ends the claims whose lease is over and those of dead processes. Jobs of a kind that is repeated are scheduled again.
-- Then it counts the jobs, up to 100,000. A claim is named <process>.<batch>. '/' is the character after '.', so names
-- between '<process>.' and '<process>/' are claims of one process.
-- @op job_survey(survey json) → ok survey write
WITH p(j) AS (SELECT %s),
lost AS MATERIALIZED (
    SELECT l.id, p.j->>'$.now' + (r.value->>'$.pause') AS due_at
    FROM p CROSS JOIN job l JOIN json_each(p.j, '$.repeated') r ON r.key = l.kind
    WHERE l.state = 'claimed' AND l.attempts + 1 < r.value->>'$.attempts'
      AND (l.claimed_until < @CLOCK()
           OR @OWNER(l.claimed_by) IN (SELECT v.value FROM json_each(p.j, '$.dead') v)))
UPDATE job
SET state = 'scheduled', due_at = lost.due_at, attempts = attempts + 1, claimed_by = NULL, claimed_until = NULL,
    error = 'interrupted, outcome unknown'
FROM lost
WHERE job.id = lost.id

WITH p(j) AS (SELECT %s)
@FAILED(d, x.error, NULL)
FROM p CROSS JOIN (SELECT 'interrupted, outcome unknown' AS error) x CROSS JOIN job d
WHERE d.state = 'claimed' AND @FAILURE(d) IS NOT NULL
  AND (d.claimed_until < @CLOCK()
       OR @OWNER(d.claimed_by) IN (SELECT v.value FROM json_each(p.j, '$.dead') v))

WITH p(j) AS (SELECT %s)
UPDATE job
SET state = 'done', ended_at = @CLOCK(), success = 0, attempts = attempts + 1, status = NULL,
    error = 'interrupted, outcome unknown', body = @ENDEDBODY(kind, body)
FROM p
WHERE state = 'claimed'
  AND (claimed_until < @CLOCK()
       OR @OWNER(claimed_by) IN (SELECT v.value FROM json_each(p.j, '$.dead') v))

-- @answer
WITH RECURSIVE p(j) AS (SELECT %s),
waiting AS MATERIALIZED (
    SELECT count(*) AS n, max(p.j->>'$.now' - min(w.due_at), 0) AS age
    FROM p CROSS JOIN (SELECT due_at FROM job WHERE state = 'pending' AND destination <> 'archive:'
                       ORDER BY organization_id, destination, id LIMIT 100000) w),
owner(name) AS (
    SELECT (SELECT @OWNER(c.claimed_by) FROM job c
            WHERE c.state = 'claimed' AND c.claimed_by > '' ORDER BY c.claimed_by LIMIT 1)
    UNION ALL
    SELECT (SELECT @OWNER(c.claimed_by) FROM job c
            WHERE c.state = 'claimed' AND c.claimed_by > w.name || '/' ORDER BY c.claimed_by LIMIT 1)
    FROM owner w WHERE w.name IS NOT NULL LIMIT 200)
SELECT 'ok', changes(), (SELECT n FROM waiting),
       (SELECT count(*) FROM (SELECT 1 FROM job WHERE state = 'claimed' LIMIT 100000)),
       coalesce((SELECT age FROM waiting), 0),
       (SELECT json_group_array(w.name) FROM owner w WHERE w.name IS NOT NULL)

-- Records the jobs that ended, then claims jobs. If there are claims of this name already, the batch was committed
-- before, and its response was lost.
-- @op job_batch(batch json) → ok job[] write
WITH p(j) AS (SELECT %s),
e AS MATERIALIZED (
    SELECT CAST(v.value->>'$.id' AS INTEGER) AS id, v.value->>'$.claim' AS claim, v.value->>'$.status' AS status,
           v.value->>'$.said' AS said
    FROM p CROSS JOIN json_each(p.j, '$.ended') v
    WHERE NOT v.value->>'$.success' AND v.value->>'$.due_at' IS NULL)
@FAILED(d, e.said, e.status)
FROM e CROSS JOIN job d ON d.id = e.id AND d.claimed_by = e.claim
WHERE d.state = 'claimed' AND @FAILURE(d) IS NOT NULL

WITH p(j) AS (SELECT %s),
e AS MATERIALIZED (
    SELECT CAST(v.value->>'$.id' AS INTEGER) AS id, v.value->>'$.claim' AS claim, v.value->>'$.status' AS status,
           v.value->>'$.success' AS success, v.value->>'$.error' AS error, v.value->>'$.due_at' AS due_at
    FROM p CROSS JOIN json_each(p.j, '$.ended') v)
UPDATE job
SET state = iif(e.due_at IS NOT NULL AND state = 'claimed', 'scheduled', 'done'),
    ended_at = iif(e.due_at IS NOT NULL AND state = 'claimed', NULL, @CLOCK()),
    success = iif(e.due_at IS NOT NULL AND state = 'claimed', NULL, e.success),
    due_at = iif(e.due_at IS NOT NULL AND state = 'claimed', e.due_at, job.due_at),
    attempts = attempts + (NOT e.success AND state = 'claimed'),
    claimed_by = iif(e.due_at IS NOT NULL AND state = 'claimed', NULL, claimed_by),
    status = e.status, error = e.error,
    body = iif(e.due_at IS NOT NULL AND state = 'claimed', body, @ENDEDBODY(kind, body))
FROM e
WHERE job.id = e.id AND job.claimed_by = e.claim

WITH p(j) AS (SELECT %s),
e AS MATERIALIZED (
    SELECT CAST(v.value->>'$.id' AS INTEGER) AS id, v.value->>'$.claim' AS claim
    FROM p CROSS JOIN json_each(p.j, '$.released') v)
UPDATE job SET state = 'pending', claimed_by = NULL, claimed_until = NULL
FROM e
WHERE job.id = e.id AND job.claimed_by = e.claim AND job.state = 'claimed'

WITH p(j) AS (SELECT %s)
UPDATE job SET state = 'pending'
FROM p
WHERE id IN (SELECT d.id FROM job d WHERE d.state = 'scheduled' AND d.due_at <= p.j->>'$.now'
             ORDER BY d.due_at LIMIT 1000)
  AND p.j->>'$.rows' > 0

WITH p(j) AS (SELECT %s)
INSERT INTO job (submission_id, organization_id, state, kind, created_at, due_at, body)
SELECT s.id, s.organization_id, 'pending', x.kind, p.j->>'$.now', x.due_at, json_object('submission', s.uuid)
FROM p CROSS JOIN @DUE() x CROSS JOIN submission s ON s.id = x.submission_id
ORDER BY x.due_at

WITH p(j) AS (SELECT %s)
DELETE FROM timer WHERE (submission_id, kind) IN (SELECT x.submission_id, x.kind FROM @DUE() x)

-- Ranks the pending jobs; those with the lowest ranks are claimed. Organisations are ordered from the one after `from`
-- to the last one (part 1), and then from the first one to `from` (part 2). Each has its listed destinations (class 0),
-- and those that are not listed in the same kind of order (class 1). `+` prevents an index of `listed`, which SQLite
-- would make again for each row.
-- @macro WALKED(part, next, last) iif(part = 2 OR next <= last, 2, 1)
WITH RECURSIVE p(j) AS (SELECT %s),
a AS MATERIALIZED (
    SELECT j, j->>'$.claim' AS claim, j->>'$.rows' AS n, j->>'$.from' AS start, j->>'$.other' AS other,
           j->'$.share' AS share, j->'$.organizations' AS organizations, j->'$.leases' AS leases, @CLOCK() AS clock
    FROM p),
organization(part, id) AS (
    SELECT 0, start FROM a WHERE n > 0
    UNION ALL
    SELECT @WALKED(w.part, o.organization_id, w.id), o.organization_id
    FROM organization w CROSS JOIN a CROSS JOIN job o
    WHERE o.id = coalesce((SELECT n.id FROM job n WHERE n.state = 'pending' AND n.organization_id > w.id
                           ORDER BY n.organization_id LIMIT 1),
                          (SELECT n.id FROM job n WHERE n.state = 'pending' AND n.organization_id > iif(w.part < 2, -1, NULL)
                           ORDER BY n.organization_id LIMIT 1))
      AND (o.organization_id <= a.start OR @WALKED(w.part, o.organization_id, w.id) = 1)),
share AS MATERIALIZED (
    SELECT part, id, s->>'$.room' AS room, s->>'$.other' AS other, s->>'$.after' AS after
    FROM (SELECT part, id, coalesce(a.organizations->('$."' || id || '"'), a.share) AS s
          FROM a CROSS JOIN organization WHERE part > 0)),
known(kind) AS MATERIALIZED (SELECT k.key FROM a CROSS JOIN json_each(a.leases) k),
listed AS MATERIALIZED (
    SELECT CAST(o.key AS INTEGER) AS organization, v.key AS destination, v.value AS room
    FROM a CROSS JOIN json_each(a.j, '$.destinations') o CROSS JOIN json_each(o.value) v),
other(organization, part, destination, id, free, looks) AS (
    SELECT g.id, 0, g.after, NULL, min(g.other, a.other), 400 + (SELECT count(*) FROM listed)
    FROM a CROSS JOIN share g WHERE g.other > 0 AND a.other > 0
    UNION ALL
    SELECT w.organization, @WALKED(w.part, n.destination, w.destination), n.destination,
           (SELECT c.id FROM job c
            WHERE c.state = 'pending' AND c.organization_id = w.organization AND c.destination = n.destination
              AND NOT EXISTS (SELECT 1 FROM listed x
                              WHERE +x.organization = w.organization AND +x.destination = n.destination)
              AND c.kind IN (SELECT kind FROM known) AND @NEXT(c)
            ORDER BY c.id LIMIT 1),
           w.free - (w.id IS NOT NULL), w.looks - 1
    FROM other w CROSS JOIN share g ON g.id = w.organization CROSS JOIN job n
    WHERE w.free > (w.id IS NOT NULL) AND w.looks > 0
      AND n.id = coalesce((SELECT d.id FROM job d
                           WHERE d.state = 'pending' AND d.organization_id = w.organization
                             AND d.destination > w.destination
                           ORDER BY d.destination, d.id LIMIT 1),
                          (SELECT d.id FROM job d
                           WHERE d.state = 'pending' AND d.organization_id = w.organization
                             AND d.destination > iif(w.part < 2, '', NULL)
                           ORDER BY d.destination, d.id LIMIT 1))
      AND (n.destination <= g.after OR @WALKED(w.part, n.destination, w.destination) = 1)),
free AS MATERIALIZED (
    SELECT l.organization, 0 AS class, l.room, c.id,
           row_number() OVER (PARTITION BY l.organization, l.destination ORDER BY c.id) AS number
    FROM share g CROSS JOIN listed l ON l.organization = g.id AND l.room > 0
    CROSS JOIN job c
    WHERE c.id IN (SELECT d.id FROM job d
                   WHERE d.state = 'pending' AND d.organization_id = l.organization AND d.destination = l.destination
                     AND d.kind IN (SELECT kind FROM known) AND @NEXT(d)
                   ORDER BY d.id LIMIT (SELECT coalesce(max(room), 0) FROM listed))
    UNION ALL
    SELECT organization, 1, 0, id, -looks FROM other WHERE id IS NOT NULL),
ranked AS MATERIALIZED (
    SELECT f.id, f.class, g.room, g.part, g.id AS organization,
           row_number() OVER (PARTITION BY g.id ORDER BY f.class, f.number, f.id) AS rank,
           row_number() OVER (PARTITION BY f.class ORDER BY f.number, g.part, g.id, f.id) AS rank_in_class
    FROM free f JOIN share g ON g.id = f.organization
    WHERE f.number <= f.room)
UPDATE job SET state = 'claimed', claimed_by = a.claim, claimed_until = a.clock + (a.leases->>('$.' || kind))
FROM a
WHERE id IN (SELECT r.id FROM ranked r
             WHERE r.rank <= r.room AND (r.class = 0 OR r.rank_in_class <= (SELECT other FROM a))
             ORDER BY r.rank, r.part, r.organization LIMIT (SELECT n FROM a))
  AND NOT EXISTS (SELECT 1 FROM job c WHERE c.state = 'claimed' AND c.claimed_by = a.claim)

-- @answer
WITH p(j) AS (SELECT %s),
a AS MATERIALIZED (SELECT j->>'$.claim' AS claim, j->>'$.from' AS start, j->>'$.now' AS now FROM p)
SELECT * FROM (
    SELECT 'ok', d.id, d.kind, d.organization_id, d.destination, d.url, t.uuid, d.due_at, d.attempts, d.body, NULL
    FROM a CROSS JOIN job d LEFT JOIN token t ON t.id = d.token_id
    WHERE d.state = 'claimed' AND d.claimed_by = a.claim
    ORDER BY d.organization_id <= a.start, d.organization_id, d.id)
UNION ALL
SELECT 'ok', 0, '', 0, '', NULL, NULL, 0, 0, '{}',
       @NEXTDUE(a.now) - a.now
FROM a

-- NEVER, ENDING, FREE, ROOM: as in pgsql/jobs.sql.
-- @macro NEVER(s, o) s.organization_id = o AND s.state = 'completed' AND coalesce(s.stamped_until, 0) = 0
--     AND s.closed_at <= (SELECT max(test, production) FROM a)
--     AND s.closed_at <= (SELECT iif(s.environment = 'test', test, production) FROM a)
-- @macro ENDING(s, o) s.organization_id = o AND s.state = 'completed' AND coalesce(s.stamped_until, 0) > 0
--     AND coalesce(s.stamped_until, 0) <= (SELECT before FROM a)
-- @macro FREE(s) NOT EXISTS (SELECT 1 FROM job j WHERE j.submission_id = s.id AND j.kind = 'archive'
--     AND (j.state <> 'done' OR j.ended_at > @CLOCK() - 86400000000))
-- @macro ROOM(o) max(0, (SELECT n FROM a) - (SELECT count(*) FROM job j WHERE j.state = 'pending'
--     AND j.organization_id = o AND j.destination = 'archive:'))
-- @macro INORDER(s) ORDER BY coalesce(s.stamped_until, 0), s.closed_at, s.id
-- @op job_archive(test time, production time, before time, now time, n int) → ok archiving write
WITH @ARGUMENTS,
room AS MATERIALIZED (SELECT org.id, @ROOM(org.id) AS room FROM organization org),
found AS MATERIALIZED (
    SELECT 0 AS part, s.id, s.organization_id, s.stamped_until, s.closed_at, r.room
    FROM room r CROSS JOIN submission s ON s.id IN (
        SELECT y.id FROM submission y WHERE @NEVER(y, r.id) AND @FREE(y) @INORDER(y) LIMIT (SELECT n FROM a))
    UNION ALL
    SELECT 1, s.id, s.organization_id, s.stamped_until, s.closed_at, r.room
    FROM room r CROSS JOIN submission s ON s.id IN (
        SELECT y.id FROM submission y WHERE @ENDING(y, r.id) AND @FREE(y) @INORDER(y) LIMIT (SELECT n FROM a))),
ranked AS (
    SELECT f.id, f.room, row_number() OVER (PARTITION BY f.organization_id
               ORDER BY f.part, coalesce(f.stamped_until, 0), f.closed_at, f.id) AS rank
    FROM found f)
INSERT INTO job (submission_id, organization_id, state, kind, created_at, due_at, body)
SELECT s.id, s.organization_id, 'pending', 'archive', a.now, a.now, json_object('submission', s.uuid,
           'folder', (SELECT b.folder FROM document d JOIN blob b ON b.key = d.key WHERE d.submission_id = s.id LIMIT 1))
FROM a CROSS JOIN ranked f CROSS JOIN submission s ON s.id = f.id
WHERE f.rank <= f.room

-- @answer
WITH @ARGUMENTS
SELECT 'ok', coalesce(sum(
           (SELECT count(*) FROM (SELECT 1 FROM submission y WHERE @NEVER(y, org.id) LIMIT 10000))
           + (SELECT count(*) FROM (SELECT 1 FROM submission y WHERE @ENDING(y, org.id) LIMIT 10000))), 0), changes()
FROM organization org
