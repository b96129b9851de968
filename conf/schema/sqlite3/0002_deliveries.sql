-- Webhook calls to make, and what became of those that were made: the same as pgsql/0002_deliveries.sql, which explains.
CREATE TABLE delivery (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid TEXT NOT NULL UNIQUE,
    event_id TEXT NOT NULL,
    submission_id INTEGER NOT NULL REFERENCES submission (id) ON DELETE CASCADE,
    token_id INTEGER NOT NULL,
    user_id INTEGER NOT NULL,
    organization_id INTEGER NOT NULL,
    environment TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'claimed', 'done')),
    kind TEXT NOT NULL CHECK (kind IN ('sent', 'signed', 'refused', 'completed', 'invitation')),
    created_at INTEGER NOT NULL,
    claimed_by TEXT,
    claimed_until INTEGER,
    ended_at INTEGER,
    success INTEGER CHECK (success IN (0, 1)),
    status INTEGER,
    error TEXT,
    url TEXT NOT NULL,
    destination TEXT NOT NULL GENERATED ALWAYS AS (iif(substr(url, 1, 7) = 'mailto:', 'mailto:',
        lower(substr(substr(url, instr(url, '://') + 3), 1,
        instr(replace(replace(substr(url, instr(url, '://') + 3), '?', '/'), '#', '/') || '/', '/') - 1)))) STORED,
    body TEXT NOT NULL,
    CHECK ((state = 'claimed') <= (claimed_by IS NOT NULL AND claimed_until IS NOT NULL)),
    CHECK ((state = 'done') = (ended_at IS NOT NULL) AND (state = 'done') = (success IS NOT NULL)),
    FOREIGN KEY (token_id, user_id, organization_id, environment)
        REFERENCES token (id, user_id, organization_id, environment)
) STRICT

CREATE INDEX delivery_pending ON delivery (organization_id, destination, id) WHERE state = 'pending'

CREATE INDEX delivery_claimed ON delivery (claimed_by) WHERE state = 'claimed'

-- Calls on request: how many there were of an event.
CREATE INDEX delivery_again ON delivery (event_id, created_at) WHERE uuid <> event_id

-- For the order of a submission's events.
CREATE INDEX delivery_submission ON delivery (submission_id, id)

CREATE INDEX delivery_history ON delivery (user_id, organization_id, environment, ended_at DESC, id DESC)
    WHERE state = 'done'
