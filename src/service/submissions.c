/* SPDX-License-Identifier: Apache-2.0 */
/* submissions.c: reading submissions and their documents. */
#include "service/private.h"

#include <string.h>

#define LIST_BYTES (8 << 20) /* representations of a page; the last one may go beyond */

/* Renders the representation from the records, and stores it. Where it cannot be stored, as in a database that is read
 * only, or where a change has come in between, it is rendered again for the next reader. */
static sr_error_t *render_again(const sr_service_t *service, const char **representation, const char *token_hash,
                                const char *uuid, apr_pool_t *pool)
{
    const sr_body_row_t *found;
    sr_submission_t submission;
    sr_outcome_t outcome;
    json_t *row;
    SR_TRY(sr_store_submission_record(service->database, &outcome, &found, token_hash, sr_time_now(), uuid, pool));
    SR_TRY(sr_service_refusal(outcome, pool));
    SR_TRY(sr_json_read(&row, found->body, pool));
    SR_TRY(sr_submission_parse(&submission, row, pool));
    *representation = sr_submission_render(&submission, pool);
    (void)sr_store_submission_rendered(service->database, &outcome, uuid, sr_json_string(row, "events_hash"),
                                       SR_REPRESENTATION_VERSION, *representation, pool);
    return NULL;
}

sr_error_t *sr_service_submission(const sr_service_t *service, const char **representation, const char *token_hash,
                                  const char *uuid, apr_pool_t *pool)
{
    const sr_representation_row_t *row;
    sr_outcome_t outcome;
    SR_TRY(sr_store_submission_get(service->database, &outcome, &row, token_hash, sr_time_now(), uuid,
                                   SR_REPRESENTATION_VERSION, pool));
    SR_TRY(sr_service_refusal(outcome, pool));
    *representation = row->representation;
    return *representation ? NULL : render_again(service, representation, token_hash, uuid, pool);
}

sr_error_t *sr_service_submissions(const sr_service_t *service, sr_list_result_t *page, const char *token_hash,
                                   const sr_list_query_t *query, const sr_submission_filter_t *filter, apr_pool_t *pool)
{
    const char *q = filter->q ? sr_text_fold(filter->q, pool) : NULL;
    const char *states = filter->status ? sr_signer_states_of_status(filter->status, pool) : NULL;
    apr_array_header_t *rows;
    sr_list_place_t place;
    sr_outcome_t outcome;
    SR_TRY(sr_service_list_place(&place, query, pool));
    SR_TRY(sr_store_submission_list(service->database, &outcome, &rows, token_hash, sr_time_now(), place.limit,
                                    place.direction, place.at, place.id, states, q, filter->created_after,
                                    filter->created_before, LIST_BYTES, SR_REPRESENTATION_VERSION, pool));
    SR_TRY(sr_service_refusal(outcome, pool));
    apr_array_header_t *items = apr_array_make(pool, rows->nelts, sizeof(sr_list_item_t));
    for (int i = 0; i < rows->nelts; i++) {
        const sr_listed_row_t *row = &APR_ARRAY_IDX(rows, i, sr_listed_row_t);
        sr_list_item_t *item = apr_array_push(items);
        *item = (sr_list_item_t){row->representation, row->created_at, row->id};
        if (row->old && i < place.limit - 1) SR_TRY(render_again(service, &item->body, token_hash, row->uuid, pool));
    }
    sr_service_list_page(page, items, &place, pool);
    return NULL;
}
