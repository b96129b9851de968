-- SPDX-License-Identifier: Apache-2.0
-- The check of signers: the same as pgsql/0011_authentication.sql, which explains it.
ALTER TABLE signer ADD COLUMN authentication TEXT

CREATE TABLE signer_session (
    hash TEXT NOT NULL PRIMARY KEY,
    signer_uuid TEXT NOT NULL REFERENCES signer (uuid) ON DELETE CASCADE,
    made_at INTEGER NOT NULL,
    used_at INTEGER NOT NULL
) STRICT

CREATE INDEX signer_session_signer ON signer_session (signer_uuid)

CREATE TABLE signer_login (
    name TEXT NOT NULL PRIMARY KEY,
    signer_uuid TEXT NOT NULL UNIQUE REFERENCES signer (uuid) ON DELETE CASCADE,
    made_at INTEGER NOT NULL
) STRICT
