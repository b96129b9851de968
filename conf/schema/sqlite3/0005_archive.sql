-- SPDX-License-Identifier: Apache-2.0
-- The completed submissions of an organisation in the order in which they are archived: the same as
-- pgsql/0005_archive.sql, which explains it.
CREATE INDEX submission_archive ON submission (organization_id, coalesce(stamped_until, 0), closed_at, id)
    WHERE state = 'completed'
