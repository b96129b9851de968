/* SPDX-License-Identifier: Apache-2.0 */
/* templates.c: /templates: lists, shows and deletes the templates of submissions. */
#include "api/api.h"

sr_error_t *sr_api_templates_list(sr_http_t *http)
{
    const char *token_hash;
    sr_list_query_t query;
    sr_list_result_t page;
    SR_TRY(sr_api_token(&token_hash, http));
    SR_TRY(sr_api_list_only(&query, http));
    SR_TRY(sr_service_templates(http->service, &page, token_hash, &query, http->pool));
    return sr_api_list_reply(http, &page);
}

sr_error_t *sr_api_template_get(sr_http_t *http)
{
    const char *token_hash, *uuid;
    json_t *template;
    SR_TRY(sr_api_token(&token_hash, http));
    SR_TRY(sr_api_uuid(&uuid, http, 0));
    SR_TRY(sr_service_template(http->service, &template, token_hash, uuid, http->pool));
    return sr_http_json(http, HTTP_OK, template);
}

sr_error_t *sr_api_template_delete(sr_http_t *http)
{
    const char *token_hash, *uuid;
    SR_TRY(sr_api_token(&token_hash, http));
    SR_TRY(sr_api_uuid(&uuid, http, 0));
    SR_TRY(sr_service_template_delete(http->service, token_hash, uuid, http->pool));
    return sr_http_empty(http);
}
