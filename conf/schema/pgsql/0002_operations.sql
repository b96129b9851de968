-- The operations of store.h as functions: one round trip each, and PL/pgSQL keeps their plans. A function that
-- gives one row answers with one text, "outcome" or "outcome, newline, body": 22 µs instead of 29 for three columns.
-- enable_seqscan = off: a plan made while a table was small must not stay when it is large (costs 1 µs).
-- No blank line inside a function: statements end there.
CREATE FUNCTION sigreq.token_current(p_hash text, p_now bigint) RETURNS text
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
DECLARE
    v_body text;
BEGIN
    SELECT body INTO v_body FROM sigreq.token_row
    WHERE secret_hash = p_hash AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > p_now);
    RETURN coalesce(E'ok\n' || v_body, 'unauthorized');
END $$

-- What an operation answers when its one query found nothing.
CREATE FUNCTION sigreq.why_nothing(p_hash text, p_now bigint) RETURNS text
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
BEGIN
    PERFORM 1 FROM sigreq.token
    WHERE secret_hash = p_hash AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > p_now);
    RETURN CASE WHEN FOUND THEN 'missing' ELSE 'unauthorized' END;
END $$

-- The hot one: token and submission in one query, and only a miss asks why.
CREATE FUNCTION sigreq.submission_get(p_hash text, p_now bigint, p_uuid uuid) RETURNS text
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
DECLARE
    v_view text;
BEGIN
    SELECT s.view INTO v_view
    FROM sigreq.token t
    JOIN sigreq.submission s ON (s.user_id, s.organization_id, s.environment)
                              = (t.user_id, t.organization_id, t.environment)
    WHERE t.secret_hash = p_hash AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > p_now)
      AND s.uuid = p_uuid;
    IF NOT FOUND THEN
        RETURN sigreq.why_nothing(p_hash, p_now);
    END IF;
    RETURN E'ok\n' || v_view;
END $$

-- A document with all that became of it, as store.h describes its row.
CREATE VIEW sigreq.document_row AS
    SELECT d.submission_id, d.position, d.uuid,
           json_build_object('uuid', d.uuid, 'name', d.name, 'sha256', d.sha256, 'size', d.size, 'pages', d.pages,
               'rewritten_sha256', d.rewritten_sha256, 'rewritten_size', d.rewritten_size,
               'revisions', (SELECT coalesce(json_agg(json_build_object('sha256', r.sha256, 'size', r.size,
                                        'whole_sha256', r.whole_sha256, 'whole_size', r.whole_size)
                                        ORDER BY r.number), '[]')
                             FROM sigreq.revision r WHERE r.document_uuid = d.uuid)) AS body
    FROM sigreq.document d

CREATE FUNCTION sigreq.document_get(p_hash text, p_now bigint, p_submission uuid, p_document uuid) RETURNS text
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
DECLARE
    v_body text;
BEGIN
    SELECT d.body::text INTO v_body
    FROM sigreq.token t
    JOIN sigreq.submission s ON (s.user_id, s.organization_id, s.environment)
                              = (t.user_id, t.organization_id, t.environment)
    JOIN sigreq.document_row d ON d.submission_id = s.id
    WHERE t.secret_hash = p_hash AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > p_now)
      AND s.uuid = p_submission AND d.uuid = p_document;
    RETURN coalesce(E'ok\n' || v_body, sigreq.why_nothing(p_hash, p_now));
END $$

-- From the digest, which few rows have, to their submission (OFFSET 0); never from all submissions of the caller.
CREATE FUNCTION sigreq.document_known(p_hash text, p_now bigint, p_sha256 text) RETURNS text
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
DECLARE
    v_body text;
BEGIN
    SELECT json_build_object('submission', s.uuid, 'document', f.document_uuid, 'name', f.name)::text INTO v_body
    FROM sigreq.token t CROSS JOIN sigreq.known_file f CROSS JOIN LATERAL (
        SELECT o.uuid FROM sigreq.submission o
        WHERE o.id = f.submission_id AND (o.user_id, o.organization_id, o.environment)
                                       = (t.user_id, t.organization_id, t.environment) OFFSET 0) s
    WHERE t.secret_hash = p_hash AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > p_now)
      AND f.sha256 = p_sha256
    LIMIT 1;
    RETURN coalesce(E'ok\n' || v_body, sigreq.why_nothing(p_hash, p_now));
END $$

