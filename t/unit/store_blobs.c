/* SPDX-License-Identifier: Apache-2.0 */
/* store_blobs.c: which keys are named, given up and removed: reservations that two want, contents that are stored
 * twice, lost files, two folders of one database, and transactions under way. */
#include "store.h"

#define NOW ((apr_time_t)1790000000000000)
#define OTHER_FOLDER "f01de501-0000-4000-8000-000000000000"

static const char *hash, *now_text;

static const char *content(unsigned n, apr_pool_t *pool)
{
    return apr_psprintf(pool, "%064x", 0xc0000 + n);
}

static const char *array_of(const char *text, apr_pool_t *pool)
{
    return apr_psprintf(pool, "[\"%s\"]", text);
}

static const char *reserve_in(link_t *l, const char *folder, unsigned n)
{
    RUN(l, SR_OP_BLOB_RESERVE, folder, array_of(content(n, l->pool), l->pool));
    return COLUMN(l, "key");
}

static const char *reserve(link_t *l, unsigned n)
{
    return reserve_in(l, FOLDER, n);
}

/* The key of a content, or NULL. */
static const char *find(link_t *l, const char *folder, unsigned n)
{
    return RUN(l, SR_OP_BLOB_FIND, folder, array_of(content(n, l->pool), l->pool));
}

/* A creation of a submission with one document of this content, which is stored under `key`, or (NULL) already, under
 * the key `found`, or (NULL) under any key. */
static const char *create_found(link_t *l, const char *folder, unsigned number, unsigned n, const char *key,
                                const char *replaces, const char *found)
{
    const wish_t w = {hash, NOW, number, "Blobs", NULL, NULL, 0};
    json_t *json = json_loads(wish(&w, l->pool), 0, NULL), *blobs;
    const char *sha256 = content(n, l->pool);
    json_object_set_new(json, "folder", json_string(folder));
    json_array_remove(json_object_get(json, "documents"), 1);
    json_object_set_new(json_array_get(json_object_get(json, "documents"), 0), "sha256", json_string(sha256));
    blobs = json_pack("[{s:s,s:i,s:s?,s:s?,s:s?}]", "sha256", sha256, "size", 5, "key", key, "replaces", replaces,
                      "found", found);
    json_object_set_new(json, "blobs", blobs);
    CREATE(l, sr_json_text(json, l->pool));
    json_decref(json);
    return link_outcome(l);
}

static const char *create_in(link_t *l, const char *folder, unsigned number, unsigned n, const char *key,
                             const char *replaces)
{
    return create_found(l, folder, number, n, key, replaces, NULL);
}

static const char *create(link_t *l, unsigned number, unsigned n, const char *key)
{
    return create_in(l, FOLDER, number, n, key, NULL);
}

static void doom(link_t *l, const char *kind, const char *key)
{
    RUN(l, SR_OP_ADMIN_BLOB_DOOM, apr_psprintf(l->pool, "{\"%s\":[\"%s\"]}", kind, key));
}

static bool is_tombstone(link_t *l, const char *folder, const char *key)
{
    RUN(l, SR_OP_ADMIN_BLOB_TOMBSTONES, folder, "", "1000");
    for (int i = 0; i < l->rows->nelts; i++)
        if (strcmp(column_at(l, i, "key"), key) == 0) return true;
    return false;
}

static bool is_stranger(link_t *l, const char *key)
{
    return RUN(l, SR_OP_ADMIN_BLOB_STRANGERS, array_of(key, l->pool)) != NULL;
}

static const char *key_of(link_t *l, unsigned number)
{
    return member(RUN(l, SR_OP_DOCUMENT_GET, hash, now_text, uuid(1, number, l->pool), uuid(3, number * 2, l->pool)),
                  "key", l->pool);
}

static const char *quoted(const char *text, apr_pool_t *pool)
{
    return apr_psprintf(pool, "\"%s\"", text);
}

