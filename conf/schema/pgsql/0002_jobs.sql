-- SPDX-License-Identifier: Apache-2.0
-- The queue of jobs, and what became of those that are done. A row is written by the transaction that makes it
-- necessary. Its states and their order are in src/jobs/queue.c, its kinds in src/jobs/kinds.def. A claim is committed
-- before anything is sent for it. A claim whose time is over was lost with its process. Organisations get fair shares,
-- and of these their destinations.
--   organization_id  0: a job of the service itself, without submission and token
--   due_at           when it may be claimed, or might have been: by the clock of the service, as created_at. The state
--                    of a new row says whether that is now (pending) or later (scheduled)
--   attempts         how many have failed. status and error are the last one's
--   event            what the history calls it. NULL: it is in no history
--   event_id         the uuid of the row with which the event was delivered for the first time. Delivering it again on
--                    request makes a row with another uuid
--   destination      the host of the URL. Without a URL: the kind
CREATE TABLE sigreq.job (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    submission_id bigint REFERENCES sigreq.submission (id) ON DELETE CASCADE,
    token_id bigint,
    user_id bigint,
    organization_id bigint NOT NULL,
    created_at bigint NOT NULL,
    due_at bigint NOT NULL,
    claimed_until bigint,
    ended_at bigint,
    attempts integer NOT NULL DEFAULT 0,
    status integer,
    success boolean,
    uuid uuid UNIQUE,
    event_id uuid,
    environment text COLLATE "C",
    state text COLLATE "C" NOT NULL CHECK (state IN ('scheduled', 'pending', 'claimed', 'done')),
    kind text COLLATE "C" NOT NULL,
    event text COLLATE "C" CHECK (event IN ('sent', 'signed', 'refused', 'completed', 'invitation')),
    claimed_by text COLLATE "C",
    url text COLLATE "C",
    destination text COLLATE "C" NOT NULL GENERATED ALWAYS AS
        (CASE WHEN url IS NULL THEN kind || ':' WHEN url LIKE 'mailto:%' THEN 'mailto:'
              ELSE split_part(translate(substr(lower(url), strpos(url, '://') + 3), '?#', '//'), '/', 1) END) STORED,
    error text,
    body json NOT NULL,
    CHECK ((state = 'claimed') <= (claimed_by IS NOT NULL AND claimed_until IS NOT NULL)),
    CHECK ((state = 'done') = (ended_at IS NOT NULL) AND (state = 'done') = (success IS NOT NULL)),
    CHECK (event IS NULL OR (uuid IS NOT NULL AND event_id IS NOT NULL AND submission_id IS NOT NULL
                             AND token_id IS NOT NULL AND url IS NOT NULL)),
    FOREIGN KEY (token_id, user_id, organization_id, environment)
        REFERENCES sigreq.token (id, user_id, organization_id, environment)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05)

-- due_at is for the survey, which asks how long the oldest has waited.
CREATE INDEX job_pending ON sigreq.job (organization_id, destination, id) INCLUDE (due_at) WHERE state = 'pending'

CREATE INDEX job_scheduled ON sigreq.job (due_at) WHERE state = 'scheduled'

CREATE INDEX job_claimed ON sigreq.job (claimed_by) WHERE state = 'claimed'

-- Deliveries on request: how many there were of an event.
CREATE INDEX job_again ON sigreq.job (event_id, created_at) WHERE uuid <> event_id

-- For the order of a submission's events.
CREATE INDEX job_submission ON sigreq.job (submission_id, id)

CREATE INDEX job_history ON sigreq.job (user_id, organization_id, environment, ended_at DESC, id DESC)
    WHERE state = 'done' AND event IS NOT NULL
