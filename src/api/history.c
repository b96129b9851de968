/* SPDX-License-Identifier: Apache-2.0 */
/* history.c: /webhooks/history: the webhook calls and their results, and repeating a call. */
#include "api/api.h"
#include "model/names.h"

#include <string.h>

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
    SR_TRY(sr_service_history(http->service, &page, token_hash, &query, &filter, http->pool));
    return sr_api_list_reply(http, &page);
}

sr_error_t *sr_api_history_redeliver(sr_http_t *http)
{
    const char *token_hash, *event_id, *delivery;
    SR_TRY(sr_api_token(&token_hash, http));
    SR_TRY(sr_api_uuid(&event_id, http, 0));
    SR_TRY(sr_service_redeliver(http->service, &delivery, token_hash, event_id, http->pool));
    return sr_http_bytes(http, HTTP_ACCEPTED, SR_HTTP_JSON, delivery, strlen(delivery));
}
