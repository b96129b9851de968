-- SPDX-License-Identifier: Apache-2.0
-- The list of templates. ../pgsql/templates.sql explains it, and ../common/engine.sql describes the form of this file.

-- @macro TEMPLATES(way, than, end_at, step)
--     SELECT 'ok', iif(p.nth < 5000, p.id, p.id + step), iif(p.nth < 5000, r.uuid, NULL), r.name, p.created_at,
--            r.used_at, r.signers, r.documents
--     FROM (SELECT l.*, row_number() OVER () AS nth
--           FROM (SELECT s.id, s.created_at,
--                        s.state NOT IN ('draft', 'deleted') AND s.template_deleted_at IS NULL AND NOT @MADE(s) AS fits
--                 FROM submission s
--                 WHERE s.user_id = (SELECT user_id FROM me) AND s.organization_id = (SELECT organization_id FROM me)
--                   AND s.environment = (SELECT environment FROM me)
--                   AND (s.created_at, s.id) than (SELECT end_at, id FROM b)
--                 ORDER BY s.created_at way, s.id way LIMIT 5000) l) p
--     CROSS JOIN template_row r ON r.id = p.id
--     WHERE p.fits OR p.nth = 5000 LIMIT :n

-- @op template_list(token_hash hash, now time, n int, direction text, at time?, id int) → ok template[] | unauthorized
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
SELECT * FROM (@TEMPLATES(DESC, <, high_at, 1))
UNION ALL
SELECT * FROM (@TEMPLATES(ASC, >, low_at, -1))
