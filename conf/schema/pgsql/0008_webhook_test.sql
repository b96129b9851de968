-- SPDX-License-Identifier: Apache-2.0
-- Calls that try a webhook URL: jobs with the event 'test' and without a submission.
ALTER TABLE sigreq.job
    DROP CONSTRAINT job_event_check,
    DROP CONSTRAINT job_check2,
    ADD CONSTRAINT job_event_check
        CHECK (event IN ('sent', 'signed', 'refused', 'completed', 'invitation', 'test')),
    ADD CONSTRAINT job_check2
        CHECK (event IS NULL OR (uuid IS NOT NULL AND event_id IS NOT NULL
                                 AND (submission_id IS NOT NULL OR event = 'test')
                                 AND token_id IS NOT NULL AND url IS NOT NULL))

-- How many there were of a token.
CREATE INDEX job_test ON sigreq.job (token_id, created_at) WHERE event = 'test'
