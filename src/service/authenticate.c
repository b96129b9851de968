/* SPDX-License-Identifier: Apache-2.0 */
/* authenticate.c: who calls. Only what must know before it acts asks (POST /signatures, before it reads a body);
 * every other operation finds its caller in the same statement. */
#include "service/token_row.h"

sr_error_t *sr_service_authenticate(const sr_service_t *service, sr_token_t **token, const char *token_hash,
                                    apr_pool_t *pool)
{
    const sr_token_row_t *row;
    sr_outcome_t outcome;
    SR_TRY(sr_store_token_current(service->database, &outcome, &row, token_hash, sr_time_now(), pool));
    return sr_service_token_of(token, outcome, row, pool);
}
