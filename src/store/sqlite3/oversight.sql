-- SPDX-License-Identifier: Apache-2.0
-- The operations of sigreqctl on submissions and deliveries of all organisations. engine.sql describes the form of this
-- file. Lists are in the order of ids, newest first, and begin after the row that `before` names.

-- @macro OVERVIEW(r) r.uuid, r.environment, r.organization, r.email, r.name, r.state, r.signers, r.completed, r.created_at,
--     r.updated_at, r.closed_at, r.expires_at, r.held_at, r.hold_reason
-- UNKNOWN: a.which or a.submission or a.before is given, and does not exist. There is a row for that.
-- @macro UNKNOWN(table) (a.which IS NOT NULL AND NOT EXISTS (SELECT 1 FROM o))
--     OR (a.before IS NOT NULL AND NOT EXISTS (SELECT 1 FROM table x WHERE x.uuid = lower(a.before)))

CREATE VIEW overview_row AS
    SELECT s.id, s.uuid, s.environment, o.name AS organization, u.email, s.name, s.state,
           (SELECT count(*) FROM signer g WHERE g.submission_id = s.id AND g.state <> 'replaced') AS signers,
           (SELECT count(*) FROM signer g WHERE g.submission_id = s.id AND g.state = 'completed') AS completed,
           s.created_at, s.updated_at, s.closed_at, s.expires_at, s.held_at, s.hold_reason
    FROM submission s
    CROSS JOIN organization o ON o.id = s.organization_id
    CROSS JOIN user_account u ON u.id = s.user_id

-- The submissions s that the list shows, of those that `source` finds. Without an external id they are read by their
-- ids, the newest first, until the list is full. The first line of `search` is the folded name.
-- @macro EVERY() submission s
-- @macro EXTERNAL() user_account x CROSS JOIN submission s INDEXED BY submission_external
--     ON s.user_id = x.id AND s.organization_id = x.organization_id AND s.environment IN ('test', 'production')
--     AND s.external_id = a.external_id
-- @macro FOUNDBY(source, given) WITH a(which, user, environment, state, before, n, signer, since, until, name, external_id) AS (
--     SELECT %s, lower(%s), %s, %s, lower(%s), CAST(%s AS INTEGER), %s, CAST(%s AS INTEGER), CAST(%s AS INTEGER), %s, %s),
--     o AS MATERIALIZED (@WHICH()),
--     unknown AS MATERIALIZED (SELECT 1 FROM a WHERE @UNKNOWN(submission)),
--     page AS MATERIALIZED (
--     SELECT s.id FROM a CROSS JOIN @source()
--     WHERE (a.external_id IS NOT NULL) = given AND NOT EXISTS (SELECT 1 FROM unknown)
--       AND (a.which IS NULL OR s.organization_id = (SELECT id FROM o))
--       AND (a.user IS NULL OR s.user_id = (SELECT u.id FROM user_account u WHERE u.uuid = a.user))
--       AND (a.environment IS NULL OR s.environment = a.environment)
--       AND (a.state IS NULL OR s.state = a.state)
--       AND (a.before IS NULL OR s.id < (SELECT b.id FROM submission b WHERE b.uuid = a.before))
--       AND (a.since IS NULL OR s.created_at >= a.since) AND (a.until IS NULL OR s.created_at < a.until)
--       AND (a.name IS NULL OR instr(substr(s.search, 1, instr(s.search || char(10), char(10)) - 1), a.name) > 0)
--       AND (a.signer IS NULL OR EXISTS (SELECT 1 FROM signer g
--                                        WHERE g.submission_id = s.id AND g.email = a.signer COLLATE NOCASE))
--     ORDER BY s.id DESC LIMIT (SELECT n FROM a))
--     SELECT 'missing', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM unknown
--     UNION ALL
--     SELECT * FROM (SELECT 'ok', @OVERVIEW(r) FROM page CROSS JOIN overview_row r ON r.id = page.id ORDER BY r.id DESC)

-- @op admin_submission_list(organization text?, user uuid?, environment text?, state text?, before uuid?, limit int,
--     signer text?, since time?, until time?, name text?, external_id text?) → ok overview[] | missing
-- @answer
-- @if external_id
@FOUNDBY(EXTERNAL, 1)

-- @answer
@FOUNDBY(EVERY, 0)

-- A signer's uuid is the secret of their link, so only its first characters are shown, as in logs.
-- @op admin_submission_get(submission uuid) → ok body | missing
-- @answer
WITH @ARGUMENTS
SELECT iif(r.id IS NULL, 'missing', 'ok'), iif(r.id IS NULL, NULL, json_object(
    'uuid', r.uuid, 'environment', r.environment, 'organization', r.organization, 'email', r.email, 'name', r.name,
    'state', r.state, 'signers', r.signers, 'completed', r.completed, 'created_at', r.created_at, 'updated_at', r.updated_at,
    'closed_at', r.closed_at, 'expires_at', r.expires_at, 'held_at', r.held_at,
    'hold_reason', r.hold_reason, 'cancel_reason', s.cancel_reason, 'external_id', s.external_id,
    'people', (SELECT json_group_array(json(body)) FROM (
        SELECT json_object('link', substr(g.uuid, 1, 8), 'firstname', g.firstname, 'lastname', g.lastname,
                   'email', g.email, 'state', g.state, 'due_at', g.due_at, 'opened_at', g.opened_at,
                   'completed_at', g.completed_at, 'refused_at', g.refused_at, 'refusal_reason', g.refusal_reason) AS body
        FROM signer g WHERE g.submission_id = s.id ORDER BY g.position)),
    'documents', (SELECT json_group_array(json(body)) FROM (
        SELECT json_object('uuid', d.uuid, 'name', d.name, 'size', d.size, 'sha256', d.sha256,
                   'revisions', (SELECT count(*) FROM revision v WHERE v.document_uuid = d.uuid)) AS body
        FROM document d WHERE d.submission_id = s.id ORDER BY d.position)),
    'events', (SELECT json_group_array(json(body)) FROM (
        SELECT json_object('number', e.number, 'event', e.body->>'event', 'at', e.body->>'at',
                   'link', substr(e.body->>'signer', 1, 8), 'hash', e.hash) AS body
        FROM event e WHERE e.submission_id = s.id ORDER BY e.number))))
