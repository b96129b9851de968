-- SPDX-License-Identifier: Apache-2.0
-- Submission locks. SQLite has no leases: all processes that use it are on one machine, where a file lock has the same
-- effect.

-- @op lock_take(submission uuid, holder text, lease int, signer uuid?, version text?)
--     → ok lease | stale lease | missing | deleted | gone
WITH @ARGUMENTS
SELECT 'missing', NULL, NULL FROM a

-- @op lock_release(submission uuid, holder text) → ok | missing
WITH @ARGUMENTS
SELECT 'missing' FROM a
