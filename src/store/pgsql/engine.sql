-- SPDX-License-Identifier: Apache-2.0
-- What only PostgreSQL has, and the SQL that the engine itself sends. ../common/engine.sql describes the form of the
-- files. In addition:
--
--   -- @engine NAME n   SQL that the engine itself sends (private.h)
--   CREATE FUNCTION …   a definition in the database that the operations use
--
-- An operation is one statement here, the call of a function. sql2c writes the types of its arguments into the call, so
-- that named.c can have the server keep it prepared. It takes one round trip, and PL/pgSQL caches the plans. An @op above
-- a function is its call. The parameters of the function are named like the arguments, with p_ in front, so :name is
-- p_name. The function returns the column outcome and those of its row (@ROWS), or the outcome alone. enable_seqscan =
-- off: a plan that was made while a table was small must not be kept when the table is large. This costs 1 µs. (For
-- functions in SQL the session has this setting: NAMING.) plan_cache_mode = force_generic_plan: otherwise each connection
-- would plan a statement five times before it caches a plan, although one plan is good for all arguments.

-- CLOCK: the clock of this database. FORSHARE: after a query of tokens, waits for a revocation. OBJECT: the function that
-- makes a JSON object. BODY, CREATED, GIVEN, SAVING, ID, LASTHASH: ../common/writing.sql.
-- @macro CLOCK() sigreq.job_clock()
-- @macro BODY(x) CAST(x AS json)
-- @macro OBJECT() json_build_object
-- @macro CREATED()
-- @macro GIVEN()
-- @macro SAVING()
-- @macro ID() v_id
-- @macro LASTHASH() p.events->-1->>'hash'
-- @macro FORSHARE(t) FOR SHARE OF t
-- HAS: the JSON object has this member. SAME: two email addresses are the same. MONTH: of a time, in UTC.
-- @macro HAS(object, member) (CAST(object AS jsonb) ? 'member')
-- @macro SAME(x, y) lower(x COLLATE "C") = lower(y COLLATE "C")
-- TEXT, QUOTED: a JSON value as text, and a text as JSON, with the letters that lower() knows in both databases.
-- @macro TEXT(x) (CAST(x AS text) COLLATE "C")
-- @macro QUOTED(x) (CAST(to_json(x) AS text) COLLATE "C")
-- CHANGES: the number of rows that the last INSERT, UPDATE or DELETE has changed.
-- @macro CHANGES() v_changes
-- @macro MONTH(at) to_char(to_timestamp(at / 1000000) AT TIME ZONE 'UTC', 'YYYY-MM')
-- VALUES: the texts of a JSON array, in the column value.
-- @macro VALUES(list) json_array_elements_text(list) AS

-- `risk` is why a transaction that was committed could be lost, or NULL. A standby is configured if there is a WAL sender
-- or a physical slot. An ordinary role sees that there is a WAL sender, but not its state. If the connection string names
-- several servers, there should be one.
-- @op ping(servers int) → ok installation
SELECT 'ok', (SELECT max(version) FROM sigreq.schema_version), i.uuid, current_setting('transaction_read_only') = 'on',
    CASE
        WHEN current_setting('fsync') = 'off' THEN 'fsync is off: a crash of its machine can lose and damage everything'
        WHEN current_setting('full_page_writes') = 'off'
            THEN 'full_page_writes is off: a crash of its machine can damage pages'
        WHEN current_setting('synchronous_commit') = 'off'
            THEN 'synchronous_commit is off: a crash of the server loses the last transactions'
        WHEN NOT EXISTS (SELECT FROM pg_stat_replication)
            AND NOT EXISTS (SELECT FROM pg_replication_slots WHERE slot_type = 'physical')
            THEN CASE WHEN %s > 1 THEN 'DBDParams names several servers, but this one has no standby: '
                           || 'if it is lost, so are the last transactions' END
        WHEN current_setting('synchronous_standby_names') = ''
            THEN 'it has a standby, but synchronous_standby_names is empty: a failover loses the last transactions'
        WHEN current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')
            THEN 'synchronous_commit is ' || current_setting('synchronous_commit')
                || ': a failover can lose the last transactions' END,
    current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer,
    sigreq.job_clock()
