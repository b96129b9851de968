/* SPDX-License-Identifier: Apache-2.0 */
/* history.c: what became of webhook calls, and calling once more on request. */
#include "service/private.h"

#include <string.h>

#include "service/invite.h"

#define MAILTO "mailto:"
#define LATER apr_time_from_sec(60) /* of an invitation it may take longer */

sr_error_t *sr_service_history(const sr_service_t *service, sr_list_result_t *page, const char *token_hash,
                               const sr_list_query_t *query, const sr_history_filter_t *filter, apr_pool_t *pool)
{
    const char *filters[] = {filter->event, filter->submission, filter->success};
    return sr_service_list(service, page, SR_OP_HISTORY_LIST, token_hash, query, filters, 3, pool);
}

/* If the event is an invitation, one more is counted. */
static sr_error_t *count_invitation(sr_inviting_t *inviting, const char *token_hash, const char *event_id,
                                    apr_pool_t *pool)
{
    const char *arguments[] = {token_hash, sr_service_now(pool), event_id}, *body;
    json_t *row;
    sr_outcome_t outcome = SR_OK;
    apr_array_header_t *rows;
    sr_error_t *error =
        sr_service_call(inviting->service, SR_OP_HISTORY_INVITATION, &rows, &outcome, arguments, 3, pool);
    if (error && outcome == SR_MISSING) return NULL;
    SR_TRY(error);
    body = rows->nelts ? APR_ARRAY_IDX(rows, 0, sr_row_t).body : NULL;
    if (!body) return sr_error(pool, SR_EINTERNAL, "The store gave no answer");
    SR_TRY(sr_json_read(&row, body, pool));
    const char *environment = sr_json_string(row, "environment"), *url = sr_json_string(row, "url");
    inviting->organization_uuid = sr_json_string(row, "organization");
    if (!environment || !url || strncmp(url, MAILTO, strlen(MAILTO)) || !inviting->organization_uuid)
        return sr_error(pool, SR_EINTERNAL, "The store gave no invitation");
    inviting->environment = strcmp(environment, "test") ? SR_PRODUCTION : SR_TEST;
    apr_array_header_t *addresses = apr_array_make(pool, 1, sizeof(const char *));
    APR_ARRAY_PUSH(addresses, const char *) = url + strlen(MAILTO);
    return sr_invite_take(inviting, addresses, pool);
}

static sr_error_t *redeliver(const sr_service_t *service, const char **row, const char *token_hash,
                             const char *event_id, apr_pool_t *pool)
{
    const char *arguments[] = {token_hash, sr_service_now(pool), event_id, sr_uuid_make(pool)};
    sr_outcome_t outcome = SR_OK;
    apr_array_header_t *rows;
    sr_error_t *error = sr_service_call(service, SR_OP_HISTORY_REDELIVER, &rows, &outcome, arguments, 4, pool);
    if (error && outcome == SR_CONFLICT)
        return sr_error(pool, SR_ECONFLICT, "The token has no webhook URL for this event any more");
    if (outcome == SR_STALE) return sr_error(pool, SR_ECONFLICT, "This event is about to be delivered again already");
    if (error && outcome == SR_QUOTA)
        return sr_error_retry(sr_error(pool, SR_ETOOMANY, "This event was delivered again a moment ago"), LATER);
    SR_TRY(error);
    *row = rows->nelts ? APR_ARRAY_IDX(rows, 0, sr_row_t).body : NULL;
    return *row ? NULL : sr_error(pool, SR_EINTERNAL, "The store gave no answer");
}

sr_error_t *sr_service_redeliver(const sr_service_t *service, const char **row, const char *token_hash,
                                 const char *event_id, apr_pool_t *pool)
{
    sr_inviting_t inviting = {.service = service};
    SR_TRY(count_invitation(&inviting, token_hash, event_id, pool));
    sr_error_t *error = redeliver(service, row, token_hash, event_id, pool);
    if (error) sr_invite_give_back(&inviting);
    else sr_service_wake(service);
    return error;
}
