/* SPDX-License-Identifier: Apache-2.0 */
/* import.c: copies all rows of an SQLite database into an empty PostgreSQL database (sigreqctl db copy). The catalogue
 * of the server gives the tables in the order of their foreign keys, and the statements for both databases, so a table
 * or column of a later migration is copied, too. SQLite reads the rows one by one as JSON objects. apr_dbd would read a
 * whole table into memory, so four functions of SQLite are looked up in the library that its driver has loaded. */
#include "store/private.h"

#include <dlfcn.h>
#include <string.h>

#define BATCH ((apr_size_t)1 << 20) /* bytes of rows that one statement inserts */
#define ROW 100                     /* SQLITE_ROW */
#define DONE 101                    /* SQLITE_DONE */

typedef struct import_t {
    sr_connection_t from, to;
    apr_pool_t *pool, *scratch_pool; /* the transactions are rolled back with scratch_pool unless they were committed */
    int (*prepare)(void *database, const char *sql, int length, void **statement, const char **rest);
    int (*step)(void *statement);
    const char *(*text)(void *statement, int column);
    int (*finalize)(void *statement);
} import_t;

static const char *import_member(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

/* Runs a statement of a plan. *value is its first column. */
static sr_error_t *import_ask(const char **value, const sr_connection_t *connection, const char *sql, const char *what,
                              apr_pool_t *pool)
{
    const int status = sr_connection_ask(value, connection, sql, pool);
    return status == 0 ? NULL : sr_connection_failed(connection, status, what, pool);
}

/* Inserts rows, each a JSON object. */
static sr_error_t *insert(const import_t *import, const json_t *table, const apr_array_header_t *rows, apr_pool_t *pool)
{
    const sr_connection_t *to = &import->to;
    const char *argument = apr_pstrcat(pool, "[", apr_array_pstrcat(pool, rows, ','), "]", NULL);
    apr_dbd_prepared_t *statement = NULL;
    int count, status = apr_dbd_prepare(to->driver, pool, to->handle, import_member(table, "write"), NULL, &statement);
    if (status == 0) status = apr_dbd_pquery(to->driver, pool, to->handle, &count, statement, 1, &argument);
    return status == 0 ? NULL : sr_connection_failed(to, status, import_member(table, "name"), import->pool);
}

/* Reads the rows of an SQLite statement, and inserts them. */
static sr_error_t *copy_rows(const import_t *import, const json_t *table, void *statement, apr_pool_t *batch_pool)
{
    apr_array_header_t *rows = apr_array_make(batch_pool, 64, sizeof(const char *));
    apr_size_t bytes = 0;
    int result;
    while ((result = import->step(statement)) == ROW) {
        const char *row = import->text(statement, 0);
        if (!row) return sr_error(import->pool, SR_EINTERNAL, "%s: no memory", import_member(table, "name"));
        APR_ARRAY_PUSH(rows, const char *) = apr_pstrdup(batch_pool, row);
        bytes += strlen(row);
        if (bytes < BATCH) continue;
        SR_TRY(insert(import, table, rows, batch_pool));
        apr_pool_clear(batch_pool);
        rows = apr_array_make(batch_pool, 64, sizeof(const char *));
        bytes = 0;
    }
    if (result != DONE) return sr_connection_failed(&import->from, result, import_member(table, "name"), import->pool);
    return rows->nelts ? insert(import, table, rows, batch_pool) : NULL;
}

/* Copies a table, compares the numbers of rows, and adds the number to the report. */
static sr_error_t *copy_table(const import_t *import, const json_t *table, json_t *report)
{
    void *own = apr_dbd_native_handle(import->from.driver, import->from.handle), *statement = NULL;
    const char *name = import_member(table, "name"), *sequence = import_member(table, "sequence"), *before, *after,
               *ignored;
    apr_pool_t *batch_pool;
    const int status = import->prepare(own, import_member(table, "read"), -1, &statement, NULL);
    if (status != 0) return sr_connection_failed(&import->from, status, name, import->pool);
    apr_pool_create(&batch_pool, import->scratch_pool);
    sr_error_t *error = copy_rows(import, table, statement, batch_pool);
    import->finalize(statement);
    apr_pool_destroy(batch_pool);
    if (error) return error;
    SR_TRY(import_ask(&before, &import->from, import_member(table, "before"), name, import->pool));
    SR_TRY(import_ask(&after, &import->to, import_member(table, "after"), name, import->pool));
    if (!before || !after || strcmp(before, after) != 0)
        return sr_error(import->pool, SR_EINTERNAL, "%s has %s rows, but %s were copied: nothing was changed", name,
                        before, after);
    if (sequence) SR_TRY(import_ask(&ignored, &import->to, sequence, name, import->pool));
    json_array_append_new(report, json_pack("{s:s,s:I}", "table", name, "rows", (json_int_t)apr_atoi64(after)));
    return NULL;
}

static bool import_find_functions(import_t *import)
{
    void *library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_NOLOAD);
    if (!library) library = RTLD_DEFAULT;
    *(void **)&import->prepare = dlsym(library, "sqlite3_prepare_v2");
    *(void **)&import->step = dlsym(library, "sqlite3_step");
    *(void **)&import->text = dlsym(library, "sqlite3_column_text");
    *(void **)&import->finalize = dlsym(library, "sqlite3_finalize");
    return import->prepare && import->step && import->text && import->finalize;
}