static void check_names(link_t *l)
{
    apr_pool_t *p = l->pool;
    const char *key = reserve(l, 1);
    ok(key && strlen(key) == 64 + 1 + 16 && strncmp(key, content(1, p), 64) == 0 && key[64] == '.', "a key: %s", key);
    ok(!COLUMN(l, "stored"), "of a content that is not stored");
    ok(strcmp(key, reserve(l, 1)) != 0, "another key each time");
    ok(!find(l, FOLDER, 1) && !is_stranger(l, key), "it is reserved, and stored is nothing");
    is_str(create(l, 1, 1, key), "ok", "a creation names it");
    is_str(find(l, FOLDER, 1), key, "then it is stored");
    is_str(key_of(l, 1), quoted(key, p), "and the document says where");
    is_str(create(l, 1, 1, key), "ok", "the same again, after a lost connection, changes nothing");
    is_str(create(l, 2, 1, NULL), "ok", "another names it without storing it");
    is_str(create(l, 3, 2, NULL), "stale", "what is not stored cannot be named");
    is_str(create(l, 3, 2, apr_pstrcat(p, content(2, p), ".0123456789abcdef", NULL)), "stale",
           "nor can a key that is not reserved");
    is_str(MEMBER("representation", l, SR_OP_SUBMISSION_GET, hash, now_text, uuid(1, 3, p), "7", NULL), NULL,
           "nothing is created then");
    const char *surplus = reserve(l, 1);
    is_str(COLUMN(l, "stored"), key, "one who does not know it reserves a key, and learns the stored one");
    is_str(create(l, 4, 1, surplus), "ok", "stores it again,");
    is_str(key_of(l, 4), quoted(key, p), "and names what is there");
    ok(is_tombstone(l, FOLDER, surplus) && !is_tombstone(l, FOLDER, key), "the key that is one too many is given up");
}

static void check_lost(link_t *l)
{
    apr_pool_t *p = l->pool;
    const char *lost = reserve(l, 10);
    is_str(create(l, 10, 10, lost), "ok", "a document");
    const char *next = reserve(l, 10);
    is_str(create_in(l, FOLDER, 11, 10, next, lost), "ok", "is stored again, because its file was lost");
    is_str(find(l, FOLDER, 10), next, "under another key");
    is_str(key_of(l, 10), quoted(next, p), "which the first submission has, too");
    ok(is_tombstone(l, FOLDER, lost), "the lost one is given up");
    const char *late = reserve(l, 10);
    is_str(create_in(l, FOLDER, 12, 10, late, lost), "ok", "one more who has seen the lost one");
    is_str(find(l, FOLDER, 10), next, "changes nothing");
    ok(is_tombstone(l, FOLDER, late), "and its key is given up");
}

/* A creation that has found a content under a key names it only if this is still its key. */
static void check_found(link_t *l)
{
    apr_pool_t *p = l->pool;
    const char *first = reserve(l, 15);
    is_str(create(l, 15, 15, first), "ok", "a document");
    is_str(create_found(l, FOLDER, 16, 15, NULL, NULL, first), "ok", "is named by its key");
    is_str(key_of(l, 16), quoted(first, p), "and the submission has this key");
    const char *next = reserve(l, 15);
    is_str(create_in(l, FOLDER, 17, 15, next, first), "ok", "it is stored again under another key");
    is_str(create_found(l, FOLDER, 18, 15, NULL, NULL, first), "stale", "then its old key names nothing");
    is_str(create_found(l, FOLDER, 16, 15, NULL, NULL, first), "ok", "except in a repetition");
    is_str(create_found(l, FOLDER, 18, 15, NULL, NULL, next), "ok", "but its new key does");
    is_str(create(l, 19, 15, NULL), "ok", "and no key stands for any");
}

/* The same of a creation that has also reserved a key, under which a bucket was not asked for the object. */
static void check_spare(link_t *l)
{
    apr_pool_t *p = l->pool;
    const char *first = reserve(l, 92);
    is_str(create(l, 92, 92, first), "ok", "a document");
    const char *next = reserve(l, 92);
    is_str(create_in(l, FOLDER, 93, 92, next, first), "ok", "is stored again under another key");
    const char *spare = reserve(l, 92);
    is_str(create_found(l, FOLDER, 94, 92, spare, NULL, first), "stale", "its old key is stale");
    ok(!is_tombstone(l, FOLDER, spare) && !is_stranger(l, spare), "and the spare one stays reserved");
    is_str(create_found(l, FOLDER, 94, 92, spare, NULL, next), "ok", "with its new key");
    is_str(key_of(l, 94), quoted(next, p), "the submission has this one");
    ok(is_tombstone(l, FOLDER, spare), "and the spare one is given up");
    spare = reserve(l, 95);
    is_str(create_found(l, FOLDER, 95, 95, spare, NULL, first), "stale", "a content that is gone");
    ok(!find(l, FOLDER, 95), "is not stored under a spare key");
}

static void check_folders(link_t *l)
{
    apr_pool_t *p = l->pool;
    const char *one = reserve(l, 20);
    is_str(create(l, 20, 20, one), "ok", "a document in one folder");
    ok(!find(l, OTHER_FOLDER, 20), "is not in another folder of the database");
    is_str(create_in(l, OTHER_FOLDER, 21, 20, NULL, NULL), "stale", "where nobody can name it");
    const char *two = reserve_in(l, OTHER_FOLDER, 20);
    ok(!COLUMN(l, "stored"), "where it is unknown");
    is_str(create_in(l, OTHER_FOLDER, 21, 20, two, NULL), "ok", "stored there, too,");
    is_str(find(l, FOLDER, 20), one, "each has its key");
    is_str(find(l, OTHER_FOLDER, 20), two, "of its own");
    is_str(key_of(l, 20), quoted(one, p), "as the first submission");
    is_str(key_of(l, 21), quoted(two, p), "and the second one");
}

