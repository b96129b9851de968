/* SPDX-License-Identifier: Apache-2.0 */
/* feed_rows.c: the events of the feed that a transaction inserts. */
#include "service/submissions/transition.h"

apr_array_header_t *sr_feed_rows(const apr_array_header_t *told, apr_pool_t *pool)
{
    apr_array_header_t *rows = apr_array_make(pool, told->nelts, sizeof(sr_feed_arg_t));
    for (int i = 0; i < told->nelts; i++) {
        const sr_told_t *one = &APR_ARRAY_IDX(told, i, sr_told_t);
        APR_ARRAY_PUSH(rows, sr_feed_arg_t) =
            (sr_feed_arg_t){.type = one->type, .signer = one->signer, .detail = one->detail, .mark = one->mark};
    }
    return rows;
}
