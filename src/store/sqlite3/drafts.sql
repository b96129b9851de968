-- SPDX-License-Identifier: Apache-2.0
-- Drafts. ../common/engine.sql describes the form of this file.

-- @op draft_save(submission uuid, now time, save save, representation text) → ok | stale write
-- @outcome
SELECT CASE WHEN EXISTS (SELECT 1 FROM submission s WHERE s.uuid = :submission AND @SAVED(s)) THEN 'ok' ELSE 'stale' END
FROM @OF(save, :save, p)
WHERE NOT EXISTS (SELECT 1 FROM submission s WHERE s.uuid = :submission AND @UNSAVED(s))

@FORMERPLACEMENT()

@SAVEDSUBMISSION()
FROM @OF(save, :save, p)
WHERE submission.uuid = :submission

@SAVEDSIGNERS(:save->'signers')

-- @outcome
SELECT 'ok'
