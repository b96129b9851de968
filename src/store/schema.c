/* SPDX-License-Identifier: Apache-2.0 */
/* schema.c: upgrades a database to what this build needs: the tables by numbered migrations, and the functions and
 * views (definitions) of this build. Only sigreqctl upgrades. The module compares, and its errors say what to do. */
#include "store/private.h"

#include <stdlib.h>
#include <string.h>

#define PATIENCE apr_time_from_sec(30) /* time to wait for another upgrade on SQLite */
#define PAUSE apr_time_from_msec(50)
#define DEFINITIONS "definitions"
#define RUN_UPGRADE "run: sigreqctl db upgrade"

/* ----------------------------------------------------------------------------------------- what is there */

/* Reads one line of SR_SQL_SCHEMA_STATE: "<version> <checksum>" or "definitions <checksum>". */
static void take_line(sr_schema_t *schema, char *line, const sr_sql_t *sql, apr_pool_t *pool)
{
    char *checksum = strchr(line, ' ');
    if (!checksum) return;
    *checksum++ = '\0';
    if (strcmp(line, DEFINITIONS) == 0) {
        schema->definitions = strcmp(checksum, sql->definitions_checksum) == 0;
        return;
    }
    const int version = (int)strtol(line, NULL, 10);
    if (version > schema->version) schema->version = version;
    if (version < 1 || version > sql->migration_count || schema->foreign) return;
    const sr_migration_t *migration = &sql->migrations[version - 1];
    if (strcmp(checksum, migration->checksum) == 0) return;
    schema->foreign = apr_psprintf(pool,
                                   "the tables of this database were made by another build: its migration %d differs "
                                   "from this build's (%s). Install the build that made it",
                                   version, migration->name);
}

static const char *problem_of(const sr_schema_t *schema, apr_pool_t *pool)
{
    if (schema->foreign) return schema->foreign;
    if (schema->version != schema->latest) {
        if (!schema->version) return "the database has no tables: run: sigreqctl db init";
        return apr_psprintf(pool, "database schema is version %d, this build needs %d: %s", schema->version,
                            schema->latest,
                            schema->version < schema->latest ? RUN_UPGRADE : "install the build that made it");
    }
    return schema->definitions ? NULL : "the functions and views in the database are another build's, " RUN_UPGRADE;
}

/* Reads the version of tables whose build recorded no checksums. */
static int read_old_version(sr_schema_t *schema, const sr_connection_t *connection, apr_pool_t *pool)
{
    const char *value;
    const int status =
        sr_connection_ask(&value, connection, connection->dialect->sql->engine[SR_SQL_SCHEMA_VERSION], pool);
    if (status != 0) return status;
    if (value) schema->version = (int)strtol(value, NULL, 10);
    schema->foreign = "the tables of this database were made by a build before 0.1.0, which this build cannot upgrade. "
                      "Install the build that made it, or use a new database";
    return 0;
}

int sr_connection_schema(sr_schema_t *schema, const sr_connection_t *connection, apr_pool_t *pool)
{
    const sr_sql_t *sql = connection->dialect->sql;
    const char *value, *rest;
    *schema = (sr_schema_t){.latest = sql->migration_count};
    int status = sr_connection_ask(&value, connection, sql->engine[SR_SQL_SCHEMA_EXISTS], pool);
    if (status != 0) return status;
    if (value && strcmp(value, "checksums") != 0) {
        status = read_old_version(schema, connection, pool);
    } else if (value) {
        status = sr_connection_ask(&rest, connection, sql->engine[SR_SQL_SCHEMA_STATE], pool);
        if (status == 0 && rest) {
            char *last, *lines = apr_pstrdup(pool, rest);
            for (char *line = apr_strtok(lines, "\n", &last); line; line = apr_strtok(NULL, "\n", &last))
                take_line(schema, line, sql, pool);
        }
    }
    schema->problem = problem_of(schema, pool);
    return status;
}

/* ------------------------------------------------------------------------------------------------- patience */

static sr_error_t *schema_connect_to(sr_connection_t *connection, const apr_dbd_driver_t *driver, apr_dbd_t *handle,
                                     apr_pool_t *pool)
{
    if (sr_connection_make(connection, driver, handle)) return NULL;
    return sr_error(pool, SR_EINTERNAL, "Unknown database driver");
}

/* Returns the error of the statement that has just failed. */
/* Returns true, after a pause, if a statement failed because of another process and should be sent again. SQLite
 * reports a stale statement if another process has changed the tables between its preparation and its first row. */
static bool is_again(const sr_connection_t *connection, int status, apr_time_t until, apr_pool_t *pool)
{
    if (status == 0 || sr_time_steady() >= until) return false;
    const sr_failure_t failure = sr_connection_fault(connection, status, NULL, 0, pool).failure;
    if (failure != SR_FAILURE_BUSY && failure != SR_FAILURE_STALE) return false;
    apr_sleep(PAUSE);
    return true;
}

