/* SPDX-License-Identifier: Apache-2.0 */
/* transitions.c: what the caller does with a submission after its creation: cancels it, changes its deadline, replaces
 * or reminds a signer, mails copies again, or changes the check of a signer's identity. Nearly each response is the
 * submission afterwards. */
#include "api/api.h"

#include <string.h>

#define WORDS_MAX 200
#define CLOCKS_DIFFER apr_time_from_sec(60)

static sr_error_t *read_caller(sr_caller_t *caller, sr_http_t *http)
{
    *caller = (sr_caller_t){.client = {.ip = http->r->useragent_ip, .user_agent = sr_http_user_agent(http)}};
    SR_TRY(sr_api_token(&caller->token_hash, http));
    SR_TRY(sr_http_query(http, (const sr_query_param_t[]){{NULL, NULL}}));
    return sr_api_uuid(&caller->submission, http, 0);
}

/* Reads the caller, and the uuid of the signer or viewer that the path names. */
static sr_error_t *read_signer(sr_caller_t *caller, const char **uuid, sr_http_t *http)
{
    SR_TRY(read_caller(caller, http));
    return sr_api_uuid(uuid, http, 1);
}

sr_error_t *sr_api_cancel(sr_http_t *http)
{
    sr_caller_t caller;
    json_t *body;
    const char *view;
    SR_TRY(read_caller(&caller, http));
    SR_TRY(sr_api_body(&body, http, (const char *const[]){"reason", NULL})); /* no body: no reason */
    const json_t *reason = json_object_get(body, "reason");
    if (reason && !json_is_string(reason) && !json_is_null(reason))
        return sr_error(http->pool, SR_EBADREQUEST, "reason must be a string or null");
    SR_TRY(sr_service_cancel(http->service, &view, &caller, json_string_value(reason), http->pool));
    return sr_http_view(http, HTTP_OK, view);
}

sr_error_t *sr_api_signature_change(sr_http_t *http)
{
    sr_caller_t caller;
    json_t *body;
    const char *view;
    apr_time_t expires_at = 0;
    SR_TRY(read_caller(&caller, http));
    SR_TRY(sr_api_body(&body, http, (const char *const[]){"expiresAt", NULL}));
    const json_t *value = json_object_get(body, "expiresAt");
    if (!value) return sr_error(http->pool, SR_EBADREQUEST, "expiresAt must be provided");
    if (!json_is_null(value)) {
        if (!json_is_string(value) || sr_text_is_blank(json_string_value(value)))
            return sr_error(http->pool, SR_EBADREQUEST, "expiresAt must be a date and time with a zone, or null");
        SR_TRY(sr_deadline_read(&expires_at, json_string_value(value), sr_time_now(), http->pool));
    }
    SR_TRY(sr_service_extend(http->service, &view, &caller, expires_at, http->pool));
    return sr_http_view(http, HTTP_OK, view);
}

sr_error_t *sr_api_signature_delete(sr_http_t *http)
{
    sr_caller_t caller;
    SR_TRY(read_caller(&caller, http));
    SR_TRY(sr_service_erase(http->service, &caller, http->pool));
    return sr_http_empty(http);
}

sr_error_t *sr_api_signer_replace(sr_http_t *http)
{
    sr_caller_t caller;
    sr_replace_t request;
    json_t *body;
    const char *view;
    SR_TRY(read_signer(&caller, &request.signer, http));
    SR_TRY(sr_api_body(&body, http,
                       (const char *const[]){"firstname", "lastname", "email", "locale", "authentication", NULL}));
    request.person = body;
    SR_TRY(sr_service_replace(http->service, &view, &caller, &request, http->pool));
    return sr_http_view(http, HTTP_OK, view);
}

sr_error_t *sr_api_signer_remind(sr_http_t *http)
{
    sr_caller_t caller;
    const char *signer, *view;
    SR_TRY(read_signer(&caller, &signer, http));
    SR_TRY(sr_service_remind(http->service, &view, &caller, signer, http->pool));
    return sr_http_view(http, HTTP_ACCEPTED, view);
}

