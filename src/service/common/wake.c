/* SPDX-License-Identifier: Apache-2.0 */
/* wake.c: the timers of a submission, and waking the job thread for what is due soon. */
#include "service/private.h"

#define POLL apr_time_from_sec(6) /* longer than the pause between two polls of the job thread (jobs/queue.c) */

void sr_timer_add(apr_array_header_t *timers, const char *kind, apr_time_t due_at)
{
    APR_ARRAY_PUSH(timers, sr_timer_arg_t) = (sr_timer_arg_t){kind, due_at};
}

static bool timers_are_near(const apr_array_header_t *timers)
{
    for (int i = 0; i < timers->nelts; i++) {
        const apr_time_t due_at = APR_ARRAY_IDX(timers, i, sr_timer_arg_t).due_at;
        if (due_at && due_at < sr_time_now() + POLL) return true;
    }
    return false;
}

void sr_service_wake(const sr_service_t *service)
{
    if (service->child && service->child->wake) service->child->wake(service->database->number);
}

void sr_service_wake_for(const sr_service_t *service, const char *webhooks, const apr_array_header_t *timers)
{
    if (webhooks || timers_are_near(timers)) sr_service_wake(service);
}
