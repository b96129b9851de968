/* SPDX-License-Identifier: Apache-2.0 */
/* alive.c: the process ids of all workers that are busy, kept or idle. */
#include "helper/client/worker.h"

void sr_pdf_alive_note(sr_pdf_shared_t *shared, pid_t from, pid_t to)
{
    pthread_mutex_lock(&shared->mutex);
    for (int i = 0; i < shared->alive_room; i++) {
        if (shared->alive[i] != from) continue;
        shared->alive[i] = to;
        break;
    }
    pthread_mutex_unlock(&shared->mutex);
}

sr_pdf_death_t sr_pdf_alive_end(sr_pdf_pool_t *workers, sr_pdf_worker_t *worker, apr_pool_t *pool)
{
    /* before the worker is reaped, because its process id may then be used by another process */
    sr_pdf_alive_note(workers->shared, worker->pid, 0);
    return sr_pdf_worker_end(worker, pool);
}
