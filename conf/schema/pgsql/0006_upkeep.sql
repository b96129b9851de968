-- SPDX-License-Identifier: Apache-2.0
-- For `sigreqctl gc`, which deletes old history, and for erasing persons.
CREATE INDEX job_ended ON sigreq.job (ended_at) WHERE state = 'done'

-- ANALYZE keeps samples of values. Samples of these columns would be personal data that stays when its row is deleted.
ALTER TABLE sigreq.user_account
    ALTER firstname SET STATISTICS 0,
    ALTER lastname SET STATISTICS 0,
    ALTER email SET STATISTICS 0

ALTER TABLE sigreq.submission
    ALTER name SET STATISTICS 0,
    ALTER search SET STATISTICS 0,
    ALTER representation SET STATISTICS 0,
    ALTER cancel_reason SET STATISTICS 0,
    ALTER hold_reason SET STATISTICS 0,
    ALTER external_id SET STATISTICS 0,
    ALTER metadata SET STATISTICS 0,
    ALTER reminders SET STATISTICS 0,
    ALTER redirect_url SET STATISTICS 0

ALTER TABLE sigreq.signer
    ALTER firstname SET STATISTICS 0,
    ALTER lastname SET STATISTICS 0,
    ALTER email SET STATISTICS 0,
    ALTER fields SET STATISTICS 0,
    ALTER refusal_reason SET STATISTICS 0,
    ALTER ip SET STATISTICS 0,
    ALTER user_agent SET STATISTICS 0

ALTER TABLE sigreq.document ALTER name SET STATISTICS 0

ALTER TABLE sigreq.event
    ALTER body SET STATISTICS 0,
    ALTER personal SET STATISTICS 0

ALTER TABLE sigreq.idempotency ALTER answer SET STATISTICS 0

ALTER TABLE sigreq.job
    ALTER url SET STATISTICS 0,
    ALTER error SET STATISTICS 0,
    ALTER body SET STATISTICS 0
