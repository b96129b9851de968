-- SPDX-License-Identifier: Apache-2.0
-- What follows when a submission is deleted or has been closed for long. engine.sql describes the form of this file.

-- @op erasure_get(submission uuid?) → ok body | missing
-- @answer
SELECT 'ok', json_object('submission', s.uuid, 'organization', o.uuid, 'environment', s.environment,
                         'contents', json(s.erasing))
FROM submission s CROSS JOIN organization o
WHERE s.erasing IS NOT NULL AND o.id = s.organization_id
  AND s.id = coalesce((SELECT x.id FROM submission x WHERE x.uuid = :submission),
                      CASE WHEN :submission IS NULL
                           THEN (SELECT min(x.id) FROM submission x WHERE x.erasing IS NOT NULL) END)

-- @outcome
SELECT 'missing'

-- @op erasure_done(submission uuid) → ok write
UPDATE submission SET erasing = NULL WHERE uuid = :submission AND erasing IS NOT NULL

-- @answer
SELECT 'ok'

-- The first submission of a template that was not deleted counts from the last use of the template.
-- @op retention_past(environment text, state text, age int, closed_at time, id int, n int) → ok retained[]
-- @answer
SELECT 'ok', s.uuid, s.closed_at, s.id FROM submission s
WHERE s.environment = :environment AND s.state = :state AND s.held_at IS NULL
  AND s.closed_at <= @CLOCK() - :age AND (s.closed_at, s.id) > (:closed_at, :id)
  AND (s.template_deleted_at IS NOT NULL OR @LASTUSE(s) <= @CLOCK() - :age OR @MADE(s))
ORDER BY s.closed_at, s.id LIMIT :n
