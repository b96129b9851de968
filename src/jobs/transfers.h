/* SPDX-License-Identifier: Apache-2.0 */
/* transfers.h: the claimed jobs of one job thread. Private to src/jobs. */
#ifndef SR_TRANSFERS_H
#define SR_TRANSFERS_H

#include "jobs/destinations.h"

typedef struct sr_transfer_t {
    struct sr_transfer_t *next; /* of the free ones */
    sr_call_t *call;
    apr_pool_t *pool;              /* of what is below */
    sr_destination_t *destination; /* NULL: free */
    sr_job_t job;
    int database;
    const char *claim;
    CURL *easy;       /* NULL: waits */
    apr_time_t since; /* claimed, then begun; of sr_jobs_clock */
} sr_transfer_t;

typedef struct sr_transfers_t {
    const sr_jobs_options_t *options;
    CURLM *multi;
    sr_transfer_t all[SR_TRANSFERS], *free;
    int busy, waiting; /* transfers in use, and those of them that wait */
    int *begun;        /* under way, of each kind of the options */
    int stalled;       /* calls that have taken long already */
    bool shared;       /* there are more of those: others may get their places */
    sr_destinations_t destinations;
    /* Called for each transfer before it is free again. result is NULL if the job is released: nothing was sent. */
    void (*over)(void *baton, const sr_transfer_t *transfer, const sr_call_result_t *result);
    void *baton;
} sr_transfers_t;

/* Needs options, multi, over and baton, and makes the rest. */
sr_error_t *sr_transfers_make(sr_transfers_t *transfers, apr_pool_t *pool);
/* Takes a claim that was made at a time (of sr_jobs_clock) into a free transfer, of which there must be one. It waits
 * there. `row` is one of SR_OP_JOB_BATCH. Errors: SR_EINTERNAL, and the claim is not taken. */
sr_error_t *sr_transfers_take(const sr_destination_t **destination, sr_transfers_t *transfers, int database,
                              const char *claim, apr_time_t since, const sr_job_row_t *row, apr_pool_t *pool);
/* Begins what may begin, and ends what is over. If `stopping`, nothing is begun and all that waits is released. */
void sr_transfers_go_on(sr_transfers_t *transfers, bool stopping);
/* Ends all that is under way as interrupted. */
void sr_transfers_abandon(sr_transfers_t *transfers);

#endif
