-- SPDX-License-Identifier: Apache-2.0
-- What sigreqctl check --evidence (src/ctl/evidence.c) compares. engine.sql describes the form of this file.

-- When the first and the last call of each webhook of each token was queued, of those that the history has.
-- @op admin_evidence_calls() → ok body
-- @answer
SELECT 'ok', coalesce(json_group_object(c.uuid, json(c.events)), '{}') FROM (
    SELECT t.uuid, json_group_object(j.event, json_array(j.first, j.last)) AS events
    FROM (SELECT token_id, CASE event WHEN 'refused' THEN 'signed' ELSE event END AS event, min(created_at) AS first,
                 max(created_at) AS last
          FROM job WHERE event IS NOT NULL GROUP BY 1, 2) j
    JOIN token t ON t.id = j.token_id
    GROUP BY t.uuid) c

-- How many rows there are of submissions that do not exist. Foreign keys exclude others than timers, unless somebody
-- has disabled them.
-- @macro LOST(rows) (SELECT count(*) FROM rows x WHERE x.submission_id IS NOT NULL
--     AND NOT EXISTS (SELECT 1 FROM submission s WHERE s.id = x.submission_id))

-- @op admin_evidence_lost() → ok body
-- @answer
SELECT 'ok', json_object('event', @LOST(event), 'signer', @LOST(signer), 'viewer', @LOST(viewer), 'document', @LOST(document),
    'revision', (SELECT count(*) FROM revision x
                 WHERE NOT EXISTS (SELECT 1 FROM document d WHERE d.uuid = x.document_uuid)),
    'job', @LOST(job), 'timer', @LOST(timer))

-- @op admin_evidence_find(after int, n int) → ok found[]
-- @answer
SELECT 'ok', s.id, s.uuid FROM submission s WHERE s.id > :after ORDER BY s.id LIMIT :n

-- One statement, so that it reads one state. history: when the oldest call of the history ended. calls: how many calls
-- were queued for each kind of event, without repetitions.
-- @op admin_evidence_get(submission uuid) → ok body | missing
-- @answer
SELECT 'ok', json_object('uuid', s.uuid, 'state', s.state,
    'outcome', s.outcome, 'events_count', s.events, 'events_hash', s.events_hash, 'certificate', s.certificate_sha256,
    'held', s.held_at IS NOT NULL, 'send_email', s.send_email, 'expires_at', s.expires_at, 'clock', @CLOCK(),
    'history', (SELECT min(j.ended_at) FROM job j WHERE j.state = 'done'),
    'token', t.uuid,
    'urls', json_object('sent', t.sent_webhook_url, 'signed', t.signed_webhook_url,
                        'completed', t.completed_webhook_url),
    'expiry', EXISTS (SELECT 1 FROM timer x WHERE x.submission_id = s.id AND x.kind = 'expiry')
              OR EXISTS (SELECT 1 FROM job j WHERE j.submission_id = s.id AND j.kind = 'expiry'),
    'calls', (SELECT json_group_object(x.event, x.n) FROM (
        SELECT j.event, count(*) AS n FROM job j
        WHERE j.submission_id = s.id AND j.event IS NOT NULL AND j.uuid = j.event_id
          AND j.kind IN ('webhook', 'invitation')
        GROUP BY j.event) x),
    'signers', (SELECT json_group_array(json(body)) FROM (
        SELECT json_object('uuid', g.uuid, 'state', g.state, 'firstname', g.firstname, 'lastname', g.lastname,
                           'email', g.email, 'fields', json(g.fields), 'authentication', json(g.authentication)) AS body
        FROM signer g WHERE g.submission_id = s.id ORDER BY g.position) x),
    'viewers', (SELECT json_group_array(json(body)) FROM (
        SELECT json_object('uuid', v.uuid, 'firstname', v.firstname, 'lastname', v.lastname, 'email', v.email,
                           'opened_at', v.opened_at, 'revoked_at', v.revoked_at) AS body
        FROM viewer v WHERE v.submission_id = s.id ORDER BY v.position) x),
    'documents', (SELECT json_group_array(json(d.body)) FROM document_row d WHERE d.submission_id = s.id),
    'events', (SELECT json_group_array(json(body)) FROM (
        SELECT json_array(e.number, e.hash, e.body, e.personal) AS body
        FROM event e WHERE e.submission_id = s.id ORDER BY e.number) x))
FROM submission s CROSS JOIN token t
WHERE s.uuid = :submission AND t.id = s.token_id

-- @outcome
SELECT 'missing'
