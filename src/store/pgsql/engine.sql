-- SPDX-License-Identifier: Apache-2.0
-- The operations of store.h on PostgreSQL, one file for each subject, and in this file what the engine itself sends.
-- tools/sql2c makes a C table of the files of this folder and says what is wrong with them.
--
--   -- @op NAME n       an operation of sr_op_t and its number of arguments: that many %s, in store.h's order
--   -- @engine NAME n   a text that the engine needs (private.h)
--   CREATE FUNCTION …   a definition: a function or view that the operations use. It is in the database: `sigreqctl db
--   CREATE VIEW …       upgrade` makes all definitions again if one of them differs from those that are there.
--
-- Statements end at a blank line. In an operation a percent sign is written %%. Tables are in conf/schema/pgsql.
--
-- An operation is one statement here, the call of a function: one round trip, and PL/pgSQL keeps the plans. It answers
-- with the columns outcome, body, key, or with one column "outcome" or "outcome<newline>body": 22 µs instead of 29 µs
-- for three columns from a function. enable_seqscan = off: a plan that was made while a table was small must not stay
-- when the table is large (costs 1 µs).

-- @op PING 0
SELECT E'ok\n' || json_build_object('schema', (SELECT max(version) FROM sigreq.schema_version),
                                   'database', (SELECT uuid FROM sigreq.installation),
                                   'read_only', current_setting('transaction_read_only') = 'on')

-- @op REWRITE 0
UPDATE sigreq.installation SET uuid = uuid RETURNING 'ok', NULL, NULL

-- @engine BEGIN 0
BEGIN

-- @engine COMMIT 0
COMMIT

-- @engine ROLLBACK 0
ROLLBACK

-- An empty query: it succeeds on every connection that lives, even where a transaction has failed.
-- @engine PROBE 0
/* nothing */

-- A row when the schema's table is there; its value says whether it has checksums, which builds before 0.1.0 did not
-- record. Not to_regclass: its cache does not see what was made while this session waited for SCHEMA_LOCK.
-- @engine SCHEMA_EXISTS 0
SELECT CASE WHEN EXISTS (SELECT 1 FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'checksum')
            THEN 'checksums' ELSE 'none' END
FROM pg_catalog.pg_class c
WHERE c.relname = 'schema_version' AND c.relnamespace = (SELECT n.oid FROM pg_catalog.pg_namespace n
                                                         WHERE n.nspname = 'sigreq')

-- The migrations, "<version> <checksum>" each, and then "definitions <checksum>".
-- @engine SCHEMA_STATE 0
SELECT (SELECT string_agg(version || ' ' || checksum, E'\n' ORDER BY version) FROM sigreq.schema_version)
       || (SELECT E'\ndefinitions ' || definitions_checksum FROM sigreq.installation)

-- The version of a table without checksums.
-- @engine SCHEMA_VERSION 0
SELECT coalesce(max(version), 0) FROM sigreq.schema_version

-- Taken inside the transaction of an upgrade: the number is "sigreq" in ASCII.
-- @engine SCHEMA_LOCK 0
SELECT pg_advisory_xact_lock(126896544310641)

-- @engine SCHEMA_RECORD 4
INSERT INTO sigreq.schema_version (version, name, checksum, applied_at) VALUES (%s, %s, %s, %s)

-- The names are a JSON array.
-- @engine DEFINITIONS_RECORD 2
UPDATE sigreq.installation SET definitions_checksum = %s, definitions = %s

-- Statements that remove the definitions that an upgrade has made. Functions and views of other names stay.
-- @engine DEFINITIONS_DROP 0
WITH defined AS (SELECT json_array_elements_text(definitions::json) AS name FROM sigreq.installation)
SELECT concat_ws('; ',
    (SELECT 'DROP VIEW ' || string_agg('sigreq.' || quote_ident(c.relname), ', ') FROM pg_catalog.pg_class c
     WHERE c.relnamespace = 'sigreq'::regnamespace AND c.relkind = 'v' AND c.relname IN (SELECT name FROM defined)),
    (SELECT 'DROP FUNCTION ' || string_agg(p.oid::regprocedure::text, ', ') FROM pg_catalog.pg_proc p
     WHERE p.pronamespace = 'sigreq'::regnamespace AND p.proname IN (SELECT name FROM defined)))

-- The same for those definitions that this transaction has not replaced.
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
