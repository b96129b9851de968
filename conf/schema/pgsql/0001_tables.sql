-- SPDX-License-Identifier: Apache-2.0
-- The tables of mod_sigreq in PostgreSQL. Times are microseconds since 1970; statements end at a blank line.
-- Keys are internal numbers; a uuid is what the API shows. sqlite3/0001_tables.sql has the same tables.
-- The schema may be there already, made for a role that may not make schemas.
DO $$
BEGIN
    IF current_setting('server_encoding') <> 'UTF8' THEN
        RAISE EXCEPTION 'the database must be of ENCODING UTF8';
    END IF;
    IF to_regnamespace('sigreq') IS NULL THEN
        CREATE SCHEMA sigreq;
    END IF;
END $$

CREATE TABLE sigreq.schema_version (
    version integer PRIMARY KEY,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at bigint NOT NULL
)

-- Which database this is: a folder of documents names the one that it belongs to. One row. definitions are the names of
-- the functions and views that `sigreqctl db upgrade` made last (src/store/pgsql), a JSON array.
CREATE TABLE sigreq.installation (
    id integer PRIMARY KEY DEFAULT 1 CHECK (id = 1),
    uuid uuid NOT NULL DEFAULT gen_random_uuid(),
    definitions_checksum text NOT NULL DEFAULT '',
    definitions text NOT NULL DEFAULT '[]'
)

INSERT INTO sigreq.installation DEFAULT VALUES

CREATE TABLE sigreq.organization (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    uuid uuid NOT NULL UNIQUE,
    name text NOT NULL UNIQUE,
    quota bigint CHECK (quota >= 0),
    used bigint NOT NULL DEFAULT 0 CHECK (used >= 0),
    created_at bigint NOT NULL
) WITH (fillfactor = 50)

-- "C" folds ASCII alone, as SQLite's NOCASE does: both databases agree on which emails are equal.
CREATE TABLE sigreq.user_account (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    uuid uuid NOT NULL UNIQUE,
    organization_id bigint NOT NULL REFERENCES sigreq.organization (id),
    firstname text NOT NULL,
    lastname text NOT NULL,
    email text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    UNIQUE (id, organization_id)
)

CREATE UNIQUE INDEX user_account_email ON sigreq.user_account (organization_id, lower(email))

-- UNIQUE (id, …) is what submission refers to: one foreign key then keeps a submission's scope equal to its token's.
-- parent_id is the token that made this one by POST /tokens. It is NULL if the administrator made it.
CREATE TABLE sigreq.token (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    uuid uuid NOT NULL UNIQUE,
    user_id bigint NOT NULL,
    organization_id bigint NOT NULL,
    environment text COLLATE "C" NOT NULL CHECK (environment IN ('test', 'production')),
    name text NOT NULL,
    secret_hash text COLLATE "C" NOT NULL UNIQUE,
    sent_webhook_url varchar(255),
    signed_webhook_url varchar(255),
    completed_webhook_url varchar(255),
    created_at bigint NOT NULL,
    expires_at bigint,
    revoked_at bigint,
    parent_id bigint,
    UNIQUE (id, user_id, organization_id, environment),
    FOREIGN KEY (user_id, organization_id) REFERENCES sigreq.user_account (id, organization_id),
    FOREIGN KEY (parent_id, user_id, organization_id, environment)
        REFERENCES sigreq.token (id, user_id, organization_id, environment)
) WITH (fillfactor = 80)

CREATE INDEX token_list ON sigreq.token (user_id, organization_id, environment, created_at DESC, id DESC)

CREATE INDEX token_parent ON sigreq.token (parent_id) WHERE parent_id IS NOT NULL

-- Which key of the document store has which content, each content once in each folder (a uuid: blobs/binding.c). A key is
-- "<sha256>.<16 hexadecimal digits>". What the three tables mean is in src/store/pgsql/blobs.sql.
CREATE TABLE sigreq.blob (
    size bigint NOT NULL CHECK (size >= 0),
    folder uuid NOT NULL,
    sha256 text COLLATE "C" NOT NULL,
    key text COLLATE "C" PRIMARY KEY,
    UNIQUE (folder, sha256),
    UNIQUE (sha256, key)
)

-- Keys under which something may be stored that no row of "blob" names yet.
CREATE TABLE sigreq.blob_reservation (
    reserved_at bigint NOT NULL,
    folder uuid NOT NULL,
    key text COLLATE "C" PRIMARY KEY
)

CREATE INDEX blob_reservation_age ON sigreq.blob_reservation (folder, reserved_at)

-- Keys that are never used again, and whose files are to be removed.
CREATE TABLE sigreq.blob_tombstone (
    folder uuid NOT NULL,
    key text COLLATE "C" PRIMARY KEY
)

-- representation is what GET answers, rendered from all that is stored (src/model/submission.c); one of an older version
-- is rendered again. It is read far more often than anything else: rows up to 8 kB stay whole and uncompressed in the
-- table. access_epoch is raised whenever the state changes, and with it what links give access to.
-- events and events_hash are number and hash of its last event: whoever changes it says which he has seen.
-- certificate_… is its certificate of completion, a file of the document store.
CREATE TABLE sigreq.submission (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    uuid uuid NOT NULL UNIQUE,
    token_id bigint NOT NULL,
    user_id bigint NOT NULL,
    organization_id bigint NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    certificate_size bigint CHECK (certificate_size > 0),
    template_uuid uuid NOT NULL,
    events integer NOT NULL CHECK (events > 0),
    access_epoch integer NOT NULL DEFAULT 0,
    representation_version integer NOT NULL,
    skip_intro boolean NOT NULL,
    send_email boolean NOT NULL,
    environment text COLLATE "C" NOT NULL,
    events_hash text COLLATE "C" NOT NULL,
    certificate_sha256 text COLLATE "C",
    certificate_key text COLLATE "C",
    state text COLLATE "C" NOT NULL DEFAULT 'open'
        CHECK (state IN ('open', 'completed', 'refused', 'cancelled', 'expired', 'deleted')),
    name text NOT NULL,
    search text NOT NULL,
    base_url text NOT NULL,
    warnings text,
    representation text NOT NULL,
    FOREIGN KEY (token_id, user_id, organization_id, environment)
        REFERENCES sigreq.token (id, user_id, organization_id, environment),
    FOREIGN KEY (certificate_sha256, certificate_key) REFERENCES sigreq.blob (sha256, key) ON UPDATE CASCADE
) WITH (toast_tuple_target = 8160)

