-- SPDX-License-Identifier: Apache-2.0
-- What is stored about one email address, for sigreqctl export. engine.sql describes the form of this file. Emails are
-- compared as those of users are. There is no index of signers by email: the administrator's command reads them all.

-- SAME: x is the email. OWN: the job d is a mail to it, or no mail.
-- @macro SAME(x) (x = (SELECT a.email FROM a) COLLATE NOCASE)
-- @macro OWN(d) (d.destination <> 'mailto:' OR d.url = 'mailto:' || (SELECT a.email FROM a) COLLATE NOCASE)

-- @op admin_export_accounts(email text, organization text?, environment text?) → ok body | missing
-- @answer
WITH a(email, which, environment) AS (SELECT %s, %s, %s),
o AS MATERIALIZED (@WHICH())
SELECT iif(a.which IS NOT NULL AND NOT EXISTS (SELECT 1 FROM o), 'missing', 'ok'),
       (SELECT json_group_array(json(body)) FROM (
            SELECT json_object('uuid', u.uuid, 'firstname', u.firstname, 'lastname', u.lastname, 'email', u.email,
                       'created_at', u.created_at, 'disabled_at', u.disabled_at,
                       'organization', json((SELECT json_object('uuid', n.uuid, 'name', n.name) FROM organization n
                                             WHERE n.id = u.organization_id)),
                       'tokens', (SELECT json_group_array(json(body)) FROM (
                           SELECT json_object('uuid', t.uuid, 'name', t.name, 'environment', t.environment,
                                      'created_at', t.created_at, 'expires_at', t.expires_at,
                                      'revoked_at', t.revoked_at) AS body
                           FROM token t
                           WHERE t.user_id = u.id
                             AND ((SELECT environment FROM a) IS NULL OR t.environment = (SELECT environment FROM a))
                           ORDER BY t.id))) AS body
            FROM user_account u
            WHERE @SAME(u.email) AND ((SELECT which FROM a) IS NULL OR u.organization_id = (SELECT id FROM o))
            ORDER BY u.id))
FROM a

-- @op admin_export_find(email text, organization text?, environment text?, after int, n int) → ok found[] | missing
-- @answer
WITH a(email, which, environment, after, n) AS (SELECT %s, %s, %s, CAST(%s AS INTEGER), CAST(%s AS INTEGER)),
o AS MATERIALIZED (@WHICH())
SELECT 'missing', NULL, NULL FROM a WHERE a.which IS NOT NULL AND NOT EXISTS (SELECT 1 FROM o)
UNION ALL
SELECT * FROM (SELECT 'ok', s.id, s.uuid FROM submission s
               WHERE s.id > (SELECT after FROM a) AND s.state <> 'deleted'
                 AND ((SELECT which FROM a) IS NULL OR s.organization_id = (SELECT id FROM o))
                 AND ((SELECT environment FROM a) IS NULL OR s.environment = (SELECT environment FROM a))
                 AND (EXISTS (SELECT 1 FROM signer g WHERE g.submission_id = s.id AND @SAME(g.email))
                      OR EXISTS (SELECT 1 FROM user_account u WHERE u.id = s.user_id AND @SAME(u.email)))
               ORDER BY s.id LIMIT (SELECT n FROM a))

-- A job of a mail has the URL "mailto:<address>". The body of a call is JSON text without white space.
-- @op admin_export_get(submission uuid, email text) → ok body | missing
-- @answer
WITH @ARGUMENTS
SELECT iif(s.id IS NULL, 'missing', 'ok'), iif(s.id IS NULL, NULL, json_object('uuid', s.uuid, 'name', s.name,
    'environment', s.environment, 'state', s.state, 'created_at', s.created_at, 'updated_at', s.updated_at,
    'closed_at', s.closed_at, 'expires_at', s.expires_at,
    'organization', json((SELECT json_object('uuid', o.uuid, 'name', o.name) FROM organization o
                          WHERE o.id = s.organization_id)),
    'sender', json((SELECT iif(@SAME(u.email), 'true', 'false') FROM user_account u WHERE u.id = s.user_id)),
    'signers', (SELECT json_group_array(json(body)) FROM (
        SELECT iif(@SAME(g.email),
                   json_object('uuid', g.uuid, 'self', json('true'), 'state', g.state, 'order', g.signing_order,
                       'firstname', g.firstname, 'lastname', g.lastname, 'email', g.email, 'locale', g.locale,
                       'due_at', g.due_at, 'opened_at', g.opened_at, 'completed_at', g.completed_at,
                       'refused_at', g.refused_at, 'refusal_reason', g.refusal_reason, 'reminded_at', g.reminded_at,
                       'reminders', g.reminders, 'ip', g.ip, 'user_agent', g.user_agent,
                       'signature_type', g.signature_type, 'consent', g.consent, 'fields', json(g.fields)),
                   json_object('uuid', g.uuid, 'self', json('false'), 'state', g.state, 'order', g.signing_order)) AS body
        FROM signer g WHERE g.submission_id = s.id ORDER BY g.position)),
    'documents', (SELECT json_group_array(json(body)) FROM (
        SELECT d.body FROM document_row d WHERE d.submission_id = s.id ORDER BY d.position)),
    'certificate', json(iif(s.certificate_key IS NULL, NULL, json_object('sha256', s.certificate_sha256,
                            'size', s.certificate_size, 'key', s.certificate_key))),
    'withheld', (SELECT json_group_array(name) FROM (
        SELECT 'cancelReason' AS name WHERE s.cancel_reason IS NOT NULL
        UNION ALL SELECT 'externalId' WHERE s.external_id IS NOT NULL
        UNION ALL SELECT 'holdReason' WHERE s.hold_reason IS NOT NULL
        UNION ALL SELECT 'metadata' WHERE s.metadata IS NOT NULL)),
    'events', json(@EVENTS(s.id)),
    'deliveries', (SELECT json_group_array(json(body)) FROM (
        SELECT json_object('uuid', r.uuid, 'event', r.event,
                   'to', CASE WHEN d.destination <> 'mailto:' THEN d.destination
                              WHEN @OWN(d) THEN substr(d.url, 8) END,
                   'success', json(CASE d.success WHEN 1 THEN 'true' WHEN 0 THEN 'false' END), 'status', d.status,
                   'error', iif(@OWN(d), d.error, NULL),
                   'attempts', d.attempts, 'created_at', d.created_at, 'ended_at', d.ended_at) AS body
        FROM job d CROSS JOIN job_row r ON r.id = d.id
        WHERE d.submission_id = s.id AND instr(lower(d.body), lower(json_quote((SELECT a.email FROM a)))) > 0
        ORDER BY d.id))))
FROM a
LEFT JOIN submission s ON s.uuid = a.submission AND s.state <> 'deleted'
