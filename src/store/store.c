/* SPDX-License-Identifier: Apache-2.0 */
/* store.c: the engine. It prepares the statements of a connection, and runs an operation as one transaction, which
 * is sent a second time if the connection was lost. The operations themselves are in the .sql files. */
#include "store/private.h"

#include <string.h>

#include "metrics/metrics.h"

#define BUSY_PATIENCE apr_time_from_sec(2)
#define PREPARED_KEY "sigreq"
#define NO_OP SR_OP_COUNT

/* The state of a connection. It is in the connection's own table. */
typedef struct prepared_t {
    apr_dbd_prepared_t **statements[SR_OP_COUNT]; /* of an operation that is prepared; otherwise NULL */
    bool connected;                               /* SR_SQL_CONNECT was sent */
    sr_named_t *named;
    bool unsynced; /* SR_SQL_UNSYNCED may be in force */
    bool checked;  /* tables and definitions are those of this build */
    sr_leader_t leader;
} prepared_t;

struct sr_store_t {
    sr_connection_t connection;
    prepared_t *prepared;
    apr_pool_t *connection_pool;
};

static const char *const outcomes[SR_OUTCOME_COUNT] = {
    [SR_OK] = "ok",           [SR_UNAUTHORIZED] = "unauthorized", [SR_MISSING] = "missing", [SR_QUOTA] = "quota",
    [SR_REPLAY] = "replay",   [SR_CONFLICT] = "conflict",         [SR_STALE] = "stale",     [SR_GONE] = "gone",
    [SR_DELETED] = "deleted",
};

/* An operation is prepared when it is first used: SQLite takes 22 ms for all of them. The statements live as long as
 * the connection, because apr_dbd cannot free them earlier. */
static int store_prepare(sr_store_t *store, sr_op_t op, apr_pool_t *pool)
{
    const sr_operation_t *operation = &store->connection.dialect->sql->operations[op];
    const apr_size_t size = (apr_size_t)operation->count * sizeof(apr_dbd_prepared_t *);
    apr_dbd_prepared_t **statements = apr_pcalloc(pool, size);
    int status = 0;
    for (int i = 0; i < operation->count && status == 0; i++) {
        status = apr_dbd_prepare(store->connection.driver, store->connection_pool, store->connection.handle,
                                 operation->statements[i].text, NULL, &statements[i]);
    }
    if (status == 0) store->prepared->statements[op] = apr_pmemdup(store->connection_pool, statements, size);
    return status;
}

/* Does what a connection needs before an operation, or before its first one if op is NO_OP, and what has not been done
 * yet. Nothing is prepared with the schema of another build, so that repeated attempts do not fill the connection's
 * pool. */
static int set_up(sr_store_t *store, sr_op_t op, const char **problem, apr_pool_t *pool)
{
    const sr_sql_t *sql = store->connection.dialect->sql;
    prepared_t *prepared = store->prepared;
    sr_schema_t schema = {.problem = NULL};
    const char *ignored;
    int status = sr_leader_ask(&prepared->leader, &store->connection, pool);
    if (status == 0 && sr_leader_is_former(&prepared->leader, &store->connection)) status = SR_CONNECTION_FORMER;
    if (status == 0 && !prepared->connected && sql->engine[SR_SQL_CONNECT]) {
        status = sr_connection_ask(&ignored, &store->connection, sql->engine[SR_SQL_CONNECT], pool);
    }
    prepared->connected = prepared->connected || status == 0;
    if (status == 0 && !prepared->checked) status = sr_connection_schema(&schema, &store->connection, pool);
    prepared->checked = status == 0 && !schema.problem;
    *problem = schema.problem;
    if (prepared->checked && op != NO_OP && !prepared->statements[op]) status = store_prepare(store, op, pool);
    return status;
}