FROM a
LEFT JOIN submission s ON s.uuid = a.submission
LEFT JOIN overview_row r ON r.id = s.id

-- What happened to submissions, as on PostgreSQL.
CREATE VIEW happened AS
    SELECT organization_id, environment, created_at AS at, 1 AS created, 0 AS completed, 0 AS refused, 0 AS bytes
    FROM submission
    UNION ALL
    SELECT organization_id, environment, closed_at, 0, coalesce(outcome, state) = 'completed',
           coalesce(outcome, state) = 'refused', coalesce(certificate_size, 0)
    FROM submission WHERE closed_at IS NOT NULL
    UNION ALL
    SELECT s.organization_id, s.environment, s.created_at, 0, 0, 0, d.size + coalesce(d.rewritten_size, 0)
    FROM document d CROSS JOIN submission s ON s.id = d.submission_id
    UNION ALL
    SELECT s.organization_id, s.environment, r.created_at, 0, 0, 0, r.size
    FROM revision r CROSS JOIN document d ON d.uuid = r.document_uuid CROSS JOIN submission s ON s.id = d.submission_id

-- @op admin_stats(organization text?, since time?, until time?) → ok stat[] | missing
-- @answer
WITH a(which, since, until) AS (SELECT %s, CAST(%s AS INTEGER), CAST(%s AS INTEGER)),
o AS MATERIALIZED (@WHICH())
SELECT 'missing', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM a WHERE a.which IS NOT NULL AND NOT EXISTS (SELECT 1 FROM o)
UNION ALL
SELECT * FROM (
    SELECT 'ok', h.month, r.name, r.uuid, h.environment, h.created, h.completed, h.refused, h.bytes
    FROM (SELECT strftime('%%Y-%%m', x.at / 1000000, 'unixepoch') AS month, x.organization_id, x.environment,
                 sum(x.created) AS created, sum(x.completed) AS completed, sum(x.refused) AS refused, sum(x.bytes) AS bytes
          FROM a CROSS JOIN happened x
          WHERE (a.which IS NULL OR x.organization_id = (SELECT id FROM o))
            AND (a.since IS NULL OR x.at >= a.since) AND (a.until IS NULL OR x.at < a.until)
          GROUP BY 1, 2, 3) h CROSS JOIN organization r ON r.id = h.organization_id
    ORDER BY h.month, r.id, h.environment)

-- @op admin_delivery_list(organization text?, submission uuid?, success bool?, before uuid?, limit int)
--     → ok delivery[] | missing
-- @answer
WITH a(which, submission, success, before, n) AS (SELECT %s, lower(%s), %s, %s, CAST(%s AS INTEGER)),
o AS MATERIALIZED (@WHICH()),
s AS MATERIALIZED (SELECT s.id FROM a CROSS JOIN submission s ON s.uuid = a.submission),
unknown AS MATERIALIZED (
    SELECT 1 FROM a
    WHERE (a.submission IS NOT NULL AND NOT EXISTS (SELECT 1 FROM s)) OR @UNKNOWN(job))
SELECT 'missing', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM unknown
UNION ALL
SELECT * FROM (SELECT 'ok', @DELIVERY(r) FROM a CROSS JOIN job d CROSS JOIN job_row r ON r.id = d.id
               WHERE NOT EXISTS (SELECT 1 FROM unknown) AND d.event IS NOT NULL
                 AND (a.which IS NULL OR d.organization_id = (SELECT id FROM o))
                 AND (a.submission IS NULL OR d.submission_id = (SELECT id FROM s))
                 AND (a.success IS NULL OR d.success = (a.success = 'true'))
                 AND (a.before IS NULL OR d.id < (SELECT b.id FROM job b WHERE b.uuid = lower(a.before)))
               ORDER BY d.id DESC LIMIT (SELECT n FROM a))

-- @op admin_redeliver(event uuid, uuid uuid, now time) → ok delivery | missing | conflict | stale | quota write
-- @answer
WITH @ARGUMENTS,
found AS MATERIALIZED (
    SELECT 1 AS caller, d.submission_id, a.now, a.event, a.uuid, d.kind, @AGAIN(d)
    FROM a
    LEFT JOIN job d ON d.uuid = a.event AND d.event_id = a.event AND d.state = 'done'),
@JUDGED()
SELECT outcome FROM judged WHERE outcome IS NOT NULL

WITH @ARGUMENTS
@REPEAT()

-- @answer
WITH a(event, uuid) AS (SELECT %s, lower(%s))
SELECT 'ok', @DELIVERY(r) FROM a CROSS JOIN job_row r WHERE r.uuid = a.uuid

-- @op admin_archive_due(before time, stamped_until time, id int, n int) → ok archivable[]
-- @answer
WITH @ARGUMENTS
SELECT 'ok', s.uuid, coalesce(s.stamped_until, 0), s.id FROM submission s
WHERE s.state = 'completed' AND coalesce(s.stamped_until, 0) <= (SELECT before FROM a)
  AND (coalesce(s.stamped_until, 0), s.id) > (SELECT stamped_until, id FROM a)
ORDER BY coalesce(s.stamped_until, 0), s.id LIMIT (SELECT n FROM a)
