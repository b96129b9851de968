/* SPDX-License-Identifier: Apache-2.0 */
/* legal_hold.c: a legal hold: while it lasts, a submission is not deleted, neither by its caller nor by its retention.
 * It does not change what signers and callers can do otherwise. The chain of events has when it began and ended, which
 * auditors expect. The reason is only for the administrator, because callers can read the events. */
#include "service/submissions/transition.h"

/* Holding a submission does not expire it: that is a transition of its own. */
static bool past_deadline(const sr_submission_t *submission, apr_time_t now)
{
    if (submission->state == SR_SUBMISSION_OPEN) return submission->late;
    return submission->expires_at && submission->expires_at <= now;
}

static sr_error_t *legal_hold_hold(const sr_service_t *service, sr_transition_t *transition, void *baton)
{
    sr_submission_t *submission = &transition->signing->submission;
    const char *reason = baton;
    if (submission->state == SR_SUBMISSION_DELETED)
        return sr_error(transition->pool, SR_ECONFLICT, "This submission is deleted");
    if (submission->state == SR_SUBMISSION_DRAFT)
        return sr_error(transition->pool, SR_ECONFLICT, "This submission is a draft");
    if (reason && submission->held_at)
        return sr_error(transition->pool, SR_ECONFLICT,
                        "This submission is already under legal hold: release it to give another reason");
    if (!reason && !submission->held_at)
        return sr_error(transition->pool, SR_ECONFLICT, "This submission is not under legal hold");
    submission->held_at = reason ? transition->now : 0;
    transition->hold_reason = reason;
    if (past_deadline(submission, transition->now)) transition->deadline = SR_DEADLINE_AFTER;
    sr_transition_event(transition, NULL, reason ? "held" : "released", NULL);
    return NULL;
}

sr_error_t *sr_service_hold(const sr_service_t *service, const char *submission, const char *reason, apr_pool_t *pool)
{
    const sr_subject_t subject = {.submission = submission};
    sr_signing_t *signing;
    return sr_transition_run(service, &signing, &subject, NULL, legal_hold_hold, (void *)reason, pool);
}
