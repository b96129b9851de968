/* SPDX-License-Identifier: Apache-2.0 */
/* Migrations: from nothing, twice, by two at once, half way into trouble; that both databases end with the same tables;
 * and that the tables, functions and views of another build are noticed. */
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
    link_upgrade(data);
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

/* What is there, by a connection of its own pool. */
static sr_schema_t schema_of(link_t *l)
{
    sr_schema_t schema = {.version = -1};
    l->error = sr_schema_read(&schema, l->base->driver, l->handle, l->pool);
    if (l->error) die("sr_schema_read", l->error->cause);
    return schema;
}

static void half_way(link_t *l, const char *stone, const char *away)
{
    execute(l, stone);
    link_upgrade(l);
    ok(l->error && strstr(l->error->cause, "migration 1"), "a stone in the way: %s", l->error ? l->error->cause : "");
    is_int(schema_of(l).version, 0, "nothing was done");
    execute(l, away);
}

/* A statement for the schema of this database: on PostgreSQL each % is its name. */
static void change(link_t *l, const char *sql)
{
    const char *name = strcmp(l->base->driver_name, "sqlite3") == 0 ? "" : "sigreq.", *rest;
    const char *text = "";
    for (; (rest = strchr(sql, '%')) != NULL; sql = rest + 1)
        text = apr_pstrcat(l->pool, text, apr_pstrmemdup(l->pool, sql, (apr_size_t)(rest - sql)), name, NULL);
    execute(l, apr_pstrcat(l->pool, text, sql, NULL));
}

static bool names(const char *text, const char *wanted)
{
    return text && strstr(text, wanted);
}

/* Functions and views are made again when they are another build's, whatever their results and columns were; what was
 * made by somebody else stays. */
static void definitions(link_t *l)
{
    const bool sqlite = strcmp(l->base->driver_name, "sqlite3") == 0;
    const char *list = sqlite ? "SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY 1"
                              : "SELECT p.oid::regprocedure || p.prosrc FROM pg_proc p "
                                "WHERE pronamespace = 'sigreq'::regnamespace ORDER BY 1";
    const char *before = all(l, list);
    sr_schema_t schema;
    if (sqlite) {
        change(l, "DROP VIEW user_row");
        change(l, "CREATE VIEW user_row AS SELECT 1 AS id");
    } else {
        change(l, "DROP FUNCTION %token_get(text, bigint, uuid)");
        change(l,
               "CREATE FUNCTION %token_get(hash text, now bigint, id uuid) RETURNS bigint LANGUAGE sql AS 'SELECT 1'");
        change(l, "CREATE FUNCTION %token_get(hash text) RETURNS bigint LANGUAGE sql AS 'SELECT 1'");
    }
    change(l, "CREATE VIEW %departed AS SELECT 1 AS id");
    change(l, "CREATE VIEW %own AS SELECT 1 AS id");
    change(l, "UPDATE %installation SET definitions_checksum = 'another', "
              "definitions = replace(definitions, ']', ',\"departed\"]')");
    schema = schema_of(l);
    ok(schema.version == schema.latest && !schema.definitions && !schema.foreign, "other definitions are noticed");
    ok(names(schema.problem, "run: sigreqctl db upgrade"), "with what to do: %s", schema.problem);
    ok(!link_upgrade(l) && l->rows->nelts == 0, "upgrade applies no migration %s", l->error ? l->error->cause : "");
    ok(!schema_of(l).problem, "the definitions are this build's");
    change(l, "DROP VIEW %own");
    is_str(all(l, list), before, "all as before, and the view of somebody else was still there");
    l->error = NULL;
}

/* Tables of another build, which has the same number. */
static void foreign(link_t *l)
{
    sr_schema_t schema;
    change(l, "UPDATE %schema_version SET checksum = 'x' || checksum WHERE version = 2");
    schema = schema_of(l);
    ok(schema.version == schema.latest && names(schema.problem, "another build: its migration 2 differs"),
       "another build's tables are noticed: %s", schema.problem);
    link_upgrade(l);
    ok(l->error && l->error->code == SR_ECONFLICT && names(l->error->message, "migration 2"), "and not upgraded: %s",
       l->error ? l->error->message : "");
    l->prepared = apr_hash_make(l->pool);
    link_open(l);
    ok(l->error && l->error->code == SR_EUNAVAILABLE && names(l->error->cause, "migration 2"), "nor used");
    change(l, "UPDATE %schema_version SET checksum = substr(checksum, 2) WHERE version = 2");
    ok(!schema_of(l).problem, "right again");
    change(l, "ALTER TABLE %schema_version RENAME COLUMN checksum TO other");
    schema = schema_of(l);
    ok(schema.version == schema.latest && names(schema.problem, "before 0.1.0"), "tables without checksums: %s",
       schema.problem);
    change(l, "ALTER TABLE %schema_version RENAME COLUMN other TO checksum");
    ok(!link_open(l), "right again");
}

static const char *columns;

static void checks(base_t *base)
{
    const bool sqlite = strcmp(base->driver_name, "sqlite3") == 0;
    const char *found;
    sr_schema_t schema;
    link_t l;
    int rows;
    link_connect(&l, base, base->pool);
    schema = schema_of(&l);
    ok(schema.latest > 0, "there are migrations");
    is_int(schema.version, 0, "nothing is version 0");
    if (sqlite) half_way(&l, "CREATE TABLE signer (x)", "DROP TABLE signer");
    else half_way(&l, "CREATE SCHEMA sigreq; CREATE TABLE sigreq.signer (x int)", "DROP SCHEMA sigreq CASCADE");
    two_at_once(base, schema.latest);
    schema = schema_of(&l);
    ok(schema.version == schema.latest && !schema.problem, "the latest version");
    ok(!link_upgrade(&l) && l.rows->nelts == 0, "again: nothing to do");
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
                         "WHERE table_schema = 'sigreq' AND table_type = 'BASE TABLE' "
                         "AND table_name <> 'submission_lock' ORDER BY 1"); /* SQLite has file locks */
    ok(strstr(found, "job.error\n") != NULL, "the columns are found");
    if (columns) is_str(found, columns, "both databases have the same tables and columns");
    else columns = found;
    definitions(&l);
    foreign(&l);
    change(&l, "INSERT INTO %schema_version VALUES (99, 'future', 'c', 0)");
    link_upgrade(&l);
    ok(l.error && l.error->code == SR_ECONFLICT, "a newer database is refused: %s", l.error ? l.error->message : "");
    apr_dbd_close(base->driver, l.handle); /* not the pool: `columns` is in it */
}

int main(void)
{
    return each_base(checks);
}
