/* SPDX-License-Identifier: Apache-2.0 */
/* connections.c: mod_dbd as the store's source of connections. A connection is held only for one operation (ap_dbd_open
 * and ap_dbd_close), because ap_dbd_acquire would keep it until a slow client has read the response. This file also
 * limits how long the database may take and which threads may use it, with the store's watch and gate: one watchdog
 * per child, and one gate per database in each child. */
#include <apr_dbd.h>
#include <mod_dbd.h>

#include <ap_mpm.h>
#include <apr_atomic.h>
#include <apr_optional.h>
#include <http_log.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <util_mutex.h>

#include "metrics/metrics.h"
#include "mod_sigreq.h"
#include "httpd/adapters.h"

APLOG_USE_MODULE(sigreq);

#define LOCK_TYPE "sigreq-writer"
#define HASTE apr_time_from_msec(100)
/* A database that refuses a connection does so at once. If opening one took this long, the database hangs. */
#define SLOW apr_time_from_sec(1)
/* How long reads rely on a check of the database file, which takes 6 % of the time of a GET. */
#define CHECKED apr_time_from_msec(1)

static apr_global_mutex_t *writer;

/* The file of an SQLite database when this child began. path: NULL if there was none. */
typedef struct file_t {
    const char *path;
    struct stat status;
    volatile apr_uint64_t checked; /* when it was last found there */
} file_t;

/* The state of this child. */
static struct {
    server_rec *main_server;
    const apr_array_header_t *databases; /* server_rec * */
    sr_gate_t **gates;                   /* one per database */
    volatile bool *are_files;            /* one per database: it is SQLite, as its first connection has told. It needs
                                            no gate, because a file cannot stop responding */
    file_t *files;                       /* one per database */
    sr_watchdog_t *watchdog;
    apr_interval_time_t limit;
    volatile apr_uint32_t writer_late;
} child;

int sr_run_lock_register(apr_pool_t *pconf)
{
    return ap_mutex_register(pconf, LOCK_TYPE, NULL, APR_LOCK_DEFAULT, 0) ? HTTP_INTERNAL_SERVER_ERROR : OK;
}

/* Creates the mutex once for the life of the server. During a graceful restart old and new children write at the same
 * time and must use the same mutex. pconf and this module's static variables begin again at each restart, but the
 * process pool does not. */
int sr_run_lock_create(server_rec *main_server)
{
    apr_pool_t *process = main_server->process->pool;
    void *kept;
    apr_pool_userdata_get(&kept, LOCK_TYPE, process);
    writer = kept;
    if (writer) return OK;
    if (ap_global_mutex_create(&writer, NULL, LOCK_TYPE, NULL, main_server, process, 0))
        return HTTP_INTERNAL_SERVER_ERROR;
    apr_pool_userdata_set(writer, LOCK_TYPE, NULL, process); /* not setn: the key would be unloaded with this module */
    return OK;
}

/* prefork ends a child in a signal handler, which may interrupt the child while it uses the database. The job thread
 * must then use the database once more, and must not find it locked by the interrupted thread. So these signals are
 * blocked during an operation. */
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

static void lock_child_init(apr_pool_t *pchild, server_rec *main_server)
{
    int threads = 0;
    ap_mpm_query(AP_MPMQ_IS_THREADED, &threads);
    signals_wait = !threads;
    apr_status_t status = apr_global_mutex_child_init(&writer, apr_global_mutex_lockfile(writer), pchild);
    if (status) ap_log_error(APLOG_MARK, APLOG_CRIT, status, main_server, "SR0200: cannot use the mutex " LOCK_TYPE);
}

void sr_run_database_post_config(void)
{
    setenv("PGCONNECT_TIMEOUT", SR_CONNECT_SECONDS, 0);
}

static int servers_of(const server_rec *server, apr_pool_t *pool)
{
    const char *driver = sr_conf_setting(pool, server, child.main_server, "DBDriver");
    return sr_store_servers(driver, sr_conf_setting(pool, server, child.main_server, "DBDParams"));
}

static void note_file(file_t *file, const server_rec *server, apr_pool_t *pool)
{
    const char *path = sr_conf_setting(pool, server, child.main_server, "DBDParams");
    if (strcmp(sr_conf_setting(pool, server, child.main_server, "DBDriver"), "sqlite3") != 0) return;
    if (stat(path, &file->status) == 0) file->path = path;
}

/* Returns true if another file has taken the place of the database since this child began. What its connections write
 * would be lost in the former file. */
