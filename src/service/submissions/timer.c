/* SPDX-License-Identifier: Apache-2.0 */
/* timer.c: what the job thread does with a submission at a time: the kinds of jobs "expiry" and "remind". The process
 * decides by its own clock when a job is due, and the database's clock decides whether it is. A creation inserts these
 * jobs, and a transition replaces those whose time it changes. */
#include "service/private.h"

#include <string.h>

#define SOONEST apr_time_from_msec(1)
#define POLL apr_time_from_sec(6) /* longer than the pause between two polls of the job thread (jobs/queue.c) */

void sr_timer_add(json_t *timers, const char *kind, apr_time_t due_at)
{
    json_t *row = json_object();
    json_object_set_new(row, "kind", json_string(kind));
    json_object_set_new(row, "due_at", due_at ? json_integer(due_at) : json_null());
    json_array_append_new(timers, row);
}

bool sr_timers_are_near(const json_t *timers)
{
    for (size_t i = 0; i < json_array_size(timers); i++) {
        const json_int_t due_at = json_integer_value(json_object_get(json_array_get(timers, i), "due_at"));
        if (due_at && due_at < sr_time_now() + POLL) return true;
    }
    return false;
}

sr_error_t *sr_service_timer(const sr_service_t *service, apr_interval_time_t *again, const char *kind,
                             const char *submission, apr_pool_t *pool)
{
    *again = 0;
    if (!strcmp(kind, "remind")) SR_TRY(sr_service_remind_due(service, again, submission, pool));
    else SR_TRY(sr_service_expire_due(service, again, submission, pool));
    if (*again && *again < SOONEST) *again = SOONEST;
    return NULL;
}