static void count_fault(sr_failure_t failure)
{
    static const char *const names[] = {
        [SR_FAILURE_STATEMENT] = "statement", [SR_FAILURE_GONE] = "lost", [SR_FAILURE_STALE] = "stale",
        [SR_FAILURE_BUSY] = "busy",           [SR_FAILURE_AWAY] = "away", [SR_FAILURE_LATE] = "late",
    };
    sr_assert(failure != SR_FAILURE_NONE);
    sr_metrics_count(SR_METRIC_DATABASE_ERRORS, sr_metrics_number(SR_LABEL_FAILURE, names[failure]), 0, 1);
}

/* Returns true if the operation should be sent again, and prepares for that. */
static bool store_may_pass(sr_store_t *store, const sr_fault_t *fault, int attempt, apr_time_t patience)
{
    switch (fault->failure) {
    case SR_FAILURE_GONE: return attempt == 0;
    case SR_FAILURE_STALE:
        store->prepared->checked = false;
        memset(store->prepared->statements, 0, sizeof store->prepared->statements);
        return attempt == 0;
    case SR_FAILURE_BUSY:
        if (sr_time_steady() >= patience) return false;
        apr_sleep(apr_time_from_msec(1 << (attempt < 6 ? attempt : 6)) + sr_time_steady() % 1000);
        return true;
    case SR_FAILURE_STATEMENT:
        store->prepared->checked = false; /* the schema may have changed: the next use checks it */
        return false;
    default: return false;
    }
}

static bool store_is_ready(const sr_store_t *store, sr_op_t op)
{
    const prepared_t *prepared = store->prepared;
    return prepared->checked && (op == NO_OP || prepared->statements[op])
           && sr_leader_is_known(&prepared->leader, &store->connection)
           && !sr_leader_is_former(&prepared->leader, &store->connection);
}

static sr_error_t *make_ready(sr_store_t *store, sr_op_t op, apr_pool_t *pool)
{
    const apr_time_t patience = sr_time_steady() + BUSY_PATIENCE;
    const char *problem;
    sr_fault_t fault;
    int status;
    if (store_is_ready(store, op)) return NULL;
    for (int attempt = 0; (status = set_up(store, op, &problem, pool)) != 0; attempt++) {
        fault = sr_connection_fault(&store->connection, status, NULL, 0, pool);
        if (fault.failure == SR_FAILURE_STATEMENT && sr_leader_give_up(&store->prepared->leader, &store->connection))
            continue;
        count_fault(fault.failure);
        if (!store_may_pass(store, &fault, attempt, patience))
            return sr_connection_error(&fault, "setting up the connection", pool);
    }
    if (!problem) return NULL;
    return sr_error_because(sr_error(pool, SR_EUNAVAILABLE, "The database is not available"), pool, "%s", problem);
}

sr_error_t *sr_store_open(sr_store_t **store, const apr_dbd_driver_t *driver, apr_dbd_t *handle, apr_hash_t *prepared,
                          apr_pool_t *connection_pool, sr_watch_t *watch, apr_pool_t *pool)
{
    sr_store_t *made = apr_pcalloc(pool, sizeof *made);
    if (!sr_connection_make(&made->connection, driver, handle)) {
        return sr_error_because(sr_error(pool, SR_EUNAVAILABLE, "The database is not available"), pool,
                                "database driver %s is not supported, use pgsql or sqlite3", apr_dbd_name(driver));
    }
    made->connection.watch = watch;
    made->connection_pool = connection_pool;
    made->prepared = apr_hash_get(prepared, PREPARED_KEY, APR_HASH_KEY_STRING);
    if (!made->prepared) {
        made->prepared = apr_pcalloc(connection_pool, sizeof *made->prepared);
        made->prepared->named = sr_named_make(connection_pool);
        apr_hash_set(prepared, PREPARED_KEY, APR_HASH_KEY_STRING, made->prepared);
    }
    *store = made;
    return make_ready(made, NO_OP, pool);
}

/* ------------------------------------------------------------------------------------------- one operation */

