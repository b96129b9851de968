-- SPDX-License-Identifier: Apache-2.0
-- The operations of store.h on PostgreSQL, one file for each subject, and in this file what the engine itself sends.
-- tools/sql2c makes a C table of the files of this folder and says what is wrong with them.
--
--   -- @op name(argument type, …) → outcome row | outcome
--                       an operation of sr_op_t: its arguments, each outcome that it may have, and which row comes with
--                       it. "row[]" is a list. It becomes a C function, sr_store_name. Both databases have the same.
--                       Types: text, hash (SHA-256), uuid, json, int, time, bool. What may be NULL has a "?".
--   -- @row name {column type, …}   a row: the columns that follow the outcome. It becomes a C struct, sr_name_row_t
--   -- @macro NAME(x) text          @NAME(t) stands for the text, with t for x. It may use other macros
--   --     …             a line of a mark that goes on
--   -- @engine NAME n   a text that the engine needs (private.h)
--   CREATE FUNCTION …   a definition: a function or view that the operations use. It is in the database: `sigreqctl db
--   CREATE VIEW …       upgrade` makes all definitions again if one of them differs from those that are there.
--
-- Statements end at a blank line. In an operation a percent sign is written %%. Tables are in conf/schema/pgsql.
--
-- An operation is one statement here, the call of a function: one round trip, and PL/pgSQL keeps the plans. An @op above
-- a function is that call. The function's parameters are named as the arguments, with p_ before. It answers with the
-- column outcome and those of its row, or with one text "outcome" or "outcome<newline>column": 22 µs instead of 29 µs for
-- three columns from a function. enable_seqscan = off: a plan that was made while a table was small must not stay
-- when the table is large (costs 1 µs).

-- A token t, unless it is revoked or expired; that of the caller; and what belongs to the same user, organisation and
-- environment.
-- @macro VALID(t, hash, now) t.secret_hash = hash AND t.revoked_at IS NULL
--     AND (t.expires_at IS NULL OR t.expires_at > now)
-- @macro CALLER(t) @VALID(t, p_token_hash, p_now)
-- @macro SCOPE(s, t) (s.user_id, s.organization_id, s.environment) = (t.user_id, t.organization_id, t.environment)

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
SELECT 'ok', (SELECT max(version) FROM sigreq.schema_version), i.uuid, current_setting('transaction_read_only') = 'on'
FROM sigreq.installation i

-- @op rewrite() → ok
UPDATE sigreq.installation SET uuid = uuid RETURNING 'ok'

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