-- Every step may be the first of a repetition: a request that lost its connection sends the same again.
CREATE FUNCTION sigreq.submission_create(p_submission json) RETURNS text
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    p record;
    t record;
    v_id bigint;
    v_seen record;
BEGIN
    SELECT * INTO p FROM json_to_record(p_submission) AS r(
        token_hash text, now bigint, uuid uuid, name text, template_uuid uuid, skip_intro boolean, send_email boolean,
        search text, base_url text, view text, event_hash text, event text, documents json, signers json,
        idempotency_key text, fingerprint text, idempotency_since bigint, webhooks json);
    SELECT id, user_id, organization_id, environment INTO t FROM sigreq.token
    WHERE secret_hash = p.token_hash AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > p.now);
    IF NOT FOUND THEN
        RETURN 'unauthorized';
    END IF;
    IF p.idempotency_key IS NOT NULL THEN
        -- A second request with this key waits here until the first has committed or failed.
        INSERT INTO sigreq.idempotency AS i (token_id, key, fingerprint, answer, submission_uuid, created_at)
        VALUES (t.id, p.idempotency_key, p.fingerprint, p.view, p.uuid, p.now)
        ON CONFLICT (token_id, key) DO UPDATE
            SET fingerprint = excluded.fingerprint, answer = excluded.answer,
                submission_uuid = excluded.submission_uuid, created_at = excluded.created_at
            WHERE i.created_at < p.idempotency_since;
        IF NOT FOUND THEN
            SELECT i.fingerprint, i.submission_uuid AS uuid, i.answer INTO v_seen FROM sigreq.idempotency i
            WHERE i.token_id = t.id AND i.key = p.idempotency_key;
            RETURN CASE WHEN v_seen.uuid = p.uuid THEN E'ok\n' || v_seen.answer
                        WHEN v_seen.fingerprint = p.fingerprint THEN E'replay\n' || v_seen.answer
                        ELSE 'conflict' END;
        END IF;
    END IF;
    IF t.environment = 'production' THEN
        UPDATE sigreq.organization SET used = used + 1 WHERE id = t.organization_id AND (quota IS NULL OR used < quota);
        IF NOT FOUND THEN
            SELECT view INTO v_seen FROM sigreq.submission WHERE uuid = p.uuid AND token_id = t.id;
            IF FOUND THEN
                RETURN E'ok\n' || v_seen.view;
            END IF;
            DELETE FROM sigreq.idempotency WHERE token_id = t.id AND key = p.idempotency_key;
            RETURN 'quota';
        END IF;
    END IF;
    INSERT INTO sigreq.submission (uuid, token_id, user_id, organization_id, environment, created_at, updated_at, name,
                                   template_uuid, skip_intro, send_email, search, base_url, view, events, events_hash)
    VALUES (p.uuid, t.id, t.user_id, t.organization_id, t.environment, p.now, p.now, p.name,
            p.template_uuid, p.skip_intro, p.send_email, p.search, p.base_url, p.view, 1, p.event_hash)
    ON CONFLICT (uuid) DO NOTHING
    RETURNING id INTO v_id;
    IF NOT FOUND THEN
        IF t.environment = 'production' THEN
            UPDATE sigreq.organization SET used = used - 1 WHERE id = t.organization_id;
        END IF;
        RETURN (SELECT E'ok\n' || view FROM sigreq.submission WHERE uuid = p.uuid AND token_id = t.id);
    END IF;
    INSERT INTO sigreq.event (submission_id, number, hash, body) VALUES (v_id, 1, p.event_hash, p.event);
    INSERT INTO sigreq.document (submission_id, position, uuid, name, sha256, size, rewritten_sha256, rewritten_size,
                                 pages)
    SELECT v_id, row_number() OVER () - 1, d.uuid, d.name, d.sha256, d.size, d.rewritten_sha256, d.rewritten_size,
           d.pages
    FROM json_to_recordset(p.documents) AS d(uuid uuid, name text, sha256 text, size bigint, rewritten_sha256 text,
                                             rewritten_size bigint, pages integer);
    INSERT INTO sigreq.signer (submission_id, position, uuid, status, firstname, lastname, email, fields)
    SELECT v_id, row_number() OVER () - 1, s.uuid, 'sent', s.firstname, s.lastname, s.email, s.fields
    FROM json_to_recordset(p.signers) AS s(uuid uuid, firstname text, lastname text, email text, fields text);
    PERFORM sigreq.delivery_write(v_id, p.now, p.webhooks);
    RETURN E'ok\n' || p.view;
END $$

