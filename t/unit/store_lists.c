/* SPDX-License-Identifier: Apache-2.0 */
/* store_lists.c: a page of the list reads a bounded number of pages of the database, whatever the filter: a caller has
 * 150,000 submissions, and few fit. */
#include "store.h"

#include <dlfcn.h>

#define MANY "150000"
#define HASH "00000000000000000000000000000000000000000000000000000000000000a1"
#define NOW 1790000000000000

static bool is_sqlite;

/* One submission a second, of which a few are different. */
static void fill(link_t *l)
{
    apr_pool_t *p = l->pool;
    const char *in = is_sqlite ? "" : "sigreq.", *now = number(NOW, p);
    const char *rows = is_sqlite ? "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " MANY ") "
                                 : "WITH n(i) AS (SELECT generate_series(1, " MANY ")) ";
    RUN(l, SR_OP_ADMIN_ORGANIZATION_CREATE, uuid(5, 1, p), "Org", NULL, now);
    RUN(l, SR_OP_ADMIN_USER_CREATE, uuid(6, 1, p), "Org", "Ann", "Lee", "ann@x.org", now);
    RUN(l, SR_OP_ADMIN_TOKEN_CREATE, uuid(7, 1, p), "Org", "ann@x.org", "test", "t", HASH, NULL, now);
    is_str(link_outcome(l), "ok", "a token");
    const char *link = is_sqlite ? "lower(printf('%08x-0000-4000-8000-000000000001', i))"
                                 : "(lpad(to_hex(i), 8, '0') || '-0000-4000-8000-000000000001')::uuid";
    execute(l, "BEGIN");
    execute(l, apr_pstrcat(p, rows, "INSERT INTO ", in,
                           "submission (uuid, token_id, user_id, organization_id, environment, created_at, updated_at, "
                           "template_uuid, skip_intro, send_email, events, events_hash, representation_version, name, "
                           "search, base_url, representation, state, external_id) SELECT ",
                           link,
                           ", t.id, t.user_id, t.organization_id, t.environment, i * CAST(1000000 AS BIGINT), "
                           "CASE WHEN i % 60000 = 5 THEN 200000000000 ELSE i * CAST(1000000 AS BIGINT) END, t.uuid, ",
                           is_sqlite ? "0, 0" : "false, false",
                           ", 1, 'h', 1, 'n', "
                           "CASE WHEN i = 9 THEN 'needle' ELSE 'ann lee' END, 'b', ",
                           is_sqlite ? "printf('%400s', 'r')" : "repeat('r', 400)",
                           ", CASE WHEN i % 60000 = 6 THEN 'expired' ELSE 'open' END, "
                           "CASE WHEN i % 60000 = 7 THEN 'E' END FROM n, ",
                           in, "token t", NULL));
    execute(l, apr_pstrcat(p, "INSERT INTO ", in,
                           "signer_status (submission_id, status, user_id, organization_id, "
                           "environment, created_at) SELECT id, CASE WHEN created_at % 60000000000 = 8000000 "
                           "THEN 'opened' ELSE 'sent' END, user_id, organization_id, environment, created_at FROM ",
                           in, "submission", NULL));
    execute(l, "COMMIT");
}

typedef struct filter_t {
    const char *states, *state, *external, *updated, *q;
} filter_t;

/* How many pages the last operations of this connection have asked the cache of SQLite for. */
static long cached(const link_t *l)
{
    int (*status)(void *, int, int *, int *, int);
    void *library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_NOLOAD);
    int hits = 0, misses = 0, highest;
    *(void **)&status = dlsym(library ? library : RTLD_DEFAULT, "sqlite3_db_status");
    if (!status) die("sqlite3_db_status", "not found");
    status(apr_dbd_native_handle(l->base->driver, l->handle), 7, &hits, &highest, 1);
    status(apr_dbd_native_handle(l->base->driver, l->handle), 8, &misses, &highest, 1);
    return hits + misses;
}

static const char *quoted(const char *value, apr_pool_t *pool)
{
    return value ? apr_pstrcat(pool, "'", value, "'", NULL) : "NULL";
}

static long blocks_of(const char *plan, const char *kind)
{
    const char *at = strstr(plan, kind);
    return at ? strtol(at + strlen(kind), NULL, 10) : 0;
}

