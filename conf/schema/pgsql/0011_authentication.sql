-- SPDX-License-Identifier: Apache-2.0
-- How the identity of a signer is checked, as JSON (sr_authentication_json), and the sessions of signers who have passed.
-- hash: the SHA-256 of the secret in their URL. used_at is exact to five minutes.
ALTER TABLE sigreq.signer ADD COLUMN authentication text

CREATE TABLE sigreq.signer_session (
    hash text COLLATE "C" PRIMARY KEY,
    signer_uuid uuid NOT NULL REFERENCES sigreq.signer (uuid) ON DELETE CASCADE,
    made_at bigint NOT NULL,
    used_at bigint NOT NULL
)

CREATE INDEX signer_session_signer ON sigreq.signer_session (signer_uuid)

-- What names a signer in the URL of their login. It is no secret.
CREATE TABLE sigreq.signer_login (
    name text COLLATE "C" PRIMARY KEY,
    signer_uuid uuid NOT NULL UNIQUE REFERENCES sigreq.signer (uuid) ON DELETE CASCADE,
    made_at bigint NOT NULL
)
