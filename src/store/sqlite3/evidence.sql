-- SPDX-License-Identifier: Apache-2.0
-- What sigreqctl check --evidence compares. engine.sql describes the form of this file.

-- @op admin_evidence_calls() → ok body
-- @answer
SELECT 'ok', (SELECT json_group_object(uuid, json(events)) FROM (
    SELECT t.uuid, json_group_object(c.event, json_array(c.first, c.last)) AS events
    FROM (SELECT token_id, iif(event = 'refused', 'signed', event) AS event, min(created_at) AS first,
                 max(created_at) AS last
          FROM job WHERE event IS NOT NULL GROUP BY 1, 2) c
    CROSS JOIN token t ON t.id = c.token_id
    GROUP BY t.uuid))

-- A tool that does not enforce foreign keys leaves rows of a submission that it deletes.
-- @macro LOST(rows) (SELECT count(*) FROM rows x WHERE x.submission_id IS NOT NULL
--     AND NOT EXISTS (SELECT 1 FROM submission s WHERE s.id = x.submission_id))

-- @op admin_evidence_lost() → ok body
-- @answer
SELECT 'ok', json_object('event', @LOST(event), 'signer', @LOST(signer), 'document', @LOST(document),
    'revision', (SELECT count(*) FROM revision x WHERE NOT EXISTS (SELECT 1 FROM document d WHERE d.uuid = x.document_uuid)),
    'job', @LOST(job), 'timer', @LOST(timer))

-- @op admin_evidence_find(after int, n int) → ok found[]
-- @answer
WITH @ARGUMENTS
SELECT 'ok', s.id, s.uuid FROM submission s WHERE s.id > (SELECT after FROM a)
ORDER BY s.id LIMIT (SELECT n FROM a)

-- @op admin_evidence_get(submission uuid) → ok body | missing
-- @answer
WITH @ARGUMENTS
SELECT iif(s.id IS NULL, 'missing', 'ok'), iif(s.id IS NULL, NULL, json_object('uuid', s.uuid, 'state', s.state,
    'outcome', s.outcome, 'events_count', s.events, 'events_hash', s.events_hash, 'certificate', s.certificate_sha256,
    'held', s.held_at IS NOT NULL, 'send_email', s.send_email, 'expires_at', s.expires_at, 'clock', @CLOCK(),
    'history', (SELECT min(j.ended_at) FROM job j WHERE j.state = 'done'),
    'token', (SELECT t.uuid FROM token t WHERE t.id = s.token_id),
    'urls', (SELECT json_object('sent', t.sent_webhook_url, 'signed', t.signed_webhook_url,
                                'completed', t.completed_webhook_url) FROM token t WHERE t.id = s.token_id),
    'expiry', EXISTS (SELECT 1 FROM timer x WHERE x.submission_id = s.id AND x.kind = 'expiry')
              OR EXISTS (SELECT 1 FROM job j WHERE j.submission_id = s.id AND j.kind = 'expiry'),
    'calls', (SELECT json_group_object(event, n) FROM (
        SELECT j.event, count(*) AS n FROM job j
        WHERE j.submission_id = s.id AND j.event IS NOT NULL AND j.uuid = j.event_id AND j.kind <> 'reminder'
        GROUP BY j.event)),
    'signers', (SELECT json_group_array(json(body)) FROM (
        SELECT json_object('uuid', g.uuid, 'state', g.state, 'firstname', g.firstname, 'lastname', g.lastname,
                           'email', g.email) AS body
        FROM signer g WHERE g.submission_id = s.id ORDER BY g.position)),
    'documents', (SELECT json_group_array(json(d.body)) FROM document_row d WHERE d.submission_id = s.id),
    'events', (SELECT json_group_array(json(body)) FROM (
        SELECT json_array(e.number, e.hash, e.body, e.personal) AS body
        FROM event e WHERE e.submission_id = s.id ORDER BY e.number))))
FROM a
LEFT JOIN submission s ON s.uuid = a.submission
