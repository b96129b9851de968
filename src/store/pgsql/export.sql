-- SPDX-License-Identifier: Apache-2.0
-- What is stored about one email address, for sigreqctl export. engine.sql describes the form of this file. Emails are
-- compared as those of users are. There is no index of signers by email: the administrator's command reads them all.

-- SAME: x is the email. OWN: the job d is a mail to it, or no mail.
-- @macro SAME(x) (lower(x COLLATE "C") = lower(p_email COLLATE "C"))
-- @macro OWN(d) (d.destination <> 'mailto:' OR lower(d.url) = 'mailto:' || lower(p_email COLLATE "C"))

-- @op admin_export_accounts(email text, organization text?, environment text?) → ok body | missing
CREATE FUNCTION sigreq.admin_export_accounts(p_email text, p_organization text, p_environment text) RETURNS text
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_organization bigint := sigreq.organization_find(p_organization);
BEGIN
    IF p_organization IS NOT NULL AND v_organization IS NULL THEN
        RETURN 'missing';
    END IF;
    RETURN E'ok\n' || (SELECT coalesce(json_agg(json_build_object('uuid', u.uuid, 'firstname', u.firstname,
               'lastname', u.lastname, 'email', u.email, 'created_at', u.created_at, 'disabled_at', u.disabled_at,
               'organization', json_build_object('uuid', o.uuid, 'name', o.name),
               'tokens', (SELECT coalesce(json_agg(json_build_object('uuid', t.uuid, 'name', t.name,
                                 'environment', t.environment, 'created_at', t.created_at, 'expires_at', t.expires_at,
                                 'revoked_at', t.revoked_at) ORDER BY t.id), '[]')
                          FROM sigreq.token t
                          WHERE t.user_id = u.id AND (p_environment IS NULL OR t.environment = p_environment)))
               ORDER BY u.id), '[]')::text
        FROM sigreq.user_account u
        JOIN sigreq.organization o ON o.id = u.organization_id
        WHERE @SAME(u.email) AND (p_organization IS NULL OR o.id = v_organization));
END $$

-- @op admin_export_find(email text, organization text?, environment text?, after int, n int) → ok found[] | missing
CREATE FUNCTION sigreq.admin_export_find(p_email text, p_organization text, p_environment text, p_after bigint,
    p_n integer) RETURNS TABLE (outcome text, id bigint, submission uuid)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
@ONEORALL()
    RETURN QUERY
    SELECT 'ok', s.id, s.uuid FROM sigreq.submission s
    WHERE s.id > p_after AND s.state <> 'deleted' AND (p_organization IS NULL OR s.organization_id = v_organization)
      AND (p_environment IS NULL OR s.environment = p_environment)
      AND (EXISTS (SELECT 1 FROM sigreq.signer g WHERE g.submission_id = s.id AND @SAME(g.email))
           OR EXISTS (SELECT 1 FROM sigreq.user_account u WHERE u.id = s.user_id AND @SAME(u.email)))
    ORDER BY s.id LIMIT p_n;
END $$

-- A job of a mail has the URL "mailto:<address>". The body of a call is JSON text without white space.
-- @op admin_export_get(submission uuid, email text) → ok body | missing
CREATE FUNCTION sigreq.admin_export_get(p_submission uuid, p_email text) RETURNS text
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN coalesce((SELECT E'ok\n' || json_build_object('uuid', s.uuid, 'name', s.name, 'environment', s.environment,
        'state', s.state, 'created_at', s.created_at, 'updated_at', s.updated_at, 'closed_at', s.closed_at,
        'expires_at', s.expires_at, 'organization', json_build_object('uuid', o.uuid, 'name', o.name),
        'sender', @SAME(u.email),
        'signers', (SELECT json_agg(CASE WHEN @SAME(g.email) THEN json_build_object('uuid', g.uuid, 'self', true,
                           'state', g.state, 'order', g.signing_order, 'firstname', g.firstname,
                           'lastname', g.lastname, 'email', g.email, 'locale', g.locale, 'due_at', g.due_at,
                           'opened_at', g.opened_at, 'completed_at', g.completed_at, 'refused_at', g.refused_at,
                           'refusal_reason', g.refusal_reason, 'reminded_at', g.reminded_at, 'reminders', g.reminders,
                           'ip', g.ip, 'user_agent', g.user_agent, 'signature_type', g.signature_type,
                           'consent', g.consent, 'fields', g.fields::json)
                       ELSE json_build_object('uuid', g.uuid, 'self', false, 'state', g.state,
                                              'order', g.signing_order) END ORDER BY g.position)
                    FROM sigreq.signer g WHERE g.submission_id = s.id),
        'documents', (SELECT json_agg(d.body ORDER BY d.position) FROM sigreq.document_row d
                      WHERE d.submission_id = s.id),
        'certificate', CASE WHEN s.certificate_key IS NOT NULL
                            THEN json_build_object('sha256', s.certificate_sha256, 'size', s.certificate_size,
                                                   'key', s.certificate_key) END,
        'withheld', array_remove(ARRAY[CASE WHEN s.cancel_reason IS NOT NULL THEN 'cancelReason' END,
                                       CASE WHEN s.external_id IS NOT NULL THEN 'externalId' END,
                                       CASE WHEN s.hold_reason IS NOT NULL THEN 'holdReason' END,
                                       CASE WHEN s.metadata IS NOT NULL THEN 'metadata' END], NULL),
        'events', (SELECT ('[' || @EVENTS(e) || ']')::json FROM sigreq.event e WHERE e.submission_id = s.id),
        'deliveries', (SELECT coalesce(json_agg(json_build_object('uuid', r.uuid, 'event', r.event,
                              'to', CASE WHEN d.destination <> 'mailto:' THEN d.destination
                                         WHEN @OWN(d) THEN substr(d.url, 8) END,
                              'success', d.success, 'status', d.status,
                              'error', CASE WHEN @OWN(d) THEN d.error END,
                              'attempts', d.attempts, 'created_at', d.created_at, 'ended_at', d.ended_at)
                              ORDER BY d.id), '[]')
                       FROM sigreq.job d
                       JOIN sigreq.job_row r ON r.id = d.id
                       WHERE d.submission_id = s.id AND strpos(lower(d.body::text COLLATE "C"),
                                                               lower(to_json(p_email)::text COLLATE "C")) > 0))::text
        FROM sigreq.submission s
        JOIN sigreq.organization o ON o.id = s.organization_id
        JOIN sigreq.user_account u ON u.id = s.user_id
        WHERE s.uuid = p_submission AND s.state <> 'deleted'), 'missing');
END $$
