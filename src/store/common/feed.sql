-- SPDX-License-Identifier: Apache-2.0
-- The event feed (docs/decisions/0031-event-feed.md). engine.sql describes the form of this file.

-- INFEED: the event e belongs to the user and environment of x.
-- @macro INFEED(e, x) e.user_id = x.user_id AND e.environment = x.environment

-- One statement, because an event could be deleted between two. `begun` has no row if the event after which the caller
-- reads was deleted, or is not in this database. LIMIT reads one range of the index.
-- @op feed_list(token_hash hash, now time, position int?, mark text?, types text?, n int)
--     → ok feed[] | gone | unauthorized
-- @named
-- @answer
WITH me AS MATERIALIZED (
    SELECT t.user_id, t.environment, coalesce(f.last, 0) AS last, coalesce(f.pruned, 0) AS pruned,
        coalesce(f.mark, '') AS mark,
        CASE WHEN :position IS NULL THEN coalesce(f.pruned, 0) WHEN :position < 0 THEN coalesce(f.last, 0)
             ELSE :position END AS start
    FROM token t LEFT JOIN feed_scope f ON @INFEED(f, t)
    WHERE @CALLER(t)),
found AS MATERIALIZED (
    SELECT m.user_id, m.environment, m.start,
        CASE WHEN m.start = m.pruned THEN m.mark
             ELSE (SELECT e.mark FROM feed e WHERE @INFEED(e, m) AND e.position = m.start) END AS mark
    FROM me m WHERE m.start BETWEEN m.pruned AND m.last),
begun AS MATERIALIZED (SELECT f.* FROM found f WHERE :mark IS NULL OR f.mark = :mark),
looked AS MATERIALIZED (
    SELECT e.* FROM feed e
    WHERE e.user_id = (SELECT b.user_id FROM begun b) AND e.environment = (SELECT b.environment FROM begun b)
      AND e.position > (SELECT b.start FROM begun b)
    ORDER BY e.position LIMIT CASE WHEN :types IS NULL THEN :n ELSE 5000 END),
shown AS MATERIALIZED (
    SELECT l.* FROM looked l
    WHERE :types IS NULL OR instr(',' || :types || ',', ',' || l.type || ',') > 0
    ORDER BY l.position LIMIT :n),
ended AS MATERIALIZED (
    SELECT CASE WHEN count(*) >= :n THEN max(x.position) ELSE (SELECT max(l.position) FROM looked l) END AS position
    FROM shown x)
SELECT r.* FROM (
    SELECT 'ok' AS outcome, x.position AS position, x.mark, x.type AS type, x.created_at, x.environment, s.uuid,
        x.signer_uuid, s.external_id, x.detail, false
    FROM shown x LEFT JOIN submission s ON s.id = x.submission_id
    UNION ALL
    SELECT 'ok', coalesce(n.position, b.start),
        coalesce((SELECT l.mark FROM looked l WHERE l.position = n.position), b.mark), NULL, 0, b.environment, NULL, NULL,
        NULL, NULL, EXISTS (SELECT 1 FROM feed e WHERE @INFEED(e, b) AND e.position = 0)
    FROM begun b CROSS JOIN ended n) r
ORDER BY r.position, r.type IS NULL

-- @outcome
SELECT CASE WHEN EXISTS (SELECT 1 FROM token t WHERE @CALLER(t)) THEN 'gone' ELSE 'unauthorized' END

-- OLDEST: the oldest events, as far as they are to be deleted. PRUNE: raises `pruned` of their users and environments, but
-- never to an event that must be kept, because a clock that was wrong can give an event a time of long ago. A time in the
-- future keeps nothing. PRUNED: deletes the events up to there.
-- @macro OLDEST() (SELECT y.* FROM (SELECT f.* FROM feed f ORDER BY f.id LIMIT 1000) y WHERE y.created_at < :before)
-- @macro PRUNE() UPDATE feed_scope SET pruned = u.upto,
--         mark = (SELECT e.mark FROM feed e WHERE @INFEED(e, u) AND e.position = u.upto)
--     FROM (SELECT o.user_id, o.environment, coalesce(
--                      (SELECT min(e.position) - 1 FROM feed e
--                       WHERE @INFEED(e, o) AND e.position BETWEEN 1 AND o.last
--                         AND e.created_at BETWEEN :before AND @CLOCK()), o.last) AS upto
--           FROM (SELECT w.user_id, w.environment, max(w.position) AS last FROM @OLDEST() w
--                 GROUP BY w.user_id, w.environment) o) u
--     WHERE @INFEED(feed_scope, u) AND u.upto > feed_scope.pruned
-- @macro PRUNED() DELETE FROM feed WHERE id IN (SELECT e.id FROM feed_scope s CROSS JOIN feed e
--     WHERE @INFEED(e, s) AND e.position BETWEEN 1 AND s.pruned)
