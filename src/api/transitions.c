/* SPDX-License-Identifier: Apache-2.0 */
/* transitions.c: what the caller does with a submission after its creation: cancels it, changes its deadline, replaces
 * or reminds a signer. Each response is the submission afterwards. */
#include "api/api.h"

static sr_error_t *read_caller(sr_caller_t *caller, sr_http_t *http)
{
    *caller = (sr_caller_t){.client = {.ip = http->r->useragent_ip, .user_agent = sr_http_user_agent(http)}};
    SR_TRY(sr_api_token(&caller->token_hash, http));
    SR_TRY(sr_http_query(http, (const sr_query_param_t[]){{NULL, NULL}}));
    return sr_api_uuid(&caller->submission, http, 0);
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
    SR_TRY(read_caller(&caller, http));
    SR_TRY(sr_api_uuid(&request.signer, http, 1));
    SR_TRY(sr_api_body(&body, http, (const char *const[]){"firstname", "lastname", "email", "locale", NULL}));
    request.person = body;
    SR_TRY(sr_service_replace(http->service, &view, &caller, &request, http->pool));
    return sr_http_view(http, HTTP_OK, view);
}

sr_error_t *sr_api_signer_remind(sr_http_t *http)
{
    sr_caller_t caller;
    const char *signer, *view;
    SR_TRY(read_caller(&caller, http));
    SR_TRY(sr_api_uuid(&signer, http, 1));
    SR_TRY(sr_service_remind(http->service, &view, &caller, signer, http->pool));
    return sr_http_view(http, HTTP_ACCEPTED, view);
}
