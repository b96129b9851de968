-- SPDX-License-Identifier: Apache-2.0
-- Submission locks: SQLite has none. All processes that use it are on one machine, where a file lock does the same.

-- @op lock_take(submission uuid, holder text, lease int) → ok | stale holder | missing
WITH @ARGUMENTS
SELECT 'missing', NULL FROM a

-- @op lock_release(submission uuid, holder text) → ok | missing
WITH @ARGUMENTS
SELECT 'missing' FROM a
