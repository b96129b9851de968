-- SPDX-License-Identifier: Apache-2.0
-- Reading for transitions of a submission, and its events. engine.sql describes the form of this file.

-- @op certificate_get(token_hash hash, now time, submission uuid) → ok certificate | missing | deleted | unauthorized
-- @answer
SELECT 'ok', s.name, s.certificate_sha256, s.certificate_size, s.certificate_key
FROM token t CROSS JOIN submission s
WHERE @CALLER(t) AND s.uuid = :submission AND @SCOPE(s, t) AND s.certificate_sha256 IS NOT NULL

-- @outcome
SELECT @NOSUBMISSION(submission)

-- The events of a submission, each with its personal values.
-- @macro EVENTS(id) (SELECT '[' || group_concat(entry, ',') || ']'
--     FROM (SELECT '[' || e.body || ',' || coalesce(e.personal, 'null') || ']' AS entry FROM event e
--           WHERE e.submission_id = id ORDER BY e.number) x)

-- @op audit_get(token_hash hash, now time, submission uuid) → ok body | missing | unauthorized
-- @answer
SELECT 'ok', @EVENTS(s.id) FROM token t CROSS JOIN submission s
WHERE @CALLER(t) AND s.uuid = :submission AND @SCOPE(s, t)

-- @outcome
SELECT @NOTHING()

-- What a transition reads of a submission s, with its organisation o and token t. There is no body if nothing has
-- changed since the version was read. SIGNED joins them.
-- @macro VERSION() s.events_hash || '.' || s.saves || '.' || CAST(t.signed_webhook_url IS NOT NULL AS integer)
--     || CAST(t.completed_webhook_url IS NOT NULL AS integer) || CAST(@LATE(s) AS integer)
-- @macro SIGNING() CASE WHEN :version IS NULL OR :version <> @VERSION()
--     THEN json_object('submission', (SELECT json(r.body) FROM submission_row r WHERE r.id = s.id),
--              'version', @VERSION(), 'environment', s.environment, 'organization', o.name,
--              'organization_uuid', o.uuid, 'base_url', s.base_url, 'tell_signed', CAST(t.signed_webhook_url IS NOT NULL AS integer),
--              'tell_completed', CAST(t.completed_webhook_url IS NOT NULL AS integer),
--              'late', CAST(@LATE(s) AS integer), 'clock', @CLOCK()) END
-- @macro SIGNED() CROSS JOIN organization o CROSS JOIN token t WHERE o.id = s.organization_id AND t.id = s.token_id

-- The signer's uuid is the secret of the link, so there is no token. The links of a draft do not exist yet.
-- @op signing_get(signer uuid, version text?) → ok signing | missing | deleted | gone
-- @answer
SELECT CASE g.state WHEN 'replaced' THEN 'gone' ELSE 'ok' END, CASE WHEN g.state <> 'replaced' THEN @SIGNING() END
FROM signer g CROSS JOIN submission s @SIGNED() AND g.uuid = :signer AND s.id = g.submission_id AND s.state <> 'draft'

-- @outcome
SELECT 'missing'

-- PLACES: the link of the draft s works.
-- @macro PLACES(s) (s.state = 'draft' AND s.placement_until > @CLOCK())
-- @op signing_placed(placement uuid, version text?) → ok signing | missing | gone
-- @answer
SELECT CASE WHEN @PLACES(s) THEN 'ok' ELSE 'gone' END, CASE WHEN @PLACES(s) THEN @SIGNING() END
FROM submission s @SIGNED() AND s.placement = :placement

-- @outcome
SELECT CASE WHEN EXISTS (SELECT 1 FROM former_placement f WHERE f.uuid = :placement) THEN 'gone' ELSE 'missing' END

-- @op signing_read(token_hash hash, now time, submission uuid, version text?)
--     → ok signing | missing | deleted | unauthorized
-- @answer
SELECT CASE s.state WHEN 'deleted' THEN 'deleted' ELSE 'ok' END, @SIGNING()
FROM token c CROSS JOIN submission s @SIGNED() AND @CALLER(c) AND s.uuid = :submission AND @SCOPE(s, c)

