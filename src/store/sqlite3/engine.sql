-- SPDX-License-Identifier: Apache-2.0
-- The operations of store.h on SQLite. Each subject has a file, and this file has the SQL that the engine itself sends.
-- ../pgsql/engine.sql describes the form of the files. In addition, an operation may be a sequence of statements:
--
--   -- @op … write       runs in one BEGIN IMMEDIATE … COMMIT; without "write" its statements only read, and not
--                         in one transaction: each gives rows that are right without those before it, or none
--   -- @op … write unsynced   the COMMIT does not wait for the disk: a crash of the machine may undo it
--   -- @answer            if the statement gives rows, they are the result and end the operation. Otherwise the next
--                         statement runs. An outcome that is not 'ok' ends it by ROLLBACK.
--   -- @if name          the statement runs only if this argument of the operation is not NULL
--
-- A statement takes the operation's arguments in order, all of them or the first few. They are bound as text, and each
-- can be used once, so WITH gives them names and types. @ARGUMENTS is a(…), with the names and types of the signature.
-- CROSS JOIN keeps the order of the tables as written. A body that may be missing is a subquery, because a LEFT JOIN of
-- a view would make all rows of the view first.

-- Conditions. CALLER: t is the caller's token, neither revoked nor expired, and its user is not disabled. SCOPE: s
-- belongs to the same user, organisation and environment as t. CLOCK: the clock of this database. LATE: the deadline of the open
-- submission s is over by it. FOUND: the outcome if t was looked for, and then s of t's scope.
-- TAG: changes whenever the representation of s changes.
-- @macro CALLER(t) t.secret_hash = a.token_hash AND t.revoked_at IS NULL
--     AND (t.expires_at IS NULL OR t.expires_at > a.now)
--     AND NOT EXISTS (SELECT 1 FROM user_account x WHERE x.id = t.user_id AND x.disabled_at IS NOT NULL)
-- @macro CLOCK() (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) * 1000)
-- @macro LATE(s) (s.state = 'open' AND s.expires_at IS NOT NULL AND s.expires_at <= @CLOCK())
-- @macro FOUND() CASE WHEN t.id IS NULL THEN 'unauthorized' WHEN s.id IS NULL THEN 'missing'
--     WHEN s.state = 'deleted' THEN 'deleted' ELSE 'ok' END
-- @macro STATUS(g) iif(g.state = 'refused', 'opened', g.state)
-- @macro STATUSES(SUBMISSION) WITH @ARGUMENTS
--     INSERT INTO signer_status (submission_id, status, user_id, organization_id, environment, created_at)
--     SELECT s.id, @STATUS(g), s.user_id, s.organization_id, s.environment, s.created_at
--     FROM a CROSS JOIN submission s CROSS JOIN signer g
--     WHERE s.uuid = a.SUBMISSION AND g.submission_id = s.id AND g.state <> 'replaced'
--     ON CONFLICT DO NOTHING
-- @macro TAG(s) (s.events_hash || '-' || s.representation_version)
-- @macro SCOPE(s, t) s.user_id = t.user_id AND s.organization_id = t.organization_id
--     AND s.environment = t.environment

-- A body is JSON, which store.h describes. The time and the id of a row in a list are its position there.
-- @row access {epoch int}
-- @row body {body json}
-- @row blob {sha256 hash, key text, size int}
-- @row certificate {name text, sha256 hash, size int, key text}
-- @row count {deleted int}
-- @row delivery {id int, uuid uuid, event_id uuid, event text, submission uuid?, token uuid, url text, success
--     bool?, status int?, error text?, created_at time, ended_at time?}
-- @row due {due_in int?}
-- @row file {submission uuid, document uuid?, name text}
-- @row found {id int, submission uuid}
-- @row installation {schema int, database uuid, read_only bool, risk text?, connections int, clock time}
-- @row invitation {organization uuid, environment text, url text}
-- @row job {id int, kind text, organization int, destination text, url text?, token uuid?, due_at time,
--     attempts int, body json, due_in int?}
-- @row key {key text}
-- @row lease {body json?, holder text?}
-- @row listed {uuid uuid?, representation text?, old bool, created_at time, id int, updated_at time, template uuid?}
-- @row organization {uuid uuid, name text, quota int?, used int, created_at time}
-- @row overview {uuid uuid, environment text, organization text, email text, name text, state text, signers int,
--     completed int, created_at time, updated_at time, closed_at time?, expires_at time?,
--     held_at time?, hold_reason text?}
-- @row past {submission uuid}
-- @row remains {open int, held int, closed int, deleted int}
-- @row representation {representation text?}
-- @row shown {tag text?, representation text?}
-- @row reserved {key text, stored text?}
-- @row retained {submission uuid, closed_at time, id int}
-- @row archivable {submission uuid, stamped_until time, id int}
-- @row archiving {due int, made int}
-- @row signing {body json?}
-- @row quotas {unlimited int, below int, near int, reached int}
-- @row stat {month text, organization text, uuid uuid, environment text, created int, completed int, refused int, bytes int}
-- @row survey {interrupted int, waiting int, under_way int, oldest int, owners json}
-- @row token {id int, uuid uuid, name text, environment text, user_uuid uuid, firstname text, lastname text,
--     email text, organization_uuid uuid, organization_name text, sent_webhook_url text?, signed_webhook_url
--     text?, completed_webhook_url text?, created_at time, expires_at time?, revoked_at time?, parent uuid?,
--     used_on time?}
-- @row tombstone {key text, forget bool}
-- @row user {uuid uuid, firstname text, lastname text, email text, organization_uuid uuid, created_at time,
--     disabled_at time?}

-- There is no risk, because each connection sets what makes a COMMIT durable (CONNECT).
-- @op ping(servers int) → ok installation
-- @answer
SELECT 'ok', (SELECT max(version) FROM schema_version), i.uuid, 0, NULL, 0, 0
FROM installation i WHERE %s IS NOT NULL -- a file has no servers

-- @op rewrite() → ok write
-- @answer
UPDATE installation SET uuid = uuid RETURNING 'ok'

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
