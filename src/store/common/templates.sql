-- SPDX-License-Identifier: Apache-2.0
-- Templates. engine.sql describes the form of this file.

-- FIRST: the id of the first submission with this template. MADE: s was made from a template.
-- @macro FIRST(template) (SELECT min(f.id) FROM submission f WHERE f.template_uuid = template)
-- @macro MADE(s) EXISTS (SELECT 1 FROM submission f WHERE f.template_uuid = s.template_uuid AND f.id < s.id)
-- LASTUSE: when the last submission with the template of s was created, which may be s.
-- @macro LASTUSE(s) (SELECT u.created_at FROM submission u WHERE u.template_uuid = s.template_uuid
--     ORDER BY u.id DESC LIMIT 1)
-- TEMPLATE: s is the submission that has the documents and fields of a template, in the scope of the caller's token t.
-- @macro TEMPLATE(s, t, template) s.id = @FIRST(template) AND @SCOPE(s, t) AND s.state NOT IN ('draft', 'deleted')

CREATE VIEW template_row AS
    SELECT s.id, s.template_uuid AS uuid, s.name, s.created_at, nullif(@LASTUSE(s), s.created_at) AS used_at,
           (SELECT count(*) FROM signer g WHERE g.submission_id = s.id AND g.state <> 'replaced') AS signers,
           (SELECT count(*) FROM document d WHERE d.submission_id = s.id) AS documents
    FROM submission s

-- @op template_get(token_hash hash, now time, template uuid) → ok body | missing | unauthorized
-- @answer
SELECT 'ok', json_object('uuid', r.uuid, 'name', r.name, 'created_at', r.created_at, 'used_at', r.used_at,
    'deleted_at', s.template_deleted_at,
    'documents', (SELECT json_group_array(json(body)) FROM (
        SELECT d.body FROM document_row d WHERE d.submission_id = s.id ORDER BY d.position) x),
    'roles', (SELECT json_group_array(json(body)) FROM (
        SELECT coalesce(g.sent_fields, g.fields) AS body FROM signer g
        WHERE g.submission_id = s.id AND g.state <> 'replaced' ORDER BY g.position) x))
FROM token t CROSS JOIN submission s CROSS JOIN template_row r
WHERE @CALLER(t) AND @TEMPLATE(s, t, :template) AND r.id = s.id

-- @outcome
SELECT @NOTHING()

-- @op template_delete(token_hash hash, now time, template uuid) → ok | missing | unauthorized write
-- @outcome
UPDATE submission SET template_deleted_at = :now
WHERE id = (SELECT s.id FROM token t CROSS JOIN submission s WHERE @CALLER(t) AND @TEMPLATE(s, t, :template))
  AND coalesce(template_deleted_at, :now) = :now
RETURNING 'ok'

-- @outcome
SELECT @NOTHING()
