-- SPDX-License-Identifier: Apache-2.0
-- Blobs: the keys of contents, and which keys may be removed. engine.sql describes the form of this file.
--
-- The rule has three parts. A file is written under a key only after the reservation of that key is committed. Only the
-- transaction that deletes the reservation may insert the key into "blob". A key that has become a tombstone is never
-- used again. If a creation and a collection want to delete the same reservation, the lock of the row decides that the
-- first one does it. So the file of a tombstone may be removed at any time, however late. The clock only decides which
-- reservations a collection considers.

-- True if a submission needs this blob.
CREATE FUNCTION sigreq.blob_is_named(p_sha256 text, p_key text) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT 1 FROM sigreq.document WHERE sha256 = p_sha256 AND key = p_key)
           OR EXISTS (SELECT 1 FROM sigreq.document WHERE rewritten_sha256 = p_sha256 AND rewritten_key = p_key)
           OR EXISTS (SELECT 1 FROM sigreq.revision WHERE sha256 = p_sha256 AND key = p_key)
           OR EXISTS (SELECT 1 FROM sigreq.submission WHERE certificate_sha256 = p_sha256 AND certificate_key = p_key)
$$

-- The macro KEY as a function, for statements that are not in a function. It is in PL/pgSQL, which caches the plan. An SQL function
-- would be planned in each statement that calls it. A function that is called for each row costs more, so functions use
-- the macro.
CREATE FUNCTION sigreq.blob_key(p_folder uuid, p_sha256 text) RETURNS text
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
BEGIN
    RETURN (SELECT key FROM sigreq.blob WHERE folder = p_folder AND sha256 = p_sha256);
END $$

-- The keys are made here. If the response is lost and the operation is repeated, it reserves other keys, and a
-- collection makes tombstones of the first ones. If a reservation is lost in a crash, the transaction that needs it is
-- stale and nothing else happens. So this commit waits neither for the disk nor for a standby.
-- @op blob_reserve(folder uuid, contents json) → ok reserved[]
CREATE FUNCTION sigreq.blob_reserve(p_folder uuid, p_contents json)
RETURNS @ROWS
LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    RETURN QUERY
    WITH made AS (
        INSERT INTO sigreq.blob_reservation AS r (folder, key, reserved_at)
        SELECT p_folder, c.sha256 || '.' || left(c.random, 8) || right(c.random, 8), sigreq.job_clock()
        FROM (SELECT sha256, gen_random_uuid()::text AS random FROM json_array_elements_text(p_contents) AS sha256) c
        RETURNING r.key)
    SELECT 'ok', m.key::text, (SELECT b.key FROM sigreq.blob b WHERE b.folder = p_folder AND b.sha256 = left(m.key, 64)) FROM made m;
END $$

-- Deletes the reservations of a creation or a transition, and inserts their keys into "blob" (the member "blobs" in
-- store.h). Returns false if a collection has deleted one of the reservations, or a content that was stored before, or
-- if a content is stored under another key than the caller has found.
-- Then the caller's outcome is STALE and its transaction is rolled back, so that no row refers to a missing file. If
-- another transaction has stored a content meanwhile, the second key of this content becomes a tombstone. Contents are
-- processed in the order of their SHA-256, so that two transactions never wait for each other. Rows are looked up by
-- arrays or one by one: the plan of a join with the contents could read the whole index. Its callers have switched
-- enable_seqscan off.
CREATE FUNCTION sigreq.blob_settle(p_folder uuid, p_blobs json) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    v_contents text[];
    v_keys text[];
    v_sizes bigint[];
    v_replaced text[];
    v_own text[];
    v_count integer;
    v_found text[];
