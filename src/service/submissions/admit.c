/* SPDX-License-Identifier: Apache-2.0 */
/* admit.c: what the caller does with the check of a signer's identity: changes it, unlocks it, and gets a URL
 * for one visit of a signer whom they have checked themselves. */
#include "service/submissions/transition.h"

#include <string.h>

sr_error_t *sr_authentication_check(const sr_service_t *service, const sr_authentication_t *authentication,
                                    apr_pool_t *pool)
{
    if (authentication && authentication->method == SR_AUTH_EMAIL && !service->child->sends_mail)
        return sr_error(pool, SR_EUNAVAILABLE, "This service sends no mail (SigreqSMTP): no code can be sent by email");
    if (authentication && authentication->method == SR_AUTH_HOOK && !service->child->code_hook)
        return sr_error(pool, SR_EUNAVAILABLE, "This service has no SigreqCodeHook: no code can be sent by hook");
    return NULL;
}

typedef struct authentication_work_t {
    const sr_subject_t *subject;
    const char *signer;
    const sr_authentication_t *made; /* the new check; NULL: none */
    const char *ticket;              /* the hash of the secret of a URL */
    const json_t *words;             /* what the caller says with it */
} authentication_work_t;

static sr_error_t *authentication_find(sr_signer_t **signer, const sr_signing_t *signing, const char *uuid,
                                       apr_pool_t *pool)
{
    *signer = sr_submission_signer(&signing->submission, uuid);
    return *signer ? NULL : sr_error(pool, SR_ENOTFOUND, "Not found");
}

static void authentication_changed(sr_transition_t *transition, sr_signer_t *signer, const char *event, json_t *detail)
{
    transition->signing->submission.updated_at = transition->now;
    sr_transition_change(transition, signer);
    sr_transition_event(transition, signer->uuid, event, detail);
}

/* --- changing it */

static sr_error_t *authentication_may_change(const sr_submission_t *submission, const sr_signer_t *signer,
                                             apr_pool_t *pool)
{
    SR_TRY(sr_submission_may(submission, SR_ACTION_CANCEL, pool)); /* which is possible while it is open */
    if (signer->state == SR_SIGNER_COMPLETED) return sr_error(pool, SR_ECONFLICT, "This signer has signed already");
    if (signer->authentication && signer->authentication->passed_at)
        return sr_error(pool, SR_ECONFLICT, "The identity of this signer has been checked already");
    return NULL;
}

/* Codes that were sent before count towards the limit. */
static sr_authentication_t *changed_authentication(const sr_authentication_t *before, const sr_authentication_t *made,
                                                   apr_pool_t *pool)
{
    sr_authentication_t *after = made ? apr_pmemdup(pool, made, sizeof *made) : NULL;
    if (after && before) memcpy(after->sent, before->sent, sizeof after->sent);
    return after;
}

static sr_error_t *authentication_change(const sr_service_t *service, sr_transition_t *transition, void *baton)
{
    const authentication_work_t *work = baton;
    sr_signer_t *signer;
    (void)service;
    SR_TRY(authentication_find(&signer, transition->signing, work->signer, transition->pool));
    SR_TRY(authentication_may_change(&transition->signing->submission, signer, transition->pool));
    const sr_authentication_t *before = signer->authentication;
    if (!before && !work->made) return NULL;
    json_t *detail =
        json_pack("{s:o,s:o}", "before", sr_authentication_kind(before), "after", sr_authentication_kind(work->made));
    sr_subject_note(detail, work->subject);
    signer->authentication = changed_authentication(before, work->made, transition->pool);
    sr_transition_end_sessions(transition, signer);
    authentication_changed(transition, signer, "authenticationChanged", detail);
    return NULL;
}

