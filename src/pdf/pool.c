/* pool.c: the workers of one process, lent to its threads one question at a time. Last in, first out: the warm
 * one is asked again and the others may end for want of questions. All memory is allocated at creation, since an
 * apr_pool_t is not safe to share between threads; the mutex is never held while a process starts or answers. */
#include "pdf/worker.h"

#include <errno.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#define GRACE_US 200000 /* for workers to end by themselves when the pool is destroyed; idle ones take 1 ms */

static void end_all(sr_pdf_pool_t *workers)
{
    bool closed = false;
    for (int i = 0; i < workers->options.workers; i++) {
        if (!workers->slots[i].pid) continue;
        shutdown(workers->slots[i].socket, SHUT_RDWR);
        closed = true;
    }
    for (int64_t until = sr_pdf_clock() + GRACE_US; closed && sr_pdf_clock() < until;) {
        closed = false;
        for (int i = 0; i < workers->options.workers; i++)
            if (workers->slots[i].pid && !sr_pdf_worker_reap(&workers->slots[i])) closed = true;
        if (closed) nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
    }
}

static apr_status_t destroy(void *data)
{
    sr_pdf_pool_t *workers = data;
    if (workers->owner != getpid()) return APR_SUCCESS;
    end_all(workers);
    apr_pool_t *scratch;
    apr_pool_create(&scratch, NULL);
    for (int i = 0; i < workers->options.workers; i++) sr_pdf_worker_end(&workers->slots[i], scratch);
    apr_pool_destroy(scratch);
    pthread_cond_destroy(&workers->freed);
    pthread_mutex_destroy(&workers->mutex);
    return APR_SUCCESS;
}

sr_error_t *sr_pdf_pool_create(sr_pdf_pool_t **workers, const sr_pdf_options_t *options, apr_pool_t *pool)
{
    if (!options->program || options->program[0] != '/' || options->workers < 1 || options->timeout < 1)
        return sr_error(pool, SR_EINTERNAL, "The PDF helper's settings are not valid");

    apr_size_t count = (apr_size_t)options->workers;
    sr_pdf_pool_t *made = apr_pcalloc(pool, sizeof *made);
    made->options = *options;
    made->options.program = apr_pstrdup(pool, options->program);
    made->owner = getpid();
    made->slots = apr_pcalloc(pool, count * sizeof *made->slots);
    made->idle = apr_pcalloc(pool, count * sizeof *made->idle);
    made->vacant = apr_pcalloc(pool, count * sizeof *made->vacant);
    while (made->vacant_count < options->workers) {
        made->vacant[made->vacant_count] = made->vacant_count;
        made->vacant_count++;
    }

    pthread_condattr_t monotonic;
    pthread_mutex_init(&made->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&made->freed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    apr_pool_cleanup_register(pool, made, destroy, apr_pool_cleanup_null);
    *workers = made;
    return NULL;
}

/* A slot for the calling thread alone: an idle worker, or an empty slot, or NULL when the deadline has passed. */
static sr_pdf_worker_t *take(sr_pdf_pool_t *workers, int64_t deadline)
{
    struct timespec until = {.tv_sec = deadline / 1000000, .tv_nsec = deadline % 1000000 * 1000};
    int taken = -1, waited = 0;
    pthread_mutex_lock(&workers->mutex);
    while (!workers->idle_count && !workers->vacant_count && waited != ETIMEDOUT)
        waited = pthread_cond_timedwait(&workers->freed, &workers->mutex, &until);
    if (workers->idle_count) taken = workers->idle[--workers->idle_count];
    else if (workers->vacant_count) taken = workers->vacant[--workers->vacant_count];
    pthread_mutex_unlock(&workers->mutex);
    return taken < 0 ? NULL : &workers->slots[taken];
}

/* An idle worker ends by itself after a while: reaped here, since nobody asks it any more. */
static void sweep(sr_pdf_pool_t *workers)
{
    int kept = 0;
    for (int i = 0; i < workers->idle_count; i++) {
        int slot = workers->idle[i];
        if (sr_pdf_worker_reap(&workers->slots[slot])) workers->vacant[workers->vacant_count++] = slot;
        else workers->idle[kept++] = slot;
    }
    workers->idle_count = kept;
}

void sr_pdf_pool_return(sr_pdf_pool_t *workers, sr_pdf_worker_t *worker)
{
    int slot = (int)(worker - workers->slots);
    pthread_mutex_lock(&workers->mutex);
    sweep(workers);
    if (worker->pid) workers->idle[workers->idle_count++] = slot;
    else workers->vacant[workers->vacant_count++] = slot;
    pthread_cond_signal(&workers->freed);
    pthread_mutex_unlock(&workers->mutex);
}

sr_error_t *sr_pdf_pool_lend(sr_pdf_worker_t **worker, sr_pdf_pool_t *workers, int64_t deadline, apr_pool_t *pool)
{
    sr_pdf_worker_t *taken = take(workers, deadline);
    if (!taken)
        return sr_pdf_unavailable(pool, apr_psprintf(pool, "all %d workers stayed busy", workers->options.workers));

    if (!taken->pid) {
        sr_error_t *error = sr_pdf_worker_start(taken, &workers->options, deadline, pool);
        if (error) {
            sr_pdf_pool_return(workers, taken);
            sr_pdf_pool_notice(workers, error->cause);
            return error;
        }
    }
    *worker = taken;
    return NULL;
}

void sr_pdf_pool_notice(const sr_pdf_pool_t *workers, const char *message)
{
    if (workers->options.notice) workers->options.notice(workers->options.baton, message);
}
