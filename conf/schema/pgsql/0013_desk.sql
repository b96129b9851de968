-- SPDX-License-Identifier: Apache-2.0
-- Drafts: submissions in the state 'draft', which only their caller sees (docs/decisions/0032-drafts.md).
--   draft_until      when the draft is deleted. NULL: it was never a draft
--   placement        the secret of the link where fields are placed, which ends at placement_until, or when it is sent
--   saves            how often its fields or its link were changed. Such a change is no event
ALTER TABLE sigreq.submission
    DROP CONSTRAINT submission_state_check,
    ADD CONSTRAINT submission_state_check
        CHECK (state IN ('open', 'completed', 'refused', 'cancelled', 'expired', 'deleted', 'draft')),
    ADD COLUMN saves bigint NOT NULL DEFAULT 0,
    ADD COLUMN draft_until bigint,
    ADD COLUMN placement_until bigint,
    ADD COLUMN placement uuid

CREATE UNIQUE INDEX submission_placement ON sigreq.submission (placement) WHERE placement IS NOT NULL

-- Links for placing that were replaced by other ones.
CREATE TABLE sigreq.former_placement (
    submission_id bigint NOT NULL REFERENCES sigreq.submission (id) ON DELETE CASCADE,
    uuid uuid PRIMARY KEY
)

CREATE INDEX former_placement_submission ON sigreq.former_placement (submission_id)

-- Users of the desk, whom httpd authenticates. A token of the kind "desk" belongs to a user in an environment. Its
-- secret_hash is random, so it is the hash of no secret that anybody knows.
ALTER TABLE sigreq.token ADD COLUMN kind text COLLATE "C" NOT NULL DEFAULT 'api' CHECK (kind IN ('api', 'desk'))

CREATE UNIQUE INDEX token_desk ON sigreq.token (user_id, environment) WHERE kind = 'desk'

CREATE INDEX user_account_desk ON sigreq.user_account (lower(email))
