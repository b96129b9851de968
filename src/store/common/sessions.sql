-- SPDX-License-Identifier: Apache-2.0
-- The sessions of signers who have passed a check of their identity (sr_authentication_t). A session ends two hours after
-- its last use, which is recorded every five minutes, and twelve hours after its beginning. The names of their logins:
-- a signer has one name, which is valid for an hour and is replaced after half an hour. engine.sql describes the form of
-- this file.

-- @macro LIVES(x) x.used_at > @CLOCK() - 7200000000 AND x.made_at > @CLOCK() - 43200000000

-- fresh: its use need not be recorded yet.
-- @op session_get(hash hash, signer uuid) → ok session | missing
-- @answer
SELECT 'ok', x.used_at > @CLOCK() - 300000000 FROM signer_session x
WHERE x.hash = :hash AND x.signer_uuid = :signer AND @LIVES(x)

-- @outcome
SELECT 'missing'

-- @op session_used(hash hash) → ok write unsynced
UPDATE signer_session SET used_at = @CLOCK() WHERE hash = :hash AND @LIVES(signer_session)

-- @answer
SELECT 'ok'

-- Of a signer who was replaced meanwhile there is none.
-- @op session_create(hash hash, signer uuid) → ok | missing write
DELETE FROM signer_session WHERE signer_uuid = :signer AND NOT (@LIVES(signer_session))

-- @outcome
INSERT INTO signer_session (hash, signer_uuid, made_at, used_at)
SELECT :hash, g.uuid, @CLOCK(), @CLOCK() FROM signer g
WHERE g.uuid = :signer AND g.state <> 'replaced'
RETURNING 'ok'

-- @outcome
SELECT 'missing'

-- @op login_begin(name text, signer uuid) → ok login | missing write unsynced
INSERT INTO signer_login (name, signer_uuid, made_at)
SELECT :name, g.uuid, @CLOCK() FROM signer g
WHERE g.uuid = :signer AND g.state <> 'replaced'
ON CONFLICT (signer_uuid) DO UPDATE SET name = excluded.name, made_at = excluded.made_at
WHERE signer_login.made_at <= @CLOCK() - 1800000000

-- @answer
SELECT 'ok', x.name FROM signer_login x WHERE x.signer_uuid = :signer

-- @outcome
SELECT 'missing'

-- @op login_get(name text) → ok claimant | missing
-- @answer
SELECT 'ok', x.signer_uuid FROM signer_login x
WHERE x.name = :name AND x.made_at > @CLOCK() - 3600000000

-- @outcome
SELECT 'missing'