-- The key's place and the two dates make one lower and one upper bound of (created_at, id), without NULLs: each
-- direction is then one range of the index, whatever is asked. The scalar subquery cannot become a hash join over
-- all signers. There is one good plan, so it is made once (generic); sorting and bitmaps are off because such a plan
-- does not know how many rows a user has. octet_length takes the size of a text that is stored out of line from its
-- pointer, without reading it: only the texts that are answered are read.
CREATE FUNCTION sigreq.submission_list(p_hash text, p_now bigint, p_limit integer, p_direction text, p_at bigint,
    p_id bigint, p_status text, p_q text, p_after bigint, p_before bigint, p_bytes bigint)
RETURNS TABLE (outcome text, body text, key text)
LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    t record;
    low_at bigint := coalesce(p_after, -1);
    low_id bigint := 9223372036854775807;
    high_at bigint := coalesce(p_before, 9223372036854775807);
    high_id bigint := 0;
BEGIN
    SELECT user_id, organization_id, environment INTO t FROM sigreq.token
    WHERE secret_hash = p_hash AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > p_now);
    IF NOT FOUND THEN
        RETURN QUERY SELECT 'unauthorized', NULL::text, NULL::text;
    ELSIF p_direction = 'newer' THEN
        IF (p_at, p_id) > (low_at, low_id) THEN
            low_at := p_at;
            low_id := p_id;
        END IF;
        RETURN QUERY
        SELECT 'ok', CASE WHEN p.total - octet_length(p.view) < p_bytes THEN p.view END, p.created_at || ':' || p.id
        FROM (SELECT page.view, page.created_at, page.id, sum(octet_length(page.view))
                         OVER (ORDER BY page.created_at, page.id ROWS UNBOUNDED PRECEDING) AS total
              FROM (SELECT s.view, s.created_at, s.id
                    FROM sigreq.submission s
                    WHERE s.user_id = t.user_id AND s.organization_id = t.organization_id
                      AND s.environment = t.environment
                      AND (s.created_at, s.id) > (low_at, low_id) AND (s.created_at, s.id) < (high_at, high_id)
                      AND (p_status IS NULL OR (SELECT true FROM sigreq.signer g
                                                WHERE g.submission_id = s.id AND g.status = p_status LIMIT 1))
                      AND (p_q IS NULL OR strpos(s.search, p_q) > 0)
                    ORDER BY s.created_at, s.id
                    LIMIT p_limit) page) p
        ORDER BY p.created_at, p.id;
    ELSE
        IF (p_at, p_id) < (high_at, high_id) THEN
            high_at := p_at;
            high_id := p_id;
        END IF;
        RETURN QUERY
        SELECT 'ok', CASE WHEN p.total - octet_length(p.view) < p_bytes THEN p.view END, p.created_at || ':' || p.id
        FROM (SELECT page.view, page.created_at, page.id, sum(octet_length(page.view))
                         OVER (ORDER BY page.created_at DESC, page.id DESC ROWS UNBOUNDED PRECEDING) AS total
              FROM (SELECT s.view, s.created_at, s.id
                    FROM sigreq.submission s
                    WHERE s.user_id = t.user_id AND s.organization_id = t.organization_id
                      AND s.environment = t.environment
                      AND (s.created_at, s.id) > (low_at, low_id) AND (s.created_at, s.id) < (high_at, high_id)
                      AND (p_status IS NULL OR (SELECT true FROM sigreq.signer g
                                                WHERE g.submission_id = s.id AND g.status = p_status LIMIT 1))
                      AND (p_q IS NULL OR strpos(s.search, p_q) > 0)
                    ORDER BY s.created_at DESC, s.id DESC
                    LIMIT p_limit) page) p
        ORDER BY p.created_at DESC, p.id DESC;
    END IF;
END $$

CREATE FUNCTION sigreq.webhook_set(p_hash text, p_now bigint, p_kind text, p_url text) RETURNS text
LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    UPDATE sigreq.token
    SET sent_webhook_url = CASE p_kind WHEN 'sent' THEN p_url ELSE sent_webhook_url END,
        signed_webhook_url = CASE p_kind WHEN 'signed' THEN p_url ELSE signed_webhook_url END,
        completed_webhook_url = CASE p_kind WHEN 'completed' THEN p_url ELSE completed_webhook_url END
    WHERE secret_hash = p_hash AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > p_now);
    RETURN CASE WHEN FOUND THEN 'ok' ELSE 'unauthorized' END;
END $$

