/* SPDX-License-Identifier: Apache-2.0 */
/* refuse.c: a signer refuses. This closes the submission for all signers who have not signed yet. */
#include "service/submissions/transition.h"

#define REASON_MAX_CHARACTERS 1000

static sr_error_t *refuse(const sr_service_t *service, sr_transition_t *transition, void *baton)
{
    const char *reason = baton;
    SR_TRY(sr_signing_may(transition->signing, SR_ACTION_REFUSE, transition->pool));
    SR_TRY(sr_session_may_act(transition->signing, transition->pool));
    if (!reason && transition->signing->submission.options.refusal == SR_REFUSAL_REASON)
        return sr_error(transition->pool, SR_EBADREQUEST, "A reason must be provided");
    sr_transition_open(transition);
    sr_signing_refuse(transition->signing, transition->now, reason);
    json_t *detail = json_object();
    json_object_set_new(detail, "reason", sr_json_string_or_null(reason));
    sr_transition_event(transition, transition->signing->signer->uuid, "refused", detail);
    sr_transition_notify(transition, "refused");
    sr_transition_change(transition, transition->signing->signer);
    return NULL;
}

sr_error_t *sr_service_refuse(const sr_service_t *service, sr_signing_t **signing, const sr_client_t *client,
                              const char *reason, apr_pool_t *pool)
{
    if (reason && sr_text_is_blank(reason)) reason = NULL;
    if (reason && sr_text_length(reason) > REASON_MAX_CHARACTERS)
        return sr_error(pool, SR_EBADREQUEST, "A reason must have at most %d characters", REASON_MAX_CHARACTERS);
    const sr_subject_t subject = {.signer = (*signing)->signer->uuid};
    return sr_transition_take(service, signing, &subject, client, refuse, (void *)reason, pool);
}
