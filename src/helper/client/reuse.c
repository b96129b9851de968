/* SPDX-License-Identifier: Apache-2.0 */
/* reuse.c: workers that wait for the next HTTP request of their scope. Forking and ending a process costs more than
 * most requests to it, so a worker may answer later HTTP requests of the same scope. A document that has taken over a
 * worker then reaches no document of another scope. A worker is ended when it has waited too long, has answered many
 * requests or has used much processor time. The mutex of the pool protects the list, which is ordered from the oldest
 * to the newest. The mutex is not held while a process is ended. */
#include "helper/client/worker.h"

#include <string.h>

#define LONGEST_US (30 * APR_USEC_PER_SEC) /* a worker without a request ends by itself after twice this time */
#define MOST_REQUESTS 1000

static bool has_expired(const sr_pdf_idle_t *idle, int64_t now)
{
    return now - idle->since > LONGEST_US;
}

/* Removes entry `i` from the list. */
static sr_pdf_worker_t remove_at(sr_pdf_shared_t *shared, int i)
{
    sr_pdf_worker_t worker = shared->idle[i].worker;
    memmove(shared->idle + i, shared->idle + i + 1, (apr_size_t)(--shared->idle_count - i) * sizeof *shared->idle);
    return worker;
}

/* Removes the oldest worker of the list if it has expired, or if `room` is set and the list is full. */
static bool remove_oldest(sr_pdf_worker_t *worker, sr_pdf_shared_t *shared, bool room)
{
    pthread_mutex_lock(&shared->mutex);
    const bool found =
        shared->idle_count
        && (has_expired(&shared->idle[0], sr_time_steady()) || (room && shared->idle_count == shared->idle_room));
    if (found) *worker = remove_at(shared, 0);
    pthread_mutex_unlock(&shared->mutex);
    return found;
}

static void end_oldest(sr_pdf_pool_t *workers, bool room, apr_pool_t *pool)
{
    sr_pdf_worker_t worker;
    while (remove_oldest(&worker, workers->shared, room)) sr_pdf_alive_end(workers, &worker, pool);
}

static bool reuse_find(sr_pdf_worker_t *worker, sr_pdf_shared_t *shared, const char *scope)
{
    pthread_mutex_lock(&shared->mutex);
    int i = shared->idle_count;
    while (i-- && strcmp(shared->idle[i].scope, scope) != 0) continue;
    if (i >= 0) *worker = remove_at(shared, i);
    pthread_mutex_unlock(&shared->mutex);
    return i >= 0;
}

bool sr_pdf_idle_take(sr_pdf_worker_t *worker, sr_pdf_pool_t *workers, apr_pool_t *pool)
{
    if (!workers->scope) return false;
    end_oldest(workers, false, pool);
    while (reuse_find(worker, workers->shared, workers->scope)) {
        if (sr_pdf_worker_lives(worker)) return true;
        sr_pdf_alive_end(workers, worker, pool);
    }
    return false;
}

static bool is_worn_out(const sr_pdf_shared_t *shared, const sr_pdf_worker_t *worker)
{
    return worker->asked >= MOST_REQUESTS || sr_pdf_worker_used(worker) > shared->options.timeout;
}

bool sr_pdf_idle_put(sr_pdf_pool_t *workers, const sr_pdf_worker_t *worker, apr_pool_t *pool)
{
    sr_pdf_shared_t *shared = workers->shared;
    if (!workers->scope || !shared->idle_room || strlen(workers->scope) > SR_PDF_MAX_SCOPE) return false;
    if (is_worn_out(shared, worker)) return false;
    end_oldest(workers, true, pool);
    pthread_mutex_lock(&shared->mutex);
    const bool room = shared->idle_count < shared->idle_room; /* another thread may have filled it */
    if (room) {
        sr_pdf_idle_t *idle = &shared->idle[shared->idle_count++];
        *idle = (sr_pdf_idle_t){.worker = *worker, .since = sr_time_steady()};
        apr_cpystrn(idle->scope, workers->scope, sizeof idle->scope);
    }
    pthread_mutex_unlock(&shared->mutex);
    return room;
}
