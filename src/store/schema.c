/* schema.c: bringing a database to the version this build needs, by numbered migrations. Only sigreqctl does this;
 * the module looks at the version and says what to do. */
#include "store/private.h"

#define PATIENCE apr_time_from_sec(30) /* for another upgrade that is at work on SQLite */
#define PAUSE apr_time_from_msec(50)

static sr_error_t *connect_to(sr_connection_t *connection, const apr_dbd_driver_t *driver, apr_dbd_t *handle,
                              apr_pool_t *pool)
{
    if (sr_connection_make(connection, driver, handle)) return NULL;
    return sr_error(pool, SR_EINTERNAL, "Unknown database driver");
}

/* The error of the statement that has just failed. */
static sr_error_t *failed(const sr_connection_t *connection, int status, const char *what, apr_pool_t *pool)
{
    const sr_fault_t fault = sr_connection_fault(connection, status, NULL, 0, pool);

    return sr_connection_error(&fault, what, pool);
}

/* True when a statement met another process at work and may be sent again; it has waited a little then. SQLite
 * calls a statement stale when another process changed the tables between its preparation and its first row. */
static bool is_again(const sr_connection_t *connection, int status, apr_time_t until, apr_pool_t *pool)
{
    sr_failure_t failure;

    if (status == 0 || apr_time_now() >= until) return false;
    failure = sr_connection_fault(connection, status, NULL, 0, pool).failure;
    if (failure != SR_FAILURE_BUSY && failure != SR_FAILURE_STALE) return false;
    apr_sleep(PAUSE);
    return true;
}

static int ask_patiently(const sr_connection_t *connection, const char *sql, apr_pool_t *pool)
{
    const apr_time_t until = apr_time_now() + PATIENCE;
    const char *ignored;
    int status;

    do status = sr_connection_ask(&ignored, connection, sql, pool);
    while (is_again(connection, status, until, pool));
    return status;
}

static int begin_patiently(const sr_connection_t *connection, apr_pool_t *pool)
{
    const apr_time_t until = apr_time_now() + PATIENCE;
    int status;

    do status = sr_connection_begin(connection, pool);
    while (is_again(connection, status, until, pool));
    return status;
}

static int read_version_patiently(int *version, const sr_connection_t *connection, apr_pool_t *pool)
{
    const apr_time_t until = apr_time_now() + PATIENCE;
    int status;

    do status = sr_connection_version(version, connection, pool);
    while (is_again(connection, status, until, pool));
    return status;
}

int sr_schema_latest(const apr_dbd_driver_t *driver)
{
    sr_connection_t connection;

    return sr_connection_make(&connection, driver, NULL) ? connection.dialect->sql->migration_count : 0;
}

sr_error_t *sr_schema_version(int *version, const apr_dbd_driver_t *driver, apr_dbd_t *handle, apr_pool_t *pool)
{
    sr_connection_t connection;
    int status;

    SR_TRY(connect_to(&connection, driver, handle, pool));
    status = read_version_patiently(version, &connection, pool);
    return status == 0 ? NULL : failed(&connection, status, "reading the schema's version", pool);
}

/* Notes in the database that a migration was applied. */
static int record(const sr_connection_t *connection, const sr_migration_t *migration, apr_pool_t *pool)
{
    const char *arguments[] = {apr_itoa(pool, migration->version), migration->name,
                               apr_psprintf(pool, "%" APR_TIME_T_FMT, apr_time_now())};
    const char *sql = connection->dialect->sql->engine[SR_SQL_SCHEMA_RECORD];
    apr_dbd_prepared_t *statement = NULL;
    int rows;
    int status = apr_dbd_prepare(connection->driver, pool, connection->handle, sql, NULL, &statement);

    if (status != 0) return status;
    return apr_dbd_pquery(connection->driver, pool, connection->handle, &rows, statement, 3, arguments);
}

/* One migration in one transaction, which ends with scratch_pool. The second one waits at its start and then
 * finds it done. */
static sr_error_t *apply(bool *applied, const sr_connection_t *connection, const sr_migration_t *migration,
                         apr_pool_t *pool, apr_pool_t *scratch_pool)
{
    const sr_sql_t *sql = connection->dialect->sql;
    const char *what = apr_psprintf(pool, "migration %d (%s)", migration->version, migration->name);
    const char *ignored;
    int version;
    int status = begin_patiently(connection, scratch_pool);

    *applied = false;
    if (status == 0 && sql->engine[SR_SQL_SCHEMA_LOCK]) {
        status = sr_connection_ask(&ignored, connection, sql->engine[SR_SQL_SCHEMA_LOCK], pool);
    }
    if (status == 0) status = read_version_patiently(&version, connection, pool);
    if (status != 0) return failed(connection, status, what, pool);
    if (version >= migration->version) return NULL;
    for (const char *const *statement = migration->statements; *statement; statement++) {
        status = sr_connection_send(connection, *statement);
        if (status != 0) return failed(connection, status, what, pool);
    }
    status = record(connection, migration, pool);
    if (status == 0) status = sr_connection_commit(connection, scratch_pool);
    if (status != 0) return failed(connection, status, what, pool);
    *applied = true;
    return NULL;
}

sr_error_t *sr_schema_upgrade(apr_array_header_t **applied, const apr_dbd_driver_t *driver, apr_dbd_t *handle,
                              apr_pool_t *pool)
{
    sr_connection_t connection;
    const sr_sql_t *sql;
    int version, status = 0;

    *applied = apr_array_make(pool, 4, sizeof(const sr_migration_t *));
    SR_TRY(connect_to(&connection, driver, handle, pool));
    sql = connection.dialect->sql;
    SR_TRY(sr_schema_version(&version, driver, handle, pool));
    if (version > sql->migration_count) {
        return sr_error(pool, SR_ECONFLICT, "The database schema is version %d, this build knows up to %d", version,
                        sql->migration_count);
    }
    if (sql->engine[SR_SQL_CREATE]) status = ask_patiently(&connection, sql->engine[SR_SQL_CREATE], pool);
    if (status != 0) return failed(&connection, status, "preparing the database", pool);
    for (int i = version; i < sql->migration_count; i++) {
        apr_pool_t *scratch;
        sr_error_t *error;
        bool done;
        apr_pool_create(&scratch, pool);
        error = apply(&done, &connection, &sql->migrations[i], pool, scratch);
        apr_pool_destroy(scratch);
        SR_TRY(error);
        if (done) APR_ARRAY_PUSH(*applied, const sr_migration_t *) = &sql->migrations[i];
    }
    return NULL;
}
