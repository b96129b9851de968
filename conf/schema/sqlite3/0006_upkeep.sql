-- SPDX-License-Identifier: Apache-2.0
-- For `sigreqctl gc`, which deletes old history.
CREATE INDEX job_ended ON job (ended_at) WHERE state = 'done'

-- In a table WITHOUT ROWID the columns of the key must be the first ones. Otherwise PRAGMA integrity_check of SQLite 3.40
-- reads NOT NULL columns under a wrong number, and calls every row damaged. SQLite stores the columns of the key first
-- in any case, so only the text of the definition changes, and not what is stored.
PRAGMA writable_schema = ON

UPDATE sqlite_schema SET sql = 'CREATE TABLE blob (
    key TEXT PRIMARY KEY,
    size INTEGER NOT NULL CHECK (size >= 0),
    folder TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    UNIQUE (folder, sha256),
    UNIQUE (sha256, key)
) STRICT, WITHOUT ROWID' WHERE type = 'table' AND name = 'blob'

UPDATE sqlite_schema SET sql = 'CREATE TABLE blob_reservation (
    key TEXT PRIMARY KEY,
    reserved_at INTEGER NOT NULL,
    folder TEXT NOT NULL
) STRICT, WITHOUT ROWID' WHERE type = 'table' AND name = 'blob_reservation'

UPDATE sqlite_schema SET sql = 'CREATE TABLE blob_tombstone (
    key TEXT PRIMARY KEY,
    folder TEXT NOT NULL
) STRICT, WITHOUT ROWID' WHERE type = 'table' AND name = 'blob_tombstone'

UPDATE sqlite_schema SET sql = 'CREATE TABLE timer (
    submission_id INTEGER NOT NULL,
    kind TEXT NOT NULL,
    due_at INTEGER NOT NULL,
    PRIMARY KEY (submission_id, kind)
) STRICT, WITHOUT ROWID' WHERE type = 'table' AND name = 'timer'

PRAGMA writable_schema = RESET
