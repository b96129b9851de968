/* SPDX-License-Identifier: Apache-2.0 */
/* connection.c: one apr_dbd connection: it sends the engine's own SQL, begins and ends transactions, and classifies
 * errors. apr_dbd's transaction functions are not used: they crash on a connection that was lost, and they commit a
 * transaction that was abandoned. */
#include "store/private.h"

#include <stdlib.h>
#include <string.h>

#define BUSY_PATIENCE apr_time_from_sec(2)

/* Returns true if one of the arguments contains these bytes. */
static bool told_by(const char *text, apr_size_t length, const char *const *arguments, int count)
{
    for (int i = 0; i < count; i++) {
        if (arguments[i] && memmem(arguments[i], strlen(arguments[i]), text, length)) return true;
    }
    return false;
}

/* Returns the first line of a message, without values. PostgreSQL quotes names ("relation "x"") and values ("invalid
 * …: "x"") in the same way, and shows whole rows in the lines after the first. Values are secret: hashes of tokens,
 * email addresses, names of documents. A message in a language with other quotation marks ends at the first one. */
static const char *without_values(const char *words, const char *const *arguments, int count, apr_pool_t *pool)
{
    static const char *const marks[] = {"«", "»", "“", "„", "「"};
    char *line = apr_pstrmemdup(pool, words, strcspn(words, "\r\n"));
    char *value = strstr(line, ": \"");
    char *quoted = line;
    if (value) *value = '\0';
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        char *mark = strstr(line, marks[i]);
        if (mark) *mark = '\0';
    }
    while ((quoted = strchr(quoted, '"')) != NULL) {
        char *end = strchr(quoted + 1, '"');
        if (!end) break;
        if (end > quoted + 1 && told_by(quoted + 1, (apr_size_t)(end - quoted) - 1, arguments, count)) {
            memset(quoted + 1, '*', (size_t)(end - quoted) - 1);
        }
        quoted = end + 1;
    }
    return line;
}

sr_fault_t sr_connection_fault(const sr_connection_t *connection, int status, const char *const *arguments, int count,
                               apr_pool_t *pool)
{
    const char *words =
        status == SR_CONNECTION_FORMER ? SR_FORMER : apr_dbd_error(connection->driver, connection->handle, status);
    sr_fault_t fault;
    if (connection->watch && connection->watch->late)
        return (sr_fault_t){SR_FAILURE_LATE, "no answer within SigreqDatabaseTimeout, the connection was shut down"};
    fault.reason = without_values(words ? words : "no reason given", arguments, count, pool);
    fault.failure = connection->dialect->judge(connection, fault.reason, pool);
    return fault;
}

sr_error_t *sr_connection_error(const sr_fault_t *fault, const char *what, apr_pool_t *pool)
{
    sr_error_t *error;
    if (fault->failure == SR_FAILURE_STATEMENT || fault->failure == SR_FAILURE_STALE) {
        error = sr_error(pool, SR_EINTERNAL, "The database refused a statement");
    } else {
        error = sr_error(pool, SR_EUNAVAILABLE, "The database is not available");
    }
    return sr_error_because(error, pool, "%s: %s", what, fault->reason);
}

sr_error_t *sr_connection_failed(const sr_connection_t *connection, int status, const char *what, apr_pool_t *pool)
{
    const sr_fault_t fault = sr_connection_fault(connection, status, NULL, 0, pool);
    return sr_connection_error(&fault, what, pool);
}

int sr_connection_enter(const sr_connection_t *connection)
{
    if (!connection->watch || !connection->watch->watchdog || !connection->dialect->socket) return 0;
    return sr_watch_arm(connection->watch, connection->dialect->socket(connection)) ? 0 : SR_CONNECTION_LATE;
}

int sr_connection_leave(const sr_connection_t *connection, int status)
{
    if (connection->watch && connection->watch->watchdog && connection->dialect->socket)
        sr_watch_disarm(connection->watch, status == 0);
    return status;
}

/* Returns true if the statement should be sent again. When another process has changed the schema, SQLite fails once
 * with the first statement, and then reads the schema again. */
static bool once_more(const sr_connection_t *connection, int status)
{
    const char *words = status == 0 ? NULL : apr_dbd_error(connection->driver, connection->handle, status);
    return words && connection->dialect->stale && strstr(words, connection->dialect->stale);
}

static int send_once(const sr_connection_t *connection, const char *sql)
{
    int rows, status = sr_connection_enter(connection);
    if (status != 0) return status;
    status = apr_dbd_query(connection->driver, connection->handle, &rows, sql);
    return sr_connection_leave(connection, status);
}

int sr_connection_send(const sr_connection_t *connection, const char *sql)
{
    const int status = send_once(connection, sql);
    return once_more(connection, status) ? send_once(connection, sql) : status;
}

static int select_once(apr_dbd_results_t **results, const sr_connection_t *connection, const char *sql,
                       apr_pool_t *pool)
{
    int status = sr_connection_enter(connection);
    *results = NULL;
    if (status != 0) return status;
    status = apr_dbd_select(connection->driver, pool, connection->handle, results, sql, 1);
    return sr_connection_leave(connection, status);
}

int sr_connection_ask(const char **value, const sr_connection_t *connection, const char *sql, apr_pool_t *pool)
{
    apr_dbd_results_t *results;
    apr_dbd_row_t *row = NULL;
    int status = select_once(&results, connection, sql, pool);
    char *text = NULL;
    *value = NULL;
    if (once_more(connection, status)) status = select_once(&results, connection, sql, pool);
    if (status != 0 || apr_dbd_num_tuples(connection->driver, results) < 1) return status;
    if (apr_dbd_get_row(connection->driver, pool, results, &row, -1) == 0
        && apr_dbd_datum_get(connection->driver, row, 0, APR_DBD_TYPE_STRING, &text) == APR_SUCCESS) {
        *value = apr_pstrdup(pool, text);
    }
    return 0;
}

static apr_status_t roll_back(void *data)
{
    const sr_connection_t *connection = data;
    sr_connection_send(connection, connection->dialect->sql->engine[SR_SQL_ROLLBACK]);
    return APR_SUCCESS;
}

/* apr_dbd itself waits for a busy SQLite, 16 times 100 ms, without its mutex. Between attempts this function waits
 * for a pause with a random part, so that two waiting processes do not collide again. */
int sr_connection_begin(const sr_connection_t *connection, apr_pool_t *pool)
{
    const apr_time_t patience = sr_time_steady() + BUSY_PATIENCE;
    apr_interval_time_t pause = apr_time_from_msec(5);
    int status;
    while ((status = sr_connection_send(connection, connection->dialect->sql->engine[SR_SQL_BEGIN])) != 0) {
        if (sr_time_steady() >= patience) return status;
        if (sr_connection_fault(connection, status, NULL, 0, pool).failure != SR_FAILURE_BUSY) return status;
        apr_sleep(pause + sr_time_steady() % pause);
        pause *= 2;
    }
    apr_pool_cleanup_register(pool, connection, roll_back, apr_pool_cleanup_null);
    return 0;
}

int sr_connection_commit(const sr_connection_t *connection, apr_pool_t *pool)
{
    const int status = sr_connection_send(connection, connection->dialect->sql->engine[SR_SQL_COMMIT]);
    if (status == 0) apr_pool_cleanup_kill(pool, connection, roll_back);
    return status;
}