static sr_error_t *current(const sr_connection_t *connection, const char *which, apr_pool_t *pool)
{
    sr_schema_t schema;
    SR_TRY(sr_schema_read(&schema, connection->driver, connection->handle, pool));
    return schema.problem ? sr_error(pool, SR_ECONFLICT, "%s: %s", which, schema.problem) : NULL;
}

/* Begins both transactions. Other processes can write to neither database until they end. */
static sr_error_t *import_begin(import_t *import, json_t **plan)
{
    const char *text, *occupied;
    int status = sr_connection_begin(&import->from, import->scratch_pool);
    if (status != 0) return sr_connection_failed(&import->from, status, "the source", import->pool);
    status = sr_connection_begin(&import->to, import->scratch_pool);
    if (status != 0) return sr_connection_failed(&import->to, status, "the target", import->pool);
    SR_TRY(
        import_ask(&text, &import->to, import->to.dialect->sql->engine[SR_SQL_IMPORT], "the catalogue", import->pool));
    *plan = sr_json_own(text ? json_loads(text, 0, NULL) : NULL, import->pool);
    if (!*plan) return sr_error(import->pool, SR_EINTERNAL, "the catalogue has no tables");
    status = sr_connection_send(&import->to, import_member(*plan, "lock"));
    if (status != 0) return sr_connection_failed(&import->to, status, "the target", import->pool);
    SR_TRY(import_ask(&occupied, &import->to, import_member(*plan, "occupied"), "the target", import->pool));
    if (!occupied || !*occupied) return NULL;
    return sr_error(import->pool, SR_ECONFLICT, "the target has rows already, in the table %s: nothing was copied",
                    occupied);
}

static sr_error_t *copy_all(import_t *import, json_t *report)
{
    const json_t *table;
    json_t *plan = NULL;
    size_t index;
    SR_TRY(import_begin(import, &plan));
    json_array_foreach (json_object_get(plan, "tables"), index, table) SR_TRY(copy_table(import, table, report));
    const int status = sr_connection_commit(&import->to, import->scratch_pool);
    return status == 0 ? NULL : sr_connection_failed(&import->to, status, "committing the copy", import->pool);
}

sr_error_t *sr_schema_import(json_t *report, const apr_dbd_driver_t *from_driver, apr_dbd_t *from,
                             const apr_dbd_driver_t *to_driver, apr_dbd_t *to, apr_pool_t *pool)
{
    import_t import = {.pool = pool};
    if (!sr_connection_make(&import.from, from_driver, from) || !sr_connection_make(&import.to, to_driver, to)
        || import.from.dialect != &sr_dialect_sqlite3 || import.to.dialect != &sr_dialect_pgsql)
        return sr_error(pool, SR_EBADREQUEST, "a database can be copied from sqlite3 to pgsql only");
    if (!import_find_functions(&import)) return sr_error(pool, SR_EUNAVAILABLE, "libsqlite3 was not found");
    SR_TRY(current(&import.from, "the source", pool));
    SR_TRY(current(&import.to, "the target", pool));
    apr_pool_create(&import.scratch_pool, pool);
    sr_error_t *error = copy_all(&import, report);
    apr_pool_destroy(import.scratch_pool);
    return error;
}