-- A URL for each member of p_urls, NULL where it is null. What p_urls does not name stays as it is.
CREATE FUNCTION sigreq.token_webhooks_change(p_id bigint, p_urls jsonb) RETURNS text
LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    UPDATE sigreq.token
    SET sent_webhook_url = CASE WHEN p_urls ? 'sent' THEN p_urls->>'sent' ELSE sent_webhook_url END,
        signed_webhook_url = CASE WHEN p_urls ? 'signed' THEN p_urls->>'signed' ELSE signed_webhook_url END,
        completed_webhook_url = CASE WHEN p_urls ? 'completed' THEN p_urls->>'completed' ELSE completed_webhook_url END
    WHERE id = p_id AND p_urls <> '{}';
    RETURN (SELECT E'ok\n' || body FROM sigreq.token_row WHERE id = p_id);
END $$

CREATE FUNCTION sigreq.token_webhooks(p_hash text, p_now bigint, p_uuid uuid, p_urls jsonb) RETURNS text
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    v_id bigint;
BEGIN
    SELECT r.id INTO v_id
    FROM sigreq.token t
    JOIN sigreq.token r ON (r.user_id, r.organization_id, r.environment)
                         = (t.user_id, t.organization_id, t.environment)
    WHERE t.secret_hash = p_hash AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > p_now)
      AND r.uuid = p_uuid;
    RETURN CASE WHEN FOUND THEN sigreq.token_webhooks_change(v_id, p_urls) ELSE sigreq.why_nothing(p_hash, p_now) END;
END $$

-- FOR SHARE: a token that is being revoked makes none that token_revoke_tree would not see.
CREATE FUNCTION sigreq.token_create(p_hash text, p_now bigint, p_uuid uuid, p_name text, p_secret_hash text,
    p_expires_at bigint) RETURNS text
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    t record;
BEGIN
    SELECT id, user_id, organization_id, environment INTO t FROM sigreq.token
    WHERE secret_hash = p_hash AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > p_now)
    FOR SHARE;
    IF NOT FOUND THEN
        RETURN 'unauthorized';
    END IF;
    INSERT INTO sigreq.token (uuid, user_id, organization_id, environment, name, secret_hash, created_at, expires_at,
                              parent_id)
    VALUES (p_uuid, t.user_id, t.organization_id, t.environment, p_name, p_secret_hash, p_now, p_expires_at, t.id)
    ON CONFLICT (uuid) DO NOTHING;
    RETURN (SELECT E'ok\n' || body FROM sigreq.token_row WHERE uuid = p_uuid);
END $$

CREATE FUNCTION sigreq.token_get(p_hash text, p_now bigint, p_uuid uuid) RETURNS text
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
DECLARE
    v_body text;
BEGIN
    SELECT r.body INTO v_body
    FROM sigreq.token t
    JOIN sigreq.token_row r ON (r.user_id, r.organization_id, r.environment)
                             = (t.user_id, t.organization_id, t.environment)
    WHERE t.secret_hash = p_hash AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > p_now)
      AND r.uuid = p_uuid;
    RETURN coalesce(E'ok\n' || v_body, sigreq.why_nothing(p_hash, p_now));
END $$

CREATE FUNCTION sigreq.token_list(p_hash text, p_now bigint, p_limit integer, p_direction text, p_at bigint,
    p_id bigint)
RETURNS TABLE (outcome text, body text, key text)
LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    t record;
BEGIN
    SELECT user_id, organization_id, environment INTO t FROM sigreq.token
    WHERE secret_hash = p_hash AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > p_now);
    IF NOT FOUND THEN
        RETURN QUERY SELECT 'unauthorized', NULL::text, NULL::text;
    ELSIF p_direction = 'newer' THEN
        RETURN QUERY
        SELECT 'ok', r.body, r.key
        FROM sigreq.token_row r
        WHERE r.user_id = t.user_id AND r.organization_id = t.organization_id AND r.environment = t.environment
          AND (r.created_at, r.id) > (coalesce(p_at, -1), coalesce(p_id, 0))
        ORDER BY r.created_at, r.id
        LIMIT p_limit;
    ELSE
        RETURN QUERY
        SELECT 'ok', r.body, r.key
        FROM sigreq.token_row r
        WHERE r.user_id = t.user_id AND r.organization_id = t.organization_id AND r.environment = t.environment
          AND (r.created_at, r.id) < (coalesce(p_at, 9223372036854775807), coalesce(p_id, 0))
        ORDER BY r.created_at DESC, r.id DESC
        LIMIT p_limit;
    END IF;
