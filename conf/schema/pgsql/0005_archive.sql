-- SPDX-License-Identifier: Apache-2.0
-- The completed submissions of an organisation in the order in which they are archived (SR_OP_JOB_ARCHIVE): those that
-- were never archived, and then those whose document timestamps end first.
CREATE INDEX submission_archive ON sigreq.submission (organization_id, coalesce(stamped_until, 0), closed_at, id)
    WHERE state = 'completed'