static void check_collection(link_t *l)
{
    apr_pool_t *p = l->pool;
    const char *named = reserve(l, 30), *unnamed = reserve(l, 31), *late = reserve(l, 32), *page;
    is_str(create(l, 30, 30, named), "ok", "a document that a submission has");
    is_str(create(l, 31, 31, unnamed), "ok", "and one whose submission goes");
    execute(l, apr_psprintf(p, "DELETE FROM %ssubmission WHERE uuid = '%s'",
                            strcmp(l->base->driver_name, "pgsql") == 0 ? "sigreq." : "", uuid(1, 31, p)));
    page = RUN(l, SR_OP_ADMIN_BLOB_UNNAMED, FOLDER, content(29, p), "2");
    is_str(member(page, "seen", p), "2", "contents in their order");
    is_str(member(page, "unnamed", p), apr_psprintf(p, "[\"%s\"]", unnamed), "one of them has no submission");
    is_str(member(page, "after", p), quoted(content(31, p), p), "and where to go on");
    is_str(member(RUN(l, SR_OP_ADMIN_BLOB_UNNAMED, FOLDER, content(99, p), "2"), "after", p), "null", "or the end");
    RUN(l, SR_OP_ADMIN_BLOB_LATE, FOLDER, "3600000000", "10");
    is_int(l->rows->nelts, 0, "no reservation is an hour old");
    RUN(l, SR_OP_ADMIN_BLOB_LATE, FOLDER, "0", "1000");
    ok(l->rows->nelts > 0, "but all are a moment old");
    doom(l, "named", named);
    is_str(find(l, FOLDER, 30), named, "what a submission has cannot be given up");
    doom(l, "named", unnamed);
    ok(!find(l, FOLDER, 31) && is_tombstone(l, FOLDER, unnamed), "what none has is");
    doom(l, "reserved", late);
    is_str(create(l, 32, 32, late), "stale", "a reservation that was given up names nothing");
    const char *again = reserve(l, 32);
    is_str(create(l, 32, 32, again), "ok", "stored again, it is");
    const char *tombstones =
        RUN(l, SR_OP_ADMIN_BLOB_TOMBSTONES, FOLDER, apr_pstrcat(p, content(31, p), ".", NULL), "1");
    is_str(member(tombstones, "key", p), quoted(unnamed, p), "tombstones in their order");
    is_str(member(tombstones, "forget", p), "true", "its reports can go");
    ok(!is_stranger(l, late), "the database knows the key of a tombstone");
    RUN(l, SR_OP_ADMIN_BLOB_BURY, apr_psprintf(p, "[\"%s\",\"%s\"]", unnamed, late));
    ok(!is_tombstone(l, FOLDER, late) && is_stranger(l, late), "until its file was removed");
    ok(is_stranger(l, "x"), "as it knows no other names");
    is_str(member(RUN(l, SR_OP_ADMIN_BLOB_LIST, FOLDER, content(29, p), "1"), "key", p), quoted(named, p), "a list");
}

/* PostgreSQL: a transaction that waits, or whose commit is in doubt. What it is about to name stays. */
static void check_under_way(link_t *l)
{
    apr_pool_t *p = l->pool;
    const char *known = reserve(l, 40), *fresh = reserve(l, 41);
    link_t other;
    is_str(create(l, 40, 40, known), "ok", "a document");
    execute(l, apr_psprintf(p, "DELETE FROM sigreq.submission WHERE uuid = '%s'", uuid(1, 40, p)));
    link_connect(&other, l->base, l->base->pool);
    link_open(&other);
    execute(&other, "BEGIN");
    is_str(create(&other, 41, 41, fresh), "ok", "a transaction names a key that was reserved");
    is_str(create(&other, 42, 40, NULL), "ok", "and a content that no submission has");
    doom(l, "reserved", fresh);
    is_str(link_outcome(l), "ok", "a collection does not wait for it");
    doom(l, "named", known);
    ok(!is_tombstone(l, FOLDER, fresh) && !is_tombstone(l, FOLDER, known), "and gives neither up");
    execute(&other, "COMMIT");
    doom(l, "reserved", fresh);
    doom(l, "named", fresh);
    doom(l, "named", known);
    is_str(find(l, FOLDER, 41), fresh, "committed, they stay");
    is_str(find(l, FOLDER, 40), known, "both");
    const char *never = reserve(l, 43);
    execute(&other, "BEGIN");
    is_str(create(&other, 43, 43, never), "ok", "one that is rolled back");
    execute(&other, "ROLLBACK");
    doom(l, "reserved", never);
    ok(is_tombstone(l, FOLDER, never), "leaves a reservation, which can be given up");
    link_close(&other);
}

