/* SPDX-License-Identifier: Apache-2.0 */
/* store.h: what the tests of src/store share: a fresh database of each kind, and operations as one line each.
 * PostgreSQL is tested where SIGREQ_TEST_PGSQL holds DBDParams of a database whose schema `sigreq` may be dropped. */
#ifndef SR_TEST_STORE_H
#define SR_TEST_STORE_H

#include "store/private.h"
#include "tap.h"

#include <apr_general.h>
#include <unistd.h>

typedef struct base_t {
    const char *driver_name;
    const char *params;
    const apr_dbd_driver_t *driver;
    apr_pool_t *pool;
} base_t;

/* Lets one writer of SQLite after the other write, as httpd's source of connections does. */
typedef struct writers_t {
    apr_status_t (*lock)(void *baton);
    apr_status_t (*unlock)(void *baton);
    void *baton;
} writers_t;

/* A connection and the store over it. */
typedef struct link_t {
    const base_t *base;
    apr_pool_t *pool;
    apr_dbd_t *handle;
    apr_hash_t *prepared;
    sr_store_t *store;
    const writers_t *lock; /* or NULL */
    sr_watch_t *watch;
    sr_op_t op;        /* the last operation */
    sr_error_t *error; /* of it */
    sr_outcome_t outcome;
    apr_array_header_t *rows;
} link_t;

static const char *const outcome_names[] = {"ok",       "unauthorized", "missing", "quota",  "replay",
                                            "conflict", "gone",         "stale",   "deleted"};

static inline void die(const char *what, const char *why)
{
    printf("Bail out! %s: %s\n", what, why ? why : "?");
    exit(2);
}

static inline void execute(link_t *link, const char *sql)
{
    int rows;
    const int status = apr_dbd_query(link->base->driver, link->handle, &rows, sql);

    if (status) die(sql, apr_dbd_error(link->base->driver, link->handle, status));
}

static inline void link_connect(link_t *link, const base_t *base, apr_pool_t *parent)
{
    const char *why = NULL;

    memset(link, 0, sizeof *link);
    link->base = base;
    apr_pool_create(&link->pool, parent);
    if (apr_dbd_open_ex(base->driver, link->pool, base->params, &link->handle, &why)) die(base->params, why);
    link->prepared = apr_hash_make(link->pool);
}

static inline sr_error_t *link_open(link_t *link)
{
    return link->error = sr_store_open(&link->store, link->base->driver, link->handle, link->prepared, link->pool,
                                       link->watch, link->pool);
}

/* The contents that submissions of tests name (wish) are stored: those of the numbers up to 8191. */
#define FOLDER "f01de500-0000-4000-8000-000000000000"

static inline void link_contents(link_t *link)
{
    if (strcmp(link->base->driver_name, "pgsql") == 0)
        execute(link, "INSERT INTO sigreq.blob (folder, sha256, key, size) SELECT '" FOLDER
                      "'::uuid, lpad(to_hex(n), 64, '0'), "
                      "lpad(to_hex(n), 64, '0') || '.0', 1234 FROM generate_series(0, 8191) n "
                      "UNION ALL SELECT '" FOLDER "'::uuid, 'part', 'part.0', 10 "
                      "UNION ALL SELECT '" FOLDER "'::uuid, 'cert', 'cert.0', 99");
    else
        execute(link, "WITH RECURSIVE c(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM c WHERE n < 8191) "
                      "INSERT INTO blob (folder, sha256, key, size) SELECT '" FOLDER
                      "', printf('%064x', n), printf('%064x.0', n), 1234 "
                      "FROM c UNION ALL SELECT '" FOLDER "', 'part', 'part.0', 10 "
                      "UNION ALL SELECT '" FOLDER "', 'cert', 'cert.0', 99");
}

/* Brings the database to what this build needs; what was applied is in rows. */
static inline sr_error_t *link_upgrade(link_t *link)
{
    bool defined;

    return link->error = sr_schema_upgrade(&link->rows, &defined, link->base->driver, link->handle, link->pool);
}

