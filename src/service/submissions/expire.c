/* SPDX-License-Identifier: Apache-2.0 */
/* expire.c: a submission whose deadline is over, or a draft whose time is over, which is deleted. A job of the kind
 * "expiry" does this at the deadline, or a request that reads the submission before. The database's clock decides. */
#include "service/submissions/transition.h"

static sr_error_t *expire(const sr_service_t *service, sr_transition_t *transition, void *baton)
{
    sr_submission_t *submission = &transition->signing->submission;
    if (submission->state == SR_SUBMISSION_DRAFT && submission->draft_until <= transition->signing->clock)
        return sr_tombstone_take(service, transition, baton);
    if (!submission->late) return NULL; /* closed, or the deadline has been changed */
    sr_submission_expire(submission, transition->now);
    transition->deadline = SR_DEADLINE_AFTER;
    json_t *detail = json_object();
    json_object_set_new(detail, "expiresAt", sr_time_json(submission->expires_at));
    sr_transition_event(transition, NULL, "expired", detail);
    return NULL;
}

sr_error_t *sr_service_expire_due(const sr_service_t *service, apr_interval_time_t *again, const char *uuid,
                                  apr_pool_t *pool)
{
    const sr_subject_t subject = {.submission = uuid};
    sr_signing_t *signing;
    sr_error_t *error = sr_transition_run(service, &signing, &subject, NULL, expire, NULL, pool);
    if (error) return sr_transition_error(error);
    const sr_submission_t *submission = &signing->submission;
    const apr_time_t ends_at = submission->state == SR_SUBMISSION_DRAFT  ? submission->draft_until
                               : submission->state == SR_SUBMISSION_OPEN ? submission->expires_at
                                                                         : 0;
    if (ends_at > signing->clock)
        *again = ends_at - signing->clock; /* this host's clock is ahead, or the deadline was moved */
    return NULL;
}

sr_error_t *sr_service_expire(const sr_service_t *service, const char *uuid, apr_pool_t *pool)
{
    apr_interval_time_t ignored;
    return sr_service_expire_due(service, &ignored, uuid, pool);
}
