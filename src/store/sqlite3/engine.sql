-- SPDX-License-Identifier: Apache-2.0
-- The operations of store.h on SQLite, one file for each subject, and in this file what the engine itself sends. The form
-- is that of ../pgsql/engine.sql, but an operation may be a sequence of statements:
--
--   -- @op NAME n write   runs in one BEGIN IMMEDIATE … COMMIT; without "write" it is one statement that only reads
--   -- @answer            the statement answers: its rows end the operation, and when it gives none the next
--                         statement runs. An outcome that is not 'ok' ends it by ROLLBACK.
--
-- A statement takes the operation's arguments in order, all of them or the first few. They are bound as text, and
-- each can be used once: WITH gives them names and types. CROSS JOIN keeps the order of the tables as written; a
-- LEFT JOIN of a view would make all its rows first, so a body that may be missing is a subquery.

-- @op PING 0
-- @answer
SELECT 'ok', json_object('schema', max(v.version), 'database', (SELECT i.uuid FROM installation i)), NULL
FROM schema_version v

-- @op REWRITE 0 write
-- @answer
UPDATE installation SET uuid = uuid RETURNING 'ok', NULL, NULL

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
