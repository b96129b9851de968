-- SPDX-License-Identifier: Apache-2.0
-- For filters of the list. A page of it reads as many rows as it has, or a bounded number.
CREATE INDEX submission_state ON sigreq.submission
    (user_id, organization_id, environment, state, created_at DESC, id DESC)

-- The statuses that the signers of a submission have (a signer who refused has "opened", as in the API), with what is
-- needed to find and sort the submission by them. Written with the signers.
CREATE TABLE sigreq.signer_status (
    submission_id bigint NOT NULL REFERENCES sigreq.submission (id) ON DELETE CASCADE,
    user_id bigint NOT NULL,
    organization_id bigint NOT NULL,
    created_at bigint NOT NULL,
    environment text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL CHECK (status IN ('waiting', 'sent', 'opened', 'completed')),
    PRIMARY KEY (submission_id, status)
)

INSERT INTO sigreq.signer_status (submission_id, user_id, organization_id, created_at, environment, status)
SELECT DISTINCT s.id, s.user_id, s.organization_id, s.created_at, s.environment,
       CASE g.state WHEN 'refused' THEN 'opened' ELSE g.state END
FROM sigreq.signer g JOIN sigreq.submission s ON s.id = g.submission_id
WHERE g.state <> 'replaced' AND s.state <> 'deleted'

CREATE INDEX signer_status_list ON sigreq.signer_status
    (user_id, organization_id, environment, status, created_at DESC, submission_id DESC)
