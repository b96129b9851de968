/* transfers.h: the calls of one delivery thread. Private to src/jobs. */
#ifndef SR_TRANSFERS_H
#define SR_TRANSFERS_H

#include "jobs/destinations.h"

typedef struct sr_transfer_t {
    struct sr_transfer_t *next; /* of the free ones */
    sr_call_t *call;
    apr_pool_t *pool;              /* of what stands below */
    sr_destination_t *destination; /* NULL: free */
    int database;
    CURL *easy; /* NULL: waits */
    const char *id, *claim, *url, *body;
    apr_time_t created_at;
    apr_time_t since; /* claimed, then called; of sr_jobs_clock */
} sr_transfer_t;

typedef struct sr_transfers_t {
    const sr_jobs_options_t *options;
    CURLM *multi;
    sr_transfer_t all[SR_TRANSFERS], *free;
    int busy, waiting; /* transfers in use, and those of them that wait */
    int mails;         /* under way */
    int stalled;       /* calls that have taken long already */
    bool shared;       /* there are more of those: others may get their places */
    sr_destinations_t destinations;
    /* Called for each transfer before it is free again; result NULL: it is given back, nothing of it has left. */
    void (*over)(void *baton, const sr_transfer_t *transfer, const sr_call_result_t *result);
    void *baton;
} sr_transfers_t;

/* Of options, multi, over and baton; the rest is made. */
sr_error_t *sr_transfers_make(sr_transfers_t *transfers, apr_pool_t *pool);
/* A claim that was made at a time (of sr_jobs_clock) gets a free transfer, of which there must be one, and waits there.
 * The row is one of SR_OP_DELIVERY_TURN. */
const sr_destination_t *sr_transfers_take(sr_transfers_t *transfers, int database, const char *claim, apr_time_t since,
                                          const sr_row_t *row);
/* Begins what may begin, and ends what is over. Who stops begins nothing and gives back who waits. */
void sr_transfers_go_on(sr_transfers_t *transfers, bool stopping);
/* Ends all that are under way as interrupted. */
void sr_transfers_abandon(sr_transfers_t *transfers);

#endif
