-- SPDX-License-Identifier: Apache-2.0
-- Gives events of the feed their positions. engine.sql describes the form of this file.

-- @op feed_number(token_hash hash, now time) → ok | unauthorized write
INSERT INTO feed_scope (user_id, environment)
SELECT t.user_id, t.environment FROM token t WHERE @CALLER(t)
ON CONFLICT DO NOTHING

UPDATE feed SET position = n.position
FROM (SELECT f.id, s.last + row_number() OVER (ORDER BY f.id) AS position
      FROM token t CROSS JOIN feed_scope s ON @INFEED(s, t) CROSS JOIN feed f ON @INFEED(f, s) AND f.position = 0
      WHERE @CALLER(t) ORDER BY f.id LIMIT 1000) n
WHERE feed.id = n.id

UPDATE feed_scope SET last = last + changes()
FROM token t WHERE @CALLER(t) AND @INFEED(feed_scope, t)

-- @outcome
SELECT CASE WHEN EXISTS (SELECT 1 FROM token t WHERE @CALLER(t)) THEN 'ok' ELSE 'unauthorized' END

-- @op admin_feed_expire(before time) → ok count write
INSERT INTO feed_scope (user_id, environment)
SELECT o.user_id, o.environment FROM @OLDEST() o WHERE o.position = 0
ON CONFLICT DO NOTHING

UPDATE feed SET position = n.position
FROM (SELECT o.id, s.last + row_number() OVER (PARTITION BY o.user_id, o.environment ORDER BY o.id) AS position
      FROM @OLDEST() o CROSS JOIN feed_scope s ON @INFEED(s, o)
      WHERE o.position = 0) n
WHERE feed.id = n.id

UPDATE feed_scope
SET last = max(last, coalesce((SELECT max(e.position) FROM feed e WHERE @INFEED(e, feed_scope)), 0))

@PRUNE()

@PRUNED()

-- @answer
SELECT 'ok', @CHANGES()
