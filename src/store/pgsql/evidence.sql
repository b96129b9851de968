-- SPDX-License-Identifier: Apache-2.0
-- What sigreqctl check --evidence (src/ctl/evidence.c) compares. engine.sql describes the form of this file.

-- When the first and the last call of each webhook of each token was queued, of those that the history has.
-- @op admin_evidence_calls() → ok body
SELECT 'ok', (SELECT coalesce(json_object_agg(c.uuid, c.events), '{}')::text FROM (
    SELECT t.uuid, json_object_agg(j.event, json_build_array(j.first, j.last)) AS events
    FROM (SELECT token_id, CASE event WHEN 'refused' THEN 'signed' ELSE event END AS event, min(created_at) AS first,
                 max(created_at) AS last
          FROM sigreq.job WHERE event IS NOT NULL GROUP BY 1, 2) j
    JOIN sigreq.token t ON t.id = j.token_id
    GROUP BY t.uuid) c)

-- How many rows there are of submissions that do not exist. Foreign keys exclude others than timers, unless somebody has
-- disabled them.
-- @macro LOST(rows) (SELECT count(*) FROM sigreq.rows x WHERE x.submission_id IS NOT NULL
--     AND NOT EXISTS (SELECT 1 FROM sigreq.submission s WHERE s.id = x.submission_id))

-- @op admin_evidence_lost() → ok body
SELECT 'ok', json_build_object('event', @LOST(event), 'signer', @LOST(signer), 'document', @LOST(document),
    'revision', (SELECT count(*) FROM sigreq.revision x
                 WHERE NOT EXISTS (SELECT 1 FROM sigreq.document d WHERE d.uuid = x.document_uuid)),
    'job', @LOST(job), 'timer', @LOST(timer))::text

-- @op admin_evidence_find(after int, n int) → ok found[]
SELECT 'ok', s.id, s.uuid FROM sigreq.submission s WHERE s.id > %s ORDER BY s.id LIMIT %s

-- One statement, so that it reads one state. history: when the oldest call of the history ended. calls: how many calls
-- were queued for each kind of event, without repetitions.
-- @op admin_evidence_get(submission uuid) → ok body | missing
CREATE FUNCTION sigreq.admin_evidence_get(p_submission uuid) RETURNS text
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
BEGIN
    RETURN coalesce((SELECT E'ok\n' || json_build_object('uuid', s.uuid, 'state', s.state, 'outcome', s.outcome,
        'events_count', s.events, 'events_hash', s.events_hash, 'certificate', s.certificate_sha256,
        'held', s.held_at IS NOT NULL, 'send_email', s.send_email, 'expires_at', s.expires_at,
        'clock', sigreq.job_clock(),
        'history', (SELECT min(j.ended_at) FROM sigreq.job j WHERE j.state = 'done'),
        'token', t.uuid,
        'urls', json_build_object('sent', t.sent_webhook_url, 'signed', t.signed_webhook_url,
                                  'completed', t.completed_webhook_url),
        'expiry', EXISTS (SELECT 1 FROM sigreq.timer x WHERE x.submission_id = s.id AND x.kind = 'expiry')
                  OR EXISTS (SELECT 1 FROM sigreq.job j WHERE j.submission_id = s.id AND j.kind = 'expiry'),
        'calls', (SELECT json_object_agg(c.event, c.n) FROM (
            SELECT j.event, count(*) AS n FROM sigreq.job j
            WHERE j.submission_id = s.id AND j.event IS NOT NULL AND j.uuid = j.event_id AND j.kind <> 'reminder'
            GROUP BY j.event) c),
        'signers', (SELECT json_agg(json_build_object('uuid', g.uuid, 'state', g.state, 'firstname', g.firstname,
                           'lastname', g.lastname, 'email', g.email) ORDER BY g.position)
                    FROM sigreq.signer g WHERE g.submission_id = s.id),
        'documents', (SELECT json_agg(d.body) FROM sigreq.document_row d WHERE d.submission_id = s.id),
        'events', (SELECT json_agg(json_build_array(e.number, e.hash, e.body, e.personal) ORDER BY e.number)
                   FROM sigreq.event e WHERE e.submission_id = s.id))::text
        FROM sigreq.submission s
        JOIN sigreq.token t ON t.id = s.token_id
        WHERE s.uuid = p_submission), 'missing');
END $$