END $$

-- A token, and with p_children all that it made, directly or through others.
CREATE FUNCTION sigreq.token_tree(p_id bigint, p_children boolean) RETURNS SETOF bigint
LANGUAGE sql STABLE SET enable_seqscan = off AS $$
    WITH RECURSIVE tree(id) AS (
        SELECT p_id
        UNION
        SELECT c.id FROM tree JOIN sigreq.token c ON c.parent_id = tree.id WHERE p_children)
    SELECT id FROM tree
$$

-- Each turn of the loop sees what was committed before it. When it finds nothing, every token of the tree is revoked
-- and locked by this transaction, so none of them can make another. The order by id avoids deadlocks.
CREATE FUNCTION sigreq.token_revoke_tree(p_id bigint, p_now bigint, p_children boolean) RETURNS void
LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    LOOP
        PERFORM 1 FROM sigreq.token WHERE id IN (SELECT sigreq.token_tree(p_id, p_children)) AND revoked_at IS NULL
        ORDER BY id FOR NO KEY UPDATE;
        EXIT WHEN NOT FOUND;
        UPDATE sigreq.token SET revoked_at = p_now
        WHERE id IN (SELECT sigreq.token_tree(p_id, p_children)) AND revoked_at IS NULL;
    END LOOP;
END $$

CREATE FUNCTION sigreq.token_revoke(p_hash text, p_now bigint, p_uuid uuid, p_children boolean) RETURNS text
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    v_id bigint;
BEGIN
    SELECT r.id INTO v_id
    FROM sigreq.token t
    JOIN sigreq.token r ON (r.user_id, r.organization_id, r.environment)
                         = (t.user_id, t.organization_id, t.environment)
    WHERE t.secret_hash = p_hash AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > p_now)
      AND r.uuid = p_uuid;
    IF NOT FOUND THEN
        RETURN sigreq.why_nothing(p_hash, p_now);
    END IF;
    PERFORM sigreq.token_revoke_tree(v_id, p_now, p_children);
    RETURN 'ok';
END $$

-- The operations of sigreqctl. An organisation is named by uuid or name, and the uuid goes first.
CREATE VIEW sigreq.organization_row AS
    SELECT id, uuid, json_build_object('uuid', uuid, 'name', name, 'quota', quota, 'used', used,
                                       'created_at', created_at)::text AS body,
           created_at || ':' || id AS key
    FROM sigreq.organization

CREATE VIEW sigreq.user_row AS
    SELECT u.id, u.uuid, u.organization_id,
           json_build_object('uuid', u.uuid, 'firstname', u.firstname, 'lastname', u.lastname, 'email', u.email,
                             'organization_uuid', o.uuid, 'created_at', u.created_at)::text AS body,
           u.created_at || ':' || u.id AS key
    FROM sigreq.user_account u
    JOIN sigreq.organization o ON o.id = u.organization_id

CREATE FUNCTION sigreq.organization_find(p_which text) RETURNS bigint
LANGUAGE sql STABLE AS $$
    SELECT id FROM sigreq.organization WHERE uuid::text = lower(p_which) OR name = p_which
    ORDER BY uuid::text = lower(p_which) DESC LIMIT 1
$$

CREATE FUNCTION sigreq.admin_organization_create(p_uuid uuid, p_name text, p_quota bigint, p_now bigint) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO sigreq.organization (uuid, name, quota, created_at) VALUES (p_uuid, p_name, p_quota, p_now)
    ON CONFLICT DO NOTHING;
    RETURN coalesce((SELECT E'ok\n' || body FROM sigreq.organization_row WHERE uuid = p_uuid), 'conflict');
END $$

CREATE FUNCTION sigreq.admin_organization_quota(p_which text, p_quota bigint) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    v_id bigint := sigreq.organization_find(p_which);
BEGIN
    UPDATE sigreq.organization SET quota = p_quota WHERE id = v_id;
    RETURN coalesce((SELECT E'ok\n' || body FROM sigreq.organization_row WHERE id = v_id), 'missing');
END $$

CREATE FUNCTION sigreq.admin_user_create(p_uuid uuid, p_organization text, p_firstname text, p_lastname text,
    p_email text, p_now bigint) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    v_organization bigint := sigreq.organization_find(p_organization);
