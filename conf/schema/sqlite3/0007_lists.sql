-- SPDX-License-Identifier: Apache-2.0
-- For filters of the list: the same as pgsql/0007_lists.sql, which explains it.
CREATE INDEX submission_state ON submission
    (user_id, organization_id, environment, state, created_at DESC, id DESC)

CREATE TABLE signer_status (
    submission_id INTEGER NOT NULL REFERENCES submission (id) ON DELETE CASCADE,
    status TEXT NOT NULL CHECK (status IN ('waiting', 'sent', 'opened', 'completed')),
    user_id INTEGER NOT NULL,
    organization_id INTEGER NOT NULL,
    environment TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (submission_id, status)
) STRICT, WITHOUT ROWID

INSERT INTO signer_status (submission_id, status, user_id, organization_id, environment, created_at)
SELECT DISTINCT s.id, iif(g.state = 'refused', 'opened', g.state), s.user_id, s.organization_id, s.environment,
       s.created_at
FROM signer g JOIN submission s ON s.id = g.submission_id
WHERE g.state <> 'replaced' AND s.state <> 'deleted'

CREATE INDEX signer_status_list ON signer_status
    (user_id, organization_id, environment, status, created_at DESC, submission_id DESC)
