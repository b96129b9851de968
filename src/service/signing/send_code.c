/* SPDX-License-Identifier: Apache-2.0 */
/* send_code.c: sends a signer the code that they then enter (identify.c): by mail, or by the administrator's own
 * service (SigreqCodeHook). A code that was sent makes the one before it void.
 *
 * A mail is a job of the transition that records the code, so both are there or neither is. The hook is called before
 * the transition and without any lock or database connection, because it may take long. A code that it has not
 * delivered is not recorded, and the one before it stays valid. But it counts towards the limits, because the hook may
 * have delivered it all the same. */
#include <apr_uri.h>
#include <string.h>

#include "service/signing/identify.h"
#include "service/submissions/invite.h"

#define REFUSED_FOR apr_time_from_sec(3600) /* the longest that a lock or the limit of a signer can last */
#define TEXT_MOST 160                       /* characters of a short message */

/* One call of the hook for a signer at a time, or in this period if a process has died. */
static const sr_rate_t calling = {1, APR_USEC_PER_SEC * 30};

typedef struct sending_t {
    sr_auth_method_t method;
    const char *code, *hash;
    sr_inviter_t inviter;
} sending_t;

/* Nobody learns from it whether the check is locked. */
static sr_error_t *send_refuse(apr_interval_time_t wait, apr_pool_t *pool)
{
    return sr_error_retry(sr_error(pool, SR_ETOOMANY, "No code can be sent now, try again later"), wait);
}

/* --- the hook */

static const char *host_of(const char *url, apr_pool_t *pool)
{
    apr_uri_t uri;
    return !apr_uri_parse(pool, url, &uri) && uri.hostname ? uri.hostname : "";
}

/* Returns a sentence for a short message. If there is room, its last line lets the browser enter the code on the page
 * (https://wicg.github.io/sms-one-time-codes/). The host is not that of the request, which anybody may invent. */
static sr_error_t *send_text(const char **text, const sr_service_t *service, const sr_language_t *language,
                             const char *code, apr_pool_t *pool)
{
    json_t *texts, *values = sr_json_own(json_pack("{s:s}", "code", code), pool);
    SR_TRY(sr_language_texts(&texts, language, pool));
    const sr_template_t template = {.texts = json_object_get(texts, "mail"), .plain = true, .together = true};
    const char *words = sr_template_fill("{{:code.text}}", values, &template, pool);
    const char *host = service->set_base_url ? host_of(service->set_base_url, pool) : "";
    *text = apr_pstrcat(pool, words, "\n\n@", host, " #", code, NULL);
    if (!*host || sr_text_length(*text) > TEXT_MOST) *text = words;
    return NULL;
}

static sr_error_t *send_by_hook(const sr_service_t *service, const sr_signing_t *signing, const char *code,
                                apr_pool_t *pool)
{
    const sr_signer_t *signer = signing->signer;
    const sr_language_t *asked = signer->locale ? sr_language_of(signer->locale) : NULL;
    const sr_language_t *language = asked ? asked : sr_language_of("en");
    json_t *body = sr_json_own(json_object(), pool);
    const char *text;
    SR_TRY(send_text(&text, service, language, code, pool));
    json_object_set_new(body, "to", json_string(signer->authentication->to));
    json_object_set_new(body, "code", json_string(code));
    json_object_set_new(body, "text", json_string(text));
    json_object_set_new(body, "locale", json_string(language->tag));
    json_object_set_new(body, "organization", sr_json_string_or_null(signing->organization));
    json_object_set_new(body, "environment", json_string(sr_environment_name(signing->environment)));
    json_object_set_new(body, "submissionId", json_string(signing->submission.uuid));
    json_object_set_new(body, "signerId", json_string(sr_signer_alias(signer, pool)));
    json_object_set_new(body, "expiresAt", sr_time_json(sr_code_ends(signing->clock)));
    if (service->child->code_hook(sr_json_text(body, pool), pool)) return NULL;
    return sr_error_retry(sr_error(pool, SR_EUNAVAILABLE, "The code could not be sent, try again later"),
                          apr_time_from_sec(60));
}

/* --- the transition */

