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
    const char *arguments[] = {token_hash, sr_service_now(pool), uuid}, *text;
    sr_submission_t submission;
    json_t *row;
    SR_TRY(sr_service_call_one(service, SR_OP_SUBMISSION_RECORD, &text, arguments, 3, pool));
    SR_TRY(sr_json_read(&row, text, pool));
    SR_TRY(sr_submission_parse(&submission, row, pool));
    *representation = sr_submission_render(&submission, pool);
    const char *stored[] = {uuid, sr_json_string(row, "events_hash"), SR_REPRESENTATION_VERSION, *representation};
    (void)sr_service_call(service, SR_OP_SUBMISSION_RENDERED, NULL, NULL, stored, 4, pool);
    return NULL;
}

sr_error_t *sr_service_submission(const sr_service_t *service, const char **representation, const char *token_hash,
                                  const char *uuid, apr_pool_t *pool)
{
    const char *arguments[] = {token_hash, sr_service_now(pool), uuid, SR_REPRESENTATION_VERSION};
    apr_array_header_t *rows;
    SR_TRY(sr_service_call(service, SR_OP_SUBMISSION_GET, &rows, NULL, arguments, 4, pool));
    *representation = rows->nelts ? APR_ARRAY_IDX(rows, 0, sr_row_t).body : NULL;
    return *representation ? NULL : render_again(service, representation, token_hash, uuid, pool);
}

static const char *time_argument(apr_time_t when, apr_pool_t *pool)
{
    return when ? apr_psprintf(pool, "%" APR_TIME_T_FMT, when) : NULL;
}

sr_error_t *sr_service_submissions(const sr_service_t *service, sr_list_result_t *page, const char *token_hash,
                                   const sr_list_query_t *query, const sr_submission_filter_t *filter, apr_pool_t *pool)
{
    const char *filters[] = {filter->status ? sr_signer_states_of_status(filter->status, pool) : NULL,
                             filter->q ? sr_text_fold(filter->q, pool) : NULL,
                             time_argument(filter->created_after, pool),
                             time_argument(filter->created_before, pool),
                             apr_itoa(pool, LIST_BYTES),
                             SR_REPRESENTATION_VERSION};
    SR_TRY(sr_service_list(service, page, SR_OP_SUBMISSION_LIST, token_hash, query, filters, 6, pool));
    for (int i = 0; i < page->bodies->nelts; i++) {
        const char **body = &APR_ARRAY_IDX(page->bodies, i, const char *);
        if (**body != '{') SR_TRY(render_again(service, body, token_hash, *body, pool)); /* a uuid */
    }
    return NULL;
}
