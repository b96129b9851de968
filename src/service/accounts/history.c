/* SPDX-License-Identifier: Apache-2.0 */
/* history.c: lists the results of webhook calls, and repeats calls. */
#include "service/private.h"

#include <string.h>

#include "service/submissions/invite.h"

#define MAILTO "mailto:"
#define LATER apr_time_from_sec(60) /* for Retry-After; an invitation may have to wait longer */

static const char *delivery_text(const sr_delivery_row_t *row, apr_pool_t *pool)
{
    const sr_delivery_t delivery = {row->uuid,    row->event_id, row->event, row->submission, row->token,   row->url,
                                    row->success, row->status,   row->error, row->created_at, row->ended_at};
    return sr_json_text(sr_json_own(sr_delivery_representation(&delivery), pool), pool);
}

sr_error_t *sr_service_history(const sr_service_t *service, sr_list_result_t *page, const char *token_hash,
                               const sr_list_query_t *query, const sr_history_filter_t *filter, apr_pool_t *pool)
{
    const bool success = filter->success && strcmp(filter->success, "true") == 0;
    apr_array_header_t *rows;
    sr_list_place_t place;
    sr_outcome_t outcome;
    SR_TRY(sr_service_list_place(&place, query, pool));
    SR_TRY(sr_store_history_list(service->database, &outcome, &rows, token_hash, sr_time_now(), place.limit,
                                 place.direction, place.at, place.id, filter->event, filter->submission,
                                 filter->success ? &success : NULL, pool));
    SR_TRY(sr_service_refusal(outcome, pool));
    apr_array_header_t *items = apr_array_make(pool, rows->nelts, sizeof(sr_list_item_t));
    for (int i = 0; i < rows->nelts; i++) {
        const sr_delivery_row_t *row = &APR_ARRAY_IDX(rows, i, sr_delivery_row_t);
        APR_ARRAY_PUSH(items, sr_list_item_t) = (sr_list_item_t){delivery_text(row, pool), row->ended_at, row->id};
    }
    sr_service_list_page(page, items, &place, pool);
    return NULL;
}

static const char *url_for(const sr_token_t *token, const char *event)
{
    if (!strcmp(event, "sent")) return token->sent_webhook_url;
    return strcmp(event, "completed") ? token->signed_webhook_url : token->completed_webhook_url;
}

sr_error_t *sr_service_webhook_test(const sr_service_t *service, const char **delivery, const char *token_hash,
                                    const sr_token_t *caller, const char *event, apr_pool_t *pool)
{
    const char *url = url_for(caller, event);
    const char *event_id = sr_uuid_make(pool);
    const apr_time_t now = sr_time_now();
    const sr_delivery_row_t *row;
    sr_outcome_t outcome;
    if (!url) return sr_error(pool, SR_ECONFLICT, "The token has no webhook URL for this event");
    const json_t *body = sr_json_own(sr_webhook_test(caller->environment, event_id, now), pool);
    SR_TRY(sr_store_history_test(service->database, &outcome, &row, token_hash, now, url, event_id,
                                 sr_json_text(body, pool), pool));
    if (outcome == SR_QUOTA)
        return sr_error_retry(sr_error(pool, SR_ETOOMANY, "This token made 5 test calls in the last minute"), LATER);
    SR_TRY(sr_service_refusal(outcome, pool));
    *delivery = delivery_text(row, pool);
    sr_service_wake(service);
    return NULL;
}

/* Counts an invitation if the event is one. */
static sr_error_t *history_count_invitation(sr_inviting_t *inviting, const char *token_hash, const char *event_id,
                                            apr_pool_t *pool)
{
    const sr_invitation_row_t *row;
    sr_outcome_t outcome;
    SR_TRY(sr_store_history_invitation(inviting->service->database, &outcome, &row, token_hash, sr_time_now(), event_id,
                                       pool));
    if (outcome == SR_MISSING) return NULL;
    SR_TRY(sr_service_refusal(outcome, pool));
    inviting->organization_uuid = row->organization;
    if (strncmp(row->url, MAILTO, strlen(MAILTO)) != 0)
        return sr_error(pool, SR_EINTERNAL, "The store gave no invitation");
    inviting->environment = strcmp(row->environment, "test") ? SR_PRODUCTION : SR_TEST;
    return sr_invite_take_one(inviting, row->url + strlen(MAILTO), pool);
}

static sr_error_t *redeliver(const sr_service_t *service, const char **delivery, const char *token_hash,
                             const char *event_id, apr_pool_t *pool)
{
    const sr_delivery_row_t *found;
    sr_outcome_t outcome;
    SR_TRY(sr_store_history_redeliver(service->database, &outcome, &found, token_hash, sr_time_now(), event_id,
                                      sr_uuid_make(pool), pool));
    if (outcome == SR_CONFLICT) return sr_error(pool, SR_ECONFLICT, SR_REDELIVERY_NO_URL);
    if (outcome == SR_STALE) return sr_error(pool, SR_ECONFLICT, SR_REDELIVERY_QUEUED);
    if (outcome == SR_QUOTA) return sr_error_retry(sr_error(pool, SR_ETOOMANY, SR_REDELIVERY_RECENT), LATER);
    SR_TRY(sr_service_refusal(outcome, pool));
    *delivery = delivery_text(found, pool);
    return NULL;
}

sr_error_t *sr_service_redeliver(const sr_service_t *service, const char **delivery, const char *token_hash,
                                 const char *event_id, apr_pool_t *pool)
{
    sr_inviting_t inviting = {.service = service};
    SR_TRY(history_count_invitation(&inviting, token_hash, event_id, pool));
    sr_error_t *error = redeliver(service, delivery, token_hash, event_id, pool);
    if (error) sr_invite_give_back(&inviting);
    else sr_service_wake(service);
    return error;
}
