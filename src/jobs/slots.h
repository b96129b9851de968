/* slots.h: the calls of one delivery thread. Private to src/jobs. */
#ifndef SR_SLOTS_H
#define SR_SLOTS_H

#include "jobs/lanes.h"

typedef struct sr_slot_t {
    struct sr_slot_t *next; /* of the free ones */
    sr_call_t *call;
    apr_pool_t *pool; /* of what stands below */
    sr_lane_t *lane;  /* NULL: free */
    int database;
    CURL *easy; /* NULL: waits */
    const char *id, *claim, *url, *body;
    apr_time_t created_at;
    apr_time_t since; /* claimed, then called; of sr_lanes_clock */
} sr_slot_t;

typedef struct sr_slots_t {
    const sr_deliver_options_t *options;
    CURLM *multi;
    sr_slot_t slots[SR_SLOTS], *free;
    int busy, waiting; /* slots in use, and those of them that wait */
    int mails;         /* under way */
    int stalled;       /* calls that have taken long already */
    bool shared;       /* there are more of those: others may get their places */
    sr_lanes_t lanes;
    /* Called for each slot before it is free again; result NULL: it is given back, nothing of it has left. */
    void (*over)(void *baton, const sr_slot_t *slot, const sr_call_result_t *result);
    void *baton;
} sr_slots_t;

/* Of options, multi, over and baton; the rest is made. */
sr_error_t *sr_slots_make(sr_slots_t *slots, apr_pool_t *pool);
/* A claim that was made at a time (of sr_lanes_clock) gets a free slot, of which there must be one, and waits there.
 * The row is one of SR_OP_DELIVERY_TURN. */
const sr_lane_t *sr_slots_take(sr_slots_t *slots, int database, const char *claim, apr_time_t since,
                               const sr_row_t *row);
/* Begins what may begin, and ends what is over. Who stops begins nothing and gives back who waits. */
void sr_slots_go_on(sr_slots_t *slots, bool stopping);
/* Ends all that are under way as interrupted. */
void sr_slots_abandon(sr_slots_t *slots);

#endif