static int ask_patiently(const sr_connection_t *connection, const char *sql, apr_pool_t *pool)
{
    const apr_time_t until = sr_time_steady() + PATIENCE;
    const char *ignored;
    int status;
    do status = sr_connection_ask(&ignored, connection, sql, pool);
    while (is_again(connection, status, until, pool));
    return status;
}

static int begin_patiently(const sr_connection_t *connection, apr_pool_t *pool)
{
    const apr_time_t until = sr_time_steady() + PATIENCE;
    int status;
    do status = sr_connection_begin(connection, pool);
    while (is_again(connection, status, until, pool));
    return status;
}

static int read_patiently(sr_schema_t *schema, const sr_connection_t *connection, apr_pool_t *pool)
{
    const apr_time_t until = sr_time_steady() + PATIENCE;
    int status;
    do status = sr_connection_schema(schema, connection, pool);
    while (is_again(connection, status, until, pool));
    return status;
}

sr_error_t *sr_schema_read(sr_schema_t *schema, const apr_dbd_driver_t *driver, apr_dbd_t *handle, apr_pool_t *pool)
{
    sr_connection_t connection;
    SR_TRY(schema_connect_to(&connection, driver, handle, pool));
    const int status = read_patiently(schema, &connection, pool);
    return status == 0 ? NULL : sr_connection_failed(&connection, status, "reading the schema's version", pool);
}

/* -------------------------------------------------------------------------------------------------- upgrade */

/* An upgrade. It is one transaction, which is rolled back with scratch_pool unless it was committed. */
typedef struct upgrade_t {
    sr_connection_t connection;
    const sr_sql_t *sql;
    apr_array_header_t *applied;
    bool defined;
    bool drop; /* definitions are removed first instead of being replaced */
    apr_pool_t *pool, *scratch_pool;
} upgrade_t;

/* Runs a statement of the engine that takes arguments. */
static int record(const upgrade_t *upgrade, sr_engine_sql_t text, const char **arguments, int count)
{
    const sr_connection_t *connection = &upgrade->connection;
    apr_dbd_prepared_t *statement = NULL;
    int rows, status = apr_dbd_prepare(connection->driver, upgrade->scratch_pool, connection->handle,
                                       upgrade->sql->engine[text], NULL, &statement);
    if (status != 0) return status;
    return apr_dbd_pquery(connection->driver, upgrade->scratch_pool, connection->handle, &rows, statement, count,
                          arguments);
}

static int schema_send_all(const upgrade_t *upgrade, const char *const *statements)
{
    int status = 0;
    for (; *statements && status == 0; statements++) status = sr_connection_send(&upgrade->connection, *statements);
    return status;
}

static sr_error_t *migrate(upgrade_t *upgrade, const sr_migration_t *migration)
{
    const char *arguments[] = {apr_itoa(upgrade->pool, migration->version), migration->name, migration->checksum,
                               apr_psprintf(upgrade->pool, "%" APR_TIME_T_FMT, sr_time_now())};
    int status = schema_send_all(upgrade, migration->statements);
    if (status == 0) status = record(upgrade, SR_SQL_SCHEMA_RECORD, arguments, 4);
    if (status == 0) {
        APR_ARRAY_PUSH(upgrade->applied, const sr_migration_t *) = migration;
        return NULL;
    }
    return sr_connection_failed(&upgrade->connection, status,
                                apr_psprintf(upgrade->pool, "migration %d (%s)", migration->version, migration->name),
                                upgrade->pool);
}

/* Runs a statement whose result is SQL, and then sends this SQL. */
static sr_error_t *send_made(const upgrade_t *upgrade, sr_engine_sql_t text)
{
    const char *made, *sql = upgrade->sql->engine[text];
    int status = sql ? sr_connection_ask(&made, &upgrade->connection, sql, upgrade->scratch_pool) : 0;
    if (sql && status == 0 && made && *made) status = sr_connection_send(&upgrade->connection, made);
    return status == 0 ? NULL
                       : sr_connection_failed(&upgrade->connection, status, "removing the definitions of another build",
                                              upgrade->pool);
}

static sr_error_t *define(upgrade_t *upgrade)
{
    const char *arguments[] = {upgrade->sql->definitions_checksum, upgrade->sql->definition_names};
    int status = schema_send_all(upgrade, upgrade->sql->definitions);
    if (status != 0)
        return sr_connection_failed(&upgrade->connection, status, "making functions and views", upgrade->pool);
    SR_TRY(send_made(upgrade, SR_SQL_DEFINITIONS_TIDY));
    status = record(upgrade, SR_SQL_DEFINITIONS_RECORD, arguments, 2);
    if (status != 0)
        return sr_connection_failed(&upgrade->connection, status, "recording functions and views", upgrade->pool);
    upgrade->defined = true;
    return NULL;
}

