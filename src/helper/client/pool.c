/* SPDX-License-Identifier: Apache-2.0 */
/* pool.c: how many workers one process may have, and for which requests. A request is sent to the worker that served
 * the previous request of the same HTTP request, or else to an idle worker of the same scope (reuse.c), or else to a
 * new worker. Permits are counted by class, so that pages to be shown never use the permits of documents to be created
 * or signed. The mutex is never held while a process starts or answers. */
#include "metrics/metrics.h"
#include "helper/client/worker.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#define SHOW_TIMEOUT (5 * APR_USEC_PER_SEC)
#define AGAIN apr_time_from_sec(2)                      /* when a preview that was refused may be requested again */
#define KEPT(shared) (4 * (shared)->limit[SR_PDF_WORK]) /* limit of workers that are kept; each takes a megabyte */

static apr_status_t pool_destroy(void *data)
{
    sr_pdf_shared_t *shared = data;
    if (shared->owner != getpid()) return APR_SUCCESS;
    apr_pool_t *scratch;
    apr_pool_create(&scratch, NULL);
    sr_pdf_template_end(shared, scratch);
    for (int i = 0; i < shared->idle_count; i++) close(shared->idle[i].worker.socket);
    for (int i = 0; i < shared->alive_room; i++) {
        sr_pdf_worker_t left = {.pid = shared->alive[i], .socket = -1};
        if (left.pid) sr_pdf_worker_end(&left, scratch);
    }
    apr_pool_destroy(scratch);
    for (int i = 0; i < 2 * SR_PDF_CLASSES; i++) pthread_cond_destroy(&shared->queues[i / 2][i % 2].freed);
    pthread_mutex_destroy(&shared->mutex);
    pthread_mutex_destroy(&shared->template.mutex);
    return APR_SUCCESS;
}

