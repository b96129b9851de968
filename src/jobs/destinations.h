/* SPDX-License-Identifier: Apache-2.0 */
/* destinations.h: what a job thread knows of destinations, and how its transfers are shared among organisations and
 * their destinations. Private to src/jobs. */
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

/* A destination of an organisation, while it has transfers and for a time after them. */
typedef struct sr_destination_t {
    int database;
    apr_int64_t organization;
    char name[256];
    sr_destination_state_t state; /* as its last call showed it */
    int taken, calling;           /* its transfers, and those whose call is under way */
    bool stalled;                 /* one of those calls has taken long already */
    apr_time_t used_at;
} sr_destination_t;

/* Where the walk over an organisation's NEW destinations ended. */
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

/* Microseconds that only ever increase, whatever happens to the host's clock. */
apr_time_t sr_jobs_clock(void);
/* Finds a destination. One that is not known is made, and is NEW. */
sr_destination_t *sr_destinations_find(sr_destinations_t *all, int database, apr_int64_t organization,
                                       const char *name);
/* The destination has got a transfer. */
void sr_destinations_take(sr_destinations_t *all, sr_destination_t *destination);
/* A call of the destination has ended. */
void sr_destinations_judge(sr_destination_t *destination, bool answered, apr_interval_time_t took);
/* True if a call that is under way for so long counts as slow. */
bool sr_destinations_is_stalled(apr_interval_time_t since);
/* True if a slow destination has more transfers than its share. */
bool sr_destinations_is_full(const sr_destinations_t *all, const sr_destination_t *destination);
/* How many calls of the destination may be under way. */
int sr_destinations_calls(const sr_destinations_t *all, const sr_destination_t *destination);
/* Adds to a batch what SR_OP_JOB_BATCH needs to know of shares. */
void sr_destinations_shares(json_t *batch, sr_destinations_t *all, int database);

#endif