static sr_error_t *schema_check(const sr_schema_t *schema, apr_pool_t *pool)
{
    if (schema->version > schema->latest) {
        return sr_error(pool, SR_ECONFLICT, "The database schema is version %d, this build knows up to %d",
                        schema->version, schema->latest);
    }
    return schema->foreign ? sr_error(pool, SR_ECONFLICT, "Cannot upgrade: %s", schema->foreign) : NULL;
}

/* The upgrade between BEGIN and COMMIT. A second upgrade waits for the lock and then finds nothing to do. If tables
 * change, the definitions are removed first, because they depend on the tables. Otherwise they are replaced, so that
 * httpd always finds all of them. */
static sr_error_t *schema_change(upgrade_t *upgrade)
{
    sr_schema_t schema;
    const char *ignored, *lock = upgrade->sql->engine[SR_SQL_SCHEMA_LOCK];
    int status = lock ? sr_connection_ask(&ignored, &upgrade->connection, lock, upgrade->scratch_pool) : 0;
    if (status == 0) status = read_patiently(&schema, &upgrade->connection, upgrade->pool);
    if (status != 0)
        return sr_connection_failed(&upgrade->connection, status, "reading the schema's version", upgrade->pool);
    SR_TRY(schema_check(&schema, upgrade->pool));
    if (!schema.problem) return NULL;
    if (schema.version > 0 && (upgrade->drop || schema.version < schema.latest))
        SR_TRY(send_made(upgrade, SR_SQL_DEFINITIONS_DROP));
    for (int i = schema.version; i < schema.latest; i++) SR_TRY(migrate(upgrade, &upgrade->sql->migrations[i]));
    SR_TRY(define(upgrade));
    status = sr_connection_commit(&upgrade->connection, upgrade->scratch_pool);
    return status == 0 ? NULL
                       : sr_connection_failed(&upgrade->connection, status, "committing the upgrade", upgrade->pool);
}

static sr_error_t *attempt(upgrade_t *upgrade, bool drop)
{
    upgrade->drop = drop;
    upgrade->defined = false;
    apr_array_clear(upgrade->applied);
    apr_pool_create(&upgrade->scratch_pool, upgrade->pool);
    const int status = begin_patiently(&upgrade->connection, upgrade->scratch_pool);
    sr_error_t *error =
        status == 0 ? schema_change(upgrade)
                    : sr_connection_failed(&upgrade->connection, status, "beginning the upgrade", upgrade->pool);
    apr_pool_destroy(upgrade->scratch_pool);
    return error;
}

sr_error_t *sr_schema_upgrade(apr_array_header_t **applied, bool *defined, const apr_dbd_driver_t *driver,
                              apr_dbd_t *handle, apr_pool_t *pool)
{
    upgrade_t upgrade = {.applied = apr_array_make(pool, 4, sizeof(const sr_migration_t *)), .pool = pool};
    sr_schema_t schema;
    *applied = upgrade.applied;
    *defined = false;
    SR_TRY(schema_connect_to(&upgrade.connection, driver, handle, pool));
    SR_TRY(sr_schema_read(&schema, driver, handle, pool));
    SR_TRY(schema_check(&schema, pool));
    if (!schema.problem) return NULL;
    upgrade.sql = upgrade.connection.dialect->sql;
    const char *create = upgrade.sql->engine[SR_SQL_CREATE];
    const int status = create ? ask_patiently(&upgrade.connection, create, pool) : 0;
    if (status != 0) return sr_connection_failed(&upgrade.connection, status, "preparing the database", pool);
    const bool replaces = upgrade.sql->engine[SR_SQL_DEFINITIONS_TIDY] != NULL;
    sr_error_t *error = attempt(&upgrade, !replaces);
    /* PostgreSQL cannot replace a function whose result type has changed, so the second attempt removes it first. */
    if (error && error->code == SR_EINTERNAL && replaces && schema.version > 0) error = attempt(&upgrade, true);
    *defined = !error && upgrade.defined;
    return error;
}

sr_error_t *sr_schema_vacuum(const apr_dbd_driver_t *driver, apr_dbd_t *handle, const char *path, apr_pool_t *pool)
{
    upgrade_t one = {.pool = pool, .scratch_pool = pool};
    SR_TRY(schema_connect_to(&one.connection, driver, handle, pool));
    one.sql = one.connection.dialect->sql;
    const int status = record(&one, SR_SQL_VACUUM, &path, 1);
    return status == 0 ? NULL : sr_connection_failed(&one.connection, status, path, pool);
}
