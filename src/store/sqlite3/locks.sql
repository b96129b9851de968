-- SPDX-License-Identifier: Apache-2.0
-- Submission locks: SQLite has none. All processes that use it are on one machine, where a file lock does the same.

-- @op LOCK_TAKE 3
WITH a(submission, holder, lease) AS (SELECT %s, %s, %s)
SELECT 'missing', NULL, NULL FROM a

-- @op LOCK_RELEASE 2
WITH a(submission, holder) AS (SELECT %s, %s)
SELECT 'missing', NULL, NULL FROM a
