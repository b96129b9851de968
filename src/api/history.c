/* SPDX-License-Identifier: Apache-2.0 */
/* history.c: /webhooks/history: what was called and how it ended, and calling once more. */
#include "api/api.h"
#include "model/names.h"

#include <string.h>

static json_t *time_of(const json_t *row, const char *key)
{
    return sr_time_json((apr_time_t)json_integer_value(json_object_get(row, key)));
}

/* The store's row (store.h) as the API shows it. */
static sr_error_t *view_of(json_t **view, const char *text, apr_pool_t *pool)
{
    static const char *const members[][2] = {
        {"uuid", "uuid"},         {"eventId", "event_id"}, {"event", "event"},     {"submissionId", "submission"},
        {"userTokenId", "token"}, {"url", "url"},          {"success", "success"}, {"statusCode", "status"},
        {"error", "error"}};
    json_t *row;
    SR_TRY(sr_json_read(&row, text, pool));
    *view = json_object();
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        json_object_set(*view, members[i][0], json_object_get(row, members[i][1]));
    json_object_set_new(*view, "createdAt", time_of(row, "created_at"));
    json_object_set_new(*view, "endedAt", time_of(row, "ended_at"));
    return NULL;
}

static sr_error_t *check_filter(sr_http_t *http, const sr_history_filter_t *filter)
{
    SR_TRY(sr_name_expect(sr_notice_names, filter->event, "event", http->pool));
    if (filter->submission && !sr_uuid_valid(filter->submission))
        return sr_error(http->pool, SR_EBADREQUEST, "submissionId must be a UUID");
    if (filter->success && strcmp(filter->success, "true") != 0 && strcmp(filter->success, "false") != 0)
        return sr_error(http->pool, SR_EBADREQUEST, "success must be true or false");
    return NULL;
}

sr_error_t *sr_api_history_list(sr_http_t *http)
{
    const char *token_hash, *limit = NULL, *after = NULL;
    sr_history_filter_t filter = {0};
    sr_list_query_t query;
    sr_list_result_t page;
    SR_TRY(sr_api_token(&token_hash, http));
    const sr_query_param_t params[] = {{"limit", &limit},
                                       {"after", &after},
                                       {"event", &filter.event},
                                       {"submissionId", &filter.submission},
                                       {"success", &filter.success},
                                       {NULL, NULL}};
    SR_TRY(sr_http_query(http, params));
    SR_TRY(sr_api_list_query(&query, http, limit, after));
    SR_TRY(check_filter(http, &filter));
    SR_TRY(sr_service_history(sr_api_of(http)->service, &page, token_hash, &query, &filter, http->pool));
    apr_array_header_t *views = apr_array_make(http->pool, page.bodies->nelts, sizeof(const char *));
    for (int i = 0; i < page.bodies->nelts; i++) {
        json_t *view;
        SR_TRY(view_of(&view, APR_ARRAY_IDX(page.bodies, i, const char *), http->pool));
        APR_ARRAY_PUSH(views, const char *) = sr_json_text(sr_json_own(view, http->pool), http->pool);
    }
    page.bodies = views;
    return sr_api_list_reply(http, &page);
}

sr_error_t *sr_api_history_redeliver(sr_http_t *http)
{
    const char *token_hash, *event_id, *row;
    json_t *view;
    SR_TRY(sr_api_token(&token_hash, http));
    SR_TRY(sr_api_uuid(&event_id, http, 0));
    SR_TRY(sr_service_redeliver(sr_api_of(http)->service, &row, token_hash, event_id, http->pool));
    SR_TRY(view_of(&view, row, http->pool));
    return sr_http_json(http, HTTP_ACCEPTED, view);
}
