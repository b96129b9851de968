/* history.c: what became of webhook calls, and calling once more on request. */
#include "service/service.h"

#include <string.h>

#define LATER apr_time_from_sec(60) /* of an invitation it may take longer */

sr_error_t *sr_service_history(const sr_service_t *service, sr_page_result_t *page, const char *token_hash,
                               const sr_page_query_t *query, const sr_history_filter_t *filter, apr_pool_t *pool)
{
    const char *filters[] = {filter->event, filter->submission, filter->success};
    return sr_service_list(service, page, SR_OP_HISTORY_LIST, token_hash, query, filters, 3, pool);
}

sr_error_t *sr_service_redeliver(const sr_service_t *service, const char **row, const char *token_hash,
                                 const char *event_id, apr_pool_t *pool)
{
    const char *arguments[] = {token_hash, sr_service_now(pool), event_id, sr_uuid_make(pool)};
    sr_outcome_t outcome = SR_OK;
    apr_array_header_t *rows;
    sr_error_t *error = sr_service_call(service, SR_OP_HISTORY_REDELIVER, &rows, &outcome, arguments, 4, pool);
    if (error && outcome == SR_CONFLICT)
        return sr_error(pool, SR_ECONFLICT, "The token has no webhook URL for this event any more");
    if (outcome == SR_STALE)
        return sr_error(pool, SR_ECONFLICT, "This event is about to be delivered again already");
    if (error && outcome == SR_QUOTA)
        return sr_error_retry(sr_error(pool, SR_ETOOMANY, "This event was delivered again a moment ago"), LATER);
    SR_TRY(error);
    *row = rows->nelts ? APR_ARRAY_IDX(rows, 0, sr_row_t).body : NULL;
    if (!*row) return sr_error(pool, SR_EINTERNAL, "The store gave no answer");
    sr_service_wake(service);
    return NULL;
}
