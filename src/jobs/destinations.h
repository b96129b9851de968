/* SPDX-License-Identifier: Apache-2.0 */
/* destinations.h: what a job thread knows about destinations, and how its transfers are shared among organisations
 * and among their destinations. Private to src/jobs. */
#ifndef SR_DESTINATIONS_H
#define SR_DESTINATIONS_H

#include "jobs/jobs.h"

enum { SR_TRANSFERS = 256, SR_EACH = 16, SR_DESTINATIONS = 512, SR_CURSORS = 64 };

typedef enum sr_destination_state_t {
    SR_DESTINATION_NEW,
    SR_DESTINATION_GOOD,
    SR_DESTINATION_QUICK,
    SR_DESTINATION_SLOW,
    SR_DESTINATION_DEAD
} sr_destination_state_t;

/* A destination of an organisation. It is kept while it has transfers, and for up to 10 minutes after them. */
typedef struct sr_destination_t {
    int database;
    apr_int64_t organization;
    char name[256];
    sr_destination_state_t state; /* decided by its last call; destinations.c has the diagram */
    int taken, calling;           /* the number of its transfers, and of those whose call is under way */
    bool stalled;                 /* one of its calls under way has taken 1 s or longer */
    apr_time_t used_at;
} sr_destination_t;

/* The name of the last NEW destination of an organisation that got a transfer. The next claims begin after it. */
typedef struct sr_cursor_t {
    int database;
    apr_int64_t organization;
    apr_time_t used_at;
    char after[256];
} sr_cursor_t;

typedef struct sr_destinations_t {
    sr_destination_t destinations[SR_DESTINATIONS];
    sr_cursor_t cursors[SR_CURSORS];
    int first;
} sr_destinations_t;

/* Finds a destination, or adds it in the state NEW. */
sr_destination_t *sr_destinations_find(sr_destinations_t *all, int database, apr_int64_t organization,
                                       const char *name);
/* Counts a new transfer of the destination. */
void sr_destinations_take(sr_destinations_t *all, sr_destination_t *destination);
/* Sets the state of a destination after one of its calls has ended. `took` is in microseconds. */
void sr_destinations_judge(sr_destination_t *destination, bool answered, apr_interval_time_t took);
/* Returns true if a call that has been under way for this time counts as slow. */
bool sr_destinations_is_stalled(apr_interval_time_t since);
/* Returns true if a slow destination has more transfers than its share. */
bool sr_destinations_is_full(const sr_destinations_t *all, const sr_destination_t *destination);
/* Returns how many calls of the destination may be under way at the same time. */
int sr_destinations_calls(const sr_destinations_t *all, const sr_destination_t *destination);
/* Adds to `batch` the shares that SR_OP_JOB_BATCH takes into account. */
void sr_destinations_shares(json_t *batch, sr_destinations_t *all, int database);

#endif