static bool is_replaced(const sr_store_source_t *source)
{
    file_t *file = source->number >= 0 ? &child.files[source->number] : NULL;
    struct stat now;
    if (!file || !file->path) return false;
    const apr_time_t time = sr_time_steady();
    if (source->reads && time < (apr_time_t)apr_atomic_read64(&file->checked) + CHECKED) return false;
    if (stat(file->path, &now) != 0 || now.st_ino != file->status.st_ino || now.st_dev != file->status.st_dev)
        return true;
    apr_atomic_set64(&file->checked, (apr_uint64_t)time);
    return false;
}

void sr_run_database_child_init(apr_pool_t *pchild, server_rec *main_server, const sr_process_settings_t *conf)
{
    int threads = 1;
    lock_child_init(pchild, main_server);
    ap_mpm_query(AP_MPMQ_MAX_THREADS, &threads);
    child.main_server = main_server;
    child.limit = conf->database_timeout;
    child.databases = sr_conf_databases(pchild, main_server);
    child.gates = apr_palloc(pchild, (apr_size_t)child.databases->nelts * sizeof(sr_gate_t *));
    child.are_files = apr_pcalloc(pchild, (apr_size_t)child.databases->nelts * sizeof(bool));
    child.files = apr_pcalloc(pchild, (apr_size_t)child.databases->nelts * sizeof(file_t));
    for (int i = 0; i < child.databases->nelts; i++) {
        server_rec *server = APR_ARRAY_IDX(child.databases, i, server_rec *);
        note_file(&child.files[i], server, pchild);
        child.gates[i] = sr_gate_create(i, threads, servers_of(server, pchild), child.limit, pchild);
        sr_metrics_live_set(SR_METRIC_CONNECTIONS_LIMIT, i, sr_conf_connections(pchild, server, main_server));
    }
    sr_error_t *error = sr_watchdog_start(&child.watchdog, child.limit, pchild);
    if (error)
        ap_log_error(APLOG_MARK, APLOG_CRIT, 0, main_server, "SR0722: SigreqDatabaseTimeout has no effect: %s",
                     error->message);
}

int sr_run_database_number(const server_rec *server)
{
    int of_all = -1;
    for (int i = 0; child.databases && i < child.databases->nelts; i++) {
        const server_rec *one = APR_ARRAY_IDX(child.databases, i, server_rec *);
        if (one == server) return i;
        if (one == child.main_server) of_all = i;
    }
    return of_all;
}

/* A child that is stopped (SIGSTOP, a debugger) while it writes keeps the lock. After one wait has timed out, later
 * waits are short until the lock is free again. */
static apr_status_t lock_writer(void)
{
    const bool late = apr_atomic_read32(&child.writer_late) != 0;
    apr_status_t status = apr_global_mutex_timedlock(writer, late ? HASTE : child.limit);
    const bool now_late = APR_STATUS_IS_TIMEUP(status);
    if (now_late != late && (now_late || !status)) {
        apr_atomic_set32(&child.writer_late, now_late);
        sr_run_log(child.main_server, now_late ? APLOG_WARNING : APLOG_NOTICE,
                   now_late ? "SR0723: the SQLite write lock has been held for a long time; its holder may be stopped"
                            : "SR0723: the SQLite write lock is free again");
    }
    return status;
}

typedef struct dbd_source_t {
    sr_store_source_t source; /* must be the first member: callers hold a pointer to it */
    server_rec *server;
    apr_pool_t *pool;
    ap_dbd_t *connection; /* set while the connection is lent */
    bool writes;          /* this thread has the lock of SQLite's writers */
    sigset_t signals;     /* the signal mask before the operation */
    sr_watch_t watch;
    sr_visit_t visit; /* its gate may be NULL */
    apr_time_t refused_until;
} dbd_source_t;

static sr_error_t *away(apr_pool_t *pool, const char *cause)
{
    return sr_error_because(sr_error(pool, SR_EUNAVAILABLE, "The service is unavailable at present, try again later"),
                            pool, "%s", cause);
}

static void log_change(const dbd_source_t *dbd, sr_gate_change_t change, const char *stopped, const char *why)
{
    if (change == SR_GATE_STOPPED) sr_run_log(dbd->server, APLOG_ERR, apr_pstrcat(dbd->pool, stopped, why, NULL));
    if (change == SR_GATE_ANSWERS) sr_run_log(dbd->server, APLOG_NOTICE, "SR0721: the database answers again");
}