/* Whether the commits of this connection wait for the disk. */
static const char *synced(link_t *l)
{
    const bool pgsql = strcmp(l->base->driver_name, "pgsql") == 0;
    sr_connection_t connection;
    const char *value;
    if (!sr_connection_make(&connection, l->base->driver, l->handle)
        || sr_connection_ask(&value, &connection, pgsql ? "SHOW synchronous_commit" : "PRAGMA synchronous", l->pool))
        die("asking", "whether commits are synced");
    if (pgsql) return strcmp(value, "on") == 0 ? "yes" : "no";
    return strcmp(value, "2") == 0 ? "yes" : "no";
}

/* A reservation may be lost, and what is acknowledged may not. */
static void check_durability(link_t *l)
{
    const bool pgsql = strcmp(l->base->driver_name, "pgsql") == 0;
    is_str(synced(l), "yes", "commits wait for the disk");
    const char *key = reserve(l, 70);
    is_str(synced(l), pgsql ? "yes" : "no", "but not that of a reservation");
    is_str(find(l, FOLDER, 70), NULL, "reading changes nothing");
    is_str(synced(l), pgsql ? "yes" : "no", "of that");
    is_str(create(l, 70, 70, key), "ok", "the creation that takes it");
    is_str(synced(l), "yes", "waits for the disk again");
    reserve(l, 71);
    reserve(l, 72);
    is_str(create(l, 71, 73, NULL), "stale", "a creation that is refused after two reservations");
    is_str(synced(l), "yes", "would have waited too");
}

/* How many rows of "blob" and of the reservations this connection has read. */
static int rows_read(link_t *l)
{
    sr_connection_t connection;
    const char *value;
    if (!sr_connection_make(&connection, l->base->driver, l->handle)
        || sr_connection_ask(&value, &connection,
                             "SELECT sum(seq_tup_read + idx_tup_fetch) FROM pg_stat_xact_user_tables "
                             "WHERE schemaname = 'sigreq' AND relname IN ('blob', 'blob_reservation')",
                             l->pool))
        die("asking", "how many rows were read");
    return atoi(value);
}

/* A plan is made while a table has few rows, and is kept. It must read few rows when there are many. */
static void check_plans(link_t *l)
{
    const char *key;
    find(l, FOLDER, 90);
    key = reserve(l, 90);
    is_str(create(l, 90, 90, key), "ok", "a creation plans its statements");
    is_str(create(l, 91, 90, NULL), "ok", "also those for a content that was stored before");
    execute(l, "INSERT INTO sigreq.blob (size, folder, sha256, key) "
               "SELECT 1, '" FOLDER "', 'e' || lpad(to_hex(n), 63, '0'), 'e' || lpad(to_hex(n), 63, '0') || '.0' "
               "FROM generate_series(1, 1000) AS n");
    execute(l, "INSERT INTO sigreq.blob_reservation (reserved_at, folder, key) "
               "SELECT n, '" FOLDER "', 'd' || lpad(to_hex(n), 63, '0') || '.0' FROM generate_series(1, 1000) AS n");
    key = reserve(l, 92);
    execute(l, "BEGIN");
    const int before = rows_read(l);
    find(l, FOLDER, 90);
    create(l, 92, 90, NULL);
    create(l, 93, 92, key);
    const int count = rows_read(l) - before;
    execute(l, "ROLLBACK");
    ok(count > 0 && count < 50, "%d of 2000 rows are read", count);
}

static void checks(base_t *base)
{
    link_t l;
    link_connect(&l, base, base->pool);
    now_text = number(NOW, base->pool);
    hash = apr_psprintf(base->pool, "%064x", 0xabc);
    ok(!link_upgrade(&l) && !link_open(&l), "a schema");
    RUN(&l, SR_OP_ADMIN_ORGANIZATION_CREATE, uuid(5, 1, l.pool), "Org", NULL, now_text);
    RUN(&l, SR_OP_ADMIN_USER_CREATE, uuid(6, 1, l.pool), "Org", "Ann", "Lee", "ann@x.org", now_text);
    RUN(&l, SR_OP_ADMIN_TOKEN_CREATE, uuid(7, 1, l.pool), "Org", "ann@x.org", "test", "t", hash, NULL, now_text);
    check_names(&l);
    check_durability(&l);
    check_lost(&l);
    check_found(&l);
    check_folders(&l);
    check_collection(&l);
    check_spare(&l);
    if (strcmp(base->driver_name, "pgsql") == 0) {
        check_under_way(&l);
        check_plans(&l);
    }
    link_close(&l);
}

int main(void)
{
    return each_base(checks);
}