FROM sigreq.installation i

-- @engine BEGIN 0
BEGIN

-- @engine COMMIT 0
COMMIT

-- @engine ROLLBACK 0
ROLLBACK

-- An empty query. It succeeds on every connection that works, even in a failed transaction.
-- @engine PROBE 0
/* nothing */

-- @engine SESSION 0
SELECT pg_backend_pid()

-- For the functions that are inserted into statements, which cannot have a setting of their own. Without an index a
-- plan then has a cost of 10,000,000,000, for which PostgreSQL would compile it, which takes a tenth of a second.
-- @engine NAMING 0
SELECT set_config('jit', 'off', false) || set_config('enable_seqscan', 'off', false)

-- A shorter limit of the administrator's stays.
-- @engine LIMITED 1
SELECT set_config('statement_timeout', a.most, false) FROM (SELECT %s::text AS most) a
WHERE coalesce(nullif(extract(epoch FROM current_setting('statement_timeout')::interval), 0) * 1000 > a.most::int, true)

-- @engine UNLIMITED 0
RESET statement_timeout

-- What tells a leader from a former one (leader.c): the system, and the timeline, which is greater after each promotion.
-- @engine LEADER 0
SELECT CASE WHEN pg_is_in_recovery() THEN NULL
            ELSE (SELECT system_identifier FROM pg_control_system()) || ' '
                 || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END

-- Gives a row if the table of migrations exists. Its value says whether the table has checksums, which builds before
-- 0.1.0 did not record. to_regclass is not used, because its cache does not contain what was made while this session
-- waited for SCHEMA_LOCK.
-- @engine SCHEMA_EXISTS 0
SELECT CASE WHEN EXISTS (SELECT 1 FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'checksum')
            THEN 'checksums' ELSE 'none' END
FROM pg_catalog.pg_class c
WHERE c.relname = 'schema_version' AND c.relnamespace = (SELECT n.oid FROM pg_catalog.pg_namespace n
                                                         WHERE n.nspname = 'sigreq')

-- A line "<version> <checksum>" for each migration, and then "definitions <checksum>".
-- @engine SCHEMA_STATE 0
SELECT (SELECT string_agg(version || ' ' || checksum, E'\n' ORDER BY version) FROM sigreq.schema_version)
       || (SELECT E'\ndefinitions ' || definitions_checksum FROM sigreq.installation)

-- The version of a table without checksums.
-- @engine SCHEMA_VERSION 0
SELECT coalesce(max(version), 0) FROM sigreq.schema_version

-- Taken in the transaction of an upgrade. The number is "sigreq" in ASCII.
-- @engine SCHEMA_LOCK 0
SELECT pg_advisory_xact_lock(126896544310641)

-- @engine SCHEMA_RECORD 4
INSERT INTO sigreq.schema_version (version, name, checksum, applied_at) VALUES (%s, %s, %s, %s)

-- The names are a JSON array.
-- @engine DEFINITIONS_RECORD 2
UPDATE sigreq.installation SET definitions_checksum = %s, definitions = %s

-- Makes the statements that remove the definitions of the last upgrade. Functions and views with other names stay.
-- @engine DEFINITIONS_DROP 0
WITH defined AS (SELECT json_array_elements_text(definitions::json) AS name FROM sigreq.installation)
SELECT concat_ws('; ',
    (SELECT 'DROP VIEW ' || string_agg('sigreq.' || quote_ident(c.relname), ', ') FROM pg_catalog.pg_class c
     WHERE c.relnamespace = 'sigreq'::regnamespace AND c.relkind = 'v' AND c.relname IN (SELECT name FROM defined)),
    (SELECT 'DROP FUNCTION ' || string_agg(p.oid::regprocedure::text, ', ') FROM pg_catalog.pg_proc p
     WHERE p.pronamespace = 'sigreq'::regnamespace AND p.proname IN (SELECT name FROM defined)))