BEGIN
    IF v_organization IS NULL THEN
        RETURN 'missing';
    END IF;
    INSERT INTO sigreq.user_account (uuid, organization_id, firstname, lastname, email, created_at)
    VALUES (p_uuid, v_organization, p_firstname, p_lastname, p_email, p_now)
    ON CONFLICT DO NOTHING;
    RETURN coalesce((SELECT E'ok\n' || body FROM sigreq.user_row WHERE uuid = p_uuid), 'conflict');
END $$

CREATE FUNCTION sigreq.admin_user_list(p_organization text)
RETURNS TABLE (outcome text, body text, key text)
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_organization bigint := sigreq.organization_find(p_organization);
BEGIN
    IF p_organization IS NOT NULL AND v_organization IS NULL THEN
        RETURN QUERY SELECT 'missing', NULL::text, NULL::text;
    END IF;
    RETURN QUERY SELECT 'ok', r.body, r.key FROM sigreq.user_row r
    WHERE p_organization IS NULL OR r.organization_id = v_organization
    ORDER BY r.id;
END $$

CREATE FUNCTION sigreq.admin_token_create(p_uuid uuid, p_organization text, p_user text, p_environment text,
    p_name text, p_secret_hash text, p_expires_at bigint, p_now bigint) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    v_organization bigint := sigreq.organization_find(p_organization);
BEGIN
    INSERT INTO sigreq.token (uuid, user_id, organization_id, environment, name, secret_hash, created_at, expires_at)
    SELECT p_uuid, u.id, u.organization_id, p_environment, p_name, p_secret_hash, p_now, p_expires_at
    FROM sigreq.user_account u
    WHERE u.organization_id = v_organization
      AND (u.uuid::text = lower(p_user) OR lower(u.email) = lower(p_user COLLATE "C"))
    ON CONFLICT (uuid) DO NOTHING;
    RETURN coalesce((SELECT E'ok\n' || body FROM sigreq.token_row WHERE uuid = p_uuid), 'missing');
END $$

CREATE FUNCTION sigreq.admin_token_list(p_organization text)
RETURNS TABLE (outcome text, body text, key text)
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_organization bigint := sigreq.organization_find(p_organization);
BEGIN
    IF p_organization IS NOT NULL AND v_organization IS NULL THEN
        RETURN QUERY SELECT 'missing', NULL::text, NULL::text;
    END IF;
    RETURN QUERY SELECT 'ok', r.body, r.key FROM sigreq.token_row r
    WHERE p_organization IS NULL OR r.organization_id = v_organization
    ORDER BY r.id;
END $$

CREATE FUNCTION sigreq.admin_token_revoke(p_uuid uuid, p_now bigint, p_children boolean)
RETURNS TABLE (outcome text, body text, key text)
LANGUAGE plpgsql AS $$
DECLARE
    v_id bigint := (SELECT t.id FROM sigreq.token t WHERE t.uuid = p_uuid);
BEGIN
    IF v_id IS NULL THEN
        RETURN QUERY SELECT 'missing', NULL::text, NULL::text;
        RETURN;
    END IF;
    PERFORM sigreq.token_revoke_tree(v_id, p_now, p_children);
    RETURN QUERY SELECT 'ok', r.body, r.key FROM sigreq.token_row r
    WHERE r.id IN (SELECT sigreq.token_tree(v_id, p_children)) ORDER BY r.id;
END $$

CREATE FUNCTION sigreq.admin_token_webhooks(p_uuid uuid, p_urls jsonb) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
    RETURN coalesce(sigreq.token_webhooks_change((SELECT t.id FROM sigreq.token t WHERE t.uuid = p_uuid), p_urls),
                    'missing');
END $$

CREATE FUNCTION sigreq.admin_document_used(p_sha256 text) RETURNS text
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
BEGIN
    RETURN CASE WHEN EXISTS (SELECT 1 FROM sigreq.document WHERE sha256 = p_sha256)
                  OR EXISTS (SELECT 1 FROM sigreq.document WHERE rewritten_sha256 = p_sha256)
                  OR EXISTS (SELECT 1 FROM sigreq.revision WHERE sha256 = p_sha256)
                  OR EXISTS (SELECT 1 FROM sigreq.submission WHERE certificate_sha256 = p_sha256)
           THEN 'ok' ELSE 'missing' END;
END $$

CREATE FUNCTION sigreq.admin_expire(p_before bigint) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    v_deleted bigint;
BEGIN
    DELETE FROM sigreq.idempotency WHERE created_at < p_before;
    GET DIAGNOSTICS v_deleted = ROW_COUNT;
    RETURN E'ok\n{"deleted":' || v_deleted || '}';
END $$
