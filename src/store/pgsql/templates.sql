-- SPDX-License-Identifier: Apache-2.0
-- The list of templates. ../common/engine.sql describes the form of this file.

-- Of the first 5,000 submissions in one direction, those with which a template was made that was not deleted. If these do
-- not fill the response, the last row has no uuid: the next response begins with that submission.
-- @macro TEMPLATES(way, than, outermost, step)
--     SELECT 'ok', CASE WHEN p.nth < 5000 THEN p.id ELSE p.id + step END, CASE WHEN p.nth < 5000 THEN r.uuid END,
--            r.name, p.created_at, r.used_at, r.signers, r.documents
--     FROM (SELECT l.id, l.created_at, l.nth
--           FROM (SELECT s.id, s.created_at, row_number() OVER (ORDER BY s.created_at way, s.id way) AS nth,
--                        s.state NOT IN ('draft', 'deleted') AND s.template_deleted_at IS NULL AND NOT @MADE(s) AS fits
--                 FROM sigreq.submission s
--                 WHERE @SCOPE(s, t) AND (s.created_at, s.id) than (coalesce(p_at, outermost), coalesce(p_id, 0))
--                 ORDER BY s.created_at way, s.id way LIMIT 5000) l
--           WHERE l.fits OR l.nth = 5000 ORDER BY l.created_at way, l.id way LIMIT p_n) p
--     JOIN sigreq.template_row r ON r.id = p.id
--     ORDER BY p.created_at way, p.id way

-- @op template_list(token_hash hash, now time, n int, direction text, at time?, id int) → ok template[] | unauthorized
CREATE FUNCTION sigreq.template_list(p_token_hash text, p_now bigint, p_n integer, p_direction text, p_at bigint,
    p_id bigint)
RETURNS @ROWS
LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET jit = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    t record;
BEGIN
    SELECT user_id, organization_id, environment INTO t FROM sigreq.token
    WHERE @CALLER(token);
    IF NOT FOUND THEN
        outcome := 'unauthorized';
        RETURN NEXT;
    ELSIF p_direction = 'newer' THEN
        RETURN QUERY @TEMPLATES(ASC, >, -1, -1);
    ELSE
        RETURN QUERY @TEMPLATES(DESC, <, 9223372036854775807, 1);
    END IF;
END $$
