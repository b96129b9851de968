-- SPDX-License-Identifier: Apache-2.0
-- Submissions and their documents. engine.sql describes the form of this file.

-- A document with its revisions: the "document row" of store.h.
CREATE VIEW document_row AS
    SELECT d.submission_id, d.position, d.uuid,
           json_object('uuid', d.uuid, 'name', d.name, 'sha256', d.sha256, 'size', d.size, 'pages', d.pages,
               'key', d.key, 'rewritten_key', d.rewritten_key,
               'rewritten_sha256', d.rewritten_sha256, 'rewritten_size', d.rewritten_size, 'warnings', json(d.warnings),
               'revisions', (SELECT json(coalesce(json_group_array(json(body)), '[]'))
                             FROM (SELECT json_object('kind', r.kind, 'sha256', r.sha256, 'key', r.key, 'size', r.size,
                                              'whole_sha256', r.whole_sha256, 'whole_size', r.whole_size) AS body
                                   FROM revision r WHERE r.document_uuid = d.uuid ORDER BY r.number) x)) AS body
    FROM document d

-- All that is stored of a submission: the "submission row" of store.h.
CREATE VIEW submission_row AS
    SELECT s.id, s.uuid,
           json_object('uuid', s.uuid, 'name', s.name, 'template_uuid', s.template_uuid,
               'skip_intro', s.skip_intro, 'send_email', s.send_email, 'state', s.state, 'created_at', s.created_at,
               'updated_at', s.updated_at, 'events', s.events, 'events_hash', s.events_hash,
               'access_epoch', s.access_epoch, 'certificate_sha256', s.certificate_sha256,
               'certificate_size', s.certificate_size,
               'certificate_key', s.certificate_key, 'warnings', json(s.warnings),
               'stamped_until', s.stamped_until, 'closed_at', s.closed_at, 'expires_at', s.expires_at,
               'cancel_reason', s.cancel_reason, 'external_id', s.external_id, 'redirect_url', s.redirect_url,
               'metadata', json(s.metadata), 'reminders', json(s.reminders), 'options', json(s.options),
               'held_at', s.held_at, 'copied_at', s.copied_at, 'draft_until', s.draft_until, 'placement', s.placement,
               'placement_until', s.placement_until, 'saves', s.saves,
               'created_by', json_object('firstname', u.firstname, 'lastname', u.lastname, 'email', u.email),
               'documents', (SELECT json_group_array(json(body))
                             FROM (SELECT d.body FROM document_row d WHERE d.submission_id = s.id
                                   ORDER BY d.position) x),
               'signers', (SELECT json_group_array(json(body))
                           FROM (SELECT json_object('uuid', g.uuid, 'firstname', g.firstname, 'lastname', g.lastname,
                                            'email', g.email, 'locale', g.locale, 'state', g.state,
                                            'opened_at', g.opened_at, 'completed_at', g.completed_at,
                                            'refused_at', g.refused_at, 'refusal_reason', g.refusal_reason,
                                            'ip', g.ip, 'user_agent', g.user_agent,
                                            'signature_type', g.signature_type, 'consent', g.consent,
                                            'fields', json(g.fields), 'due_at', g.due_at,
                                            'reminded_at', g.reminded_at, 'reminders', g.reminders,
                                            'signing_order', g.signing_order, 'replaces', g.replaces,
                                            'alias', g.alias, 'authentication', json(g.authentication)) AS body
                                 FROM signer g WHERE g.submission_id = s.id AND g.state <> 'replaced'
                                 ORDER BY g.position) x),
               'viewers', (SELECT json_group_array(json(body))
                           FROM (SELECT json_object('uuid', v.uuid, 'kind', v.kind, 'shown_when', v.shown_when,
                                            'firstname', v.firstname, 'lastname', v.lastname, 'email', v.email,
                                            'sent_at', v.sent_at, 'opened_at', v.opened_at,
                                            'revoked_at', v.revoked_at) AS body
                                 FROM viewer v WHERE v.submission_id = s.id ORDER BY v.position) x)) AS body
    FROM submission s CROSS JOIN user_account u
    WHERE u.id = s.user_id

-- The most frequent operation. The first statement finds a representation that is as it should be. If there is none, the
-- second one finds the reason.
-- @op submission_get(token_hash hash, now time, uuid uuid, version int, known text?)
--     → ok shown | missing | deleted | unauthorized
-- @named
-- @answer
SELECT 'ok', @TAG(s), CASE WHEN :known IS NULL OR instr(:known, '"' || @TAG(s) || '-') = 0 THEN s.representation END
FROM token t CROSS JOIN submission s
WHERE @CALLER(t) AND s.uuid = :uuid AND @SCOPE(s, t) AND s.state <> 'deleted'
  AND s.representation_version >= :version AND NOT @LATE(s)

-- @outcome
SELECT CASE WHEN EXISTS (SELECT 1 FROM token t CROSS JOIN submission s
                         WHERE @CALLER(t) AND s.uuid = :uuid AND @SCOPE(s, t) AND s.state <> 'deleted') THEN 'ok'
            ELSE @NOSUBMISSION(uuid) END

-- @op submission_record(token_hash hash, now time, uuid uuid) → ok body | missing | deleted | unauthorized
-- @answer
SELECT 'ok', (SELECT r.body FROM submission_row r WHERE r.id = s.id)
FROM token t CROSS JOIN submission s
WHERE @CALLER(t) AND s.uuid = :uuid AND @SCOPE(s, t) AND s.state <> 'deleted'

-- @outcome
SELECT @NOSUBMISSION(uuid)

-- Changes nothing if the submission has changed since, or if another request has stored a representation of this
-- version.
-- @op submission_rendered(uuid uuid, events_hash hash, saves int, version int, representation text) → ok write
UPDATE submission SET representation = :representation, representation_version = :version
WHERE uuid = :uuid AND events_hash = :events_hash AND saves = :saves AND representation_version < :version

-- @answer
SELECT 'ok'

-- @op document_get(token_hash hash, now time, submission uuid, document uuid)
--     → ok body | missing | deleted | unauthorized
-- @answer
SELECT 'ok', (SELECT r.body FROM document_row r WHERE r.uuid = d.uuid)
FROM token t CROSS JOIN submission s CROSS JOIN document d
WHERE @CALLER(t) AND s.uuid = :submission AND @SCOPE(s, t) AND d.uuid = :document AND d.submission_id = s.id

-- @outcome
SELECT @NOSUBMISSION(submission)
