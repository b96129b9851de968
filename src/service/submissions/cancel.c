/* SPDX-License-Identifier: Apache-2.0 */
/* cancel.c: the caller, or the administrator, withdraws a submission. The links of those who have not signed end with
 * the commit. */
#include "service/submissions/transition.h"

#define REASON_MAX_CHARACTERS 1000

typedef struct cancel_t {
    const char *reason; /* or NULL */
    const sr_subject_t *subject;
} cancel_t;

static sr_error_t *cancel(const sr_service_t *service, sr_transition_t *transition, void *baton)
{
    sr_submission_t *submission = &transition->signing->submission;
    const cancel_t *request = baton;
    if (submission->state == SR_SUBMISSION_CANCELLED) return NULL; /* again: the first reason stays */
    SR_TRY(sr_submission_may(submission, SR_ACTION_CANCEL, transition->pool));
    sr_submission_cancel(submission, transition->now, request->reason);
    json_t *detail = json_object();
    json_object_set_new(detail, "reason", sr_json_string_or_null(request->reason));
    sr_subject_note(detail, request->subject);
    sr_transition_event(transition, NULL, "cancelled", detail);
    return NULL;
}

static sr_error_t *cancel_subject(const sr_service_t *service, sr_signing_t **signing, const sr_subject_t *subject,
                                  const sr_client_t *client, const char *reason, apr_pool_t *pool)
{
    cancel_t request = {reason && !sr_text_is_blank(reason) ? reason : NULL, subject};
    const char *fault = request.reason ? sr_text_fault(reason, REASON_MAX_CHARACTERS, pool) : NULL;
    if (fault) return sr_error(pool, SR_EBADREQUEST, "A reason %s", fault);
    return sr_transition_run(service, signing, subject, client, cancel, &request, pool);
}

sr_error_t *sr_service_cancel(const sr_service_t *service, const char **representation, const sr_caller_t *caller,
                              const char *reason, apr_pool_t *pool)
{
    const sr_subject_t subject = {.token_hash = caller->token_hash, .submission = caller->submission};
    sr_signing_t *signing;
    SR_TRY(cancel_subject(service, &signing, &subject, &caller->client, reason, pool));
    *representation = sr_submission_render(&signing->submission, pool);
    return NULL;
}

sr_error_t *sr_service_withdraw(const sr_service_t *service, const char *submission, const char *reason,
                                apr_pool_t *pool)
{
    const sr_subject_t subject = {.submission = submission};
    sr_signing_t *signing;
    return cancel_subject(service, &signing, &subject, NULL, reason, pool);
}
