-- SPDX-License-Identifier: Apache-2.0
-- The operations of sigreqctl that disable users, delete users and organisations, and revoke their tokens.
-- engine.sql describes the form of this file.

-- The ids of the tokens of a user, or of all users of an organisation. One of the arguments is NULL.
CREATE FUNCTION sigreq.tokens_of(p_organization uuid, p_user uuid) RETURNS SETOF bigint
LANGUAGE sql VOLATILE AS $$
    SELECT t.id FROM sigreq.token t
    WHERE t.user_id IN (SELECT u.id FROM sigreq.user_account u WHERE u.uuid = p_user
                        UNION ALL
                        SELECT u.id FROM sigreq.user_account u
                        JOIN sigreq.organization o ON o.id = u.organization_id WHERE o.uuid = p_organization)
$$

-- Revokes in rounds, as token_revoke_tree does, so that a token that is made meanwhile is revoked, too.
-- @op admin_token_revoke_all(organization uuid?, user uuid?, now time) → ok token[]
CREATE FUNCTION sigreq.admin_token_revoke_all(p_organization uuid, p_user uuid, p_now bigint)
RETURNS @ROWS
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_revoked bigint[] := '{}';
    v_ids bigint[];
BEGIN
    LOOP
        v_ids := ARRAY(SELECT t.id FROM sigreq.token t WHERE t.id IN (SELECT sigreq.tokens_of(p_organization, p_user))
                                                         AND t.kind = 'api' AND t.revoked_at IS NULL
                       ORDER BY t.id FOR NO KEY UPDATE);
        EXIT WHEN v_ids = '{}';
        UPDATE sigreq.token t SET revoked_at = p_now WHERE t.id = ANY (v_ids) AND t.revoked_at IS NULL;
        v_revoked := v_revoked || v_ids;
    END LOOP;
    RETURN QUERY SELECT 'ok', @COLUMNS(r) FROM sigreq.token_row r WHERE r.id = ANY (v_revoked) ORDER BY r.id;
END $$

-- The ids of a user, or of all users of an organisation; NULL if there is no such user or organisation. They and their
-- tokens are locked. A submission refers to its token, so none is made until this transaction ends.
CREATE FUNCTION sigreq.people_lock(p_organization uuid, p_user uuid) RETURNS bigint[]
LANGUAGE plpgsql AS $$
DECLARE
    v_users bigint[];
BEGIN
    PERFORM 1 FROM sigreq.token WHERE id IN (SELECT sigreq.tokens_of(p_organization, p_user)) ORDER BY id FOR UPDATE;
    PERFORM 1 FROM sigreq.organization WHERE uuid = p_organization FOR UPDATE;
    IF p_organization IS NOT NULL AND NOT FOUND THEN
        RETURN NULL;
    END IF;
    v_users := ARRAY(SELECT u.id FROM sigreq.user_account u
                     WHERE u.uuid = p_user
                        OR u.organization_id = (SELECT o.id FROM sigreq.organization o WHERE o.uuid = p_organization)
                     ORDER BY u.id FOR UPDATE);
    IF p_user IS NOT NULL AND v_users = '{}' THEN
        RETURN NULL;
    END IF;
    PERFORM 1 FROM sigreq.token WHERE user_id = ANY (v_users) ORDER BY id FOR UPDATE;
    RETURN v_users;
END $$

-- @op admin_people_freeze(organization uuid?, user uuid?, now time) → ok | missing | conflict
CREATE FUNCTION sigreq.admin_people_freeze(p_organization uuid, p_user uuid, p_now bigint) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    v_users bigint[] := sigreq.people_lock(p_organization, p_user);
BEGIN
    IF v_users IS NULL THEN
        RETURN 'missing';
    END IF;
    IF EXISTS (SELECT 1 FROM sigreq.submission s
               WHERE s.user_id = ANY (v_users) AND (s.state = 'open' OR s.held_at IS NOT NULL)) THEN
        RETURN 'conflict';
    END IF;
    UPDATE sigreq.user_account SET disabled_at = p_now WHERE id = ANY (v_users) AND disabled_at IS NULL;
    RETURN 'ok';
END $$

-- @op admin_people_delete(organization uuid?, user uuid?, tombstones bool) → ok | missing | conflict
CREATE FUNCTION sigreq.admin_people_delete(p_organization uuid, p_user uuid, p_tombstones boolean) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    v_users bigint[] := sigreq.people_lock(p_organization, p_user);
BEGIN
    IF v_users IS NULL THEN
        RETURN 'missing';
    END IF;
    IF EXISTS (SELECT 1 FROM sigreq.submission s
               WHERE s.user_id = ANY (v_users)
                 AND NOT (p_tombstones AND s.state = 'deleted' AND s.erasing IS NULL)) THEN
        RETURN 'conflict';
    END IF;
    DELETE FROM sigreq.submission WHERE user_id = ANY (v_users);
    DELETE FROM sigreq.token WHERE user_id = ANY (v_users);
    DELETE FROM sigreq.feed WHERE user_id = ANY (v_users);
    DELETE FROM sigreq.feed_scope WHERE user_id = ANY (v_users);
    DELETE FROM sigreq.user_account WHERE id = ANY (v_users);
    DELETE FROM sigreq.organization WHERE uuid = p_organization;
    RETURN 'ok';
END $$
