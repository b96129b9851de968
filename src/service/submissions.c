/* submissions.c: reading submissions and their documents. */
#include "service/service.h"

#include <string.h>

#define LIST_BYTES (8 << 20) /* views of a page; the last one may go beyond */

sr_error_t *sr_service_submission(const sr_service_t *service, const char **view, const char *token_hash,
                                  const char *uuid, apr_pool_t *pool)
{
    const sr_body_row_t *row;
    sr_outcome_t outcome;
    SR_TRY(sr_store_submission_get(service->database, &outcome, &row, token_hash, sr_time_now(), uuid, pool));
    SR_TRY(sr_service_refusal(outcome, pool));
    *view = row->body;
    return NULL;
}

sr_error_t *sr_service_submissions(const sr_service_t *service, sr_list_result_t *page, const char *token_hash,
                                   const sr_list_query_t *query, const sr_submission_filter_t *filter, apr_pool_t *pool)
{
    const char *q = filter->q ? sr_text_fold(filter->q, pool) : NULL;
    apr_array_header_t *items;
    sr_list_place_t place;
    sr_outcome_t outcome;
    SR_TRY(sr_service_list_place(&place, query, pool));
    SR_TRY(sr_store_submission_list(service->database, &outcome, &items, token_hash, sr_time_now(), place.limit,
                                    place.direction, place.at, place.id, filter->status, q, filter->created_after,
                                    filter->created_before, LIST_BYTES, pool));
    SR_TRY(sr_service_refusal(outcome, pool));
    sr_service_list_page(page, items, &place, pool);
    return NULL;
}
