/* SPDX-License-Identifier: Apache-2.0 */
/* list.c: the parts that all lists have in common: limit, after, and the envelope {"data":[…],"pagination":{…}}. */
#include "api/api.h"

#include <string.h>

#define LIMIT_DEFAULT 10
#define LIMIT_MAX 100

sr_error_t *sr_api_list_query(sr_list_query_t *page, sr_http_t *http, const char *limit, const char *after)
{
    page->limit = LIMIT_DEFAULT;
    page->cursor = after;
    if (!limit) return NULL;
    sr_text_number(&page->limit, limit);
    if (strlen(limit) <= 3 && page->limit >= 1 && page->limit <= LIMIT_MAX) return NULL;
    return sr_error(http->pool, SR_EBADREQUEST, "limit must be a whole number from 1 to %d", LIMIT_MAX);
}

sr_error_t *sr_api_list_only(sr_list_query_t *page, sr_http_t *http)
{
    const char *limit = NULL, *after = NULL;
    const sr_query_param_t params[] = {{"limit", &limit}, {"after", &after}, {NULL, NULL}};
    SR_TRY(sr_http_query(http, params));
    return sr_api_list_query(page, http, limit, after);
}

sr_error_t *sr_api_bodies_reply(sr_http_t *http, const apr_array_header_t *bodies, const char *rest)
{
    apr_array_header_t *parts = apr_array_make(http->pool, 2 * bodies->nelts + 3, sizeof(const char *));
    APR_ARRAY_PUSH(parts, const char *) = "{\"data\":[";
    for (int i = 0; i < bodies->nelts; i++) {
        if (i) APR_ARRAY_PUSH(parts, const char *) = ",";
        APR_ARRAY_PUSH(parts, const char *) = APR_ARRAY_IDX(bodies, i, const char *);
    }
    APR_ARRAY_PUSH(parts, const char *) = apr_pstrcat(http->pool, "],", rest, "}", NULL);
    return sr_http_views(http, parts);
}

sr_error_t *sr_api_list_reply(sr_http_t *http, const sr_list_result_t *page)
{
    json_t *pagination = sr_json_own(json_object(), http->pool);
    json_object_set_new(pagination, "count", json_integer(page->bodies->nelts));
    json_object_set_new(pagination, "next", sr_json_string_or_null(page->next));
    json_object_set_new(pagination, "prev", sr_json_string_or_null(page->prev));
    const char *rest = apr_pstrcat(http->pool, "\"pagination\":", sr_json_text(pagination, http->pool), NULL);
    return sr_api_bodies_reply(http, page->bodies, rest);
}

sr_error_t *sr_api_token(const char **token_hash, sr_http_t *http)
{
    SR_TRY(sr_service_token_hash(token_hash, sr_http_bearer(http), http->pool));
    http->state = (void *)*token_hash; /* for sr_api_ended */
    return NULL;
}

/* After other errors than these, the token was accepted. */
void sr_api_ended(const sr_http_t *http)
{
    const int status = http->r->status;
    const bool refused = status == HTTP_BAD_REQUEST || status == HTTP_UNAUTHORIZED || status >= 500;
    if (http->state && !refused) sr_service_token_used(http->service, http->state);
}

sr_error_t *sr_api_body(json_t **body, sr_http_t *http, const char *const *members)
{
    const char *key;
    json_t *value;
    SR_TRY(sr_http_read_json(body, http, SR_HTTP_JSON_MAX, SR_HTTP_JSON_VALUES));
    json_object_foreach (*body, key, value) {
        const char *const *known = members;
        while (*known && strcmp(*known, key) != 0) known++;
        if (!*known) return sr_error(http->pool, SR_EBADREQUEST, "Unknown member %s", sr_remark_name(key, http->pool));
    }
    return NULL;
}

sr_error_t *sr_api_caller_body(json_t **body, sr_token_t **caller, const char **token_hash, sr_http_t *http)
{
    SR_TRY(sr_api_token(token_hash, http));
    SR_TRY(sr_service_authenticate(http->service, caller, *token_hash, http->pool));
    return sr_http_read_json(body, http, SR_HTTP_JSON_MAX, SR_HTTP_JSON_VALUES);
}

sr_error_t *sr_api_time(apr_time_t *when, sr_http_t *http, const char *name, const char *text)
{
    const char *example = "2026-11-20T18:09:23Z or 2026-11-20T18:09:23+01:00";
    char *plus = apr_pstrdup(http->pool, text), *space = strchr(plus, ' ');
    if (sr_time_parse(when, text)) return NULL;
    if (sr_time_parse(when, apr_pstrcat(http->pool, text, "Z", NULL)))
        return sr_error(http->pool, SR_EBADREQUEST, "%s must have a time zone, as in %s", name, example);
    if (space) *space = '+';
    if (space && sr_time_parse(when, plus))
        return sr_error(http->pool, SR_EBADREQUEST, "%s has a space in place of +: write + as %%2B in a URL", name);
    return sr_error(http->pool, SR_EBADREQUEST, "%s must be an ISO 8601 date, such as 2026-11-20, %s", name, example);
}

sr_error_t *sr_api_uuid(const char **uuid, sr_http_t *http, int param)
{
    char *text = apr_pstrdup(http->pool, http->params[param]);
    if (!sr_uuid_valid(text)) return sr_error(http->pool, SR_ENOTFOUND, "Not found");
    for (char *p = text; *p; p++)
        if (*p >= 'A' && *p <= 'F') *p += 'a' - 'A';
    *uuid = text;
    return NULL;
}