static void leave(dbd_source_t *dbd, sr_visit_end_t end)
{
    if (dbd->writes) apr_global_mutex_unlock(writer);
    dbd->writes = false;
    sr_gate_change_t change = dbd->visit.gate ? sr_gate_leave(&dbd->visit, end) : SR_GATE_SAME;
    sr_watch_end(&dbd->watch);
    let_signals(&dbd->signals);
    log_change(dbd, change, "SR0720: the database does not answer: requests are rejected at once until it does", NULL);
}

static void count(const dbd_source_t *dbd, sr_metric_t metric, int by)
{
    if (dbd->source.number >= 0) sr_metrics_live_add(metric, dbd->source.number, by);
}

static void connections_give_back(sr_store_source_t *source, sr_store_t *store)
{
    APR_OPTIONAL_FN_TYPE(ap_dbd_close) *close = APR_RETRIEVE_OPTIONAL_FN(ap_dbd_close);
    dbd_source_t *dbd = (dbd_source_t *)source;
    if (dbd->connection) close(dbd->server, dbd->connection);
    if (dbd->connection) count(dbd, SR_METRIC_CONNECTIONS, -1);
    dbd->connection = NULL;
    if (dbd->watch.late) dbd->refused_until = sr_time_steady() + child.limit;
    leave(dbd, dbd->watch.late ? SR_VISIT_LATE : dbd->watch.answered ? SR_VISIT_ANSWERED : SR_VISIT_UNKNOWN);
}

static sr_gate_t *gate_of(const dbd_source_t *dbd)
{
    return dbd->source.number >= 0 && child.watchdog && !child.are_files[dbd->source.number]
               ? child.gates[dbd->source.number]
               : NULL;
}

/* A request that has waited for the time limit in vain must not wait once more, for example to give back a lock. */
static const char *connections_begin(dbd_source_t *dbd)
{
    const sr_use_t use = dbd->source.reads ? SR_USE_READ : SR_USE_WRITE;
    const char *why = NULL;
    if (sr_time_steady() < dbd->refused_until) return "the database did not answer this request earlier";
    sr_gate_t *gate = gate_of(dbd);
    hold_signals(&dbd->signals);
    sr_watch_begin(&dbd->watch, gate ? child.watchdog : NULL, dbd->source.number,
                   gate ? sr_gate_connect_time(gate) : 0);
    dbd->visit = (sr_visit_t){0};
    if (gate) why = sr_gate_enter(&dbd->visit, gate, use, dbd->watch.until);
    if (!why) return NULL;
    dbd->visit.gate = NULL; /* the gate was not entered */
    leave(dbd, SR_VISIT_UNKNOWN);
    return why;
}

/* Only an open connection tells which driver a database has. */
static void note_driver(const dbd_source_t *dbd)
{
    const int number = dbd->source.number;
    if (number >= 0 && !strcmp(apr_dbd_name(dbd->connection->driver), "sqlite3")) child.are_files[number] = true;
}

static apr_status_t connections_disconnect(void *data)
{
    const ap_dbd_t *connection = data;
    return apr_dbd_close(connection->driver, connection->handle);
}

/* SQLite would create a file that is missing. */
const char *sr_run_database_open(ap_dbd_t *connection, const char *driver, const char *params, apr_pool_t *pool)
{
    const char *why = NULL;
    struct stat status;
    if (!*driver || !*params) return "DBDriver or DBDParams is missing";
    if (!strcmp(driver, "sqlite3") && (stat(params, &status) != 0 || !status.st_size))
        return "it is empty or cannot be opened: run: sigreqctl db init";
    apr_dbd_init(pool);
    if (apr_dbd_get_driver(pool, driver, &connection->driver) != APR_SUCCESS) return "apr has no such driver";
    if (apr_dbd_open_ex(connection->driver, pool, params, &connection->handle, &why) != APR_SUCCESS)
        return why ? apr_pstrmemdup(pool, why, strcspn(why, "\r\n")) : "it cannot be opened";
    apr_pool_pre_cleanup_register(pool, connection, connections_disconnect);
    return NULL;
}

/* Returns why the database refuses a connection, in its own words, or NULL. mod_dbd does not tell. */
static const char *connections_refusal(const dbd_source_t *dbd)
{
    const char *driver = sr_conf_setting(dbd->pool, dbd->server, child.main_server, "DBDriver");
    const char *params = sr_conf_setting(dbd->pool, dbd->server, child.main_server, "DBDParams");
    ap_dbd_t connection = {0};
    apr_pool_t *pool;
    apr_pool_create(&pool, dbd->pool);
    const char *why = apr_pstrdup(dbd->pool, sr_run_database_open(&connection, driver, params, pool));
    apr_pool_destroy(pool); /* closes the connection */
    return why;
}

