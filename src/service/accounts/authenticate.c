/* SPDX-License-Identifier: Apache-2.0 */
/* authenticate.c: finds the caller by their token. Only requests that must know the caller before they do anything
 * use this, such as POST /signatures before it reads the body. Other operations find the caller in their own
 * statement. */
#include "service/accounts/token_row.h"

sr_error_t *sr_service_authenticate(const sr_service_t *service, sr_token_t **token, const char *token_hash,
                                    apr_pool_t *pool)
{
    const sr_token_row_t *row;
    sr_outcome_t outcome;
    SR_TRY(sr_store_token_current(service->database, &outcome, &row, token_hash, sr_time_now(), pool));
    return sr_service_token_of(token, outcome, row, pool);
}
