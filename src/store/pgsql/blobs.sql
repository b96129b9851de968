-- SPDX-License-Identifier: Apache-2.0
-- Blobs: which key has which content, and which keys may be removed: see engine.sql for the form of this file.
--
-- The rule: a file is written under a key only after the reservation of that key is committed; only the transaction
-- that deletes the reservation may name the key in "blob"; and a key that has become a tombstone is never used again.
-- The first one that deletes a reservation, a creation or a collection, wins by the lock of the row. So the file of a
-- tombstone may be removed at any time, however late. A clock only says which reservations a collection looks at.

-- Whether a submission needs this blob.
CREATE FUNCTION sigreq.blob_is_named(p_sha256 text, p_key text) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT 1 FROM sigreq.document WHERE sha256 = p_sha256 AND key = p_key)
           OR EXISTS (SELECT 1 FROM sigreq.document WHERE rewritten_sha256 = p_sha256 AND rewritten_key = p_key)
           OR EXISTS (SELECT 1 FROM sigreq.revision WHERE sha256 = p_sha256 AND key = p_key)
           OR EXISTS (SELECT 1 FROM sigreq.submission WHERE certificate_sha256 = p_sha256 AND certificate_key = p_key)
$$

-- Under which key a content is stored in a folder.
CREATE FUNCTION sigreq.blob_key(p_folder uuid, p_sha256 text) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT key FROM sigreq.blob WHERE folder = p_folder AND sha256 = p_sha256
$$