/* An operation: its arguments and its result. */
typedef struct call_t {
    const sr_store_t *store;
    sr_op_t op;
    const sr_operation_t *operation;
    apr_dbd_prepared_t *const *statements;
    const char *const *arguments;
    const char *outcome; /* NULL until a statement gives rows */
    apr_array_header_t *rows;
    apr_pool_t *pool;
} call_t;

static const char *column(const call_t *call, apr_dbd_row_t *row, int number)
{
    char *text = NULL;
    if (apr_dbd_datum_get(call->store->connection.driver, row, number, APR_DBD_TYPE_STRING, &text) != APR_SUCCESS) {
        return NULL; /* APR_ENOENT is SQL's NULL */
    }
    return text;
}

/* Reads a row: the column outcome, and the columns of the operation's row, or none of them. The strings are copied,
 * because they belong to the result, which is freed before the caller reads them. */
static void take_row(call_t *call, apr_dbd_row_t *row, int columns)
{
    const sr_shape_t *shape = &sr_store_shapes[call->op];
    const int count = shape->row ? shape->row->count : 0;
    const char **values = apr_pcalloc(call->pool, (apr_size_t)(count + 1) * sizeof *values);
    const char *outcome = column(call, row, 0);
    for (int i = 0; i < count && i + 1 < columns; i++) values[i] = apr_pstrdup(call->pool, column(call, row, i + 1));
    APR_ARRAY_PUSH(call->rows, sr_row_t) = (sr_row_t){values};
    if (!call->outcome) call->outcome = outcome ? apr_pstrdup(call->pool, outcome) : "NULL";
}

static int send_statement(call_t *call, apr_dbd_prepared_t *prepared, const sr_statement_t *statement,
                          apr_pool_t *scratch_pool)
{
    const sr_connection_t *connection = &call->store->connection;
    apr_dbd_results_t *results = NULL;
    apr_dbd_row_t *row = NULL;
    int columns, count, status = sr_connection_enter(connection);
    if (status != 0) return status;
    /* apr_dbd's parameter is not const, but apr_dbd does not change the arguments */
    status = apr_dbd_pselect(connection->driver, scratch_pool, connection->handle, &results, prepared, 1,
                             statement->arguments, (const char **)call->arguments);
    status = sr_connection_leave(connection, status);
    if (status != 0 || !statement->answer) return status;
    columns = apr_dbd_num_cols(connection->driver, results);
    count = apr_dbd_num_tuples(connection->driver, results);
    for (int i = 0; i < count; i++) {
        if (apr_dbd_get_row(connection->driver, scratch_pool, results, &row, -1) != 0) break;
        take_row(call, row, columns);
    }
    return 0;
}

static int run_statement(call_t *call, int number, apr_pool_t *scratch_pool)
{
    const sr_statement_t *statement = &call->operation->statements[number];
    apr_dbd_prepared_t *named =
        sr_named_get(call->store->prepared->named, &call->store->connection, call->op, scratch_pool);
    const int status = named ? send_statement(call, named, statement, scratch_pool) : 0;
    if (status != 0 || (named && (call->outcome || !statement->named))) return status;
    return send_statement(call, call->statements[number], statement, scratch_pool);
}

/* Chooses whether the commit of the operation waits for the disk. Only after a success it is certain that commits wait
 * again. */
static int choose_sync(const call_t *call)
{
    const sr_connection_t *connection = &call->store->connection;
    const char *const *engine = connection->dialect->sql->engine;
    prepared_t *prepared = call->store->prepared;
    const bool unsynced = call->operation->unsynced;
    int status;
    if (!call->operation->write || prepared->unsynced == unsynced || !engine[SR_SQL_SYNCED]) return 0;
    prepared->unsynced = true;
    status = sr_connection_send(connection, engine[unsynced ? SR_SQL_UNSYNCED : SR_SQL_SYNCED]);
    if (status == 0) prepared->unsynced = unsynced;
    return status;
}

/* Runs the statements that are needed until one of them gives rows, between BEGIN and COMMIT if they write. A
 * transaction that is not committed is rolled back when scratch_pool is destroyed. */