BEGIN
    SELECT array_agg(b.sha256 ORDER BY b.sha256), array_agg(b.found ORDER BY b.sha256),
           array_agg(b.key ORDER BY b.sha256) FILTER (WHERE b.key IS NOT NULL),
           array_agg(b.size ORDER BY b.sha256) FILTER (WHERE b.key IS NOT NULL),
           array_agg(b.replaces ORDER BY b.sha256) FILTER (WHERE b.replaces IS NOT NULL)
    INTO v_contents, v_found, v_keys, v_sizes, v_replaced
    FROM @EACH(blob, p_blobs, b);
    IF v_contents IS NULL THEN
        RETURN true;
    END IF;
    IF v_keys IS NOT NULL THEN
        -- First, because the new key of a content that was found must not be inserted if the found one is gone.
        FOR i IN 1 .. cardinality(v_contents) LOOP
            CONTINUE WHEN v_found[i] IS NULL;
            PERFORM 1 FROM sigreq.blob b
            WHERE b.folder = p_folder AND b.sha256 = v_contents[i] AND b.key = v_found[i] FOR KEY SHARE;
            IF NOT FOUND THEN
                RETURN false;
            END IF;
        END LOOP;
        WITH own AS (DELETE FROM sigreq.blob_reservation r WHERE r.key = ANY (v_keys) RETURNING r.key)
        SELECT coalesce(array_agg(key), '{}') INTO v_own FROM own;
        IF cardinality(v_own) < cardinality(v_keys) THEN
            INSERT INTO sigreq.blob_tombstone (folder, key) SELECT p_folder, unnest(v_own);
            RETURN false;
        END IF;
        IF v_replaced IS NOT NULL THEN
            WITH lost AS (UPDATE sigreq.blob o SET key = b.key, size = b.size
                          FROM @EACH(blob, p_blobs, b)
                          WHERE o.folder = p_folder AND o.key = ANY (v_replaced)
                            AND o.sha256 = b.sha256 AND o.key = b.replaces
                          RETURNING b.replaces)
            INSERT INTO sigreq.blob_tombstone (folder, key) SELECT p_folder, replaces FROM lost;
        END IF;
        INSERT INTO sigreq.blob (folder, sha256, key, size)
        SELECT p_folder, left(b.key, 64), b.key, b.size FROM unnest(v_keys, v_sizes) AS b(key, size)
        ON CONFLICT (folder, sha256) DO NOTHING;
        GET DIAGNOSTICS v_count = ROW_COUNT;
        IF v_count = cardinality(v_contents) THEN
            RETURN true;
        END IF;
        INSERT INTO sigreq.blob_tombstone (folder, key)
        SELECT p_folder, o.key FROM unnest(v_own) AS o(key) WHERE NOT EXISTS (SELECT 1 FROM sigreq.blob b WHERE b.key = o.key);
    END IF;
    FOR i IN 1 .. cardinality(v_contents) LOOP
        PERFORM 1 FROM sigreq.blob b
        WHERE b.folder = p_folder AND b.sha256 = v_contents[i] AND b.key = coalesce(v_found[i], b.key) FOR KEY SHARE;
        IF NOT FOUND THEN
            RETURN false;
        END IF;
    END LOOP;
    RETURN true;
END $$

-- The lock of a row excludes transactions that are about to refer to its key, and rows that such a transaction has
-- locked are skipped. The second statement sees what was committed while the first one took its locks. Foreign keys
-- also prevent that a key in use is deleted.
-- @op admin_blob_doom(doomed json) → ok
CREATE FUNCTION sigreq.admin_blob_doom(p_doomed json) RETURNS text
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    v_locked text[];
BEGIN
    SELECT array_agg(u.key) INTO v_locked
    FROM (SELECT b.key FROM sigreq.blob b
          WHERE b.key = ANY (ARRAY(SELECT json_array_elements_text(p_doomed->'named')))
          FOR UPDATE SKIP LOCKED) u;
    WITH gone AS (DELETE FROM sigreq.blob WHERE key = ANY (v_locked) AND NOT sigreq.blob_is_named(sha256, key)
                  RETURNING folder, key)
    INSERT INTO sigreq.blob_tombstone (folder, key) SELECT folder, key FROM gone;
    WITH late AS (DELETE FROM sigreq.blob_reservation
                  WHERE key IN (SELECT r.key FROM sigreq.blob_reservation r
                                WHERE r.key = ANY (ARRAY(SELECT json_array_elements_text(p_doomed->'reserved')))
                                FOR UPDATE SKIP LOCKED)
                  RETURNING folder, key)
    INSERT INTO sigreq.blob_tombstone (folder, key) SELECT folder, key FROM late;
    RETURN 'ok';
END $$

-- A function, because its plan is kept: each creation with a document that was seen before asks this.
-- @op blob_find(folder uuid, contents json) → ok key[]
CREATE FUNCTION sigreq.blob_find(p_folder uuid, p_contents json) RETURNS @ROWS
LANGUAGE plpgsql STABLE SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    RETURN QUERY
    SELECT 'ok', b.key::text FROM sigreq.blob b
    WHERE b.folder = p_folder AND b.sha256 = ANY (ARRAY(SELECT json_array_elements_text(p_contents)));
END $$
