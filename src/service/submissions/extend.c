/* SPDX-License-Identifier: Apache-2.0 */
/* extend.c: the caller changes the deadline of an open submission, or of a draft. The job that expires it is written
 * again. */
#include "service/submissions/transition.h"

typedef struct extend_t {
    const sr_subject_t *subject;
    apr_time_t expires_at;
} extend_t;

static sr_error_t *extend(const sr_service_t *service, sr_transition_t *transition, void *baton)
{
    sr_submission_t *submission = &transition->signing->submission;
    const extend_t *request = baton;
    if (submission->state == SR_SUBMISSION_DRAFT) sr_transition_ignore_deadline(transition);
    else SR_TRY(sr_submission_may(submission, SR_ACTION_CANCEL, transition->pool));
    if (submission->expires_at == request->expires_at) return NULL;
    json_t *detail = json_object();
    json_object_set_new(detail, "before", sr_time_json(submission->expires_at));
    json_object_set_new(detail, "expiresAt", sr_time_json(request->expires_at));
    sr_subject_note(detail, request->subject);
    submission->expires_at = request->expires_at;
    submission->updated_at = transition->now;
    sr_transition_event(transition, NULL, "extended", detail);
    return NULL;
}

sr_error_t *sr_service_extend(const sr_service_t *service, const char **representation, const sr_caller_t *caller,
                              apr_time_t expires_at, apr_pool_t *pool)
{
    const sr_subject_t subject = {.token_hash = caller->token_hash, .submission = caller->submission};
    extend_t request = {&subject, expires_at};
    sr_signing_t *signing;
    SR_TRY(sr_transition_run(service, &signing, &subject, &caller->client, extend, &request, pool));
    *representation = sr_submission_render(&signing->submission, pool);
    return NULL;
}
