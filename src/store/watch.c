/* SPDX-License-Identifier: Apache-2.0 */
/* watch.c: the time limit for operations on a database. libpq waits for a response without a limit while the
 * connection exists. If the server is stopped (SIGSTOP, a frozen virtual machine) or waits for a standby, its kernel
 * still acknowledges the packets, so no TCP option ends the wait. Therefore one thread per process shuts down the
 * socket of such a connection, and libpq reports a lost connection. The statement may have been committed.
 * Statements that write are never cancelled, because a cancelled COMMIT that waits for a synchronous standby reports
 * success. The server ends lists earlier (named.c). */
#include "store/private.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Allocated by calloc and not in a pool, because a thread that could not be joined may still use it. */
struct sr_watchdog_t {
    pthread_mutex_t mutex;
    pthread_cond_t stop;
    pthread_t thread;
    apr_interval_time_t limit;
    sr_watch_t *first;
    bool stopping;
};

/* Shuts down the sockets whose time is up. Returns the time of the next check. A watch that begins later ends after
 * that time. */
static apr_time_t watch_look(sr_watchdog_t *watchdog)
{
    const apr_time_t now = sr_time_steady();
    apr_time_t next = now + watchdog->limit;
    for (sr_watch_t *watch = watchdog->first; watch; watch = watch->next) {
        if (watch->late) continue;
        watch->late = watch->until <= now;
        if (!watch->late && watch->until < next) next = watch->until;
        if (watch->late && watch->socket >= 0) shutdown(watch->socket, SHUT_RDWR);
    }
    return next;
}

static void *watch_run(void *data)
{
    sr_watchdog_t *watchdog = data;
    pthread_mutex_lock(&watchdog->mutex);
    while (!watchdog->stopping) {
        const apr_time_t next = watch_look(watchdog);
        const struct timespec until = {apr_time_sec(next), apr_time_usec(next) * 1000};
        pthread_cond_timedwait(&watchdog->stop, &watchdog->mutex, &until);
    }
    pthread_mutex_unlock(&watchdog->mutex);
    return NULL;
}

/* Ends the thread. A child of prefork may end in a signal handler while a lock of libc is held. Then the thread does
 * not end, and the wait for it is limited to a second. */
static apr_status_t watch_stop(void *data)
{
    sr_watchdog_t *watchdog = data;
    const apr_time_t end = sr_time_steady() + apr_time_from_sec(1);
    const struct timespec until = {apr_time_sec(end), apr_time_usec(end) * 1000};
    pthread_mutex_lock(&watchdog->mutex);
    watchdog->stopping = true;
    pthread_cond_signal(&watchdog->stop);
    pthread_mutex_unlock(&watchdog->mutex);
    if (!pthread_clockjoin_np(watchdog->thread, NULL, CLOCK_MONOTONIC, &until)) free(watchdog);
    return APR_SUCCESS;
}

sr_error_t *sr_watchdog_start(sr_watchdog_t **watchdog, apr_interval_time_t limit, apr_pool_t *pool)
{
    sr_watchdog_t *made = calloc(1, sizeof *made);
    pthread_condattr_t attributes;
    sigset_t all, before;
    int failed;
    *watchdog = NULL;
    if (!made) return sr_error(pool, SR_EINTERNAL, "No memory");
    made->limit = limit;
    pthread_mutex_init(&made->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&made->stop, &attributes);
    sigfillset(&all); /* signals are handled by the other threads of the process */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&made->thread, NULL, watch_run, made);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed) {
        free(made);
        return sr_error(pool, SR_EINTERNAL, "No thread can be started");
    }
    apr_pool_pre_cleanup_register(pool, made, watch_stop);
    *watchdog = made;
    return NULL;
}

void sr_watch_begin(sr_watch_t *watch, sr_watchdog_t *watchdog, int database, apr_interval_time_t connect_time)
{
    *watch = (sr_watch_t){.watchdog = watchdog, .socket = -1, .database = database, .connect_time = connect_time};
    if (!watchdog) return;
    pthread_mutex_lock(&watchdog->mutex);
    watch->until = sr_time_steady() + watchdog->limit;
    watch->next = watchdog->first;
    if (watch->next) watch->next->link = &watch->next;
    watch->link = &watchdog->first;
    watchdog->first = watch;
    pthread_mutex_unlock(&watchdog->mutex);
}

void sr_watch_end(sr_watch_t *watch)
{
    if (!watch->watchdog) return;
    pthread_mutex_lock(&watch->watchdog->mutex);
    *watch->link = watch->next;
    if (watch->next) watch->next->link = watch->link;
    pthread_mutex_unlock(&watch->watchdog->mutex);
    watch->watchdog = NULL;
}

/* The watch uses a duplicate of the descriptor. libpq closes its own one when the connection breaks, and another
 * thread may then get the same number for another socket. */
bool sr_watch_arm(sr_watch_t *watch, int socket)
{
    const int own = socket < 0 ? -1 : fcntl(socket, F_DUPFD_CLOEXEC, 0);
    bool late;
    pthread_mutex_lock(&watch->watchdog->mutex);
    late = watch->late;
    if (!late) watch->socket = own;
    pthread_mutex_unlock(&watch->watchdog->mutex);
    if (late && own >= 0) close(own);
    return !late;
}

void sr_watch_disarm(sr_watch_t *watch, bool answered)
{
    int own;
    pthread_mutex_lock(&watch->watchdog->mutex);
    own = watch->socket;
    watch->socket = -1;
    if (answered) watch->late = !(watch->answered = true); /* the response came before the watchdog's next check */
    pthread_mutex_unlock(&watch->watchdog->mutex);
    if (own >= 0) close(own);
}

bool sr_watch_allows(const sr_watch_t *watch, apr_interval_time_t time)
{
    return !watch || !watch->watchdog || sr_time_steady() + time <= watch->until;
}

apr_interval_time_t sr_watch_limit(const sr_watch_t *watch)
{
    return watch && watch->watchdog ? watch->watchdog->limit : 0;
}
