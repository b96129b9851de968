/* SPDX-License-Identifier: Apache-2.0 */
/* watch.c: the limit for what the database may take. libpq waits for an answer as long as the connection looks alive,
 * which is for ever when the server is stopped (SIGSTOP, a frozen virtual machine) or waits for a standby: its kernel
 * still acknowledges what it receives, so no TCP option ends that. One thread per process shuts the socket of such a
 * connection down, and libpq then reports a lost connection. Whether the statement was committed is not known. Nothing
 * is cancelled: a cancelled COMMIT that waits for a synchronous standby answers success without it. */
#include "store/private.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Not in a pool: a thread that could not be joined may still use it. */
struct sr_watchdog_t {
    pthread_mutex_t mutex;
    pthread_cond_t stop;
    pthread_t thread;
    apr_interval_time_t limit;
    sr_watch_t *first;
    bool stopping;
};

apr_time_t sr_watch_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return apr_time_from_sec(now.tv_sec) + now.tv_nsec / 1000;
}

/* Shuts down what is over its time. Returns when to look again: every watch that begins later ends later than that. */
static apr_time_t look(sr_watchdog_t *watchdog)
{
    const apr_time_t now = sr_watch_clock();
    apr_time_t next = now + watchdog->limit;

    for (sr_watch_t *watch = watchdog->first; watch; watch = watch->next) {
        if (watch->late) continue;
        watch->late = watch->until <= now;
        if (!watch->late && watch->until < next) next = watch->until;
        if (watch->late && watch->socket >= 0) shutdown(watch->socket, SHUT_RDWR);
    }
    return next;
}

static void *run(void *data)
{
    sr_watchdog_t *watchdog = data;

    pthread_mutex_lock(&watchdog->mutex);
    while (!watchdog->stopping) {
        const apr_time_t next = look(watchdog);
        const struct timespec until = {apr_time_sec(next), apr_time_usec(next) * 1000};
        pthread_cond_timedwait(&watchdog->stop, &watchdog->mutex, &until);
    }
    pthread_mutex_unlock(&watchdog->mutex);
    return NULL;
}

/* A child of prefork may end in the handler of a signal, with any lock of libc held: then the thread is left behind. */
static apr_status_t stop(void *data)
{
    sr_watchdog_t *watchdog = data;
    struct timespec until;

    pthread_mutex_lock(&watchdog->mutex);
    watchdog->stopping = true;
    pthread_cond_signal(&watchdog->stop);
    pthread_mutex_unlock(&watchdog->mutex);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    if (!pthread_timedjoin_np(watchdog->thread, NULL, &until)) free(watchdog);
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
    sigfillset(&all); /* the process's signals are for its other threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&made->thread, NULL, run, made);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed) {
        free(made);
        return sr_error(pool, SR_EINTERNAL, "No thread can be started");
    }
    apr_pool_pre_cleanup_register(pool, made, stop);
    *watchdog = made;
    return NULL;
}

void sr_watch_begin(sr_watch_t *watch, sr_watchdog_t *watchdog)
{
    *watch = (sr_watch_t){.watchdog = watchdog, .socket = -1};
    if (!watchdog) return;
    pthread_mutex_lock(&watchdog->mutex);
    watch->until = sr_watch_clock() + watchdog->limit;
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

/* The watch has a descriptor of its own: libpq closes its when the connection breaks, and another thread may then get
 * the same number for another socket. */
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
    if (answered) watch->late = !(watch->answered = true); /* the answer was faster than the watchdog */
    pthread_mutex_unlock(&watch->watchdog->mutex);
    if (own >= 0) close(own);
}

bool sr_watch_allows(const sr_watch_t *watch, apr_interval_time_t time)
{
    return !watch || !watch->watchdog || sr_watch_clock() + time <= watch->until;
}
