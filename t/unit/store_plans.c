/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite's plans: no operation of a caller may read a whole table or sort, whatever the statement looks like. (On
 * PostgreSQL the functions of src/store/pgsql switch such plans off.) */
#include "store.h"
#include "store/private.h"

static int statements, steps;

/* Words of EXPLAIN QUERY PLAN that mean reading everything. What is made of the arguments ("SCAN a") is one row. */
static bool is_costly(const char *step)
{
    static const char *const tables[] = {"token", "submission", "signer", "document", "idempotency", "t", "s",
                                         "g",     "d",          "i",      "o",        "u",           "r"};
    const char *name;
    apr_size_t length;
    if (strstr(step, "USE TEMP B-TREE") || strstr(step, "AUTOMATIC")) return true;
    if (strncmp(step, "MATERIALIZE ", 12) == 0) return strstr(step, "_row") != NULL;
    if (strncmp(step, "SCAN ", 5) != 0 || strstr(step, "VIRTUAL TABLE")) return false;
    name = step + 5;
    length = strcspn(name, " ");
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        if (strlen(tables[i]) == length && strncmp(tables[i], name, length) == 0) return true;
    }
    return false;
}

/* The first costly step of a statement's plan, or NULL. */
static const char *costly_step(link_t *l, const char *text)
{
    char *sql = apr_pstrcat(l->pool, "EXPLAIN QUERY PLAN ", text, NULL);
    apr_dbd_results_t *results = NULL;
    apr_dbd_row_t *row = NULL;
    int status;
    for (char *argument = sql; (argument = strstr(argument, "%s")) != NULL;) memcpy(argument, "? ", 2);
    status = apr_dbd_select(l->base->driver, l->pool, l->handle, &results, sql, 1);
    if (status) die(sql, apr_dbd_error(l->base->driver, l->handle, status));
    while (apr_dbd_get_row(l->base->driver, l->pool, results, &row, -1) == 0) {
        const char *step = apr_dbd_get_entry(l->base->driver, row, 3);
        steps++;
        if (is_costly(step)) return step;
    }
    return NULL;
}

/* The job thread sorts what it claims, but it may not look at every job there ever was. */
static bool scans_jobs(link_t *l, const char *text)
{
    char *sql = apr_pstrcat(l->pool, "EXPLAIN QUERY PLAN ", text, NULL);
    apr_dbd_results_t *results = NULL;
    apr_dbd_row_t *row = NULL;
    bool found = false;
    for (char *argument = sql; (argument = strstr(argument, "%s")) != NULL;) memcpy(argument, "? ", 2);
    if (apr_dbd_select(l->base->driver, l->pool, l->handle, &results, sql, 1)) die(sql, "no plan");
    while (apr_dbd_get_row(l->base->driver, l->pool, results, &row, -1) == 0) {
        const char *step = apr_dbd_get_entry(l->base->driver, row, 3);
        found = found || strcmp(step, "SCAN job") == 0 || strcmp(step, "SCAN d") == 0 || strcmp(step, "SCAN j") == 0
                || strcmp(step, "SCAN l") == 0 || strcmp(step, "SCAN o") == 0 || strcmp(step, "SCAN c") == 0
                || strcmp(step, "SCAN timer") == 0 || strcmp(step, "SCAN t") == 0 || strcmp(step, "SCAN y") == 0
                || strcmp(step, "SCAN s") == 0;
    }
    return found;
}

int main(void)
{
    apr_pool_t *pool;
    base_t base = {0};
    link_t l;
    apr_initialize();
    apr_pool_create(&pool, NULL);
    apr_dbd_init(pool);
    base_make(&base, "sqlite3", pool);
    link_connect(&l, &base, pool);
    ok(!link_upgrade(&l), "upgrade");
    for (int op = 0; op < SR_OP_PING; op++) {
        const sr_operation_t *operation = &sr_sql_sqlite3.operations[op];
        for (int i = 0; i < operation->count; i++, statements++) {
            if (op == SR_OP_SUBMISSION_LIST && strstr(operation->statements[i].text, "submission s INDEXED BY"))
                continue; /* 5,000 rows */
            is_str(costly_step(&l, operation->statements[i].text), NULL, "%s, statement %d", operation->name, i + 1);
        }
    }
    for (int op = SR_OP_JOB_POLL; op <= SR_OP_JOB_ARCHIVE; op++) {
        const sr_operation_t *operation = &sr_sql_sqlite3.operations[op];
        for (int i = 0; i < operation->count; i++) {
            ok(!scans_jobs(&l, operation->statements[i].text), "%s, statement %d", operation->name, i + 1);
        }
    }
    const sr_op_t expiries[] = {SR_OP_ADMIN_EXPIRE, SR_OP_ADMIN_HISTORY_EXPIRE};
    for (int i = 0; i < 2; i++) {
        const char *text = sr_sql_sqlite3.operations[expiries[i]].statements[0].text;
        ok(!costly_step(&l, text) && !scans_jobs(&l, text), "gc scans no table: %.40s", text);
    }
    ok(scans_jobs(&l, "SELECT count(*) FROM job WHERE created_at > 5"), "a scan of all is noticed");
    ok(statements >= SR_OP_PING && steps > 3 * statements / 2, "%d statements of %d steps", statements, steps);
    is_str(costly_step(&l, "SELECT * FROM token t ORDER BY name"), "SCAN t", "a scan is noticed");
    ok(costly_step(&l, "SELECT * FROM token WHERE id > 5 ORDER BY name") != NULL, "and so is a sort");
    link_close(&l);
    base_remove(&base);
    return done();
}
