/* lanes.h: what a delivery thread knows of destinations, and how its room is shared among organisations and them.
 * Private to src/jobs. */
#ifndef SR_LANES_H
#define SR_LANES_H

#include "jobs/deliver.h"

enum { SR_SLOTS = 256, SR_EACH = 16, SR_LANES = 512, SR_PLACES = 64 };

typedef enum sr_lane_state_t { SR_LANE_NEW, SR_LANE_GOOD, SR_LANE_QUICK, SR_LANE_SLOW, SR_LANE_DEAD } sr_lane_state_t;

/* A destination of an organisation, while it has calls and a while after. */
typedef struct sr_lane_t {
    int database;
    apr_int64_t organization;
    char name[256];
    sr_lane_state_t state; /* as its last call showed it */
    int taken, calling;    /* slots, and those whose call is under way */
    bool stalled;          /* one of those calls has taken long already */
    apr_time_t used_at;
} sr_lane_t;

/* Where the walk over an organisation's NEW destinations ended. */
typedef struct sr_place_t {
    int database;
    apr_int64_t organization;
    apr_time_t used_at;
    char after[256];
} sr_place_t;

typedef struct sr_lanes_t {
    sr_lane_t lanes[SR_LANES];
    sr_place_t places[SR_PLACES];
    int first;
} sr_lanes_t;

/* Microseconds that only ever go on, whatever becomes of the host's clock. */
apr_time_t sr_lanes_clock(void);
/* The lane of a destination, a NEW one if it is not known. */
sr_lane_t *sr_lanes_find(sr_lanes_t *lanes, int database, apr_int64_t organization, const char *destination);
/* It has got a slot. */
void sr_lanes_take(sr_lanes_t *lanes, sr_lane_t *lane);
/* A call of it has ended. */
void sr_lanes_judge(sr_lane_t *lane, bool answered, apr_interval_time_t took);
/* True of a call under way that has taken so long. */
bool sr_lanes_is_stalled(apr_interval_time_t since);
/* True of a slow lane that has more slots than its share. */
bool sr_lanes_is_full(const sr_lanes_t *lanes, const sr_lane_t *lane);
/* How many calls of it may be under way. */
int sr_lanes_calls(const sr_lanes_t *lanes, const sr_lane_t *lane);
/* Adds to a turn what SR_OP_DELIVERY_TURN wants to know of shares. */
void sr_lanes_shares(json_t *turn, sr_lanes_t *lanes, int database);

#endif
