-- SPDX-License-Identifier: Apache-2.0
-- The operations of sigreqctl on submissions and deliveries of all organisations. engine.sql describes the form of this
-- file.

CREATE VIEW overview_row AS
    SELECT s.id, s.uuid, CAST(s.environment AS text) AS environment, o.name AS organization,
           CAST(u.email AS text) AS email, s.name, CAST(s.state AS text) AS state,
           (SELECT count(*) FROM signer g WHERE g.submission_id = s.id AND g.state <> 'replaced') AS signers,
           (SELECT count(*) FROM signer g WHERE g.submission_id = s.id AND g.state = 'completed') AS completed,
           s.created_at, s.updated_at, s.closed_at, s.expires_at, s.held_at, s.hold_reason
    FROM submission s CROSS JOIN organization o CROSS JOIN user_account u
    WHERE o.id = s.organization_id AND u.id = s.user_id

-- A signer's uuid is the secret of their link, so only its first characters are shown, as in logs.
-- @op admin_submission_get(submission uuid) → ok body | missing
-- @answer
SELECT 'ok', json_object(
    'uuid', r.uuid, 'environment', r.environment, 'organization', r.organization, 'email', r.email, 'name', r.name,
    'state', r.state, 'signers', r.signers, 'completed', r.completed, 'created_at', r.created_at,
    'updated_at', r.updated_at, 'closed_at', r.closed_at, 'expires_at', r.expires_at, 'held_at', r.held_at,
    'hold_reason', r.hold_reason, 'cancel_reason', s.cancel_reason, 'external_id', s.external_id,
    'people', (SELECT json_group_array(json(body)) FROM (
        SELECT json_object('link', substr(CAST(g.uuid AS text), 1, 8), 'firstname', g.firstname,
                   'lastname', g.lastname, 'email', g.email, 'state', g.state, 'due_at', g.due_at,
                   'opened_at', g.opened_at, 'completed_at', g.completed_at, 'refused_at', g.refused_at,
                   'refusal_reason', g.refusal_reason,
                   'identity', (json(g.authentication)->>'method') || CASE
                       WHEN json(g.authentication)->>'locked_until' IS NOT NULL THEN ' locked'
                       WHEN json(g.authentication)->>'passed_at' IS NOT NULL THEN ' passed'
                       ELSE ' pending' END) AS body
        FROM signer g WHERE g.submission_id = s.id ORDER BY g.position) x),
    'documents', (SELECT json_group_array(json(body)) FROM (
        SELECT json_object('uuid', d.uuid, 'name', d.name, 'size', d.size, 'sha256', d.sha256,
                   'revisions', (SELECT count(*) FROM revision v WHERE v.document_uuid = d.uuid)) AS body
        FROM document d WHERE d.submission_id = s.id ORDER BY d.position) x),
    'events', (SELECT json_group_array(json(body)) FROM (
        SELECT json_object('number', e.number, 'event', json(e.body)->>'event', 'at', json(e.body)->>'at',
                   'link', substr(json(e.body)->>'signer', 1, 8), 'hash', e.hash) AS body
        FROM event e WHERE e.submission_id = s.id ORDER BY e.number) x))
FROM submission s CROSS JOIN overview_row r
WHERE s.uuid = :submission AND r.id = s.id

-- @outcome
SELECT 'missing'

-- What happened to submissions. A rewritten document is stored beside the upload, and a revision has only what was
-- appended. Deleted submissions have no documents.
CREATE VIEW happened AS
    SELECT organization_id, environment, created_at AS at,
           CAST(coalesce(outcome, state) <> 'draft' AS integer) AS created, 0 AS completed, 0 AS refused, 0 AS bytes
    FROM submission
    UNION ALL
    SELECT organization_id, environment, closed_at, 0, CAST(coalesce(outcome, state) = 'completed' AS integer),
           CAST(coalesce(outcome, state) = 'refused' AS integer), coalesce(certificate_size, 0)
    FROM submission WHERE closed_at IS NOT NULL
    UNION ALL
    SELECT s.organization_id, s.environment, s.created_at, 0, 0, 0, d.size + coalesce(d.rewritten_size, 0)
    FROM document d CROSS JOIN submission s WHERE s.id = d.submission_id
    UNION ALL
    SELECT s.organization_id, s.environment, r.created_at, 0, 0, 0, r.size
    FROM revision r CROSS JOIN document d CROSS JOIN submission s
    WHERE d.uuid = r.document_uuid AND s.id = d.submission_id

-- @op admin_stats(organization text?, since time?, until time?) → ok stat[] | missing
-- @outcome
@NEITHER()

-- @answer
SELECT 'ok', h.month, o.name, o.uuid, h.environment, h.created, h.completed, h.refused, h.bytes
FROM (SELECT @MONTH(x.at) AS month, x.organization_id, x.environment,
             sum(x.created) AS created, sum(x.completed) AS completed, sum(x.refused) AS refused, sum(x.bytes) AS bytes
      FROM happened x
      WHERE @OFONE(x.organization_id) AND (:since IS NULL OR x.at >= :since) AND (:until IS NULL OR x.at < :until)
      GROUP BY 1, 2, 3) h
JOIN organization o ON o.id = h.organization_id
ORDER BY h.month, o.id, h.environment

-- The list is in the order of ids, newest first, and begins after the row that `before` names.
-- @op admin_delivery_list(organization text?, submission uuid?, success bool?, before uuid?, n int)
--     → ok delivery[] | missing
-- @outcome
@NEITHER()

-- @outcome
SELECT 'missing'
WHERE (:submission IS NOT NULL AND NOT EXISTS (SELECT 1 FROM submission s WHERE s.uuid = :submission))
   OR (:before IS NOT NULL AND NOT EXISTS (SELECT 1 FROM job d WHERE d.uuid = :before))

-- @answer
SELECT 'ok', @COLUMNS(r) FROM job_row r
WHERE @OFONE(r.organization_id)
  AND (:submission IS NULL OR r.submission_id = (SELECT s.id FROM submission s WHERE s.uuid = :submission))
  AND (:success IS NULL OR r.success = :success)
  AND (:before IS NULL OR r.id < (SELECT d.id FROM job d WHERE d.uuid = :before))
ORDER BY r.id DESC LIMIT :n

-- @op admin_archive_due(before time, stamped_until time, id int, n int) → ok archivable[]
-- @answer
SELECT 'ok', s.uuid, coalesce(s.stamped_until, 0), s.id FROM submission s
WHERE s.state = 'completed' AND coalesce(s.stamped_until, 0) <= :before
  AND (coalesce(s.stamped_until, 0), s.id) > (:stamped_until, :id)
ORDER BY coalesce(s.stamped_until, 0), s.id LIMIT :n