static inline void link_close(link_t *link)
{
    apr_dbd_close(link->base->driver, link->handle);
    apr_pool_destroy(link->pool);
}

/* A fresh database of this driver; false when there is none to test with. */
static inline bool base_make(base_t *base, const char *driver, apr_pool_t *pool)
{
    const char *pgsql = getenv("SIGREQ_TEST_PGSQL");
    link_t link;

    base->driver_name = driver;
    base->pool = pool;
    if (strcmp(driver, "pgsql") == 0) {
        base->params = pgsql;
        if (!pgsql || !*pgsql) return false;
    } else {
        char folder[] = "/tmp/sigreq-test-XXXXXX";
        if (!mkdtemp(folder)) die("mkdtemp", folder);
        base->params = apr_pstrcat(pool, folder, "/store.db", NULL);
    }
    if (apr_dbd_get_driver(pool, driver, &base->driver)) die("no driver", driver);
    link_connect(&link, base, pool);
    if (strcmp(driver, "pgsql") == 0) execute(&link, "DROP SCHEMA IF EXISTS sigreq CASCADE");
    link_close(&link);
    return true;
}

/* PRAGMA integrity_check must find nothing in a database that a test has used. */
static inline void base_check(const base_t *base)
{
    apr_dbd_results_t *results = NULL;
    apr_dbd_row_t *row = NULL;
    link_t link;

    link_connect(&link, base, base->pool);
    if (apr_dbd_select(base->driver, link.pool, link.handle, &results, "PRAGMA integrity_check", 1)
        || apr_dbd_get_row(base->driver, link.pool, results, &row, -1))
        die("integrity_check", "no answer");
    const char *said = apr_dbd_get_entry(base->driver, row, 0);
    if (strcmp(said, "ok") != 0) die("integrity_check", said);
    link_close(&link);
}

static inline void base_remove(const base_t *base)
{
    static const char *const endings[] = {"", "-wal", "-shm"};

    if (strcmp(base->driver_name, "sqlite3") != 0) return;
    base_check(base);
    for (size_t i = 0; i < 3; i++) unlink(apr_pstrcat(base->pool, base->params, endings[i], NULL));
    rmdir(apr_pstrndup(base->pool, base->params, strlen(base->params) - strlen("/store.db")));
}

