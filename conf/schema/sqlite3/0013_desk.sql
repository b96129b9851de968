-- SPDX-License-Identifier: Apache-2.0
-- Drafts and the desk: the same as pgsql/0013_desk.sql, which explains it. All rows satisfy the new condition of the
-- state, so only the text of the definition is replaced.
PRAGMA writable_schema = ON

UPDATE sqlite_schema SET sql = replace(sql, '''expired'', ''deleted''))', '''expired'', ''deleted'', ''draft''))')
WHERE type = 'table' AND name = 'submission'

PRAGMA writable_schema = RESET

ALTER TABLE submission ADD COLUMN saves INTEGER NOT NULL DEFAULT 0

ALTER TABLE submission ADD COLUMN draft_until INTEGER

ALTER TABLE submission ADD COLUMN placement_until INTEGER

ALTER TABLE submission ADD COLUMN placement TEXT

CREATE UNIQUE INDEX submission_placement ON submission (placement) WHERE placement IS NOT NULL

CREATE TABLE former_placement (
    uuid TEXT NOT NULL PRIMARY KEY,
    submission_id INTEGER NOT NULL REFERENCES submission (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID

CREATE INDEX former_placement_submission ON former_placement (submission_id)

ALTER TABLE token ADD COLUMN kind TEXT NOT NULL DEFAULT 'api' CHECK (kind IN ('api', 'desk'))

CREATE UNIQUE INDEX token_desk ON token (user_id, environment) WHERE kind = 'desk'

CREATE INDEX user_account_desk ON user_account (email COLLATE NOCASE)