-- @outcome
SELECT @NOTHING()

-- @op signing_due(submission uuid, version text?) → ok signing | missing | deleted
-- @answer
SELECT CASE s.state WHEN 'deleted' THEN 'deleted' ELSE 'ok' END, @SIGNING()
FROM submission s @SIGNED() AND s.uuid = :submission

-- @outcome
SELECT 'missing'

-- After the deadline the epoch is one that no submission has, so nobody goes on with what they know.
-- @op signing_access(signer uuid) → ok access | missing
-- @answer
SELECT 'ok', CASE WHEN @LATE(s) THEN -1 ELSE s.access_epoch END
FROM signer g CROSS JOIN submission s
WHERE g.uuid = :signer AND g.state <> 'replaced' AND s.id = g.submission_id AND s.state <> 'draft'

-- @outcome
SELECT 'missing'

-- The viewer's uuid is the secret of the link, as a signer's.
-- @op viewing_get(viewer uuid, version text?) → ok signing | missing
-- @answer
SELECT 'ok', @SIGNING()
FROM viewer v CROSS JOIN submission s @SIGNED() AND v.uuid = :viewer AND s.id = v.submission_id AND s.state <> 'draft'

-- @outcome
SELECT 'missing'

-- As signing_access. The link of a copy ends at a time, without a change of the submission.
-- @op viewing_access(viewer uuid, lifetime int) → ok access | missing
-- @answer
SELECT 'ok', CASE WHEN @LATE(s) OR (v.kind = 'copy' AND coalesce(v.sent_at, 0) + :lifetime <= @CLOCK()) THEN -1
                  ELSE s.access_epoch END
FROM viewer v CROSS JOIN submission s
WHERE v.uuid = :viewer AND s.id = v.submission_id AND s.state <> 'draft'

-- @outcome
SELECT 'missing'

-- Whether a signer may get a reminder that was written for them: they are due, and nothing has ended meanwhile.
-- @op signing_reminds(signer uuid) → ok | missing
-- @outcome
SELECT 'ok' FROM signer g CROSS JOIN submission s
WHERE g.uuid = :signer AND g.state IN ('sent', 'opened')
  AND s.id = g.submission_id AND s.state = 'open' AND NOT @LATE(s)

-- @outcome
SELECT 'missing'

-- As signing_access.
-- @op placement_access(placement uuid) → ok access | missing
-- @answer
SELECT 'ok', s.access_epoch FROM submission s WHERE s.placement = :placement AND @PLACES(s)

-- @outcome
SELECT 'missing'

-- The same for the caller, who sees the documents after the deadline, too.
-- @op submission_access(token_hash hash, now time, submission uuid) → ok access | missing | deleted | unauthorized
-- @answer
SELECT 'ok', s.access_epoch FROM token t CROSS JOIN submission s
WHERE @CALLER(t) AND s.uuid = :submission AND @SCOPE(s, t) AND s.state <> 'deleted'

-- @outcome
SELECT @NOSUBMISSION(submission)

-- Whether a mail that was written for somebody who only looks may be sent. viewer: whose link it has; NULL: a signer's.
-- completed: it has a copy, whose link is valid for `lifetime`.
-- @op signing_shows(submission uuid, viewer uuid?, completed bool, lifetime int) → ok | missing
-- @outcome
SELECT 'ok' FROM submission s
WHERE s.uuid = :submission
  AND (s.state = 'completed' OR (NOT :completed AND s.state = 'open' AND NOT @LATE(s)))
  AND (:viewer IS NULL
       OR EXISTS (SELECT 1 FROM viewer v
                  WHERE v.submission_id = s.id AND v.uuid = :viewer AND v.revoked_at IS NULL
                    AND (NOT :completed OR v.sent_at > @CLOCK() - :lifetime)))

-- @outcome
SELECT 'missing'

-- @op signing_events(signer uuid) → ok body | missing
-- @answer
SELECT 'ok', @EVENTS(g.submission_id) FROM signer g CROSS JOIN submission s
WHERE g.uuid = :signer AND s.id = g.submission_id AND s.state <> 'draft'

-- @outcome
SELECT 'missing'
