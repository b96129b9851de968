/* SPDX-License-Identifier: Apache-2.0 */
/* timer.c: what the job thread does with a submission at a time: the kinds of jobs "expiry" and "remind". The process
 * decides by its own clock when a job is due, and the database's clock decides whether it is. A creation inserts these
 * jobs, and a transition replaces those whose time it changes. */
#include "service/private.h"

#include <string.h>

#define SOONEST apr_time_from_msec(1)

sr_error_t *sr_service_timer(const sr_service_t *service, apr_interval_time_t *again, const char *kind,
                             const char *submission, apr_pool_t *pool)
{
    *again = 0;
    if (!strcmp(kind, "remind")) SR_TRY(sr_service_remind_due(service, again, submission, pool));
    else SR_TRY(sr_service_expire_due(service, again, submission, pool));
    if (*again && *again < SOONEST) *again = SOONEST;
    return NULL;
}
