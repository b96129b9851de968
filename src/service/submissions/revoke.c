/* SPDX-License-Identifier: Apache-2.0 */
/* revoke.c: the caller revokes the link of a viewer. The links of signers end by other transitions. */
#include "service/submissions/transition.h"

typedef struct revoke_t {
    const sr_subject_t *subject;
    const char *viewer;
} revoke_t;

static sr_error_t *revoke_link(const sr_service_t *service, sr_transition_t *transition, void *baton)
{
    const revoke_t *request = baton;
    sr_submission_t *submission = &transition->signing->submission;
    sr_viewer_t *viewer = sr_submission_viewer(submission, request->viewer);
    (void)service;
    if (!viewer) return sr_error(transition->pool, SR_ENOTFOUND, "Not found");
    if (submission->state == SR_SUBMISSION_DRAFT)
        return sr_error(transition->pool, SR_ECONFLICT, "This submission is a draft");
    if (viewer->revoked_at) return NULL;
    sr_transition_ignore_deadline(transition);
    viewer->revoked_at = submission->updated_at = transition->now;
    APR_ARRAY_PUSH(transition->seen, sr_viewer_change_arg_t) =
        (sr_viewer_change_arg_t){.uuid = viewer->uuid, .revoked_at = transition->now};
    json_t *detail = json_pack("{s:s}", "viewer", viewer->uuid);
    sr_subject_note(detail, request->subject);
    sr_transition_event(transition, NULL, "revoked", detail);
    return NULL;
}

sr_error_t *sr_service_viewer_revoke(const sr_service_t *service, const sr_caller_t *caller, const char *viewer,
                                     apr_pool_t *pool)
{
    const sr_subject_t subject = {.token_hash = caller->token_hash, .submission = caller->submission};
    revoke_t request = {&subject, viewer};
    sr_signing_t *signing;
    SR_TRY(sr_service_read(service, &signing, &subject, pool)); /* expires it if it must */
    return sr_transition_take(service, &signing, &subject, &caller->client, revoke_link, &request, pool);
}
