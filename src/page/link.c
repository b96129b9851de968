/* link.c: a signing link: the page or, for programs, its state; and what a signer does: sign or refuse. The same for
 * both: JSON is answered with JSON, a form with the page. */
#include <string.h>

#include "page/page.h"

#define SIGN_JSON_MAX ((apr_size_t)2 << 20) /* an image of 1 MiB in base64, or 20,000 points */
#define SIGN_JSON_VALUES ((apr_size_t)90000)        /* 20,000 points of three numbers, 1,000 strokes, and room */

const char *sr_page_ancestors(sr_http_t *http)
{
    return *http->page->frame_ancestors ? http->page->frame_ancestors : "'none'";
}

/* Nobody is told the link, nothing is kept, nothing of others is loaded. */
static void set_headers(sr_http_t *http)
{
    apr_table_t *headers = http->r->err_headers_out;
    apr_table_setn(headers, "Referrer-Policy", "no-referrer");
    apr_table_setn(headers, "X-Robots-Tag", "noindex, nofollow");
    apr_table_setn(headers, "Content-Security-Policy",
                   apr_pstrcat(http->pool, "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors ",
                               sr_page_ancestors(http), NULL));
    apr_table_setn(headers, "Vary", "Accept, Accept-Language");
}

const char *sr_page_link(sr_http_t *http, const char *signer)
{
    return apr_pstrcat(http->pool, http->base_url, "/sign/", signer, NULL);
}

sr_error_t *sr_page_uuid(const char **uuid, sr_http_t *http, int param)
{
    *uuid = http->params[param];
    return sr_uuid_valid(*uuid) ? NULL : sr_error(http->pool, SR_ENOTFOUND, "Not found");
}

static sr_client_t client_of(sr_http_t *http)
{
    return (sr_client_t){http->r->useragent_ip, sr_http_user_agent(http)};
}

/* What every handler begins with: who it is, and how he wants to be answered. */
static sr_error_t *begin(sr_http_t *http, const char **signer, bool json)
{
    http->show_error = json ? NULL : sr_page_error;
    return sr_page_uuid(signer, http, 0);
}

void sr_page_begin(sr_http_t *http)
{
    set_headers(http);
    sr_page_ask_language(http);
    if (!sr_http_prefers_json(http)) http->show_error = sr_page_error;
}

static json_t *view_of(sr_http_t *http, const sr_signing_t *signing)
{
    const sr_consent_t *consent = sr_consent_of_language(sr_page_language(http)->code);
    return sr_signing_view(signing, consent, sr_page_link(http, signing->signer), http->pool);
}

static sr_error_t *reply_state(sr_http_t *http, const sr_signing_t *signing)
{
    return sr_http_json(http, HTTP_OK, view_of(http, signing));
}

sr_error_t *sr_page_get(sr_http_t *http)
{
    const bool json = sr_http_prefers_json(http);
    const char *signer, *skip = NULL, *language = NULL;
    sr_signing_t *signing;
    sr_client_t client = client_of(http);
    SR_TRY(begin(http, &signer, json));
    const sr_query_param_t params[] = {{"skipIntro", &skip}, {"lang", &language}, {NULL, NULL}};
    SR_TRY(sr_http_query(http, params));
    /* who only looks whether it is there, or fetches in advance, has not opened it */
    if (http->r->header_only || sr_http_is_prefetch(http))
        SR_TRY(sr_service_signing(http->service, &signing, signer, http->pool));
    else SR_TRY(sr_service_signing_open(http->service, &signing, signer, &client, http->pool));
    sr_page_use_locale(http, signing);
    SR_TRY(sr_service_signing_boxes(http->service, signing, http->pool));
    if (json) return reply_state(http, signing);
    return sr_page_show(http, sr_json_own(view_of(http, signing), http->pool), signing->signer);
}

/* --- what he does, from JSON or from a form */

typedef struct action_t {
    sr_signing_action_t action;
    const sr_consent_t *consent; /* NULL: not given */
    sr_signature_t signature;
    const char *reason;
} action_t;