-- The keys are made here: if the answer is lost and the operation is repeated, other keys are reserved, and those that
-- nobody knows become tombstones. A reservation that is lost in a crash only makes its transaction stale, so this commit
-- waits neither for the disk nor for a standby.
-- @op blob_reserve(folder uuid, contents json) → ok reserved[]
CREATE FUNCTION sigreq.blob_reserve(p_folder uuid, p_contents json)
RETURNS TABLE (outcome text, key text, stored text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    RETURN QUERY
    WITH made AS (
        INSERT INTO sigreq.blob_reservation AS r (folder, key, reserved_at)
        SELECT p_folder, c.sha256 || '.' || left(c.random, 8) || right(c.random, 8), sigreq.job_clock()
        FROM (SELECT sha256, gen_random_uuid()::text AS random FROM json_array_elements_text(p_contents) AS sha256) c
        RETURNING r.key)
    SELECT 'ok', m.key::text, sigreq.blob_key(p_folder, left(m.key, 64)) FROM made m;
END $$

-- Takes the reservations of a creation or a transition away and names their keys (the member "blobs" in store.h). False
-- if a collection has taken one of them, or a content that should be there: then nothing is named that is missing, and
-- the caller answers STALE. A key that is one too many, because another has stored this content meanwhile, becomes a
-- tombstone. Contents are taken in their order, so that two transactions do not wait for each other.
CREATE FUNCTION sigreq.blob_settle(p_folder uuid, p_blobs json) RETURNS boolean
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    v_contents integer;
    v_reserved integer;
    v_replaced integer;
    v_own text[];
    v_count integer;
BEGIN
    SELECT count(*), count(b.key), count(b.replaces) INTO v_contents, v_reserved, v_replaced
    FROM json_to_recordset(p_blobs) AS b(key text, replaces text);
    IF v_contents = 0 THEN
        RETURN true;
    END IF;
    IF v_reserved > 0 THEN
        WITH own AS (DELETE FROM sigreq.blob_reservation r USING json_to_recordset(p_blobs) AS b(key text)
                     WHERE r.key = b.key RETURNING r.key)
        SELECT coalesce(array_agg(key), '{}') INTO v_own FROM own;
        IF cardinality(v_own) < v_reserved THEN
            INSERT INTO sigreq.blob_tombstone (folder, key) SELECT p_folder, unnest(v_own);
            RETURN false;
        END IF;
        IF v_replaced > 0 THEN
            WITH lost AS (UPDATE sigreq.blob o SET key = b.key, size = b.size
                          FROM json_to_recordset(p_blobs) AS b(sha256 text, key text, size bigint, replaces text)
                          WHERE o.folder = p_folder AND o.sha256 = b.sha256 AND o.key = b.replaces
                          RETURNING b.replaces)
            INSERT INTO sigreq.blob_tombstone (folder, key) SELECT p_folder, replaces FROM lost;
        END IF;
        INSERT INTO sigreq.blob (folder, sha256, key, size)
        SELECT p_folder, b.sha256, b.key, b.size FROM json_to_recordset(p_blobs) AS b(sha256 text, key text, size bigint)
        WHERE b.key IS NOT NULL
        ORDER BY b.sha256
        ON CONFLICT (folder, sha256) DO NOTHING;
        GET DIAGNOSTICS v_count = ROW_COUNT;
        IF v_count = v_contents THEN
            RETURN true;
        END IF;
        INSERT INTO sigreq.blob_tombstone (folder, key)
        SELECT p_folder, o.key FROM unnest(v_own) AS o(key) WHERE NOT EXISTS (SELECT 1 FROM sigreq.blob b WHERE b.key = o.key);
    END IF;
    PERFORM 1 FROM sigreq.blob b
    WHERE b.folder = p_folder AND b.sha256 IN (SELECT c.sha256 FROM json_to_recordset(p_blobs) AS c(sha256 text))
    ORDER BY b.sha256 FOR KEY SHARE;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count = v_contents;
END $$

-- The next contents in their order, and which of them no submission needs.
-- @op admin_blob_unnamed(folder uuid, after text, n int) → ok body
CREATE FUNCTION sigreq.admin_blob_unnamed(p_folder uuid, p_after text, p_n bigint) RETURNS text
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
DECLARE
    v_page text[];
    v_unnamed json;
BEGIN
    SELECT array_agg(p.sha256 ORDER BY p.sha256) INTO v_page
    FROM (SELECT sha256 FROM sigreq.blob WHERE folder = p_folder AND sha256 > p_after ORDER BY sha256 LIMIT p_n) p;
    SELECT json_agg(key) INTO v_unnamed
    FROM sigreq.blob WHERE folder = p_folder AND sha256 = ANY (v_page) AND NOT sigreq.blob_is_named(sha256, key);
    RETURN E'ok\n' || json_build_object('after', v_page[cardinality(v_page)], 'seen', coalesce(cardinality(v_page), 0),
                                        'unnamed', coalesce(v_unnamed, '[]'));
END $$

-- The lock of a row keeps those away that are about to name it, and a row that one of them has locked is left alone. The
-- second statement sees what was committed while the first one took its locks. Foreign keys are the net below.
-- @op admin_blob_doom(doomed json) → ok
CREATE FUNCTION sigreq.admin_blob_doom(p_doomed json) RETURNS text
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    v_locked text[];
BEGIN
    SELECT array_agg(u.key) INTO v_locked
    FROM (SELECT b.key FROM sigreq.blob b
          WHERE b.key IN (SELECT k FROM json_array_elements_text(p_doomed->'named') AS k)
          FOR UPDATE SKIP LOCKED) u;
    WITH gone AS (DELETE FROM sigreq.blob WHERE key = ANY (v_locked) AND NOT sigreq.blob_is_named(sha256, key)
                  RETURNING folder, key)
    INSERT INTO sigreq.blob_tombstone (folder, key) SELECT folder, key FROM gone;
    WITH late AS (DELETE FROM sigreq.blob_reservation
                  WHERE key IN (SELECT r.key FROM sigreq.blob_reservation r
                                WHERE r.key IN (SELECT k FROM json_array_elements_text(p_doomed->'reserved') AS k)
                                FOR UPDATE SKIP LOCKED)
                  RETURNING folder, key)
    INSERT INTO sigreq.blob_tombstone (folder, key) SELECT folder, key FROM late;
    RETURN 'ok';
END $$

-- @op blob_find(folder uuid, contents json) → ok key[]
SELECT 'ok', b.key FROM sigreq.blob b
WHERE b.folder = %s AND b.sha256 IN (SELECT c FROM json_array_elements_text(%s) AS c)

-- @op admin_blob_list(folder uuid, after text, n int) → ok blob[]
SELECT 'ok', b.sha256, b.key, b.size FROM sigreq.blob b
WHERE b.folder = %s AND b.sha256 > %s ORDER BY b.sha256 LIMIT %s

-- @op admin_blob_strangers(keys json) → ok key[]
SELECT 'ok', k.key FROM json_array_elements_text(%s) AS k(key)
WHERE NOT EXISTS (SELECT 1 FROM sigreq.blob b WHERE b.key = k.key)
  AND NOT EXISTS (SELECT 1 FROM sigreq.blob_reservation r WHERE r.key = k.key)
  AND NOT EXISTS (SELECT 1 FROM sigreq.blob_tombstone t WHERE t.key = k.key)

-- @op admin_blob_late(folder uuid, age int, n int) → ok key[]
SELECT 'ok', r.key FROM sigreq.blob_reservation r
WHERE r.folder = %s AND r.reserved_at <= sigreq.job_clock() - %s ORDER BY r.reserved_at LIMIT %s

-- @op admin_blob_tombstones(folder uuid, after text, n int) → ok tombstone[]
SELECT 'ok', t.key, sigreq.blob_key(t.folder, left(t.key, 64)) IS NULL FROM sigreq.blob_tombstone t
WHERE t.folder = %s AND t.key > %s ORDER BY t.key LIMIT %s

-- @op admin_blob_bury(keys json) → ok
WITH gone AS (DELETE FROM sigreq.blob_tombstone WHERE key IN (SELECT k FROM json_array_elements_text(%s) AS k))
SELECT 'ok'
