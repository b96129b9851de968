/* pgsql.c: what is particular to PostgreSQL: telling a lost connection from a refused statement. apr_dbd shows no
 * SQLSTATE, and the server's words may be in any language. */
#include "store/private.h"

#include <string.h>

/* Refusals that are the server's trouble, not the statement's. Where messages are translated these are not found,
 * and the answer is then 500 instead of 503. */
static const char *const troubles[] = {
    "No space left on device", "canceling statement due to", "the database system is",
    "read-only transaction",   "out of shared memory",
};

/* After a failure a connection that still answers was not lost. Otherwise apr_dbd's check opens it anew: it looks
 * only at the local state, which the failed statement has just corrected. */
static sr_failure_t judge(const sr_connection_t *connection, const char *reason, apr_pool_t *pool)
{
    for (size_t i = 0; i < sizeof troubles / sizeof *troubles; i++) {
        if (strstr(reason, troubles[i])) return SR_FAILURE_AWAY;
    }
    if (sr_connection_send(connection, connection->dialect->sql->engine[SR_SQL_PROBE]) == 0) {
        return SR_FAILURE_STATEMENT;
    }
    return apr_dbd_check_conn(connection->driver, pool, connection->handle) == APR_SUCCESS ? SR_FAILURE_GONE
                                                                                           : SR_FAILURE_AWAY;
}

const sr_dialect_t sr_dialect_pgsql = {"pgsql", &sr_sql_pgsql, NULL, judge};
