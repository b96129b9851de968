/* SPDX-License-Identifier: Apache-2.0 */
/* thread.c: starts and ends the threads of a child that handle no requests. */
#include <httpd.h>
#include <ap_mpm.h>
#include <apr_portable.h>
#include <signal.h>
#include <unistd.h>

#include "httpd/adapters.h"

apr_status_t sr_run_thread_start(apr_thread_t **thread, apr_thread_start_t function, void *data, apr_pool_t *pool)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    apr_status_t status = apr_thread_create(thread, NULL, function, data, pool);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}

void sr_run_thread_join(apr_thread_t *thread, bool in_handler)
{
    pthread_t *own;
    apr_status_t ignored;
    if (!in_handler || apr_os_thread_get(&own, thread)) {
        apr_thread_join(&ignored, thread);
        return;
    }
    const apr_time_t end = sr_time_steady() + apr_time_from_sec(1);
    const struct timespec until = {apr_time_sec(end), apr_time_usec(end) * 1000};
    if (pthread_clockjoin_np(*own, NULL, CLOCK_MONOTONIC, &until)) _exit(0);
}

/* The signal is blocked in its handler. */
bool sr_run_in_handler(void)
{
    sigset_t blocked;
    int threads = 0;
    ap_mpm_query(AP_MPMQ_IS_THREADED, &threads);
    return !threads && !pthread_sigmask(SIG_BLOCK, NULL, &blocked)
           && (sigismember(&blocked, SIGTERM) || sigismember(&blocked, SIGHUP));
}
