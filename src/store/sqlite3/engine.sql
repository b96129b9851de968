-- SPDX-License-Identifier: Apache-2.0
-- What only SQLite has, and the SQL that the engine itself sends. ../common/engine.sql describes the form of the files,
-- ../pgsql/engine.sql what @engine is. An operation is a sequence of statements, between BEGIN IMMEDIATE and COMMIT if it
-- writes. An outcome that is not 'ok' ends it by ROLLBACK.
--
-- A statement takes the operation's arguments in order, all of them or the first few. They are bound as text, and each
-- can be used once, so WITH gives them names and types: @ARGUMENTS is a(…), with the names and types of the signature,
-- and :name is (SELECT name FROM a). A statement with :name and without WITH @ARGUMENTS gets it.
-- CROSS JOIN keeps the order of the tables as written. A body that may be missing is a subquery, because a LEFT JOIN of
-- a view would make all rows of the view first.

-- CLOCK: the clock of this database. FORSHARE: nothing, because there is one writer at a time. HAS, SAME, TEXT, QUOTED, CHANGES, MONTH, VALUES, OBJECT: as on PostgreSQL. BODY, CREATED, GIVEN, SAVING, ID, LASTHASH:
-- ../common/writing.sql.
-- @macro FORSHARE(t)
-- @macro HAS(object, member) (json_type(object, '$.member') IS NOT NULL)
-- @macro SAME(x, y) x = y COLLATE NOCASE
-- @macro TEXT(x) x
-- @macro QUOTED(x) json_quote(x)
-- @macro CHANGES() changes()
-- @macro MONTH(at) strftime('%%Y-%%m', at / 1000000, 'unixepoch')
-- @macro VALUES(list) json_each(list) AS
-- @macro CLOCK() (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) * 1000)
-- @macro BODY(x) x
-- @macro OBJECT() json_object
-- @macro CREATED() FROM @OF(creation, :creation, p) CROSS JOIN token t WHERE t.secret_hash = :token_hash
-- @macro GIVEN() CROSS JOIN @OF(change, :change, p)
-- @macro SAVING() CROSS JOIN @OF(save, :save, p)
-- @macro ID() (SELECT s.id FROM submission s WHERE s.uuid = :submission)
-- @macro LASTHASH() p.events->>'$[#-1].hash'

-- There is no risk, because each connection sets what makes a COMMIT durable (CONNECT).
-- @op ping(servers int) → ok installation
-- @answer
SELECT 'ok', (SELECT max(version) FROM schema_version), i.uuid, 0, NULL, 0, 0
FROM installation i WHERE %s IS NOT NULL -- a file has no servers

-- CONNECT is sent once for each connection, before statements are prepared. CREATE is sent once for the file, which
-- stores the setting.
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

-- In WAL mode a commit with NORMAL does not wait for the disk. A later commit that waits makes it durable, too.
-- @engine SYNCED 0
PRAGMA synchronous = FULL

-- @engine UNSYNCED 0
PRAGMA synchronous = NORMAL

-- Gives a row if the table of migrations exists. Its value says whether the table has checksums, which builds before
-- 0.1.0 did not record.
-- @engine SCHEMA_EXISTS 0
SELECT iif(EXISTS (SELECT 1 FROM pragma_table_info('schema_version') c WHERE c.name = 'checksum'), 'checksums', 'none')
FROM sqlite_master WHERE type = 'table' AND name = 'schema_version'

-- A line "<version> <checksum>" for each migration, and then "definitions <checksum>".
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

-- Makes the statements that remove the definitions of the last upgrade. Views with other names stay.
-- @engine DEFINITIONS_DROP 0
SELECT group_concat('DROP VIEW "' || v.name || '"', '; ')
FROM sqlite_master v
WHERE v.type = 'view' AND v.name IN (SELECT d.value FROM installation i, json_each(i.definitions) d)

-- @engine VACUUM 1
VACUUM INTO %s
