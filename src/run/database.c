/* database.c: mod_dbd as the store's source of connections. Borrowed tightly by ap_dbd_open/close:
 * ap_dbd_acquire would keep a connection until a slow client has read its answer. */
#include <apr_dbd.h>
#include <mod_dbd.h>

#include <ap_mpm.h>
#include <apr_optional.h>
#include <http_log.h>
#include <signal.h>
#include <util_mutex.h>

#include "metrics/metrics.h"
#include "mod_sigreq.h"
#include "run/run.h"

APLOG_USE_MODULE(sigreq);

#define LOCK_TYPE "sigreq-writer"

static apr_global_mutex_t *writer;

int sr_run_lock_register(apr_pool_t *pconf)
{
    return ap_mutex_register(pconf, LOCK_TYPE, NULL, APR_LOCK_DEFAULT, 0) ? HTTP_INTERNAL_SERVER_ERROR : OK;
}

/* Made once for the life of the server: at a graceful restart old and new children write side by side, and must meet
 * at the same lock. pconf, and this DSO's statics, begin anew at each restart; the process pool does not. */
int sr_run_lock_create(server_rec *main_server)
{
    apr_pool_t *process = main_server->process->pool;
    void *kept;
    apr_pool_userdata_get(&kept, LOCK_TYPE, process);
    writer = kept;
    if (writer) return OK;
    if (ap_global_mutex_create(&writer, NULL, LOCK_TYPE, NULL, main_server, process, 0))
        return HTTP_INTERNAL_SERVER_ERROR;
    apr_pool_userdata_set(writer, LOCK_TYPE, NULL, process); /* not setn: the key would go with this DSO */
    return OK;
}

/* prefork ends a child in the handler of a signal, in the midst of what it does; the delivery thread then has to come
 * to the database once more, and must not find it locked by who is in that handler. */
static bool signals_wait;

static void hold_signals(sigset_t *before)
{
    sigset_t ends;
    if (!signals_wait) return;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &ends, before);
}

static void let_signals(const sigset_t *before)
{
    if (signals_wait) pthread_sigmask(SIG_SETMASK, before, NULL);
}

void sr_run_lock_child_init(apr_pool_t *pchild, server_rec *main_server)
{
    int threads = 0;
    ap_mpm_query(AP_MPMQ_IS_THREADED, &threads);
    signals_wait = !threads;
    apr_status_t status = apr_global_mutex_child_init(&writer, apr_global_mutex_lockfile(writer), pchild);
    if (status) ap_log_error(APLOG_MARK, APLOG_CRIT, status, main_server, "SR0200: cannot use the mutex " LOCK_TYPE);
}

static apr_status_t lock(void *baton)
{
    return apr_global_mutex_lock(writer);
}

static apr_status_t unlock(void *baton)
{
    return apr_global_mutex_unlock(writer);
}

static const sr_writer_lock_t writer_lock = {lock, unlock, NULL};

typedef struct dbd_source_t {
    sr_store_source_t source; /* first: it is what callers hold */
    server_rec *server;
    apr_pool_t *pool;
    ap_dbd_t *connection; /* while lent */
    sigset_t signals;     /* before */
} dbd_source_t;

static sr_error_t *away(apr_pool_t *pool, const char *cause)
{
    return sr_error_because(sr_error(pool, SR_EUNAVAILABLE, "The service is unavailable at present, try again later"),
                            pool, "%s", cause);
}

static void give_back(sr_store_source_t *source, sr_store_t *store)
{
    APR_OPTIONAL_FN_TYPE(ap_dbd_close) *close = APR_RETRIEVE_OPTIONAL_FN(ap_dbd_close);
    dbd_source_t *dbd = (dbd_source_t *)source;
    if (dbd->connection) close(dbd->server, dbd->connection);
    dbd->connection = NULL;
    let_signals(&dbd->signals);
}

static sr_error_t *borrow(sr_store_source_t *source, sr_store_t **store, apr_pool_t *pool)
{
    APR_OPTIONAL_FN_TYPE(ap_dbd_open) *open = APR_RETRIEVE_OPTIONAL_FN(ap_dbd_open);
    dbd_source_t *dbd = (dbd_source_t *)source;
    if (!open) return away(pool, "mod_dbd is not loaded");
    hold_signals(&dbd->signals);
    ap_dbd_t *connection = dbd->connection = open(dbd->pool, dbd->server);
    if (!connection)
        sr_metrics_count(SR_METRIC_DATABASE_ERRORS, sr_metrics_number(SR_LABEL_FAILURE, "no-connection"), 0, 1);
    sr_error_t *error = connection
                            ? sr_store_open(store, connection->driver, connection->handle, connection->prepared,
                                            connection->pool, &writer_lock, pool)
                            : away(pool, "mod_dbd has no connection: see DBDriver and DBDParams, and its own message");
    if (error) give_back(source, NULL);
    return error;
}

sr_store_source_t *sr_run_database(server_rec *server, apr_pool_t *pool)
{
    dbd_source_t *dbd = apr_palloc(pool, sizeof *dbd);
    *dbd = (dbd_source_t){.source = {borrow, give_back}, .server = server, .pool = pool};
    return &dbd->source;
}
