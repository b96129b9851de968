/* SPDX-License-Identifier: Apache-2.0 */
/* authenticate.c: who calls. Only what must know before it acts asks (POST /signatures, before it reads a body);
 * every other operation finds its caller in the same statement. */
#include "service/private.h"

sr_error_t *sr_service_authenticate(const sr_service_t *service, sr_token_t **token, const char *token_hash,
                                    apr_pool_t *pool)
{
    const char *arguments[] = {token_hash, sr_service_now(pool)}, *row;
    SR_TRY(sr_service_call_one(service, SR_OP_TOKEN_CURRENT, &row, arguments, 2, pool));
    return sr_token_parse(token, row, pool);
}