-- The same for the definitions that this transaction has not replaced.
-- @engine DEFINITIONS_TIDY 0
WITH defined AS (SELECT json_array_elements_text(definitions::json) AS name FROM sigreq.installation)
SELECT concat_ws('; ',
    (SELECT 'DROP VIEW ' || string_agg('sigreq.' || quote_ident(c.relname), ', ') FROM pg_catalog.pg_class c
     WHERE c.relnamespace = 'sigreq'::regnamespace AND c.relkind = 'v' AND c.relname IN (SELECT name FROM defined)
       AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_rewrite r
                       WHERE r.ev_class = c.oid AND r.xmin = pg_current_xact_id()::xid)),
    (SELECT 'DROP FUNCTION ' || string_agg(p.oid::regprocedure::text, ', ') FROM pg_catalog.pg_proc p
     WHERE p.pronamespace = 'sigreq'::regnamespace AND p.proname IN (SELECT name FROM defined)
       AND p.xmin <> pg_current_xact_id()::xid))

-- Gives a JSON object with the statements that copy the rows of an SQLite database (import.c): how to lock the tables,
-- and in the order of foreign keys, for each table, how to read and write its rows, how to count them before and after,
-- and how to continue its numbers. A table that is not logged has nothing to keep. A parent of a token has a smaller
-- number than the token. All values are sent as texts, and cast here.
-- @engine IMPORT 0
WITH RECURSIVE tables AS (
    SELECT c.oid AS relation, quote_ident(c.relname) AS name FROM pg_catalog.pg_class c
    WHERE c.relnamespace = 'sigreq'::regnamespace AND c.relkind = 'r' AND c.relpersistence = 'p'
      AND c.relname NOT IN ('schema_version', 'installation')
), depths AS (
    SELECT t.relation, 0 AS depth FROM tables t
    UNION ALL
    SELECT k.conrelid, d.depth + 1 FROM depths d JOIN pg_catalog.pg_constraint k ON k.confrelid = d.relation
    WHERE k.contype = 'f' AND k.conrelid <> k.confrelid
), columns AS (
    SELECT a.attrelid AS relation,
        string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) AS names,
        string_agg(quote_literal(a.attname) || ', ' || quote_ident(a.attname), ', ' ORDER BY a.attnum) AS members,
        string_agg(quote_ident(a.attname) || ' text', ', ' ORDER BY a.attnum) AS texts,
        string_agg('r.' || quote_ident(a.attname) || '::' || format_type(a.atttypid, a.atttypmod), ', '
                   ORDER BY a.attnum) AS casts,
        max(quote_ident(a.attname)) FILTER (WHERE a.attidentity <> '') AS number
    FROM pg_catalog.pg_attribute a
    WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
    GROUP BY a.attrelid
), statements AS (
    SELECT (SELECT max(d.depth) FROM depths d WHERE d.relation = t.relation) AS depth, t.name, json_build_object(
        'name', t.name,
        'read', 'SELECT json_object(' || c.members || ') FROM ' || t.name || coalesce(' ORDER BY ' || c.number, ''),
        'write', 'INSERT INTO sigreq.' || t.name || ' (' || c.names || ') OVERRIDING SYSTEM VALUE SELECT ' || c.casts
            || ' FROM json_to_recordset(' || chr(37) || 's::json) AS r (' || c.texts || ')',
        'before', 'SELECT count(*) FROM ' || t.name,
        'after', 'SELECT count(*) FROM sigreq.' || t.name,
        'sequence', 'SELECT setval(pg_get_serial_sequence(' || quote_literal('sigreq.' || t.name) || ', '
            || quote_literal(c.number) || '), coalesce(max(' || c.number || '), 0) + 1, false) FROM sigreq.' || t.name
        ) AS of_table
    FROM tables t JOIN columns c ON c.relation = t.relation
)
SELECT json_build_object(
    'lock', 'SET LOCAL statement_timeout = 0; LOCK TABLE sigreq.' || string_agg(s.name, ', sigreq.') || ' IN EXCLUSIVE MODE',
    'occupied', 'SELECT coalesce('
        || string_agg('(SELECT ' || quote_literal(s.name) || ' FROM sigreq.' || s.name || ' LIMIT 1)', ', ') || ')',
    'tables', json_agg(s.of_table ORDER BY s.depth, s.name))
FROM statements s