CREATE INDEX submission_list ON sigreq.submission
    (user_id, organization_id, environment, created_at DESC, id DESC)

CREATE INDEX submission_certificate ON sigreq.submission (certificate_sha256) WHERE certificate_sha256 IS NOT NULL

CREATE TABLE sigreq.signer (
    submission_id bigint NOT NULL REFERENCES sigreq.submission (id) ON DELETE CASCADE,
    opened_at bigint,
    completed_at bigint,
    refused_at bigint,
    position integer NOT NULL,
    uuid uuid NOT NULL UNIQUE,
    state text COLLATE "C" NOT NULL
        CHECK (state IN ('waiting', 'sent', 'opened', 'completed', 'refused', 'replaced')),
    firstname text NOT NULL,
    lastname text NOT NULL,
    email text,
    locale text,
    fields text NOT NULL,
    refusal_reason text,
    ip text,
    user_agent text,
    signature_type text,
    consent text,
    PRIMARY KEY (submission_id, position)
)

-- The upload: sha256 names the file in the document store. One that had to be rewritten before it could be continued
-- is kept beside it: that is then what is shown and sealed.
CREATE TABLE sigreq.document (
    submission_id bigint NOT NULL REFERENCES sigreq.submission (id) ON DELETE CASCADE,
    size bigint NOT NULL CHECK (size >= 0),
    rewritten_size bigint CHECK (rewritten_size > 0),
    position integer NOT NULL,
    pages integer NOT NULL CHECK (pages > 0),
    uuid uuid NOT NULL UNIQUE,
    sha256 text COLLATE "C" NOT NULL,
    rewritten_sha256 text COLLATE "C",
    key text COLLATE "C" NOT NULL,
    rewritten_key text COLLATE "C",
    name text NOT NULL,
    warnings text,
    PRIMARY KEY (submission_id, position),
    FOREIGN KEY (sha256, key) REFERENCES sigreq.blob (sha256, key) ON UPDATE CASCADE,
    FOREIGN KEY (rewritten_sha256, rewritten_key) REFERENCES sigreq.blob (sha256, key) ON UPDATE CASCADE
)

CREATE INDEX document_sha256 ON sigreq.document (sha256)

CREATE INDEX document_normalised ON sigreq.document (rewritten_sha256) WHERE rewritten_sha256 IS NOT NULL

-- What became of a document: one row for each signer who signed it. sha256 names the file with what was appended,
-- whole_sha256 is of the document with it.
CREATE TABLE sigreq.revision (
    created_at bigint NOT NULL,
    size bigint NOT NULL CHECK (size > 0),
    whole_size bigint NOT NULL CHECK (whole_size > size),
    number integer NOT NULL CHECK (number > 0),
    document_uuid uuid NOT NULL REFERENCES sigreq.document (uuid) ON DELETE CASCADE,
    signer_uuid uuid NOT NULL REFERENCES sigreq.signer (uuid) ON DELETE CASCADE,
    sha256 text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    whole_sha256 text COLLATE "C" NOT NULL,
    PRIMARY KEY (document_uuid, number),
    FOREIGN KEY (sha256, key) REFERENCES sigreq.blob (sha256, key) ON UPDATE CASCADE
)

CREATE INDEX revision_sha256 ON sigreq.revision (sha256)

CREATE INDEX revision_whole ON sigreq.revision (whole_sha256)

CREATE INDEX revision_signer ON sigreq.revision (signer_uuid)

-- The evidence, as JSON texts; hash covers the text, which holds the hash of the event before it.
CREATE TABLE sigreq.event (
    submission_id bigint NOT NULL REFERENCES sigreq.submission (id) ON DELETE CASCADE,
    number integer NOT NULL CHECK (number > 0),
    hash text COLLATE "C" NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (submission_id, number)
)

-- Leases of submissions (SR_OP_LOCK_TAKE). They need no WAL: after a crash nobody has one, which is right. In SQLite a
-- file lock does the same.
CREATE UNLOGGED TABLE sigreq.submission_lock (
    submission_uuid uuid PRIMARY KEY,
    holder text NOT NULL, -- the name of its process (sr_process_name), which is another one for each lock
    ends_at timestamptz NOT NULL
)

-- Deferred: the row is written before its submission, so that two requests with one key meet here first.
CREATE TABLE sigreq.idempotency (
    token_id bigint NOT NULL REFERENCES sigreq.token (id),
    created_at bigint NOT NULL,
    submission_uuid uuid NOT NULL REFERENCES sigreq.submission (uuid) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
    key text COLLATE "C" NOT NULL,
    fingerprint text COLLATE "C" NOT NULL,
    answer text NOT NULL,
    PRIMARY KEY (token_id, key)
)

CREATE INDEX idempotency_age ON sigreq.idempotency (created_at)

CREATE INDEX idempotency_submission ON sigreq.idempotency (submission_uuid)
