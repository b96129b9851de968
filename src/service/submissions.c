/* SPDX-License-Identifier: Apache-2.0 */
/* submissions.c: reading submissions and their documents. */
#include "service/private.h"

#include <string.h>

#define LIST_BYTES (8 << 20) /* views of a page; the last one may go beyond */

sr_error_t *sr_service_submission(const sr_service_t *service, const char **view, const char *token_hash,
                                  const char *uuid, apr_pool_t *pool)
{
    const char *arguments[] = {token_hash, sr_service_now(pool), uuid};
    return sr_service_call_one(service, SR_OP_SUBMISSION_GET, view, arguments, 3, pool);
}

static const char *time_argument(apr_time_t when, apr_pool_t *pool)
{
    return when ? apr_psprintf(pool, "%" APR_TIME_T_FMT, when) : NULL;
}

sr_error_t *sr_service_submissions(const sr_service_t *service, sr_list_result_t *page, const char *token_hash,
                                   const sr_list_query_t *query, const sr_submission_filter_t *filter, apr_pool_t *pool)
{
    const char *filters[] = {filter->status, filter->q ? sr_text_fold(filter->q, pool) : NULL,
                             time_argument(filter->created_after, pool), time_argument(filter->created_before, pool),
                             apr_itoa(pool, LIST_BYTES)};
    return sr_service_list(service, page, SR_OP_SUBMISSION_LIST, token_hash, query, filters, 5, pool);
}
