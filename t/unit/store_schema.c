/* Migrations: from nothing, twice, by two at once, half way into trouble; and that both databases end with the same
 * tables. */
#include "store.h"

#include <apr_thread_proc.h>

/* One column of every row, each with a newline. */
static const char *all(link_t *link, const char *sql)
{
    apr_dbd_results_t *results = NULL;
    apr_dbd_row_t *row = NULL;
    const char *text = "";
    const int status = apr_dbd_select(link->base->driver, link->pool, link->handle, &results, sql, 1);

    if (status) die(sql, apr_dbd_error(link->base->driver, link->handle, status));
    while (apr_dbd_get_row(link->base->driver, link->pool, results, &row, -1) == 0) {
        text = apr_pstrcat(link->pool, text, apr_dbd_get_entry(link->base->driver, row, 0), "\n", NULL);
    }
    return text;
}

static void *APR_THREAD_FUNC upgrade(apr_thread_t *thread, void *data)
{
    link_t *link = data;
    apr_array_header_t *applied = NULL;

    link->error = sr_schema_upgrade(&applied, link->base->driver, link->handle, link->pool);
    link->rows = applied;
    return NULL;
}

static void two_at_once(base_t *base, int latest)
{
    link_t links[2];
    apr_thread_t *threads[2];
    apr_status_t ignored;

    for (int i = 0; i < 2; i++) link_connect(&links[i], base, NULL);
    for (int i = 0; i < 2; i++) apr_thread_create(&threads[i], NULL, upgrade, &links[i], base->pool);
    for (int i = 0; i < 2; i++) apr_thread_join(&ignored, threads[i]);
    for (int i = 0; i < 2; i++) {
        ok(!links[i].error, "two at once: %d has no error %s", i, links[i].error ? links[i].error->cause : "");
    }
    is_int(links[0].rows->nelts + links[1].rows->nelts, latest, "every migration is applied once");
    for (int i = 0; i < 2; i++) link_close(&links[i]);
}

static void half_way(link_t *l, const char *stone, const char *away)
{
    apr_array_header_t *applied;
    int version;

    execute(l, stone);
    l->error = sr_schema_upgrade(&applied, l->base->driver, l->handle, l->pool);
    ok(l->error && strstr(l->error->cause, "migration 1"), "a stone in the way: %s", l->error ? l->error->cause : "");
    ok(!sr_schema_version(&version, l->base->driver, l->handle, l->pool) && version == 0, "nothing was done");
    execute(l, away);
}

static const char *columns;

static void checks(base_t *base)
{
    const bool sqlite = strcmp(base->driver_name, "sqlite3") == 0;
    apr_array_header_t *applied;
    const char *found;
    link_t l;
    int latest, version = -1, rows;

    link_connect(&l, base, base->pool);
    latest = sr_schema_latest(base->driver);
    ok(latest > 0, "there are migrations");
    ok(!sr_schema_version(&version, base->driver, l.handle, l.pool) && version == 0, "nothing is version 0");
    if (sqlite) half_way(&l, "CREATE TABLE signer (x)", "DROP TABLE signer");
    else half_way(&l, "CREATE SCHEMA sigreq; CREATE TABLE sigreq.signer (x int)", "DROP SCHEMA sigreq CASCADE");
    two_at_once(base, latest);
    ok(!sr_schema_version(&version, base->driver, l.handle, l.pool) && version == latest, "the latest version");
    ok(!sr_schema_upgrade(&applied, base->driver, l.handle, l.pool) && applied->nelts == 0, "again: nothing to do");
    ok(!link_open(&l), "open");
    ok(apr_dbd_query(base->driver, l.handle, &rows,
                     sqlite ? "INSERT INTO document VALUES (77, 0, 'u', 's', 1, 1, 'n')"
                            : "INSERT INTO sigreq.document VALUES (77, 1, 0, 1, gen_random_uuid(), 's', 'n')"),
       "foreign keys hold");
    if (sqlite) is_str(all(&l, "PRAGMA journal_mode"), "wal\n", "the file is in WAL mode");
    if (sqlite) is_str(all(&l, "PRAGMA synchronous"), "2\n", "synchronous is FULL");
    found =
        all(&l, sqlite ? "SELECT m.name || '.' || c.name FROM sqlite_master m, pragma_table_xinfo(m.name) c "
                         "WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' ORDER BY 1"
                       : "SELECT c.table_name || '.' || c.column_name COLLATE \"C\" FROM information_schema.columns c "
                         "JOIN information_schema.tables t USING (table_schema, table_name) "
                         "WHERE table_schema = 'sigreq' AND table_type = 'BASE TABLE' ORDER BY 1");
    ok(strstr(found, "delivery.error\n") != NULL, "the columns are found");
    if (columns) is_str(found, columns, "both databases have the same tables and columns");
    else columns = found;
    execute(&l, sqlite ? "INSERT INTO schema_version VALUES (99, 'future', 0)"
                       : "INSERT INTO sigreq.schema_version VALUES (99, 'future', 0)");
    l.error = sr_schema_upgrade(&applied, base->driver, l.handle, l.pool);
    ok(l.error && l.error->code == SR_ECONFLICT, "a newer database is refused: %s", l.error ? l.error->message : "");
    apr_dbd_close(base->driver, l.handle); /* not the pool: `columns` is in it */
}

int main(void)
{
    return each_base(checks);
}
