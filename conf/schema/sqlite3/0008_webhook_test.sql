-- SPDX-License-Identifier: Apache-2.0
-- Calls that try a webhook URL: the same as pgsql/0008_webhook_test.sql, which explains it. The rows do not change, and
-- all satisfy the new conditions: CHECK (event IN ('sent', 'signed', 'refused', 'completed', 'invitation', 'test')), and
-- a submission unless the event is 'test'. So only the text of the definition is replaced.
PRAGMA writable_schema = ON

UPDATE sqlite_schema
SET sql = replace(replace(sql, '''invitation'')', '''invitation'', ''test'')'), 'AND submission_id IS NOT NULL',
                  'AND (submission_id IS NOT NULL OR event = ''test'')')
WHERE type = 'table' AND name = 'job'

PRAGMA writable_schema = RESET

CREATE INDEX job_test ON job (token_id, created_at) WHERE event = 'test'