static int run_statements(call_t *call, apr_pool_t *scratch_pool)
{
    const sr_connection_t *connection = &call->store->connection;
    int status = choose_sync(call);
    if (status == 0)
        status = sr_named_limit(call->store->prepared->named, connection, sr_store_reads(call->op),
                                sr_store_shapes[call->op].many, scratch_pool);
    if (status == 0 && call->operation->write) status = sr_connection_begin(connection, scratch_pool);
    for (int i = 0; i < call->operation->count && status == 0 && !call->outcome; i++) {
        const int needs = call->operation->statements[i].needs;
        if (!needs || call->arguments[needs - 1]) status = run_statement(call, i, scratch_pool);
    }
    if (status == 0 && call->operation->write && call->outcome && strcmp(call->outcome, outcomes[SR_OK]) == 0) {
        status = sr_connection_commit(connection, scratch_pool);
    }
    return status;
}

static sr_error_t *run_once(call_t *call, sr_fault_t *fault)
{
    sr_error_t *error = NULL;
    apr_pool_t *scratch;
    int status;
    call->outcome = NULL;
    apr_array_clear(call->rows);
    *fault = (sr_fault_t){SR_FAILURE_NONE, NULL};
    apr_pool_create(&scratch, call->pool);
    status = run_statements(call, scratch);
    /* it may have become one before it answered */
    if (status == 0 && sr_leader_is_former(&call->store->prepared->leader, &call->store->connection))
        status = SR_CONNECTION_FORMER;
    if (status != 0) {
        *fault = sr_connection_fault(&call->store->connection, status, call->arguments, call->operation->arguments,
                                     call->pool);
        count_fault(fault->failure);
        error = sr_connection_error(fault, call->operation->name, call->pool);
    }
    apr_pool_destroy(scratch);
    return error;
}

static sr_error_t *understand(sr_outcome_t *outcome, const call_t *call)
{
    for (int i = 0; i < SR_OUTCOME_COUNT && call->outcome; i++) {
        if (strcmp(call->outcome, outcomes[i]) != 0) continue;
        *outcome = (sr_outcome_t)i;
        return NULL;
    }
    return sr_error_because(sr_error(call->pool, SR_EINTERNAL, "The database gave no answer"), call->pool,
                            "%s: outcome %s", call->operation->name, call->outcome);
}

/* Only the signatures for SQLite say whether an operation writes. On PostgreSQL an operation is one call of a
 * function. */
bool sr_store_reads(sr_op_t op)
{
    return !sr_sql_sqlite3.operations[op].write;
}

sr_error_t *sr_store_run(sr_store_t *store, sr_op_t op, sr_outcome_t *outcome, apr_array_header_t **rows,
                         const char *const *arguments, int count, apr_pool_t *pool)
{
    const sr_operation_t *operation = &store->connection.dialect->sql->operations[op];
    const apr_time_t patience = sr_time_steady() + BUSY_PATIENCE;
    call_t call = {store, op, operation, NULL, arguments, NULL, apr_array_make(pool, 1, sizeof(sr_row_t)), pool};
    sr_fault_t fault;
    sr_error_t *error;
    if (count != operation->arguments) {
        return sr_error(pool, SR_EINTERNAL, "%s takes %d arguments, not %d", operation->name, operation->arguments,
                        count);
    }
    *rows = call.rows;
    if (op == SR_OP_PING) store->prepared->checked = false; /* health reports the schema of another build */
    for (int attempt = 0;; attempt++) {
        SR_TRY(make_ready(store, op, pool));
        call.statements = store->prepared->statements[op];
        error = run_once(&call, &fault);
        if (!error) break;
        if (fault.failure == SR_FAILURE_STATEMENT && sr_named_give_up(store->prepared->named, op)) continue;
        if (!store_may_pass(store, &fault, attempt, patience)) return error;
    }
    if (!call.outcome) { /* an empty list */
        *outcome = SR_OK;
        return NULL;
    }
    return understand(outcome, &call);
}