static void lend(dbd_source_t *dbd)
{
    APR_OPTIONAL_FN_TYPE(ap_dbd_open) *open = APR_RETRIEVE_OPTIONAL_FN(ap_dbd_open);
    count(dbd, SR_METRIC_CONNECTIONS_WAITING, 1);
    dbd->connection = open(dbd->pool, dbd->server);
    count(dbd, SR_METRIC_CONNECTIONS_WAITING, -1);
    if (dbd->connection) count(dbd, SR_METRIC_CONNECTIONS, 1);
}

/* Opens a connection. Returns NULL, or why it is refused. Then everything that `begin` did is undone. A database that
 * refuses connections is first asked without mod_dbd, which writes lines to the log for each attempt. */
static const char *open_connection(dbd_source_t *dbd)
{
    const apr_time_t begun = sr_time_steady();
    const char *why = dbd->visit.asks ? connections_refusal(dbd) : NULL;
    if (!why) lend(dbd);
    const bool slow = sr_time_steady() - begun >= SLOW;
    if (!dbd->connection && !why && !slow) why = connections_refusal(dbd);
    if (!dbd->connection && !why) why = "mod_dbd has no connection: see DBDriver and DBDParams, and its own message";
    const sr_gate_change_t change = dbd->visit.gate ? sr_gate_opened(&dbd->visit, why != NULL) : SR_GATE_SAME;
    log_change(dbd, change,
               "SR0724: the database rejects connections. Requests are rejected at once until it accepts one: ", why);
    if (why) leave(dbd, slow ? SR_VISIT_UNREACHABLE : SR_VISIT_UNKNOWN);
    else note_driver(dbd);
    return why;
}

/* Whether this thread must have the lock of SQLite's writers, and has not. The lock is taken before the connection:
 * then the writers of a child borrow the same connection one after the other, because mod_dbd lends the one that was
 * returned last. SQLite keeps the pages that a connection has read and written until another connection writes. Also,
 * no thread waits for the lock with a connection for which its owner waits. */
static bool needs_lock(const dbd_source_t *dbd)
{
    return dbd->source.number >= 0 && child.are_files[dbd->source.number] && !dbd->source.reads && !dbd->writes;
}

static sr_error_t *no_connection(apr_pool_t *pool, const char *why)
{
    sr_metrics_count(SR_METRIC_DATABASE_ERRORS, sr_metrics_number(SR_LABEL_FAILURE, "no-connection"), 0, 1);
    return away(pool, why);
}

static sr_error_t *take_connection(dbd_source_t *dbd, apr_pool_t *pool)
{
    const char *why = connections_begin(dbd);
    if (why) return no_connection(pool, why);
    const bool waits = needs_lock(dbd);
    if (waits) dbd->writes = lock_writer() == APR_SUCCESS;
    if (waits && !dbd->writes) {
        connections_give_back(&dbd->source, NULL);
        return away(pool, "the SQLite write lock cannot be acquired");
    }
    why = open_connection(dbd);
    return why ? no_connection(pool, why) : NULL;
}

static sr_error_t *connections_borrow(sr_store_source_t *source, sr_store_t **store, apr_pool_t *pool)
{
    dbd_source_t *dbd = (dbd_source_t *)source;
    if (!APR_RETRIEVE_OPTIONAL_FN(ap_dbd_open)) return away(pool, "mod_dbd is not loaded");
    if (is_replaced(source))
        return away(pool, "the database file was replaced while httpd was running. Run: apachectl graceful");
    SR_TRY(take_connection(dbd, pool));
    if (needs_lock(dbd)) { /* the first connection of this child has told that it is SQLite */
        connections_give_back(source, NULL);
        SR_TRY(take_connection(dbd, pool));
    }
    const ap_dbd_t *connection = dbd->connection;
    sr_error_t *error = sr_store_open(store, connection->driver, connection->handle, connection->prepared,
                                      connection->pool, &dbd->watch, pool);
    if (error) connections_give_back(source, NULL);
    return error;
}

sr_store_source_t *sr_run_database(server_rec *server, apr_pool_t *pool)
{
    dbd_source_t *dbd = apr_palloc(pool, sizeof *dbd);
    *dbd = (dbd_source_t){.source = {.number = sr_run_database_number(server),
                                     .borrow = connections_borrow,
                                     .give_back = connections_give_back},
                          .server = server,
                          .pool = pool};
    if (dbd->source.number >= 0) dbd->source.servers = sr_gate_servers(child.gates[dbd->source.number]);
    return &dbd->source;
}