sr_error_t *sr_api_copy(sr_http_t *http)
{
    sr_caller_t caller;
    const char *view;
    SR_TRY(read_caller(&caller, http));
    SR_TRY(sr_service_copy(http->service, &view, &caller, http->pool));
    return sr_http_view(http, HTTP_ACCEPTED, view);
}

sr_error_t *sr_api_viewer_revoke(sr_http_t *http)
{
    sr_caller_t caller;
    const char *viewer;
    SR_TRY(read_signer(&caller, &viewer, http));
    SR_TRY(sr_service_viewer_revoke(http->service, &caller, viewer, http->pool));
    return sr_http_empty(http);
}

/* --- the check of a signer's identity */

sr_error_t *sr_api_signer_change(sr_http_t *http)
{
    sr_caller_t caller;
    const char *signer, *view;
    json_t *body;
    SR_TRY(read_signer(&caller, &signer, http));
    SR_TRY(sr_api_body(&body, http, (const char *const[]){"authentication", NULL}));
    const json_t *value = json_object_get(body, "authentication");
    if (!value) return sr_error(http->pool, SR_EBADREQUEST, "authentication must be provided, or null");
    SR_TRY(sr_service_authentication_change(http->service, &view, &caller, signer, value, http->pool));
    return sr_http_view(http, HTTP_OK, view);
}

sr_error_t *sr_api_signer_unlock(sr_http_t *http)
{
    sr_caller_t caller;
    const char *signer, *view;
    SR_TRY(read_signer(&caller, &signer, http));
    SR_TRY(sr_service_unlock(http->service, &view, &caller, signer, http->pool));
    return sr_http_view(http, HTTP_OK, view);
}

/* Copies a text of the body to `words`. */
static sr_error_t *session_take_text(json_t *words, sr_http_t *http, const json_t *body, const char *member,
                                     bool required)
{
    const json_t *value = sr_json_given(body, member);
    const char *text = json_string_value(value), *fault = text ? sr_text_fault(text, WORDS_MAX, http->pool) : NULL;
    if (!value && !required) return NULL;
    if (!text || sr_text_is_blank(text)) fault = "must be a text that is not blank";
    if (fault) return sr_error(http->pool, SR_EBADREQUEST, "%s %s", member, fault);
    json_object_set_new(words, member, json_string(text));
    return NULL;
}

static sr_error_t *session_take_time(json_t *words, sr_http_t *http, const json_t *body)
{
    const json_t *value = sr_json_given(body, "at");
    const char *text = json_string_value(value);
    const apr_time_t now = sr_time_now();
    apr_time_t at = now;
    if (value && (!text || !strchr(text, 'T')))
        return sr_error(http->pool, SR_EBADREQUEST, "at must be a date and time with a zone");
    if (text) SR_TRY(sr_api_time(&at, http, "at", text));
    if (at > now + CLOCKS_DIFFER) return sr_error(http->pool, SR_EBADREQUEST, "at must not be in the future");
    json_object_set_new(words, "at", sr_time_json(at));
    return NULL;
}

sr_error_t *sr_api_signer_session(sr_http_t *http)
{
    sr_caller_t caller;
    sr_admission_t admission;
    const char *signer;
    json_t *body, *words = sr_json_own(json_object(), http->pool);
    SR_TRY(read_signer(&caller, &signer, http));
    SR_TRY(sr_api_body(&body, http, (const char *const[]){"how", "at", "reference", NULL}));
    SR_TRY(session_take_text(words, http, body, "how", true));
    SR_TRY(session_take_time(words, http, body));
    SR_TRY(session_take_text(words, http, body, "reference", false));
    SR_TRY(sr_service_admit(http->service, &admission, &caller, signer, words, http->pool));
    const char *url =
        apr_pstrcat(http->pool, http->base_url, "/sign/", admission.signer, "~", admission.ticket, "/visit", NULL);
    json_t *answer = json_pack("{s:s}", "url", url);
    json_object_set_new(answer, "expiresAt", sr_time_json(admission.expires_at));
    return sr_http_json(http, HTTP_CREATED, answer);
}
