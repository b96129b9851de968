-- SPDX-License-Identifier: Apache-2.0
-- What is stored about one email address, for sigreqctl export. engine.sql describes the form of this file. Emails are
-- compared as those of users are. There is no index of signers by email: the administrator's command reads them all.

-- @op admin_export_accounts(email text, organization text?, environment text?) → ok body | missing
-- @outcome
@NEITHER()

-- @answer
SELECT 'ok', json(coalesce(json_group_array(json(body)), '[]')) FROM (
    SELECT json_object('uuid', u.uuid, 'firstname', u.firstname, 'lastname', u.lastname, 'email', u.email,
               'created_at', u.created_at, 'disabled_at', u.disabled_at,
               'organization', (SELECT json_object('uuid', o.uuid, 'name', o.name) FROM organization o
                                WHERE o.id = u.organization_id),
               'tokens', (SELECT json(coalesce(json_group_array(json(body)), '[]')) FROM (
                   SELECT json_object('uuid', t.uuid, 'name', t.name, 'environment', t.environment,
                              'created_at', t.created_at, 'expires_at', t.expires_at, 'revoked_at', t.revoked_at) AS body
                   FROM token t
                   WHERE t.user_id = u.id AND (:environment IS NULL OR t.environment = :environment)
                   ORDER BY t.id) y)) AS body
    FROM user_account u
    WHERE @SAME(u.email, :email) AND @OFONE(u.organization_id)
    ORDER BY u.id) x

-- @op admin_export_find(email text, organization text?, environment text?, after int, n int) → ok found[] | missing
-- @outcome
@NEITHER()

-- @answer
SELECT 'ok', s.id, s.uuid FROM submission s
WHERE s.id > :after AND s.state <> 'deleted' AND @OFONE(s.organization_id)
  AND (:environment IS NULL OR s.environment = :environment)
  AND (EXISTS (SELECT 1 FROM signer g WHERE g.submission_id = s.id AND @SAME(g.email, :email))
       OR EXISTS (SELECT 1 FROM viewer v WHERE v.submission_id = s.id AND @SAME(v.email, :email))
       OR EXISTS (SELECT 1 FROM user_account u WHERE u.id = s.user_id AND @SAME(u.email, :email)))
ORDER BY s.id LIMIT :n

-- OWN: the job d is a mail to the address, or no mail.
-- @macro OWN(d) (d.destination <> 'mailto:' OR @SAME(d.url, 'mailto:' || :email))
-- A job of a mail has the URL "mailto:<address>". The body of a call is JSON text without white space.
-- @op admin_export_get(submission uuid, email text) → ok body | missing
-- @answer
SELECT 'ok', json_object('uuid', s.uuid, 'name', s.name,
    'environment', s.environment, 'state', s.state, 'created_at', s.created_at, 'updated_at', s.updated_at,
    'closed_at', s.closed_at, 'expires_at', s.expires_at,
    'organization', (SELECT json_object('uuid', o.uuid, 'name', o.name) FROM organization o
                     WHERE o.id = s.organization_id),
    'sender', (SELECT json(CASE WHEN @SAME(u.email, :email) THEN 'true' ELSE 'false' END) FROM user_account u
               WHERE u.id = s.user_id),
    'signers', (SELECT json_group_array(json(body)) FROM (
        SELECT CASE WHEN @SAME(g.email, :email) THEN
                   json_object('uuid', g.uuid, 'self', json('true'), 'state', g.state, 'order', g.signing_order,
                       'firstname', g.firstname, 'lastname', g.lastname, 'email', g.email, 'locale', g.locale,
                       'due_at', g.due_at, 'opened_at', g.opened_at, 'completed_at', g.completed_at,
                       'refused_at', g.refused_at, 'refusal_reason', g.refusal_reason, 'reminded_at', g.reminded_at,
                       'reminders', g.reminders, 'ip', g.ip, 'user_agent', g.user_agent,
                       'signature_type', g.signature_type, 'consent', g.consent, 'fields', json(g.fields),
                       'authentication', json(g.authentication))
               ELSE json_object('uuid', g.uuid, 'self', json('false'), 'state', g.state, 'order', g.signing_order)
               END AS body
        FROM signer g WHERE g.submission_id = s.id ORDER BY g.position) x),
    'viewers', (SELECT json(coalesce(json_group_array(json(body)), '[]')) FROM (
        SELECT json_object('uuid', v.uuid, 'self', json('true'), 'kind', v.kind, 'firstname', v.firstname,
                   'lastname', v.lastname, 'email', v.email, 'sent_at', v.sent_at, 'opened_at', v.opened_at,
                   'revoked_at', v.revoked_at) AS body
        FROM viewer v WHERE v.submission_id = s.id AND @SAME(v.email, :email) ORDER BY v.position) x),
    'documents', (SELECT json_group_array(json(body)) FROM (
        SELECT d.body FROM document_row d WHERE d.submission_id = s.id ORDER BY d.position) x),
    'certificate', json(CASE WHEN s.certificate_key IS NOT NULL
        THEN json_object('sha256', s.certificate_sha256, 'size', s.certificate_size, 'key', s.certificate_key) END),
    'withheld', (SELECT json(coalesce(json_group_array(x.name), '[]')) FROM (
        SELECT 'cancelReason' AS name WHERE s.cancel_reason IS NOT NULL
        UNION ALL SELECT 'externalId' WHERE s.external_id IS NOT NULL
        UNION ALL SELECT 'holdReason' WHERE s.hold_reason IS NOT NULL
        UNION ALL SELECT 'metadata' WHERE s.metadata IS NOT NULL) x),
    'events', json(@EVENTS(s.id)),
    'deliveries', (SELECT json(coalesce(json_group_array(json(body)), '[]')) FROM (
        SELECT json_object('uuid', r.uuid, 'event', r.event,
                   'to', CASE WHEN d.destination <> 'mailto:' THEN d.destination
                              WHEN @OWN(d) THEN substr(d.url, 8) END,
                   'success', json(CASE WHEN d.success THEN 'true' WHEN NOT d.success THEN 'false' END),
                   'status', d.status, 'error', CASE WHEN @OWN(d) THEN d.error END,
                   'attempts', d.attempts, 'created_at', d.created_at, 'ended_at', d.ended_at) AS body
        FROM job d CROSS JOIN job_row r
        WHERE d.submission_id = s.id AND r.id = d.id
          AND instr(lower(@TEXT(d.body)), lower(@QUOTED(:email))) > 0
        ORDER BY d.id) x))
FROM submission s
WHERE s.uuid = :submission AND s.state <> 'deleted'

-- @outcome
SELECT 'missing'
