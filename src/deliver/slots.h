/* slots.h: the calls of one delivery thread, and the destinations they share room by. Private to src/deliver. */
#ifndef SR_SLOTS_H
#define SR_SLOTS_H

#include "deliver/deliver.h"

enum { SR_SLOTS = 256, SR_EACH = 16 };

/* A destination, while it has calls and a while after. */
typedef struct sr_lane_t {
    char name[256];
    int taken, calling; /* slots, and those whose call is under way */
    bool quick;
    apr_time_t used_at;
} sr_lane_t;

typedef struct sr_slot_t {
    struct sr_slot_t *next; /* of the free ones */
    sr_call_t *call;
    apr_pool_t *pool; /* of what stands below */
    sr_lane_t *lane;  /* NULL: free */
    int database;
    CURL *easy; /* NULL: waits */
    const char *id, *claim, *url, *body;
    apr_time_t created_at;
    apr_time_t since; /* claimed, then called */
} sr_slot_t;

typedef struct sr_slots_t {
    const sr_deliver_options_t *options;
    CURLM *multi;
    sr_slot_t slots[SR_SLOTS], *free;
    int busy, waiting; /* slots in use, and those of them that wait */
    sr_lane_t lanes[SR_SLOTS];
    /* Called for each slot before it is free again; result NULL: it is given back, nothing of it has left. */
    void (*over)(void *baton, const sr_slot_t *slot, const sr_call_result_t *result);
    void *baton;
} sr_slots_t;

/* Of options, multi, over and baton; the rest is made. */
sr_error_t *sr_slots_make(sr_slots_t *slots, apr_pool_t *pool);
/* A claim gets a free slot, of which there must be one, and waits there. The row is one of SR_OP_DELIVERY_TURN. */
const sr_lane_t *sr_slots_take(sr_slots_t *slots, int database, const char *claim, const sr_row_t *row);
/* How many more each destination may get, as SR_OP_DELIVERY_TURN wants it; those it does not name get SR_EACH. */
json_t *sr_slots_room(const sr_slots_t *slots);
/* Begins what may begin, and ends what is over. Who stops begins nothing and gives back who waits. */
void sr_slots_go_on(sr_slots_t *slots, bool stopping);
/* Ends all that are under way as interrupted. */
void sr_slots_abandon(sr_slots_t *slots);

#endif
