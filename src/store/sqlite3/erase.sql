-- SPDX-License-Identifier: Apache-2.0
-- Deleting submissions. A tombstone stays: the row without what is personal, and the events without their personal
-- values. Blobs that nothing refers to any more are collected as usual. engine.sql describes the form of this file.

-- ERASED: the submission.
-- @macro ERASED() (SELECT s.id FROM submission s WHERE s.uuid = lower(:erasure->>'submission'))

-- @op signing_erase(erasure erasure) → ok | stale | missing write
-- @outcome
SELECT CASE WHEN s.id IS NULL THEN 'missing' WHEN s.events_hash = p.hash THEN 'ok' ELSE 'stale' END
FROM @OF(erasure, :erasure, p) LEFT JOIN submission s ON s.uuid = p.submission
WHERE s.id IS NULL OR s.events <> p.seen OR s.events_hash <> p.seen_hash
   OR s.held_at IS NOT NULL OR s.state IN ('open', 'deleted')

-- erasing: of the contents, those that no other submission of the organisation has.
UPDATE submission
SET state = 'deleted', outcome = state, updated_at = p.now, access_epoch = access_epoch + 1,
    events = events + 1, events_hash = p.hash, name = '', search = '', base_url = '', representation = '',
    warnings = NULL, cancel_reason = NULL, external_id = NULL, metadata = NULL, redirect_url = NULL,
    reminders = NULL, options = NULL, certificate_sha256 = NULL, certificate_key = NULL, certificate_size = NULL,
    placement = NULL,
    erasing = (SELECT nullif(json_group_array(c.value), '[]') FROM @VALUES(p.contents) c
               WHERE NOT EXISTS (SELECT 1 FROM document d CROSS JOIN submission o
                                 WHERE (d.sha256 = c.value OR d.rewritten_sha256 = c.value)
                                   AND o.id = d.submission_id AND o.id <> submission.id
                                   AND o.organization_id = submission.organization_id
                                   AND o.environment = submission.environment))
FROM @OF(erasure, :erasure, p)
WHERE uuid = p.submission

UPDATE event
SET personal = NULL,
    body = iif(json_type(body, '$.commitments') IS NOT NULL, body,
               json_object('number', number, 'previousHash', body->>'$.previousHash', 'hash', hash))
WHERE submission_id = @ERASED()

INSERT INTO event (submission_id, number, hash, body)
SELECT @ERASED(), p.seen + 1, p.hash, p.body FROM @OF(erasure, :erasure, p)

INSERT INTO feed (user_id, environment, created_at, submission_id, type, mark, detail)
SELECT s.user_id, s.environment, s.updated_at, s.id, w.type, w.mark, w.detail
FROM submission s CROSS JOIN @EACH(feed, :erasure->'feed', w)
WHERE s.id = @ERASED()

DELETE FROM job WHERE submission_id = @ERASED()

DELETE FROM timer WHERE submission_id = @ERASED()

DELETE FROM idempotency WHERE submission_uuid = lower(:erasure->>'submission')

DELETE FROM document WHERE submission_id = @ERASED()

DELETE FROM signer WHERE submission_id = @ERASED()

DELETE FROM viewer WHERE submission_id = @ERASED()

DELETE FROM former_placement WHERE submission_id = @ERASED()

DELETE FROM signer_status WHERE submission_id = @ERASED()

-- @outcome
SELECT 'ok'
