-- SPDX-License-Identifier: Apache-2.0
-- Submissions and their documents. engine.sql describes the form of this file.

-- LOSTBLOBS: a content is not stored, or its reservation is gone.
-- @macro LOSTBLOBS() EXISTS (SELECT 1 FROM @EACH(blob, :blobs, w)
--     WHERE (w.key IS NULL OR w.found IS NOT NULL)
--           AND NOT EXISTS (SELECT 1 FROM blob b WHERE b.folder = :folder AND b.sha256 = w.sha256
--                                                  AND b.key = coalesce(w.found, b.key))
--        OR w.key IS NOT NULL AND NOT EXISTS (SELECT 1 FROM blob_reservation r WHERE r.key = w.key))
-- The first statement gives the outcome if the creation is refused or repeated. What it has checked stays true, because
-- this transaction is the only writer.
-- @op submission_create(token_hash hash, now time, submission uuid, creation creation, representation text,
--     metadata text?, idempotency_key text?, folder uuid, blobs [blob], new_blobs [blob]?, revisions [revision]?,
--     webhooks json?, timers [timer]?)
--     → ok | replay representation | unauthorized | quota | conflict representation | gone | missing | stale write
-- @answer
WITH verdict AS (
    SELECT CASE WHEN t.id IS NULL THEN 'unauthorized'
                WHEN s.uuid = :submission AND s.token_id = t.id THEN 'ok'
                WHEN substr(i.fingerprint, 1, 64) = substr(p.fingerprint, 1, 64) THEN 'replay'
                WHEN i.key IS NOT NULL THEN 'conflict'
                WHEN p.only_replay THEN 'gone'
                WHEN p.from_template AND NOT EXISTS (SELECT 1 FROM submission s WHERE @TEMPLATE(s, t, p.template_uuid) AND s.template_deleted_at IS NULL)
                THEN 'missing'
                WHEN t.environment = 'production' AND o.used >= o.quota AND p.draft_until IS NULL THEN 'quota'
                WHEN @LOSTBLOBS() THEN 'stale' END AS outcome,
           i.answer, i.fingerprint
    FROM @OF(creation, :creation, p)
    LEFT JOIN token t ON @CALLER(t)
    LEFT JOIN organization o ON o.id = t.organization_id
    LEFT JOIN idempotency i ON i.token_id = t.id AND i.key = :idempotency_key AND i.created_at >= p.idempotency_since
    LEFT JOIN submission s ON s.uuid = coalesce(i.submission_uuid, :submission))
SELECT outcome, CASE outcome WHEN 'replay' THEN answer WHEN 'conflict' THEN fingerprint END
FROM verdict WHERE outcome IS NOT NULL

UPDATE organization SET used = used + 1
WHERE (quota IS NULL OR used < quota)
  AND id = (SELECT t.organization_id FROM token t
            WHERE t.secret_hash = :token_hash AND t.environment = 'production' AND :creation->>'draft_until' IS NULL)

@NEWSUBMISSION()

INSERT INTO event (submission_id, number, hash, body, personal)
SELECT @ID(), 1, p.event_hash, p.event, p.event_personal FROM @OF(creation, :creation, p)

@NEWFEED(:creation->'feed', :now)

-- Ends the reservations and inserts their keys, as sigreq.blob_settle on PostgreSQL.
-- @if new_blobs
INSERT INTO blob_tombstone (folder, key)
SELECT b.folder, b.key FROM @EACH(blob, :new_blobs, w) CROSS JOIN blob b
WHERE b.folder = :folder AND b.key = w.replaces

-- @if new_blobs
INSERT INTO blob (folder, sha256, key, size)
SELECT :folder, w.sha256, w.key, w.size FROM @EACH(blob, :new_blobs, w)
WHERE true
ON CONFLICT (folder, sha256) DO UPDATE SET key = excluded.key, size = excluded.size
    WHERE blob.key IN (SELECT t.key FROM blob_tombstone t)

-- @if new_blobs
INSERT INTO blob_tombstone (folder, key)
SELECT :folder, w.key FROM @EACH(blob, :new_blobs, w)
WHERE NOT EXISTS (SELECT 1 FROM blob b WHERE b.key = w.key)

-- @if new_blobs
DELETE FROM blob_reservation WHERE key IN (SELECT w.key FROM @EACH(blob, :new_blobs, w))

@NEWDOCUMENTS(:creation->'documents')

@NEWSIGNERS(:creation->'signers')

@NEWVIEWERS(:creation->'viewers')

-- @if revisions
@FIRSTREVISIONS()

@NEWSTATUSES()

-- @if idempotency_key
INSERT INTO idempotency (token_id, key, fingerprint, answer, submission_uuid, created_at)
SELECT t.id, :idempotency_key, :creation->>'fingerprint', :representation, :submission, :now
FROM token t
WHERE t.secret_hash = :token_hash
ON CONFLICT (token_id, key) DO UPDATE
    SET fingerprint = excluded.fingerprint, answer = excluded.answer, submission_uuid = excluded.submission_uuid,
        created_at = excluded.created_at

