-- SPDX-License-Identifier: Apache-2.0
-- The day on which a token was used last: the same as pgsql/0009_token_use.sql, which explains it.
ALTER TABLE token ADD COLUMN used_on INTEGER
