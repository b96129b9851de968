-- The operations of store.h on PostgreSQL. tools/sql2c makes a C table of this file and says what is wrong with it.
--
--   -- @op NAME n       an operation of sr_op_t and its number of arguments: that many %s, in store.h's order
--   -- @engine NAME n   a text the engine itself needs (private.h)
--
-- Statements end at a blank line. A percent sign is written %%. Here an operation is one statement: a function of
-- conf/schema/pgsql. It answers with columns outcome, body, key, or with one column "outcome" or
-- "outcome<newline>body", which costs a quarter less than three columns from a function.

-- @op TOKEN_CURRENT 2
SELECT sigreq.token_current(%s, %s)

-- @op SUBMISSION_CREATE 1
SELECT sigreq.submission_create(%s)

-- @op SUBMISSION_GET 3
SELECT sigreq.submission_get(%s, %s, %s)

-- @op SUBMISSION_LIST 11
SELECT outcome, body, key FROM sigreq.submission_list(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)

-- @op DOCUMENT_GET 4
SELECT sigreq.document_get(%s, %s, %s, %s)

-- @op DOCUMENT_KNOWN 3
SELECT sigreq.document_known(%s, %s, %s)

-- @op WEBHOOK_SET 4
SELECT sigreq.webhook_set(%s, %s, %s, %s)

-- @op TOKEN_CREATE 6
SELECT sigreq.token_create(%s, %s, %s, %s, %s, %s)

-- @op TOKEN_GET 3
SELECT sigreq.token_get(%s, %s, %s)

-- @op TOKEN_LIST 6
SELECT outcome, body, key FROM sigreq.token_list(%s, %s, %s, %s, %s, %s)

-- @op TOKEN_REVOKE 4
SELECT sigreq.token_revoke(%s, %s, %s, %s)

-- @op TOKEN_WEBHOOKS 4
SELECT sigreq.token_webhooks(%s, %s, %s, %s)

-- @op PING 0
SELECT E'ok\n' || json_build_object('schema', (SELECT max(version) FROM sigreq.schema_version),
                                   'database', (SELECT uuid FROM sigreq.installation),
                                   'read_only', current_setting('transaction_read_only') = 'on')

-- @op REWRITE 0
UPDATE sigreq.installation SET uuid = uuid RETURNING 'ok', NULL, NULL

-- @op ADMIN_ORGANIZATION_CREATE 4
SELECT sigreq.admin_organization_create(%s, %s, %s, %s)

-- @op ADMIN_ORGANIZATION_LIST 0
SELECT 'ok', body, key FROM sigreq.organization_row ORDER BY id

-- @op ADMIN_ORGANIZATION_QUOTA 2
SELECT sigreq.admin_organization_quota(%s, %s)

-- @op ADMIN_USER_CREATE 6
SELECT sigreq.admin_user_create(%s, %s, %s, %s, %s, %s)

-- @op ADMIN_USER_LIST 1
SELECT outcome, body, key FROM sigreq.admin_user_list(%s)

-- @op ADMIN_TOKEN_CREATE 8
SELECT sigreq.admin_token_create(%s, %s, %s, %s, %s, %s, %s, %s)

-- @op ADMIN_TOKEN_LIST 1
SELECT outcome, body, key FROM sigreq.admin_token_list(%s)

-- @op ADMIN_TOKEN_REVOKE 3
SELECT outcome, body, key FROM sigreq.admin_token_revoke(%s, %s, %s)

-- @op ADMIN_TOKEN_WEBHOOKS 2
SELECT sigreq.admin_token_webhooks(%s, %s)

-- @op ADMIN_DOCUMENT_USED 1
SELECT sigreq.admin_document_used(%s)

-- @op ADMIN_EXPIRE 1
SELECT sigreq.admin_expire(%s)

-- @engine BEGIN 0
BEGIN

-- @engine COMMIT 0
COMMIT

-- @engine ROLLBACK 0
ROLLBACK

-- An empty query: it succeeds on every connection that lives, even where a transaction has failed.
-- @engine PROBE 0
/* nothing */

-- A row when the schema's table is there. Not to_regclass: its cache does not see what was made while this session
-- waited for SCHEMA_LOCK.
-- @engine SCHEMA_EXISTS 0
SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = 'sigreq' AND tablename = 'schema_version'

-- @engine SCHEMA_VERSION 0
SELECT coalesce(max(version), 0) FROM sigreq.schema_version

-- Taken inside each migration's transaction: the number is "sigreq" in ASCII.
-- @engine SCHEMA_LOCK 0
SELECT pg_advisory_xact_lock(126896544310641)

-- @engine SCHEMA_RECORD 3
INSERT INTO sigreq.schema_version (version, name, applied_at) VALUES (%s, %s, %s)
