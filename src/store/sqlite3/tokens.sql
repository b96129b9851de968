-- SPDX-License-Identifier: Apache-2.0
-- Tokens and their webhook URLs. engine.sql describes the form of this file.

-- TREE: the token :uuid, and with :children all tokens that it made, directly or through others.
-- @macro TREE() tree(id) AS (
--     SELECT t.id FROM token t WHERE t.uuid = :uuid AND t.kind = 'api'
--     UNION
--     SELECT c.id FROM tree CROSS JOIN token c WHERE c.parent_id = tree.id AND :children)

-- @op token_used(token_hashes json, now time, day time) → ok write unsynced
UPDATE token SET used_on = :day
WHERE id IN (SELECT t.id FROM @VALUES(:token_hashes) h CROSS JOIN token t
             WHERE @VALID(t, h.value, :now) AND (t.used_on IS NULL OR t.used_on < :day))

-- @answer
SELECT 'ok'

-- @op token_list(token_hash hash, now time, n int, direction text, at time?, id int) → ok token[] | unauthorized
-- @outcome
SELECT 'unauthorized' WHERE NOT EXISTS (SELECT 1 FROM token t WHERE @CALLER(t))

-- The range of the other direction is empty.
-- @answer
WITH @ARGUMENTS,
b AS MATERIALIZED (
    SELECT CASE WHEN direction = 'newer' THEN coalesce(at, -1) ELSE 9223372036854775807 END AS low_at,
           CASE WHEN direction <> 'newer' THEN coalesce(at, 9223372036854775807) ELSE -1 END AS high_at,
           coalesce(id, 0) AS id
    FROM a),
me AS MATERIALIZED (SELECT t.user_id, t.organization_id, t.environment FROM token t WHERE @CALLER(t))
SELECT 'ok', @COLUMNS(r) FROM (
    SELECT t.id FROM token t
    WHERE t.user_id = (SELECT user_id FROM me) AND t.organization_id = (SELECT organization_id FROM me)
      AND t.environment = (SELECT environment FROM me) AND t.kind = 'api' AND (t.created_at, t.id) < (SELECT high_at, id FROM b)
    ORDER BY t.created_at DESC, t.id DESC
    LIMIT :n) page
CROSS JOIN token_row r ON r.id = page.id
UNION ALL
SELECT 'ok', @COLUMNS(r) FROM (
    SELECT t.id FROM token t
    WHERE t.user_id = (SELECT user_id FROM me) AND t.organization_id = (SELECT organization_id FROM me)
      AND t.environment = (SELECT environment FROM me) AND t.kind = 'api' AND (t.created_at, t.id) > (SELECT low_at, id FROM b)
    ORDER BY t.created_at, t.id
    LIMIT :n) page
CROSS JOIN token_row r ON r.id = page.id

-- If `children` is "true", all tokens that this token made, directly or through others, are revoked too.
-- @op token_revoke(token_hash hash, now time, uuid uuid, children bool) → ok | missing | unauthorized write
-- @outcome
SELECT @NOTHING() WHERE NOT EXISTS (SELECT 1 FROM token t CROSS JOIN token_row r WHERE @ITS())

-- @answer
WITH RECURSIVE @TREE()
UPDATE token SET revoked_at = coalesce(revoked_at, :now) WHERE id IN (SELECT id FROM tree)
RETURNING 'ok'
