-- Webhook calls to make, and what became of those that were made. A row is written by the transaction that changed what
-- it tells of. A claim is committed before the call, so that no call is ever made twice; one whose time is over was lost
-- with its process. Organisations get fair shares, and of these their destinations, which are hosts. uuid is event_id when
-- an event is delivered for the first time. Delivering it again on request makes a row with another uuid.
CREATE TABLE sigreq.delivery (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    submission_id bigint NOT NULL REFERENCES sigreq.submission (id) ON DELETE CASCADE,
    token_id bigint NOT NULL,
    user_id bigint NOT NULL,
    organization_id bigint NOT NULL,
    created_at bigint NOT NULL,
    claimed_until bigint,
    ended_at bigint,
    status integer,
    success boolean,
    uuid uuid NOT NULL UNIQUE,
    event_id uuid NOT NULL,
    environment text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'claimed', 'done')),
    kind text COLLATE "C" NOT NULL CHECK (kind IN ('sent', 'signed', 'refused', 'completed', 'invitation')),
    claimed_by text COLLATE "C",
    url text COLLATE "C" NOT NULL,
    destination text COLLATE "C" NOT NULL GENERATED ALWAYS AS
        (CASE WHEN url LIKE 'mailto:%' THEN 'mailto:'
              ELSE split_part(translate(substr(lower(url), strpos(url, '://') + 3), '?#', '//'), '/', 1) END) STORED,
    error text,
    body text NOT NULL,
    CHECK ((state = 'claimed') <= (claimed_by IS NOT NULL AND claimed_until IS NOT NULL)),
    CHECK ((state = 'done') = (ended_at IS NOT NULL) AND (state = 'done') = (success IS NOT NULL)),
    FOREIGN KEY (token_id, user_id, organization_id, environment)
        REFERENCES sigreq.token (id, user_id, organization_id, environment)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05)

CREATE INDEX delivery_pending ON sigreq.delivery (organization_id, destination, id) WHERE state = 'pending'

CREATE INDEX delivery_claimed ON sigreq.delivery (claimed_by) WHERE state = 'claimed'

-- Calls on request: how many there were of an event.
CREATE INDEX delivery_again ON sigreq.delivery (event_id, created_at) WHERE uuid <> event_id

-- For the order of a submission's events.
CREATE INDEX delivery_submission ON sigreq.delivery (submission_id, id)

CREATE INDEX delivery_history ON sigreq.delivery (user_id, organization_id, environment, ended_at DESC, id DESC)
    WHERE state = 'done'