-- @if webhooks
@NEWJOBS()

-- @if timers
@NEWTIMERS()

-- @outcome
SELECT 'ok'

-- The rows that a list may look at, in one direction: those of the range that one filter finds by its index, with that
-- filter, or all.
-- @macro RANGE(at_high, x, key) x.user_id = (SELECT user_id FROM me)
--     AND x.organization_id = (SELECT organization_id FROM me) AND x.environment = (SELECT environment FROM me)
--     AND (x.created_at, x.key) < (SELECT at_high, high_id FROM b) AND (x.created_at, x.key) > (SELECT low_at, low_id FROM b)
-- @macro BYLIST(at_high, way) FROM submission s WHERE @RANGE(at_high, s, id) ORDER BY s.created_at way, s.id way
-- @macro BYEXTERNAL(at_high, way) FROM submission s WHERE s.external_id = (SELECT external_id FROM b)
--     AND @RANGE(at_high, s, id) ORDER BY s.created_at way, s.id way
-- @macro BYSTATE(at_high, way) FROM submission s WHERE s.state = (SELECT state FROM b)
--     AND @RANGE(at_high, s, id) ORDER BY s.created_at way, s.id way
-- @macro BYSTATUS(at_high, way) FROM signer_status x CROSS JOIN submission s ON s.id = x.submission_id
--     WHERE x.status = (SELECT status FROM b) AND @RANGE(at_high, x, submission_id)
--     ORDER BY x.created_at way, x.submission_id way
-- @macro BYUPDATE(at_high, way) FROM submission s INDEXED BY submission_updated
--     WHERE s.updated_at > (SELECT CASE WHEN at_high < 0 THEN 9223372036854775807 ELSE updated END FROM b)
--     AND @RANGE(at_high, s, id) ORDER BY s.created_at way, s.id way

-- The rows of one response in one direction, and, if they do not fill it, the place of the last row that may be looked
-- at for it, as on PostgreSQL. There are none if the query has the other direction or uses another filter to find its rows.
-- SQLite copies a common table expression for each place that names it, so that too many places cost megabytes and
-- milliseconds when the statement is prepared.
-- @macro PAGE(high, way, source) SELECT 'ok', page.uuid,
--        total - size < b.bytes, total - size < b.bytes AND representation_version < b.version, created_at, id,
--        updated_at, template_uuid FROM (
--     SELECT *, sum(size) OVER (ROWS UNBOUNDED PRECEDING) AS total FROM (
--     SELECT l.id, l.uuid, l.created_at, l.updated_at, l.template_uuid, l.representation_version,
--            (SELECT length(CAST(r.representation AS BLOB)) FROM submission r WHERE r.id = l.id) AS size FROM (
--     SELECT s.id, s.uuid, s.created_at, s.updated_at, s.template_uuid, s.representation_version,
--            (SELECT (s.state <> 'deleted' OR b.state = 'deleted')
--                    AND (b.state IS NULL OR s.state = b.state)
--                    AND (b.status IS NULL
--                         OR EXISTS (SELECT 1 FROM signer_status f WHERE f.submission_id = s.id AND f.status = b.status))
--                    AND (b.updated IS NULL OR s.updated_at > b.updated)
--                    AND (b.q IS NULL OR instr(s.search, b.q) > 0)
--                    AND (b.external_id IS NULL OR s.external_id = b.external_id) FROM b) AS fits @source(high, way)
--     LIMIT 5000) l
--     WHERE l.fits
--     LIMIT (SELECT n FROM b))) page CROSS JOIN b
-- @macro LAST(high, way, source) SELECT 'ok', NULL, NULL, 0, m.created_at, m.id, 0, NULL FROM (
--     SELECT s.created_at, s.id @source(high, way)
--     LIMIT (SELECT b.kind <> 'all' AND (SELECT count(*) FROM p) < b.n FROM b) OFFSET 4999) m

