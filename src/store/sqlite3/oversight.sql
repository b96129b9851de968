-- SPDX-License-Identifier: Apache-2.0
-- The operations of sigreqctl on submissions and deliveries of all organisations. engine.sql describes the form of this
-- file. Lists are in the order of ids, newest first, and begin after the row that `before` names.

-- The submissions s that the list shows, of those that `source` finds. Without an external id they are read by their
-- ids, the newest first, until the list is full. The first line of `search` is the folded name.
-- @macro EVERY() submission s ON :external_id IS NULL
-- @macro EXTERNAL() user_account x CROSS JOIN submission s INDEXED BY submission_external
--     ON s.user_id = x.id AND s.organization_id = x.organization_id AND s.environment IN ('test', 'production')
--     AND s.external_id = :external_id
-- @macro FOUNDBY(source) WITH @ARGUMENTS, page AS MATERIALIZED (
--     SELECT s.id FROM a CROSS JOIN @source()
--     WHERE @OFONE(s.organization_id)
--       AND (:user IS NULL OR s.user_id = (SELECT u.id FROM user_account u WHERE u.uuid = :user))
--       AND (:environment IS NULL OR s.environment = :environment)
--       AND (:state IS NULL OR s.state = :state)
--       AND (:before IS NULL OR s.id < (SELECT b.id FROM submission b WHERE b.uuid = :before))
--       AND (:since IS NULL OR s.created_at >= :since) AND (:until IS NULL OR s.created_at < :until)
--       AND (:name IS NULL OR instr(substr(s.search, 1, instr(s.search || char(10), char(10)) - 1), :name) > 0)
--       AND (:signer IS NULL OR EXISTS (SELECT 1 FROM signer g WHERE g.submission_id = s.id AND @SAME(g.email, :signer)))
--     ORDER BY s.id DESC LIMIT :n)
--     SELECT 'ok', @COLUMNS(r) FROM page CROSS JOIN overview_row r ON r.id = page.id ORDER BY r.id DESC

-- @op admin_submission_list(organization text?, user uuid?, environment text?, state text?, before uuid?, n int,
--     signer text?, since time?, until time?, name text?, external_id text?) → ok overview[] | missing
-- @outcome
SELECT 'missing' WHERE (:organization IS NOT NULL AND @WHICH(organization) IS NULL)
    OR (:before IS NOT NULL AND NOT EXISTS (SELECT 1 FROM submission s WHERE s.uuid = :before))

-- @answer
-- @if external_id
@FOUNDBY(EXTERNAL)

-- @answer
@FOUNDBY(EVERY)

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
SELECT 'ok', @COLUMNS(r) FROM job_row r WHERE r.uuid = :uuid