sr_error_t *sr_pdf_pool_create(sr_pdf_pool_t **workers, const sr_pdf_options_t *options, apr_pool_t *pool)
{
    if (!options->program || options->program[0] != '/' || options->workers < 1 || options->show_workers < 0
        || options->visits < 0 || options->visits_of_all < 0 || options->timeout < 1)
        return sr_error(pool, SR_EINTERNAL, "The PDF helper's settings are not valid");

    sr_pdf_shared_t *shared = apr_pcalloc(pool, sizeof *shared);
    shared->options = *options;
    shared->options.program = apr_pstrdup(pool, options->program);
    if (!options->show_timeout) shared->options.show_timeout = SHOW_TIMEOUT;
    shared->owner = getpid();
    shared->limit[SR_PDF_WORK] = options->workers;
    shared->limit[SR_PDF_SHOW] = options->show_workers ? options->show_workers : options->workers;
    shared->limit[SR_PDF_PUBLIC] = shared->limit[SR_PDF_PREVIEW] = (shared->limit[SR_PDF_SHOW] + 1) / 2;
    shared->idle_room = options->keep ? KEPT(shared) + shared->limit[SR_PDF_SHOW] : 0;
    shared->idle = apr_pcalloc(pool, (apr_size_t)shared->idle_room * sizeof *shared->idle);
    shared->alive_room = KEPT(shared) + shared->idle_room;
    for (int i = 0; i < SR_PDF_CLASSES; i++) shared->alive_room += shared->limit[i];
    shared->alive = apr_pcalloc(pool, (apr_size_t)shared->alive_room * sizeof *shared->alive);
    sr_pdf_gate_create(shared, options, pool);

    pthread_condattr_t monotonic;
    pthread_mutex_init(&shared->mutex, NULL);
    pthread_mutex_init(&shared->template.mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    for (int i = 0; i < 2 * SR_PDF_CLASSES; i++) pthread_cond_init(&shared->queues[i / 2][i % 2].freed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    apr_pool_cleanup_register(pool, shared, pool_destroy, apr_pool_cleanup_null);
    *workers = apr_pcalloc(pool, sizeof **workers);
    (*workers)->shared = shared;
    for (int i = 0; i < SR_PDF_CLASSES; i++) sr_metrics_live_set(SR_METRIC_HELPERS_LIMIT, i, shared->limit[i]);
    return NULL;
}

/* --- permits. HTTP requests that already have a worker have priority, so that they end sooner and fewer workers are
 * kept. Each permit that is released wakes one waiting thread. */

static bool may_enter(const sr_pdf_shared_t *shared, sr_pdf_class_t class, bool goes_on)
{
    if (shared->busy[class] >= shared->limit[class]) return false;
    return goes_on || !shared->queues[class][true].waiting;
}

/* Wakes one waiting thread if there is a permit. */
static void wake(sr_pdf_shared_t *shared, sr_pdf_class_t class)
{
    sr_pdf_queue_t *queues = shared->queues[class];
    if (shared->busy[class] < shared->limit[class]) pthread_cond_signal(&queues[queues[true].waiting > 0].freed);
}

/* Each preview that waits occupies a thread of httpd, so few of them wait. */
static sr_error_t *too_many_previews(apr_pool_t *pool)
{
    sr_metrics_count(SR_METRIC_LIMITED, sr_metrics_number(SR_LABEL_LIMIT, "previews"), 0, 1);
    return sr_error_retry(
        sr_error(pool, SR_EUNAVAILABLE, "Too many previews are requested at once, try again in a moment"), AGAIN);
}

sr_error_t *sr_pdf_pool_enter(sr_pdf_shared_t *shared, sr_pdf_class_t class, bool goes_on, int64_t deadline,
                              apr_pool_t *pool)
{
    struct timespec until = {.tv_sec = deadline / 1000000, .tv_nsec = deadline % 1000000 * 1000};
    sr_pdf_queue_t *queue = &shared->queues[class][goes_on];
    const apr_time_t begun = sr_time_steady();
    int waited = 0;
    pthread_mutex_lock(&shared->mutex);
    if (class == SR_PDF_PREVIEW && !goes_on && queue->waiting >= shared->limit[class]) {
        pthread_mutex_unlock(&shared->mutex);
        return too_many_previews(pool);
    }
    sr_metrics_live_add(SR_METRIC_HELPERS_WAITING, (int)class, 1);
    queue->waiting++;
    while (!may_enter(shared, class, goes_on) && waited != ETIMEDOUT)
        waited = pthread_cond_timedwait(&queue->freed, &shared->mutex, &until);
    queue->waiting--;
    bool entered = may_enter(shared, class, goes_on);
    if (entered) shared->busy[class]++;
    wake(shared, class); /* two permits may have been released, and both may have woken this thread */
    pthread_mutex_unlock(&shared->mutex);
    sr_metrics_live_add(SR_METRIC_HELPERS_WAITING, (int)class, -1);
    sr_metrics_observe(SR_METRIC_HELPER_WAIT, (int)class, sr_time_steady() - begun);
    if (entered) sr_metrics_live_add(SR_METRIC_HELPERS_BUSY, (int)class, 1);
    if (entered) return NULL;
    return sr_pdf_unavailable(pool, apr_psprintf(pool, "all %d workers stayed busy", shared->limit[class]));
}

void sr_pdf_pool_leave(sr_pdf_shared_t *shared, sr_pdf_class_t class)
{
    pthread_mutex_lock(&shared->mutex);
    sr_assert(shared->busy[class] > 0);
    shared->busy[class]--;
    sr_metrics_live_add(SR_METRIC_HELPERS_BUSY, (int)class, -1);
    wake(shared, class);
    pthread_mutex_unlock(&shared->mutex);
}

/* --- workers. The pool ends the workers in its list when it is destroyed. */

static bool may_keep(sr_pdf_pool_t *workers)
{
    sr_pdf_shared_t *shared = workers->shared;
    if (!workers->keeps) return false;
    pthread_mutex_lock(&shared->mutex);
    bool may = shared->kept < KEPT(shared);
    if (may) shared->kept++;
    pthread_mutex_unlock(&shared->mutex);
    return may;
}

static void keep_no_longer(sr_pdf_pool_t *workers)
{
    pthread_mutex_lock(&workers->shared->mutex);
    workers->shared->kept--;
    pthread_mutex_unlock(&workers->shared->mutex);
    workers->worker = (sr_pdf_worker_t){.socket = -1};
}

sr_error_t *sr_pdf_pool_lend(sr_pdf_worker_t *worker, sr_pdf_pool_t *workers, bool fresh, int64_t deadline,
                             apr_pool_t *pool)
{
    if (workers->worker.pid) {
        *worker = workers->worker;
        keep_no_longer(workers);
        return NULL;
    }
    if (!fresh && sr_pdf_idle_take(worker, workers, pool)) return NULL;
    sr_error_t *error = sr_pdf_template_take(worker, workers->shared, deadline, pool);
    if (error) sr_pdf_pool_notice(workers, error->cause);
    else sr_pdf_alive_note(workers->shared, 0, worker->pid);
    return error;
}

void sr_pdf_pool_return(sr_pdf_pool_t *workers, sr_pdf_worker_t *worker, apr_pool_t *pool)
{
    if (may_keep(workers)) workers->worker = *worker;
    else sr_pdf_alive_end(workers, worker, pool);
}

/* --- the requests of one HTTP request */

/* Gives up the worker that the pool keeps. It becomes idle and waits for the next request of the scope, or it is ended.
 */
static void part_with(sr_pdf_pool_t *workers, bool trusted)
{
    sr_pdf_worker_t worker = workers->worker;
    apr_pool_t *scratch;
    if (!worker.pid || workers->shared->owner != getpid()) return;
    keep_no_longer(workers);
    apr_pool_create(&scratch, NULL);
    if (!trusted || !sr_pdf_idle_put(workers, &worker, scratch)) sr_pdf_alive_end(workers, &worker, scratch);
    apr_pool_destroy(scratch);
}

static apr_status_t end_kept(void *data)
{
    part_with(data, true);
    return APR_SUCCESS;
}

void sr_pdf_pool_release(sr_pdf_pool_t *workers)
{
    part_with(workers, true);
}

void sr_pdf_pool_distrust(sr_pdf_pool_t *workers)
{
    part_with(workers, false);
}

sr_pdf_pool_t *sr_pdf_pool_for_request(sr_pdf_pool_t *workers, const char *scope, apr_interval_time_t within,
                                       apr_pool_t *pool)
{
    sr_pdf_pool_t *made = apr_pcalloc(pool, sizeof *made);
    made->shared = workers->shared;
    made->keeps = true;
    made->lane = workers->lane;
    /* Workers of previews have a lower priority, so no creation gets one. */
    made->scope = scope && made->lane == SR_PDF_PREVIEW ? apr_pstrcat(pool, scope, ".preview", NULL) : scope;
    made->latest = within ? sr_time_steady() + within : workers->latest;
    apr_pool_cleanup_register(pool, made, end_kept, apr_pool_cleanup_null);
    return made;
}

static sr_pdf_pool_t *pool_in_lane(const sr_pdf_pool_t *workers, sr_pdf_class_t lane, apr_pool_t *pool)
{
    sr_pdf_pool_t *made = apr_pcalloc(pool, sizeof *made);
    made->shared = workers->shared;
    made->lane = lane;
    return made;
}

sr_pdf_pool_t *sr_pdf_pool_for_public(sr_pdf_pool_t *workers, apr_pool_t *pool)
{
    return pool_in_lane(workers, SR_PDF_PUBLIC, pool);
}

sr_pdf_pool_t *sr_pdf_pool_for_preview(sr_pdf_pool_t *workers, apr_pool_t *pool)
{
    return pool_in_lane(workers, SR_PDF_PREVIEW, pool);
}

apr_interval_time_t sr_pdf_pool_used(const sr_pdf_pool_t *workers)
{
    return workers->used;
}

void sr_pdf_pool_notice(const sr_pdf_pool_t *workers, const char *message)
{
    const sr_pdf_options_t *options = &workers->shared->options;
    if (options->notice) options->notice(options->baton, message);
}
