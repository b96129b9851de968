-- SPDX-License-Identifier: Apache-2.0
-- The day on which a token was used last: when it began, in UTC. NULL: it was not used since this column exists. It has
-- no index, so that writing it changes no index.
ALTER TABLE sigreq.token ADD COLUMN used_on bigint