sr_error_t *sr_service_authentication_change(const sr_service_t *service, const char **representation,
                                             const sr_caller_t *caller, const char *signer, const json_t *value,
                                             apr_pool_t *pool)
{
    const sr_subject_t subject = {.token_hash = caller->token_hash, .submission = caller->submission};
    authentication_work_t work = {.subject = &subject, .signer = signer};
    sr_signing_t *signing;
    sr_signer_t *found;
    sr_authentication_t *made;
    SR_TRY(sr_service_subject(service, &signing, &subject, pool));
    SR_TRY(authentication_find(&found, signing, signer, pool));
    const char *fault = sr_authentication_read(&made, value, found->email, pool);
    if (fault) return sr_error(pool, SR_EBADREQUEST, "%s", fault);
    SR_TRY(authentication_may_change(&signing->submission, found, pool));
    SR_TRY(sr_authentication_check(service, made, pool));
    if (made) sr_authentication_hide(made, pool); /* takes too long to do it under the lock */
    work.made = made;
    SR_TRY(sr_transition_take(service, &signing, &subject, &caller->client, authentication_change, &work, pool));
    *representation = sr_submission_render(&signing->submission, pool);
    return NULL;
}

/* --- unlocking it */

static sr_error_t *authentication_unlock(const sr_service_t *service, sr_transition_t *transition, void *baton)
{
    const authentication_work_t *work = baton;
    sr_signer_t *signer;
    (void)service;
    SR_TRY(authentication_find(&signer, transition->signing, work->signer, transition->pool));
    if (!signer->authentication || !sr_authentication_unlock(signer->authentication))
        return sr_error(transition->pool, SR_ECONFLICT, "The check of this signer's identity is not locked");
    sr_transition_ignore_deadline(transition);
    json_t *detail = json_object();
    sr_subject_note(detail, work->subject);
    authentication_changed(transition, signer, "unlocked", detail);
    return NULL;
}

sr_error_t *sr_service_unlock(const sr_service_t *service, const char **representation, const sr_caller_t *caller,
                              const char *signer, apr_pool_t *pool)
{
    const sr_subject_t subject = {.token_hash = caller->token_hash, .submission = caller->submission};
    authentication_work_t work = {.subject = &subject, .signer = signer};
    sr_signing_t *signing;
    SR_TRY(sr_transition_run(service, &signing, &subject, &caller->client, authentication_unlock, &work, pool));
    *representation = sr_submission_render(&signing->submission, pool);
    return NULL;
}

/* --- a URL for one visit */

static sr_error_t *authentication_admit(const sr_service_t *service, sr_transition_t *transition, void *baton)
{
    const authentication_work_t *work = baton;
    sr_signing_t signing = *transition->signing;
    (void)service;
    SR_TRY(authentication_find(&signing.signer, &signing, work->signer, transition->pool));
    sr_authentication_t *authentication = signing.signer->authentication;
    if (!authentication || authentication->method != SR_AUTH_CALLER)
        return sr_error(transition->pool, SR_ECONFLICT, "The identity of this signer is not checked by the caller");
    if (sr_signing_may_see(&signing, transition->pool))
        return sr_error(transition->pool, SR_ECONFLICT, "It is not this signer's turn yet, or the request is closed");
    sr_authentication_admit(authentication, work->ticket, work->words, signing.clock);
    sr_transition_ignore_deadline(transition);
    authentication_changed(transition, signing.signer, "admitted", NULL);
    return NULL;
}

sr_error_t *sr_service_admit(const sr_service_t *service, sr_admission_t *admission, const sr_caller_t *caller,
                             const char *signer, const json_t *words, apr_pool_t *pool)
{
    const sr_subject_t subject = {.token_hash = caller->token_hash, .submission = caller->submission};
    const char *ticket = sr_session_make(pool);
    authentication_work_t work = {
        .subject = &subject, .signer = signer, .ticket = sr_session_hash(ticket, pool), .words = words};
    sr_signing_t *signing;
    sr_signer_t *found;
    SR_TRY(sr_transition_run(service, &signing, &subject, &caller->client, authentication_admit, &work, pool));
    SR_TRY(authentication_find(&found, signing, signer, pool));
    *admission = (sr_admission_t){found->uuid, ticket, found->authentication->ticket_until};
    return NULL;
}
