/* SPDX-License-Identifier: Apache-2.0 */
/* wake.c: the timers of a submission, and waking the job thread for what is due soon. */
#include "service/private.h"

#define POLL apr_time_from_sec(6) /* longer than the pause between two polls of the job thread (jobs/queue.c) */

void sr_timer_add(json_t *timers, const char *kind, apr_time_t due_at)
{
    json_t *row = json_object();
    json_object_set_new(row, "kind", json_string(kind));
    json_object_set_new(row, "due_at", due_at ? json_integer(due_at) : json_null());
    json_array_append_new(timers, row);
}

static bool timers_are_near(const json_t *timers)
{
    for (size_t i = 0; i < json_array_size(timers); i++) {
        const json_int_t due_at = json_integer_value(json_object_get(json_array_get(timers, i), "due_at"));
        if (due_at && due_at < sr_time_now() + POLL) return true;
    }
    return false;
}

void sr_service_wake(const sr_service_t *service)
{
    if (service->child && service->child->wake) service->child->wake(service->database->number);
}

void sr_service_wake_for(const sr_service_t *service, const char *webhooks, const json_t *timers)
{
    if (webhooks || timers_are_near(timers)) sr_service_wake(service);
}
