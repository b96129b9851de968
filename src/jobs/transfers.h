/* SPDX-License-Identifier: Apache-2.0 */
/* transfers.h: the claimed jobs of one job thread. Private to src/jobs. */
#ifndef SR_JOBS_TRANSFERS_H
#define SR_JOBS_TRANSFERS_H

#include "jobs/destinations.h"
#include "jobs/work.h"

typedef struct sr_transfer_t {
    struct sr_transfer_t *next; /* the next free transfer */
    sr_call_t *call;
    apr_pool_t *pool;              /* holds the members below; cleared when the transfer is free again */
    sr_destination_t *destination; /* NULL: the transfer is free */
    sr_job_t job;
    int database;
    const char *claim;
    CURL *easy;       /* the call that is under way. Without it, and without call->work, the job waits to begin */
    apr_time_t since; /* when the job was claimed, and then when its call was begun (sr_time_steady) */
} sr_transfer_t;

typedef struct sr_transfers_t {
    const sr_jobs_options_t *options;
    CURLM *multi;
    sr_transfer_t all[SR_TRANSFERS], *free;
    int busy, waiting;             /* the number of transfers in use, and of those that wait */
    int *begun;                    /* the number of calls under way, for each kind of the options */
    sr_work_t *left[SR_TRANSFERS]; /* the work of jobs that were given up, which sr_transfers_wait waits for */
    int left_count;
    sr_destinations_t destinations;
    /* Called for each transfer before it becomes free. `result` is NULL if the job is released because its call was
     * not begun. */
    void (*over)(void *baton, const sr_transfer_t *transfer, const sr_call_result_t *result);
    void *baton;
} sr_transfers_t;

/* Makes the transfers. The caller has set options, multi, over and baton. */
sr_error_t *sr_transfers_make(sr_transfers_t *transfers, apr_pool_t *pool);
/* Takes a claimed job into a free transfer, where it waits. There must be a free transfer. `since` is the time of the
 * claim (sr_time_steady), `row` a row of SR_OP_JOB_BATCH. *destination is set to the job's destination. Errors:
 * SR_EINTERNAL; the job is not taken then. */
sr_error_t *sr_transfers_take(const sr_destination_t **destination, sr_transfers_t *transfers, int database,
                              const char *claim, apr_time_t since, const sr_job_row_t *row, apr_pool_t *pool);
/* Begins calls that may begin, and ends transfers whose call has ended. If `stopping` is true, no call is begun and
 * all waiting jobs are released. */
void sr_transfers_go_on(sr_transfers_t *transfers, bool stopping);
/* Releases the jobs that wait, and ends all calls and all work under way as interrupted. */
void sr_transfers_abandon(sr_transfers_t *transfers);
/* Waits for the threads of work that was given up. */
void sr_transfers_wait(sr_transfers_t *transfers);

#endif
