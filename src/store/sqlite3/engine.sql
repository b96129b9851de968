-- SPDX-License-Identifier: Apache-2.0
-- The operations of store.h on SQLite, one file for each subject, and in this file what the engine itself sends. The form
-- is that of ../pgsql/engine.sql, but an operation may be a sequence of statements:
--
--   -- @op … write       runs in one BEGIN IMMEDIATE … COMMIT; without "write" it is one statement that only reads
--   -- @answer            the statement answers: its rows end the operation, and when it gives none the next
--                         statement runs. An outcome that is not 'ok' ends it by ROLLBACK.
--
-- A statement takes the operation's arguments in order, all of them or the first few. They are bound as text, and
-- each can be used once: WITH gives them names and types. CROSS JOIN keeps the order of the tables as written; a
-- LEFT JOIN of a view would make all its rows first, so a body that may be missing is a subquery. @ARGUMENTS is a(…), with
-- the arguments by the names and types of the signature.

-- The caller's token t, unless it is revoked or expired, and what belongs to the same user, organisation and environment.
-- @macro CALLER(t) t.secret_hash = a.token_hash AND t.revoked_at IS NULL
--     AND (t.expires_at IS NULL OR t.expires_at > a.now)
-- @macro SCOPE(s, t) s.user_id = t.user_id AND s.organization_id = t.organization_id
--     AND s.environment = t.environment

-- A body is JSON, as store.h says. The time and the id of a row in a list are its place there.
-- @row access {epoch int}
-- @row body {body json}
-- @row blob {sha256 hash, key text, size int}
-- @row certificate {name text, sha256 hash, size int, key text}
-- @row count {deleted int}
-- @row delivery {id int, uuid uuid, event_id uuid, event text, submission uuid, token uuid, url text, success
--     bool?, status int?, error text?, created_at time, ended_at time?}
-- @row due {due_in int?}
-- @row file {submission uuid, document uuid?, name text}
-- @row holder {holder text?}
-- @row installation {schema int, database uuid, read_only bool}
-- @row invitation {organization uuid, environment text, url text}
-- @row job {id int, kind text, organization int, destination text, url text?, token uuid?, due_at time,
--     attempts int, body json, due_in int?}
-- @row key {key text}
-- @row listed {uuid uuid, representation text?, old bool, created_at time, id int}
-- @row organization {uuid uuid, name text, quota int?, used int, created_at time}
-- @row representation {representation text?}
-- @row reserved {key text, stored text?}
-- @row signing {body json?}
-- @row survey {interrupted int, waiting int, under_way int, oldest int, owners json}
-- @row token {id int, uuid uuid, name text, environment text, user_uuid uuid, firstname text, lastname text,
--     email text, organization_uuid uuid, organization_name text, sent_webhook_url text?, signed_webhook_url
--     text?, completed_webhook_url text?, created_at time, expires_at time?, revoked_at time?, parent uuid?}
-- @row tombstone {key text, forget bool}
-- @row user {uuid uuid, firstname text, lastname text, email text, organization_uuid uuid, created_at time}

-- @op ping() → ok installation
-- @answer
SELECT 'ok', (SELECT max(version) FROM schema_version), i.uuid, 0
FROM installation i

-- @op rewrite() → ok write
-- @answer
UPDATE installation SET uuid = uuid RETURNING 'ok'

-- Once for each connection, before anything is prepared; once for the file, in which it stays.
-- @engine CONNECT 0
PRAGMA foreign_keys = ON

-- @engine CREATE 0
PRAGMA journal_mode = WAL

-- @engine BEGIN 0
BEGIN IMMEDIATE

-- @engine COMMIT 0
COMMIT

-- @engine ROLLBACK 0
ROLLBACK

-- A row when the schema's table is there; its value says whether it has checksums, which builds before 0.1.0 did not
-- record.
-- @engine SCHEMA_EXISTS 0
SELECT iif(EXISTS (SELECT 1 FROM pragma_table_info('schema_version') c WHERE c.name = 'checksum'), 'checksums', 'none')
FROM sqlite_master WHERE type = 'table' AND name = 'schema_version'

-- The migrations, "<version> <checksum>" each, and then "definitions <checksum>".
-- @engine SCHEMA_STATE 0
SELECT (SELECT group_concat(line, char(10))
        FROM (SELECT version || ' ' || checksum AS line FROM schema_version ORDER BY version))
       || (SELECT char(10) || 'definitions ' || definitions_checksum FROM installation)

-- The version of a table without checksums.
-- @engine SCHEMA_VERSION 0
SELECT coalesce(max(version), 0) FROM schema_version

-- @engine SCHEMA_RECORD 4
INSERT INTO schema_version (version, name, checksum, applied_at) VALUES (%s, %s, %s, %s)

-- The names are a JSON array.
-- @engine DEFINITIONS_RECORD 2
UPDATE installation SET definitions_checksum = %s, definitions = %s

-- Statements that remove the definitions that an upgrade has made. Views of other names stay.
-- @engine DEFINITIONS_DROP 0
SELECT group_concat('DROP VIEW "' || v.name || '"', '; ')
FROM sqlite_master v
WHERE v.type = 'view' AND v.name IN (SELECT d.value FROM installation i, json_each(i.definitions) d)