static long explained(link_t *l, const filter_t *f, const char *at, const char *id)
{
    apr_pool_t *p = l->pool;
    apr_dbd_results_t *results = NULL;
    apr_dbd_row_t *row = NULL;
    const char *sql =
        apr_psprintf(p,
                     "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM sigreq.submission_list('" HASH
                     "', %s, 11, 'older', %s, %s, %s, %s, %s, %s, %s, NULL, NULL, 8000000, 1)",
                     number(NOW, p), at ? at : "NULL", id ? id : "NULL", quoted(f->states, p), quoted(f->state, p),
                     quoted(f->external, p), f->updated ? f->updated : "NULL", quoted(f->q, p));
    if (apr_dbd_select(l->base->driver, p, l->handle, &results, sql, 1)
        || apr_dbd_get_row(l->base->driver, p, results, &row, -1))
        die(sql, "no plan");
    const char *plan = apr_dbd_get_entry(l->base->driver, row, 0);
    return blocks_of(plan, "\"Shared Hit Blocks\": ") + blocks_of(plan, "\"Shared Read Blocks\": ");
}

/* Lists a page. Returns how many pages of the database that has read. */
static long list(link_t *l, const filter_t *f, const char *at, const char *id)
{
    if (is_sqlite) cached(l);
    RUN(l, SR_OP_SUBMISSION_LIST, HASH, number(NOW, l->pool), "11", "older", at, id, f->states, f->state, f->external,
        f->updated, f->q, NULL, NULL, "8000000", "1");
    if (l->error) die("list", l->error->cause);
    return is_sqlite ? cached(l) : explained(l, f, at, id);
}

static void few(link_t *l, const char *name, const filter_t *f, int expected)
{
    const long pages = list(l, f, NULL, NULL);
    int rows = l->rows->nelts;
    if (rows && !column_at(l, rows - 1, "uuid")) rows--;
    is_int(rows, expected, "%s: rows", name);
    ok(pages > 0 && pages < 1000, "%s: %ld pages are read", name, pages);
}

/* A search goes through all submissions, 5,000 for each page of the list. */
static void search(link_t *l, const filter_t *f)
{
    const long most = is_sqlite ? 60000 : 3000; /* SQLite counts each step down its tree */
    const char *at = NULL, *id = NULL, *found = NULL;
    long pages = 1, highest = 0;
    int count = 0;
    for (; !found && pages && count < 100; count++) {
        pages = list(l, f, at, id);
        if (pages > highest) highest = pages;
        found = COLUMN(l, "uuid");
        if (!l->rows->nelts) break;
        at = apr_pstrdup(l->pool, column_at(l, l->rows->nelts - 1, "created_at"));
        id = apr_pstrdup(l->pool, column_at(l, l->rows->nelts - 1, "id"));
    }
    is_str(found, "00000009-0000-4000-8000-000000000001", "a search finds the last of them");
    is_int(count, 30, "in so many pages of the list");
    ok(highest < most, "for the largest one %ld pages are read", highest);
}

static void filters(link_t *l)
{
    few(l, "no filter", &(filter_t){0}, 11);
    few(l, "status sent", &(filter_t){.states = "sent"}, 11);
    few(l, "status opened", &(filter_t){.states = "opened,refused"}, 3);
    few(l, "status completed", &(filter_t){.states = "completed"}, 0);
    few(l, "expired", &(filter_t){.state = "expired"}, 3);
    few(l, "cancelled", &(filter_t){.state = "cancelled"}, 0);
    few(l, "external id", &(filter_t){.external = "E"}, 3);
    few(l, "another external id", &(filter_t){.external = "F"}, 0);
    few(l, "updated", &(filter_t){.updated = "190000000000"}, 3);
    few(l, "updated long ago", &(filter_t){.updated = "1"}, 11);
    few(l, "not updated", &(filter_t){.updated = "300000000000"}, 0);
    few(l, "q that often fits", &(filter_t){.q = "lee"}, 11);
    few(l, "two filters", &(filter_t){.state = "expired", .q = "lee"}, 3);
    search(l, &(filter_t){.q = "needle"});
}

static void checks(base_t *base)
{
    link_t l;
    is_sqlite = strcmp(base->driver_name, "sqlite3") == 0;
    link_connect(&l, base, base->pool);
    if (link_upgrade(&l) || link_open(&l)) die("no tables", l.error->cause);
    fill(&l);
    filters(&l);
    if (!is_sqlite) { /* with statistics plans may differ */
        execute(&l, "VACUUM ANALYZE");
        filters(&l);
    }
    link_close(&l);
}

int main(void)
{
    return each_base(checks);
}
