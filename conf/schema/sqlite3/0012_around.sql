-- SPDX-License-Identifier: Apache-2.0
-- What surrounds a request: the same as pgsql/0012_around.sql, which explains it.
ALTER TABLE submission ADD COLUMN options TEXT

ALTER TABLE submission ADD COLUMN copied_at INTEGER

CREATE TABLE viewer (
    submission_id INTEGER NOT NULL REFERENCES submission (id) ON DELETE CASCADE,
    sent_at INTEGER,
    opened_at INTEGER,
    revoked_at INTEGER,
    position INTEGER NOT NULL,
    uuid TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL CHECK (kind IN ('viewer', 'copy')),
    shown_when TEXT NOT NULL CHECK (shown_when IN ('sent', 'completed')),
    firstname TEXT,
    lastname TEXT,
    email TEXT,
    PRIMARY KEY (submission_id, position)
) STRICT

CREATE TABLE feed (
    id INTEGER PRIMARY KEY,
    user_id INTEGER NOT NULL,
    position INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    submission_id INTEGER,
    signer_uuid TEXT,
    environment TEXT NOT NULL,
    type TEXT NOT NULL,
    mark TEXT NOT NULL,
    detail TEXT
) STRICT

CREATE INDEX feed_position ON feed (user_id, environment, position, id)

CREATE TABLE feed_scope (
    user_id INTEGER NOT NULL REFERENCES user_account (id),
    last INTEGER NOT NULL DEFAULT 0,
    pruned INTEGER NOT NULL DEFAULT 0,
    environment TEXT NOT NULL,
    mark TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (user_id, environment)
) STRICT
