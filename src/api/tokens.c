/* SPDX-License-Identifier: Apache-2.0 */
/* tokens.c: /tokens: creates, lists, shows and revokes tokens. */
#include "api/api.h"

#include <string.h>

#define NAME_MAX_CHARACTERS 100

static sr_error_t *token_reply(sr_http_t *http, int status, const sr_token_t *token, const char *secret)
{
    return sr_http_json(http, status, sr_token_representation(token, secret));
}

static sr_error_t *tokens_read_name(const char **name, sr_http_t *http, const json_t *body)
{
    *name = sr_json_string(body, "name");
    if (!*name || sr_text_is_blank(*name)) return sr_error(http->pool, SR_EBADREQUEST, "name is required");
    const char *fault = sr_text_fault(*name, NAME_MAX_CHARACTERS, http->pool);
    if (fault) return sr_error(http->pool, SR_EBADREQUEST, "name %s", fault);
    return NULL;
}

static sr_error_t *read_expiry(apr_time_t *expires_at, sr_http_t *http, const json_t *body)
{
    const json_t *value = json_object_get(body, "expiresAt");
    *expires_at = 0;
    if (!value || json_is_null(value)) return NULL;
    if (!json_is_string(value)) return sr_error(http->pool, SR_EBADREQUEST, "expiresAt must be an ISO 8601 date");
    SR_TRY(sr_api_time(expires_at, http, "expiresAt", json_string_value(value)));
    if (*expires_at <= sr_time_now()) return sr_error(http->pool, SR_EBADREQUEST, "expiresAt must be in the future");
    return NULL;
}

sr_error_t *sr_api_tokens_create(sr_http_t *http)
{
    const char *token_hash, *name, *secret;
    apr_time_t expires_at;
    sr_token_t *token;
    json_t *body;
    SR_TRY(sr_api_caller_body(&body, &token, &token_hash, http));
    SR_TRY(tokens_read_name(&name, http, body));
    SR_TRY(read_expiry(&expires_at, http, body));
    SR_TRY(sr_service_token_create(http->service, &token, &secret, token_hash, name, expires_at, http->pool));
    apr_table_setn(http->r->headers_out, "Location",
                   apr_pstrcat(http->pool, http->base_url, "/api/v3/tokens/", token->uuid, NULL));
    return token_reply(http, HTTP_CREATED, token, secret);
}

sr_error_t *sr_api_token_current(sr_http_t *http)
{
    const char *token_hash;
    sr_token_t *token;
    SR_TRY(sr_api_token(&token_hash, http));
    SR_TRY(sr_service_authenticate(http->service, &token, token_hash, http->pool));
    return token_reply(http, HTTP_OK, token, NULL);
}

sr_error_t *sr_api_token_get(sr_http_t *http)
{
    const char *token_hash, *uuid;
    sr_token_t *token;
    SR_TRY(sr_api_token(&token_hash, http));
    SR_TRY(sr_api_uuid(&uuid, http, 0));
    SR_TRY(sr_service_token(http->service, &token, token_hash, uuid, http->pool));
    return token_reply(http, HTTP_OK, token, NULL);
}

sr_error_t *sr_api_tokens_list(sr_http_t *http)
{
    const char *token_hash;
    sr_list_query_t query;
    sr_list_result_t page;
    SR_TRY(sr_api_token(&token_hash, http));
    SR_TRY(sr_api_list_only(&query, http));
    SR_TRY(sr_service_tokens(http->service, &page, token_hash, &query, http->pool));
    return sr_api_list_reply(http, &page);
}

sr_error_t *sr_api_token_revoke(sr_http_t *http)
{
    const char *token_hash, *uuid, *children = NULL;
    const sr_query_param_t params[] = {{"children", &children}, {NULL, NULL}};
    SR_TRY(sr_api_token(&token_hash, http));
    SR_TRY(sr_http_query(http, params));
    if (children && strcmp(children, "true") != 0 && strcmp(children, "false") != 0)
        return sr_error(http->pool, SR_EBADREQUEST, "children must be true or false");
    SR_TRY(sr_api_uuid(&uuid, http, 0));
    SR_TRY(sr_service_token_revoke(http->service, token_hash, uuid, children && !strcmp(children, "true"), http->pool));
    return sr_http_empty(http);
}
