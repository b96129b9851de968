/* SPDX-License-Identifier: Apache-2.0 */
/* destinations.h: what a job thread knows about destinations, and how its transfers are shared among organisations
 * and among their destinations. Private to src/jobs. */
#ifndef SR_JOBS_DESTINATIONS_H
#define SR_JOBS_DESTINATIONS_H

#include "jobs/jobs.h"

enum { SR_TRANSFERS = 256, SR_DESTINATIONS = 512 };

/* A destination of an organisation. It is kept while it has transfers, and until another one needs its place. */
typedef struct sr_destination_t {
    int database;
    apr_int64_t organization;
    char name[256];
    int calls;          /* how many calls it may have at the same time; 0: the place is empty */
    int taken, calling; /* the number of its transfers, and of those whose call is under way */
    apr_time_t used_at;
} sr_destination_t;

typedef struct sr_destinations_t {
    sr_destination_t destinations[SR_DESTINATIONS];
} sr_destinations_t;

/* Finds a destination, or adds it. */
sr_destination_t *sr_destinations_find(sr_destinations_t *all, int database, apr_int64_t organization,
                                       const char *name);
/* Counts a new transfer of the destination. */
void sr_destinations_take(sr_destination_t *destination);
/* Notes that a call of the destination has been under way for this time (microseconds). */
void sr_destinations_wait(sr_destination_t *destination, apr_interval_time_t since);
/* Notes that a call of the destination has ended after this time. */
void sr_destinations_judge(sr_destination_t *destination, bool answered, apr_interval_time_t took);
/* Returns true if a destination that is not quick has more transfers than calls. */
bool sr_destinations_is_full(const sr_destination_t *destination);
/* Returns true if a destination that is not quick may have another call now. */
bool sr_destinations_has_room(const sr_destination_t *destination);
/* Adds to `batch` the shares that SR_OP_JOB_BATCH takes into account. */
void sr_destinations_shares(json_t *batch, const sr_destinations_t *all, int database);

#endif
