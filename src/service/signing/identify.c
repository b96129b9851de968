/* SPDX-License-Identifier: Apache-2.0 */
/* identify.c: a signer passes the check of their identity, or does not. Each attempt is a transition, so attempts at
 * any number of hosts are counted one after the other. Nobody learns from the response, or from its time, whether a
 * code was wrong or the check is locked: a slow hash is made in both cases, before the transition. */
#include "service/signing/identify.h"

#include <string.h>

sr_error_t *sr_service_identity(const sr_service_t *service, sr_signing_t **signing, const char *signer,
                                apr_pool_t *pool)
{
    const sr_subject_t subject = {.signer = signer, .asks = true};
    SR_TRY(sr_service_read(service, signing, &subject, pool));
    return (*signing)->signer->authentication ? NULL : sr_error(pool, SR_ENOTFOUND, "Not found");
}

typedef struct checking_t {
    sr_judge_t judge;
    void *baton;
    bool passed;
} checking_t;

static sr_error_t *identify_try(const sr_service_t *service, sr_transition_t *transition, void *baton)
{
    checking_t *checking = baton;
    sr_signing_t *signing = transition->signing;
    sr_authentication_t *authentication = signing->signer->authentication;
    (void)service;
    checking->passed = false;
    if (!authentication) return NULL;
    SR_TRY(sr_signing_may_see(signing, transition->pool));
    json_t *detail = json_pack("{s:s}", "method", sr_auth_method_name(authentication->method));
    const sr_judged_t judged = {authentication, signing->clock, sr_json_own(detail, transition->pool), checking->baton};
    const sr_verdict_t verdict = checking->judge(&judged);
    const bool locked = sr_authentication_is_locked(authentication, signing->clock);
    if (verdict == SR_IDENTITY_OTHER || locked) return NULL;
    checking->passed = verdict == SR_IDENTITY_PASSED;
    if (checking->passed) sr_authentication_pass(authentication, signing->clock);
    else sr_authentication_fail(authentication, signing->clock);
    sr_transition_ignore_deadline(transition);
    signing->submission.updated_at = transition->now;
    sr_transition_change(transition, signing->signer);
    sr_transition_event(transition, signing->signer->uuid, checking->passed ? "authenticated" : "codeFailed",
                        json_incref(detail));
    if (sr_authentication_is_locked(authentication, signing->clock))
        sr_transition_tell(
            transition, "signer.locked", signing->signer->uuid,
            sr_json_own(json_pack("{s:O}", "method", json_object_get(detail, "method")), transition->pool));
    return NULL;
}

sr_error_t *sr_identify_decide(const sr_service_t *service, const char **session, sr_signing_t *signing,
                               const sr_client_t *client, sr_judge_t judge, void *baton, apr_pool_t *pool)
{
    const sr_subject_t subject = {.signer = signing->signer->uuid, .asks = true};
    checking_t checking = {judge, baton, false};
    SR_TRY(sr_transition_take(service, &signing, &subject, client, identify_try, &checking, pool));
    if (checking.passed) return sr_session_begin(service, session, signing->signer->uuid, pool);
    return sr_error(pool, SR_EFORBIDDEN, "This was not accepted");
}

/* --- a code */

typedef struct entered_t {
    const char *expected; /* the hash with which it was compared, or NULL */
    bool matches;
} entered_t;

/* A code that was sent meanwhile is another one. */
static sr_verdict_t judge_code(const sr_judged_t *judged)
{
    const entered_t *entered = judged->baton;
    const char *expected = sr_authentication_expected(judged->authentication, judged->now);
    const bool same = expected && entered->expected && !strcmp(expected, entered->expected);
    if (judged->authentication->to) json_object_set_new(judged->detail, "to", json_string(judged->authentication->to));
    return same && entered->matches ? SR_IDENTITY_PASSED : SR_IDENTITY_WRONG;
}

sr_error_t *sr_service_identify(const sr_service_t *service, const char **session, const char *signer,
                                const sr_client_t *client, const char *code, apr_pool_t *pool)
{
    sr_signing_t *signing;
    SR_TRY(sr_service_identity(service, &signing, signer, pool));
    const sr_authentication_t *authentication = signing->signer->authentication;
    entered_t entered = {sr_authentication_expected(authentication, signing->clock), false};
    if (authentication->method == SR_AUTH_CALLER || authentication->method == SR_AUTH_HTTPD)
        return sr_error(pool, SR_ECONFLICT, "This signer is not asked for a code");
    entered.matches = sr_slow_hash_matches(entered.expected, sr_code_folded(code, pool), pool);
    return sr_identify_decide(service, session, signing, client, judge_code, &entered, pool);
}

/* --- a URL for one visit */

/* Nobody can guess it, so a wrong one does not count. */
static sr_verdict_t judge_ticket(const sr_judged_t *judged)
{
    if (!sr_authentication_admits(judged->authentication, judged->baton, judged->now)) return SR_IDENTITY_OTHER;
    json_object_update(judged->detail, (json_t *)judged->authentication->words);
    return SR_IDENTITY_PASSED;
}

sr_error_t *sr_service_visit(const sr_service_t *service, const char **session, const char *signer,
                             const sr_client_t *client, apr_pool_t *pool)
{
    sr_signing_t *signing;
    SR_TRY(sr_service_identity(service, &signing, signer, pool));
    return sr_identify_decide(service, session, signing, client, judge_ticket, (void *)service->session, pool);
}
