-- SPDX-License-Identifier: Apache-2.0
-- The life of a submission after it was sent: order of signers, deadline, cancellation, replacement, reminders. See
-- docs/decisions/0016-life-of-a-request.md. Times are microseconds since 1970, by the database's clock.
--   closed_at       when the submission left the state open
--   expires_at      the deadline, or NULL
--   external_id     what the caller calls it; metadata: a JSON object of the caller. Both as they were sent
--   redirect_url    where the signing page leads after signing or refusing
--   reminders       {"after","every" (as they were sent),"most","mail"}: when signers are reminded, and what their mail
--                   needs (src/service/remind.c). NULL: only on request
--   hold_reason     legal hold: why it must not be deleted; held_at: since when. NULL: it may be deleted
--   outcome         of a deleted submission: the state that it had before
--   erasing         of a deleted submission: JSON, what must still be removed from folders (src/service/erase.c)
ALTER TABLE sigreq.submission
    ADD COLUMN closed_at bigint,
    ADD COLUMN expires_at bigint,
    ADD COLUMN cancel_reason text,
    ADD COLUMN external_id text,
    ADD COLUMN metadata text,
    ADD COLUMN redirect_url text,
    ADD COLUMN reminders text,
    ADD COLUMN hold_reason text,
    ADD COLUMN held_at bigint,
    ADD COLUMN outcome text COLLATE "C",
    ADD COLUMN erasing text

UPDATE sigreq.submission SET closed_at = updated_at WHERE state <> 'open'

-- For filters of the list.
CREATE INDEX submission_external ON sigreq.submission
    (user_id, organization_id, environment, external_id, created_at DESC, id DESC) WHERE external_id IS NOT NULL

CREATE INDEX submission_updated ON sigreq.submission
    (user_id, organization_id, environment, updated_at)

CREATE INDEX submission_erasing ON sigreq.submission (id) WHERE erasing IS NOT NULL

-- What an open submission needs at a time, by the clock of the service: a job of the kind 'expiry' at its deadline, and
-- of the kind 'remind' when a reminder is due. The row becomes the job when it is due. A row of "job" would cost a
-- creation several times as much, because its checks and its generated column are prepared for each statement.
CREATE TABLE sigreq.timer (
    submission_id bigint NOT NULL,
    due_at bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    PRIMARY KEY (submission_id, kind)
)

CREATE INDEX timer_due ON sigreq.timer (due_at)

-- For SigreqRetention.
CREATE INDEX submission_closed ON sigreq.submission (environment, state, closed_at, id)
    WHERE held_at IS NULL AND closed_at IS NOT NULL

-- The personal values of an event, with their salts, and NULL when they are erased. The body has commitments to them.
ALTER TABLE sigreq.event ADD COLUMN personal text

-- A signer who replaces another one takes that one's position, and the row of the replaced signer moves behind all.
--   signing_order   signers with the lowest order are due first
--   due_at          when the signer became due. NULL: not yet
--   reminded_at     when they were reminded last; reminders: how many automatic reminders they got
--   alias           names their fields in PDFs. NULL: made of uuid. A signer who replaces another one keeps that one's
ALTER TABLE sigreq.signer
    ADD COLUMN signing_order integer NOT NULL DEFAULT 1 CHECK (signing_order > 0),
    ADD COLUMN due_at bigint,
    ADD COLUMN reminded_at bigint,
    ADD COLUMN reminders integer NOT NULL DEFAULT 0,
    ADD COLUMN replaces uuid,
    ADD COLUMN alias text COLLATE "C"

UPDATE sigreq.signer g SET due_at = s.created_at
FROM sigreq.submission s WHERE s.id = g.submission_id

-- disabled_at: since when the user's tokens are refused. NULL: they are valid. Links of signers do not depend on it.
ALTER TABLE sigreq.user_account ADD COLUMN disabled_at bigint