static sr_error_t *send_try(const sr_service_t *service, sr_transition_t *transition, void *baton)
{
    const sending_t *sending = baton;
    sr_signing_t *signing = transition->signing;
    sr_signer_t *signer = signing->signer;
    sr_authentication_t *authentication = signer->authentication;
    (void)service;
    SR_TRY(sr_signing_may_see(signing, transition->pool));
    if (!authentication || authentication->method != sending->method
        || !sr_authentication_may_send(authentication, signing->clock))
        return send_refuse(REFUSED_FOR, transition->pool);
    sr_authentication_send(authentication, sending->hash, signing->clock);
    sr_transition_ignore_deadline(transition);
    signing->submission.updated_at = transition->now;
    sr_transition_change(transition, signer);
    sr_transition_event(
        transition, signer->uuid, "codeSent",
        json_pack("{s:s,s:s*}", "method", sr_auth_method_name(sending->method), "to", authentication->to));
    if (sending->method == SR_AUTH_EMAIL)
        json_array_append_new(transition->jobs,
                              sr_code_row(signer, sending->code, &sending->inviter, transition->pool));
    return NULL;
}

static sr_error_t *send_take_limits(sr_inviting_t *inviting, const sr_signer_t *signer, apr_pool_t *pool)
{
    const sr_authentication_t *authentication = signer->authentication;
    sr_error_t *error = authentication->method == SR_AUTH_HOOK ? sr_invite_take_hook(inviting, authentication->to, pool)
                                                               : sr_invite_take_one(inviting, signer->email, pool);
    return error ? send_refuse(apr_time_from_sec(error->retry_after), pool) : NULL;
}

/* Makes a code and sends it. `signing` is as it was read. */
static sr_error_t *send_make(const sr_service_t *service, sr_signing_t *signing, const sr_client_t *client,
                             apr_pool_t *pool)
{
    const sr_subject_t subject = {.signer = signing->signer->uuid, .asks = true};
    const sr_auth_method_t method = signing->signer->authentication->method;
    sr_inviting_t inviting = {service, signing->organization_uuid, signing->environment, NULL};
    SR_TRY(send_take_limits(&inviting, signing->signer, pool));
    const char *code = sr_code_make(pool);
    if (method == SR_AUTH_HOOK) SR_TRY(send_by_hook(service, signing, code, pool));
    sending_t sending = {
        method,
        code,
        sr_slow_hash(code, pool),
        {signing->organization, signing->environment, service->set_base_url, sr_service_theme(service, pool)}};
    sr_error_t *error = sr_transition_take(service, &signing, &subject, client, send_try, &sending, pool);
    if (error && method == SR_AUTH_EMAIL) sr_invite_give_back(&inviting);
    return error;
}

/* Checks whether a code may be sent, and sends it. */
static sr_error_t *send_now(const sr_service_t *service, sr_signing_t *signing, const sr_client_t *client,
                            apr_pool_t *pool)
{
    const sr_authentication_t *authentication = signing->signer->authentication;
    if (authentication->method != SR_AUTH_HOOK && authentication->method != SR_AUTH_EMAIL)
        return sr_error(pool, SR_ECONFLICT, "No code is sent to this signer");
    SR_TRY(sr_signing_may_see(signing, pool));
    SR_TRY(sr_authentication_check(service, authentication, pool));
    if (!sr_authentication_may_send(authentication, signing->clock)) return send_refuse(REFUSED_FOR, pool);
    return send_make(service, signing, client, pool);
}

sr_error_t *sr_service_send_code(const sr_service_t *service, const char *signer, const sr_client_t *client,
                                 apr_pool_t *pool)
{
    const apr_uint64_t key = sr_rate_key("hook call", signer, strlen(signer), &calling);
    sr_signing_t *signing;
    SR_TRY(sr_service_identity(service, &signing, signer, pool));
    if (signing->signer->authentication->method != SR_AUTH_HOOK) return send_now(service, signing, client, pool);
    if (!sr_rate_take(NULL, key, &calling, sr_time_steady())) return send_refuse(calling.period, pool);
    sr_error_t *error = sr_service_identity(service, &signing, signer, pool); /* as the call before has left it */
    if (!error) error = send_now(service, signing, client, pool);
    sr_rate_give_back(key, &calling, 1, sr_time_steady());
    return error;
}
