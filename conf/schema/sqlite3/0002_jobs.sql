-- SPDX-License-Identifier: Apache-2.0
-- The queue of jobs: the same as pgsql/0002_jobs.sql, which explains it.
CREATE TABLE job (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid TEXT UNIQUE,
    event_id TEXT,
    submission_id INTEGER REFERENCES submission (id) ON DELETE CASCADE,
    token_id INTEGER,
    user_id INTEGER,
    organization_id INTEGER NOT NULL,
    environment TEXT,
    state TEXT NOT NULL CHECK (state IN ('scheduled', 'pending', 'claimed', 'done')),
    kind TEXT NOT NULL,
    event TEXT CHECK (event IN ('sent', 'signed', 'refused', 'completed', 'invitation')),
    created_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    claimed_by TEXT,
    claimed_until INTEGER,
    ended_at INTEGER,
    success INTEGER CHECK (success IN (0, 1)),
    status INTEGER,
    error TEXT,
    url TEXT,
    destination TEXT NOT NULL GENERATED ALWAYS AS (CASE WHEN url IS NULL THEN kind || ':'
        WHEN substr(url, 1, 7) = 'mailto:' THEN 'mailto:'
        ELSE lower(substr(substr(url, instr(url, '://') + 3), 1,
        instr(replace(replace(substr(url, instr(url, '://') + 3), '?', '/'), '#', '/') || '/', '/') - 1)) END) STORED,
    body TEXT NOT NULL CHECK (json_valid(body)),
    CHECK ((state = 'claimed') <= (claimed_by IS NOT NULL AND claimed_until IS NOT NULL)),
    CHECK ((state = 'done') = (ended_at IS NOT NULL) AND (state = 'done') = (success IS NOT NULL)),
    CHECK (event IS NULL OR (uuid IS NOT NULL AND event_id IS NOT NULL AND submission_id IS NOT NULL
                             AND token_id IS NOT NULL AND url IS NOT NULL)),
    FOREIGN KEY (token_id, user_id, organization_id, environment)
        REFERENCES token (id, user_id, organization_id, environment)
) STRICT

CREATE INDEX job_pending ON job (organization_id, destination, id, due_at) WHERE state = 'pending'

CREATE INDEX job_scheduled ON job (due_at) WHERE state = 'scheduled'

CREATE INDEX job_claimed ON job (claimed_by) WHERE state = 'claimed'

CREATE INDEX job_again ON job (event_id, created_at) WHERE uuid <> event_id

CREATE INDEX job_submission ON job (submission_id, id)

CREATE INDEX job_history ON job (user_id, organization_id, environment, ended_at DESC, id DESC)
    WHERE state = 'done' AND event IS NOT NULL
