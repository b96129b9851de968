/* SPDX-License-Identifier: Apache-2.0 */
/* first_view.c: a viewer opens their link. The first opening is recorded with the time. */
#include "service/submissions/transition.h"

static bool view_is_first(const sr_signing_t *signing, apr_pool_t *pool)
{
    return !signing->viewer->opened_at && !sr_viewing_may_see(signing, pool);
}

static sr_error_t *view_record(const sr_service_t *service, sr_transition_t *transition, void *baton)
{
    sr_signing_t *signing = transition->signing;
    (void)service;
    (void)baton;
    if (!view_is_first(signing, transition->pool)) return NULL;
    sr_transition_ignore_deadline(transition);
    signing->viewer->opened_at = signing->submission.updated_at = transition->now;
    APR_ARRAY_PUSH(transition->seen, sr_viewer_change_arg_t) =
        (sr_viewer_change_arg_t){.uuid = signing->viewer->uuid, .opened_at = transition->now};
    sr_transition_event(transition, NULL, "viewed", json_pack("{s:s}", "viewer", signing->viewer->uuid));
    return NULL;
}

sr_error_t *sr_service_viewing_open(const sr_service_t *service, sr_signing_t **signing, const char *viewer,
                                    const sr_client_t *client, apr_pool_t *pool)
{
    const sr_subject_t subject = {.viewer = viewer};
    SR_TRY(sr_service_viewing(service, signing, viewer, pool));
    if (!view_is_first(*signing, pool)) return NULL;
    return sr_transition_take(service, signing, &subject, client, view_record, NULL, pool);
}
