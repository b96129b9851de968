/* SPDX-License-Identifier: Apache-2.0 */
/* pgsql.c: PostgreSQL: distinguishes a lost connection from a refused statement. apr_dbd does not give the SQLSTATE,
 * and the server's messages may be in any language. Three functions of libpq that apr_dbd does not offer are looked up
 * in the libpq that its driver has loaded, so that the module is not linked with libpq. */
#include "store/private.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

/* Messages of refusals that the server has caused, and not the statement. If the server translates its messages they
 * are not recognised, and the response is 500 instead of 503. */
static const char *const troubles[] = {
    "No space left on device",
    "canceling statement due to",
    "the database system is",
    "out of shared memory",
};
/* The message of a server that does not accept writes, for example because it has become a standby. The connection
 * string may name another server. */
static const char read_only[] = "read-only transaction";

static struct {
    int (*socket)(const void *connection);
    int (*process)(const void *connection);
    void (*reset)(void *connection);
} pq;

static void find_functions(void)
{
    void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_NOLOAD);

    *(void **)&pq.socket = dlsym(library ? library : RTLD_DEFAULT, "PQsocket");
    *(void **)&pq.process = dlsym(library ? library : RTLD_DEFAULT, "PQbackendPID");
    *(void **)&pq.reset = dlsym(library ? library : RTLD_DEFAULT, "PQreset");
}

static void *native(const sr_connection_t *connection)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, find_functions); /* libpq is loaded if there is a connection */
    return apr_dbd_native_handle(connection->driver, connection->handle);
}

static int socket_of(const sr_connection_t *connection)
{
    const void *own = native(connection);

    return own && pq.socket ? pq.socket(own) : -1;
}

static int session_of(const sr_connection_t *connection)
{
    const void *own = native(connection);

    return own && pq.process ? pq.process(own) : 0;
}

/* Opens a lost connection again, or (`anyway`) one that works but cannot be used, if there is time for that.
 * apr_dbd_check_conn checks only the local state, which the failed statement has updated. */
static sr_failure_t open_again(const sr_connection_t *connection, bool anyway, apr_pool_t *pool)
{
    void *own = native(connection);

    if (!sr_watch_allows(connection->watch, SR_CONNECT_TIME)) return SR_FAILURE_AWAY;
    if (anyway && own && pq.reset) pq.reset(own);
    return apr_dbd_check_conn(connection->driver, pool, connection->handle) == APR_SUCCESS ? SR_FAILURE_GONE
                                                                                           : SR_FAILURE_AWAY;
}

/* Classifies a failure. A connection that still responds was not lost. */
static sr_failure_t judge(const sr_connection_t *connection, const char *reason, apr_pool_t *pool)
{
    if (strstr(reason, read_only)) return open_again(connection, true, pool);
    for (size_t i = 0; i < sizeof troubles / sizeof *troubles; i++) {
        if (strstr(reason, troubles[i])) return SR_FAILURE_AWAY;
    }
    if (sr_connection_send(connection, connection->dialect->sql->engine[SR_SQL_PROBE]) == 0) {
        return SR_FAILURE_STATEMENT;
    }
    return open_again(connection, false, pool);
}

const sr_dialect_t sr_dialect_pgsql = {"pgsql", &sr_sql_pgsql, NULL, judge, socket_of, session_of};