/* Runs an operation and gives its first body, or NULL. On an error the outcome's name is "error". */
#define RUN(link, op, ...)                                                                                             \
    link_run((link), (op), (const char *const[]){NULL, ##__VA_ARGS__} + 1,                                             \
             (int)(sizeof((const char *const[]){NULL, ##__VA_ARGS__}) / sizeof(char *)) - 1)

static inline json_t *value_json(const sr_column_t *column, const char *text)
{
    if (!text) return json_null();
    if (column->type == SR_VALUE_TEXT) return json_string(text);
    if (column->type == SR_VALUE_BOOL) return json_boolean(*text == 't' || *text == '1');
    return json_integer(strtoll(text, NULL, 10));
}

/* A row: its only column as text, or all as a JSON object. */
static inline const char *body_at(const link_t *link, int index)
{
    const sr_row_kind_t *kind = sr_store_shapes[link->op].row;
    const char *const *values = APR_ARRAY_IDX(link->rows, index, sr_row_t).values;
    json_t *row = json_object();
    for (int i = 0; kind && i < kind->count; i++)
        json_object_set_new(row, kind->columns[i].name, value_json(&kind->columns[i], values[i]));
    char *text = json_dumps(row, JSON_COMPACT);
    const char *kept = kind && kind->count > 1 ? apr_pstrdup(link->pool, text) : values[0];
    free(text);
    json_decref(row);
    return kept;
}

static inline const char *link_run(link_t *link, sr_op_t op, const char *const *arguments, int count)
{
    const writers_t *writers = sr_store_reads(op) ? NULL : link->lock;

    link->rows = NULL;
    if (writers) writers->lock(writers->baton);
    link->error = sr_store_run(link->store, op, &link->outcome, &link->rows, arguments, count, link->pool);
    if (writers) writers->unlock(writers->baton);
    link->op = op;
    return link->error || !link->rows->nelts ? NULL : body_at(link, 0);
}

/* Runs an operation and gives one member of its first row, or NULL. */
#define MEMBER(name, link, op, ...) member_of(RUN(link, op, ##__VA_ARGS__), (name), (link)->pool)

static inline const char *member_of(const char *row, const char *name, apr_pool_t *pool)
{
    json_t *object = row ? json_loads(row, 0, NULL) : NULL;
    const char *value = apr_pstrdup(pool, json_string_value(json_object_get(object, name)));
    json_decref(object);
    return value;
}

static inline const char *link_outcome(const link_t *link)
{
    if (!link->error) return outcome_names[link->outcome];
    printf("# %s (%s)\n", link->error->message, link->error->cause ? link->error->cause : "");
    return "error";
}

/* A column of a row of the last operation, as text, or NULL. */
static inline const char *column_at(const link_t *link, int index, const char *name)
{
    const sr_row_kind_t *kind = sr_store_shapes[link->op].row;
    for (int i = 0; kind && !link->error && index < link->rows->nelts && i < kind->count; i++)
        if (strcmp(kind->columns[i].name, name) == 0) return APR_ARRAY_IDX(link->rows, index, sr_row_t).values[i];
    return NULL;
}
#define COLUMN(link, name) column_at(link, 0, name)

/* The place of a row in its list: "<time>:<id>". */
static inline const char *key_at(const link_t *link, int index)
{
    const char *at = column_at(link, index, link->op == SR_OP_HISTORY_LIST ? "ended_at" : "created_at");
    return apr_pstrcat(link->pool, at, ":", column_at(link, index, "id"), NULL);
}

/* One member of a JSON body as text. */
static inline const char *member(const char *body, const char *name, apr_pool_t *pool)
{
    json_t *object = body ? json_loads(body, 0, NULL) : NULL;
    const json_t *value = object ? json_object_get(object, name) : NULL;
    char *text = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    const char *kept = text ? apr_pstrdup(pool, text) : NULL;

    free(text);
    json_decref(object);
    return kept;
}

/* Adds the member "new_blobs": the blobs that have a key, if there are any. */
static inline void add_new_blobs(json_t *object)
{
    json_t *found = json_array(), *blob;
    size_t i;
    json_array_foreach (json_object_get(object, "blobs"), i, blob)
        if (json_is_string(json_object_get(blob, "key"))) json_array_append(found, blob);
    if (json_array_size(found)) json_object_set(object, "new_blobs", found);
    json_decref(found);
}

/* Runs an operation whose arguments are members of an object; "" is what is left of it. A member that is missing is
 * NULL. */
static inline const char *link_split(link_t *link, sr_op_t op, const char *const *names, const char *text)
{
    const char *arguments[16] = {NULL};
    json_t *object = json_loads(text, 0, NULL);
    int count = 0;
    add_new_blobs(object);
    for (; names[count]; count++) {
        if (!*names[count]) continue;
        const json_t *value = json_object_get(object, names[count]);
        if (json_is_string(value)) arguments[count] = apr_pstrdup(link->pool, json_string_value(value));
        else if (value && !json_is_null(value)) arguments[count] = sr_json_text(value, link->pool);
        json_object_del(object, names[count]);
    }
    for (int i = 0; i < count; i++)
        if (!*names[i]) arguments[i] = sr_json_text(object, link->pool);
    json_decref(object);
    return link_run(link, op, arguments, count);
}

static const char *const creation_arguments[] = {
    "token_hash", "now",   "uuid",      "",          "representation", "metadata", "idempotency_key",
    "folder",     "blobs", "new_blobs", "revisions", "webhooks",       "timers",   NULL};
static const char *const change_arguments[] = {"submission", "now",      "",          "representation", "folder",
                                               "blobs",      "replaced", "revisions", "webhooks",       "timers",
                                               "ended",      "sent",     NULL};
#define CREATE(link, text) link_split((link), SR_OP_SUBMISSION_CREATE, creation_arguments, (text))
#define CHANGE(link, text) link_split((link), SR_OP_SIGNING_CHANGE, change_arguments, (text))

/* The n-th of a family of uuids: family 1 to f, n up to 8 hexadecimal digits. */
static inline const char *uuid(int family, unsigned n, apr_pool_t *pool)
{
    return apr_psprintf(pool, "%08x-0000-4000-8000-00000000000%x", n, (unsigned)family);
}

/* The arguments of SUBMISSION_CREATE (CREATE); `key` and `fingerprint` may be NULL. */
typedef struct wish_t {
    const char *token;
    apr_time_t now;
    unsigned number;
    const char *name;
    const char *key, *fingerprint;
    apr_time_t since;
} wish_t;

static inline const char *wish(const wish_t *w, apr_pool_t *pool)
{
    json_t *json = json_pack(
        "{s:s,s:I,s:s,s:s,s:s,s:b,s:b,s:o,s:s,s:s,s:s,s:s,s:[{s:s,s:s,s:s,s:i,s:i},{s:s,s:s,s:s,s:i,s:i}],"
        "s:[{s:s,s:i,s:s,s:s,s:s,s:s?,s:[{s:s}]},{s:s,s:i,s:s,s:s,s:s,s:s?,s:[{s:s}]}],s:s?,s:s?,s:I,s:i,s:s}",
        "token_hash", w->token, "now", (json_int_t)w->now, "uuid", uuid(1, w->number, pool), "name", w->name,
        "template_uuid", uuid(2, w->number, pool), "skip_intro", 1, "send_email", 0, "search",
        json_sprintf("%s ann lee ann@x.org", w->name), "base_url", "https://x.org", "representation",
        apr_psprintf(pool, "{\"link\":\"\x01/%u\",\"name\":\"%s \\\"q\\\" \xc3\xa9\"}", w->number, w->name),
        "event_hash", "e1", "event", "{\"number\":1}", "documents", "uuid", uuid(3, w->number * 2, pool), "name",
        "a \"b\".pdf", "sha256", apr_psprintf(pool, "%064x", w->number), "size", 1234, "pages", 3, "uuid",
        uuid(3, w->number * 2 + 1, pool), "name", "b.pdf", "sha256", apr_psprintf(pool, "%064x", 0xb0b), "size", 0,
        "pages", 1, "signers", "state", "sent", "signing_order", 1, "uuid", uuid(4, w->number * 2, pool), "firstname",
        "Ann", "lastname", "Lee", "email", "ann@x.org", "fields", "name", "s1", "state", "sent", "signing_order", 1,
        "uuid", uuid(4, w->number * 2 + 1, pool), "firstname", "Bob", "lastname", "Lee", "email", NULL, "fields",
        "name", "s2", "idempotency_key", w->key, "fingerprint", w->fingerprint, "idempotency_since",
        (json_int_t)w->since, "representation_version", 7, "folder", FOLDER);
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    const char *kept = text ? apr_pstrdup(pool, text) : NULL;

    if (!kept) die("json_pack", w->name);
    free(text);
    json_decref(json);
    return kept;
}

static inline const char *number(apr_int64_t value, apr_pool_t *pool)
{
    return apr_psprintf(pool, "%" APR_INT64_T_FMT, value);
}

/* Runs the same checks against each database. */
static inline int each_base(void (*checks)(base_t *base))
{
    static const char *const drivers[] = {"sqlite3", "pgsql"};

    apr_initialize();
    for (int i = 0; i < 2; i++) {
        apr_pool_t *pool;
        base_t base = {0};
        apr_pool_create(&pool, NULL);
        if (i == 0) apr_dbd_init(pool);
        printf("# %s\n", drivers[i]);
        if (base_make(&base, drivers[i], pool)) {
            checks(&base);
            base_remove(&base);
        } else {
            skip("PostgreSQL: SIGREQ_TEST_PGSQL is not set");
        }
        if (i == 1) apr_pool_destroy(pool);
    }
    return done();
}

#endif
