-- SPDX-License-Identifier: Apache-2.0
-- Drafts. ../common/engine.sql describes the form of this file.

-- @op draft_save(submission uuid, now time, save save, representation text) → ok | stale
CREATE FUNCTION sigreq.draft_save(p_submission uuid, p_now bigint, p_save json, p_representation text) RETURNS text
LANGUAGE plpgsql SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    p record;
    v_id bigint;
BEGIN
    SELECT * INTO p FROM @OF(save, p_save, r);
    SELECT s.id INTO v_id FROM sigreq.submission s WHERE s.uuid = p_submission AND @UNSAVED(s) FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN CASE WHEN EXISTS (SELECT FROM sigreq.submission s WHERE s.uuid = p_submission AND @SAVED(s)) THEN 'ok'
                    ELSE 'stale' END;
    END IF;
    @FORMERPLACEMENT();
    @SAVEDSUBMISSION()
    WHERE id = v_id;
    @SAVEDSIGNERS(p.signers);
    RETURN 'ok';
END $$