static sr_error_t *read_name(action_t *action, const char *name, apr_pool_t *pool)
{
    if (name && !strcmp(name, "sign")) action->action = SR_SIGNING_SIGN;
    else if (name && !strcmp(name, "refuse")) action->action = SR_SIGNING_REFUSE;
    else return sr_error(pool, SR_EBADREQUEST, "action must be sign or refuse");
    return NULL;
}

/* What he has agreed to: the version that he names; else the text that he is shown. */
static sr_error_t *read_consent(action_t *action, sr_http_t *http, bool given, const char *version)
{
    if (!given)
        return sr_error(http->pool, SR_EBADREQUEST, "To sign, the consent to sign electronically must be given");
    action->consent = version ? sr_consent_of_version(version)
                              : sr_consent_of_language(sr_page_language(http)->code);
    return action->consent ? NULL : sr_error(http->pool, SR_EBADREQUEST, "consentVersion names no text there ever was");
}

static sr_error_t *read_json(action_t *action, sr_http_t *http)
{
    json_t *body;
    SR_TRY(sr_http_read_json(&body, http, SIGN_JSON_MAX, SIGN_JSON_VALUES));
    SR_TRY(read_name(action, sr_json_string(body, "action"), http->pool));
    const json_t *reason = json_object_get(body, "reason");
    if (reason && !json_is_null(reason) && !json_is_string(reason))
        return sr_error(http->pool, SR_EBADREQUEST, "reason must be a text");
    action->reason = sr_json_string(body, "reason");
    if (action->action != SR_SIGNING_SIGN) return NULL;
    const json_t *version = json_object_get(body, "consentVersion");
    if (version && !json_is_string(version))
        return sr_error(http->pool, SR_EBADREQUEST, "consentVersion must be a text");
    SR_TRY(read_consent(action, http, json_is_true(json_object_get(body, "consent")), json_string_value(version)));
    SR_TRY(sr_signature_parse(&action->signature, json_object_get(body, "signature"), http->pool));
    if (!action->signature.text) json_object_del(body, "signature"); /* megabytes that have been read */
    return NULL;
}

static sr_error_t *read_form(action_t *action, sr_http_t *http)
{
    const char *name = NULL, *consent = NULL, *version = NULL, *typed = NULL;
    const sr_http_field_t fields[] = {{"action", &name}, {"consent", &consent},       {"consentVersion", &version},
                                      {"typed", &typed}, {"reason", &action->reason}, {NULL, NULL}};
    SR_TRY(sr_http_read_form(http, fields));
    SR_TRY(read_name(action, name, http->pool));
    if (action->action != SR_SIGNING_SIGN) return NULL;
    SR_TRY(read_consent(action, http, consent && !strcmp(consent, "yes"), version));
    return sr_signature_typed(&action->signature, typed, http->pool);
}

static sr_error_t *act(sr_signing_t **signing, sr_http_t *http, const action_t *action)
{
    const sr_client_t client = client_of(http);
    if (action->action == SR_SIGNING_REFUSE)
        return sr_service_refuse(http->service, signing, &client, action->reason, http->pool);
    return sr_service_sign(http->service, signing, &client, &action->signature, action->consent, http->pool);
}

sr_error_t *sr_page_post(sr_http_t *http)
{
    const bool form = !sr_http_expect_type(http, "application/x-www-form-urlencoded", NULL);
    const char *signer;
    sr_signing_t *signing;
    action_t action = {0};
    SR_TRY(begin(http, &signer, !form));
    if (sr_http_is_foreign(http)) return sr_error(http->pool, SR_EFORBIDDEN, "This must come from the signing page");
    SR_TRY(sr_service_signing(http->service, &signing, signer, http->pool)); /* nobody else makes us read a body */
    sr_page_use_locale(http, signing);
    SR_TRY(form ? read_form(&action, http) : read_json(&action, http));
    SR_TRY(act(&signing, http, &action));
    if (form)
        return sr_http_see_other(http, apr_pstrcat(http->pool, sr_page_link(http, signing->signer),
                                                   sr_page_language_query(http), NULL));
    SR_TRY(sr_service_signing_boxes(http->service, signing, http->pool));
    return reply_state(http, signing);
}
