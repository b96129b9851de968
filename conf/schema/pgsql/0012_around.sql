-- SPDX-License-Identifier: Apache-2.0
-- What surrounds a request. options is JSON (sr_options_json): the sender's words and what they allow. copied_at: when
-- copies were mailed last.
ALTER TABLE sigreq.submission ADD COLUMN options text, ADD COLUMN copied_at bigint

-- People who see a submission by a link and never sign it: viewers, and those who get a copy of a completed one. A viewer
-- sees it from then on when it is in the state `shown_when`, and a recipient of a copy for some days after sent_at.
CREATE TABLE sigreq.viewer (
    submission_id bigint NOT NULL REFERENCES sigreq.submission (id) ON DELETE CASCADE,
    sent_at bigint,
    opened_at bigint,
    revoked_at bigint,
    position integer NOT NULL,
    uuid uuid NOT NULL UNIQUE,
    kind text COLLATE "C" NOT NULL CHECK (kind IN ('viewer', 'copy')),
    shown_when text COLLATE "C" NOT NULL CHECK (shown_when IN ('sent', 'completed')),
    firstname text,
    lastname text,
    email text,
    PRIMARY KEY (submission_id, position)
)

-- The event feed. A row is inserted with position 0, in the transaction of its event, and gets its position among the
-- events of its user and environment when all before it have one (docs/decisions/0031-event-feed.md). mark tells an event
-- from another one that had the same position in a database that was restored. submission_id is NULL if there is none.
CREATE TABLE sigreq.feed (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id bigint NOT NULL,
    position bigint NOT NULL DEFAULT 0,
    created_at bigint NOT NULL,
    submission_id bigint,
    signer_uuid uuid,
    environment text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    mark text COLLATE "C" NOT NULL,
    detail text
)

CREATE INDEX feed_position ON sigreq.feed (user_id, environment, position, id)

-- last: the highest position that was given. pruned, mark: of the last event that was deleted.
CREATE TABLE sigreq.feed_scope (
    user_id bigint NOT NULL REFERENCES sigreq.user_account (id),
    last bigint NOT NULL DEFAULT 0,
    pruned bigint NOT NULL DEFAULT 0,
    environment text COLLATE "C" NOT NULL,
    mark text COLLATE "C" NOT NULL DEFAULT '',
    PRIMARY KEY (user_id, environment)
)