-- The cursor and the two dates become one lower and one upper bound of (created_at, id), so each direction is one range
-- of the index. The range of the other direction is empty. The sizes are added up in the order of the range, and only
-- the representations of the response are read. `kind` says which filter finds the rows. updated_at does if at most
-- 5,000 rows are later, because these must be sorted.
-- @macro LISTBY(source) WITH
--     a(token_hash, now, n, direction, at, id, states, state, external_id, updated, q, after, before, bytes, version) AS (
--     SELECT %s, CAST(%s AS INTEGER), CAST(%s AS INTEGER), %s, CAST(%s AS INTEGER), CAST(%s AS INTEGER), %s, %s,
--            %s, CAST(%s AS INTEGER), %s,
--            coalesce(CAST(%s AS INTEGER), -1), coalesce(CAST(%s AS INTEGER), 9223372036854775807),
--            CAST(%s AS INTEGER), CAST(%s AS INTEGER)),
--     me AS MATERIALIZED (
--     SELECT t.user_id, t.organization_id, t.environment FROM a CROSS JOIN token t
--     WHERE @CALLER(t)),
--     k AS MATERIALIZED (
--     SELECT CASE WHEN external_id IS NOT NULL THEN 'BYEXTERNAL'
--                 WHEN (SELECT count(*) FROM (
--                           SELECT 1 FROM me CROSS JOIN submission c INDEXED BY submission_updated
--                           WHERE a.updated IS NOT NULL AND c.user_id = me.user_id
--                             AND c.organization_id = me.organization_id
--                             AND c.environment = me.environment AND c.updated_at > a.updated LIMIT 5001))
--                      <= 5000 AND updated IS NOT NULL THEN 'BYUPDATE'
--                 WHEN states IS NOT NULL THEN 'BYSTATUS'
--                 WHEN state IS NOT NULL THEN 'BYSTATE'
--                 WHEN q IS NOT NULL OR updated IS NOT NULL THEN 'BYLIST' ELSE 'all' END AS kind FROM a),
--     b AS MATERIALIZED (
--     SELECT *, CASE WHEN newer OR kind NOT IN ('source', 'all') THEN -2 ELSE high_at END AS high_older,
--            CASE WHEN newer AND kind IN ('source', 'all') THEN high_at ELSE -2 END AS high_newer FROM (
--     SELECT n, substr(states, 1, instr(states || ',', ',') - 1) AS status, state, external_id, updated, q, bytes, version,
--            direction = 'newer' AS newer, kind,
--            CASE WHEN direction = 'newer' AND (at, id) > (after, 9223372036854775807) THEN at ELSE after END AS low_at,
--            CASE WHEN direction = 'newer' AND (at, id) > (after, 9223372036854775807) THEN id
--                 ELSE 9223372036854775807 END AS low_id,
--            CASE WHEN direction <> 'newer' AND (at, id) < (before, 0) THEN at ELSE before END AS high_at,
--            CASE WHEN direction <> 'newer' AND (at, id) < (before, 0) THEN id ELSE 0 END AS high_id
--     FROM a CROSS JOIN k)),
--     p(ok, uuid, shown, old, created_at, id, updated_at, template_uuid) AS MATERIALIZED (
--     SELECT * FROM (@PAGE(high_older, DESC, source))
--     UNION ALL SELECT * FROM (@PAGE(high_newer, ASC, source)))
--     SELECT 'unauthorized', NULL, NULL, NULL, NULL, NULL, NULL, NULL WHERE NOT EXISTS (SELECT 1 FROM me)
--     UNION ALL SELECT ok, uuid, CASE WHEN shown AND NOT old
--                                 THEN (SELECT r.representation FROM submission r WHERE r.id = p.id) END,
--                      old, created_at, id, updated_at, template_uuid FROM p
--     UNION ALL @LAST(high_older, DESC, source)
--     UNION ALL @LAST(high_newer, ASC, source)

-- @op submission_list(token_hash hash, now time, limit int, direction text, at time?, id int, states text?,
--     state text?, external_id text?, updated time?, q text?, after time?, before time?, bytes int, version int)
--     → ok listed[] | unauthorized
-- @answer
-- @if external_id
@LISTBY(BYEXTERNAL)

-- @answer
-- @if updated
@LISTBY(BYUPDATE)

-- @answer
-- @if states
@LISTBY(BYSTATUS)

-- @answer
-- @if state
@LISTBY(BYSTATE)

-- @answer
@LISTBY(BYLIST)

-- Finds the few rows that have this digest first, and then their submissions. It never reads all submissions of the
-- caller.
-- @op document_known(token_hash hash, now time, sha256 hash) → ok file | missing | unauthorized
-- @answer
WITH a(token_hash, now, sha256) AS (SELECT %s, CAST(%s AS INTEGER), lower(%s)),
b AS MATERIALIZED (
    SELECT t.id, t.user_id, t.organization_id, t.environment, a.sha256 FROM a LEFT JOIN token t ON @CALLER(t)),
known AS (
    SELECT d.submission_id, d.uuid, d.name FROM revision r CROSS JOIN document d ON d.uuid = r.document_uuid
    WHERE r.whole_sha256 = (SELECT sha256 FROM b)
    UNION ALL
    SELECT submission_id, uuid, name FROM document WHERE sha256 = (SELECT sha256 FROM b)
    UNION ALL
    SELECT submission_id, uuid, name FROM document WHERE rewritten_sha256 = (SELECT sha256 FROM b)
    UNION ALL
    SELECT id, NULL, name FROM submission WHERE certificate_sha256 = (SELECT sha256 FROM b)),
f AS MATERIALIZED (
    SELECT s.uuid, k.uuid AS document_uuid, k.name
    FROM b CROSS JOIN known k CROSS JOIN submission s ON s.id = k.submission_id AND @SCOPE(s, b) LIMIT 1)
SELECT CASE WHEN b.id IS NULL THEN 'unauthorized' WHEN f.uuid IS NULL THEN 'missing' ELSE 'ok' END, f.uuid,
       f.document_uuid, f.name
FROM b LEFT JOIN f
