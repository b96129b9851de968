/* SPDX-License-Identifier: Apache-2.0 */
/* named.c: what a session of PostgreSQL keeps: prepared statements, and the time limit of lists. PostgreSQL parses and
 * plans a statement each time it is sent, but a named one only once in a session. A name is known only to the server
 * process that has prepared it, and behind a pooler such as PgBouncer the next operation may run in another one. So
 * statements get names only if the process that runs them is the one that has answered when the connection was made: a
 * pooler makes up the number that it gives to its clients.
 *
 * A named statement may have another text than the one that is sent without a name (@named): the call of a function in
 * SQL, which the server inserts into the statement. That saves a fifth of the time, but must be planned with the
 * statement.
 *
 * Everything still works if that was wrong. An operation is one statement here, and one that has failed has changed
 * nothing. If a named one fails, this session uses no names any more, and the operation is sent again without. So it
 * does if an upgrade has changed the columns of a function, or if somebody has sent DEALLOCATE. */
#include "store/private.h"

#include <apr_lib.h>
#include <stdlib.h>

/* An operation gets a name when it is run this often: most connections of sigreqctl run each one once. */
#define USES 3

struct sr_named_t {
    apr_pool_t *connection_pool;
    apr_pool_t *pool;   /* of this session */
    int session;        /* the server process, or 0 */
    bool asked, direct; /* direct: no pooler is between this process and the server */
    bool checked;
    bool usable;  /* if checked */
    bool limited; /* SR_SQL_LIMITED was sent */
    unsigned char uses[SR_OP_COUNT];
    apr_dbd_prepared_t *statements[SR_OP_COUNT];
};

sr_named_t *sr_named_make(apr_pool_t *connection_pool)
{
    sr_named_t *named = apr_pcalloc(connection_pool, sizeof *named);
    named->connection_pool = connection_pool;
    return named;
}

/* mod_dbd and libpq may have opened the connection again since the last operation. */
static void session_begin(sr_named_t *named, int session)
{
    apr_pool_t *connection_pool = named->connection_pool;
    if (named->pool) apr_pool_destroy(named->pool);
    *named = (sr_named_t){.connection_pool = connection_pool, .session = session};
    apr_pool_create(&named->pool, connection_pool);
}

static bool is_direct(sr_named_t *named, const sr_connection_t *connection, apr_pool_t *pool)
{
    const char *sql = connection->dialect->sql->engine[SR_SQL_SESSION], *answer;
    if (named->asked) return named->direct;
    named->direct =
        sr_connection_ask(&answer, connection, sql, pool) == 0 && answer && strtol(answer, NULL, 10) == named->session;
    named->asked = true;
    return named->direct;
}

/* Returns the server process, or 0 if the database has no server process. */
static int named_session_of(sr_named_t *named, const sr_connection_t *connection)
{
    const int session = connection->dialect->session ? connection->dialect->session(connection) : 0;
    if (session && session != named->session) session_begin(named, session);
    return session;
}

static bool session_check(sr_named_t *named, const sr_connection_t *connection, apr_pool_t *pool)
{
    const char *sql = connection->dialect->sql->engine[SR_SQL_NAMING], *ignored;
    return is_direct(named, connection, pool) && sr_connection_ask(&ignored, connection, sql, pool) == 0;
}

static int named_prepare(apr_dbd_prepared_t **statement, const sr_named_t *named, const sr_connection_t *connection,
                         const sr_operation_t *operation)
{
    const sr_statement_t *text = &operation->statements[0];
    char *name = apr_pstrcat(named->pool, "sigreq_", operation->name, NULL);
    const int status = sr_connection_enter(connection);
    /* apr_dbd sends PREPARE, in which PostgreSQL folds the name, but executes the statement by the name as it is */
    for (char *at = name; *at; at++) *at = (char)apr_tolower(*at);
    if (status != 0) return status;
    return sr_connection_leave(connection, apr_dbd_prepare(connection->driver, named->pool, connection->handle,
                                                           text->named ? text->named : text->text, name, statement));
}

apr_dbd_prepared_t *sr_named_get(sr_named_t *named, const sr_connection_t *connection, sr_op_t op, apr_pool_t *pool)
{
    const sr_operation_t *operation = &connection->dialect->sql->operations[op];
    apr_dbd_prepared_t *statement = NULL;
    if (!named_session_of(named, connection) || !operation->statements[0].typed) return NULL;
    if (named->statements[op] && named->usable) return named->statements[op];
    if (named->uses[op] < USES) named->uses[op]++;
    if (named->uses[op] < USES) return NULL;
    if (!named->checked) named->usable = session_check(named, connection, pool);
    named->checked = true;
    if (!named->usable) return NULL;
    if (named_prepare(&statement, named, connection, operation) != 0) named->usable = false;
    else named->statements[op] = statement;
    return named->statements[op];
}

bool sr_named_give_up(sr_named_t *named, sr_op_t op)
{
    const bool was_used = named->usable && named->statements[op];
    if (was_used) named->usable = false;
    return was_used;
}

static int send_limit(const sr_connection_t *connection, apr_interval_time_t limit, apr_pool_t *pool)
{
    const char *arguments[] = {apr_psprintf(pool, "%" APR_TIME_T_FMT, apr_time_as_msec(limit))};
    apr_dbd_prepared_t *statement = NULL;
    apr_dbd_results_t *results = NULL;
    int status = apr_dbd_prepare(connection->driver, pool, connection->handle,
                                 connection->dialect->sql->engine[SR_SQL_LIMITED], NULL, &statement);
    if (status == 0) status = sr_connection_enter(connection);
    if (status != 0) return status;
    status = apr_dbd_pselect(connection->driver, pool, connection->handle, &results, statement, 1, 1, arguments);
    return sr_connection_leave(connection, status);
}

/* Only lists are limited: other operations that read find their rows by an index, and changing the limit before each
 * operation that writes would cost a round trip. An operation that writes is never cancelled (watch.c). */
int sr_named_limit(sr_named_t *named, const sr_connection_t *connection, bool reads, bool many, apr_pool_t *pool)
{
    const apr_interval_time_t limit = sr_watch_limit(connection->watch);
    const bool wanted = reads && many;
    int status;
    if (!limit || !named_session_of(named, connection) || wanted == named->limited || (named->limited && reads))
        return 0;
    if (wanted && !is_direct(named, connection, pool)) return 0;
    status = wanted ? send_limit(connection, limit * 3 / 4, pool)
                    : sr_connection_send(connection, connection->dialect->sql->engine[SR_SQL_UNLIMITED]);
    if (status == 0) named->limited = wanted;
    return status;
}
