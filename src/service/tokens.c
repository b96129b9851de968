/* SPDX-License-Identifier: Apache-2.0 */
/* tokens.c: API tokens of the caller's user, organisation and environment. Only a token's SHA-256 is stored. */
#include "service/private.h"

#include <string.h>

/* SigreqMaxTokenAge. The administrator's own tokens (sigreqctl) have no such bound. */
static sr_error_t *bound_expiry(apr_time_t *expires_at, const sr_service_t *service, apr_pool_t *pool)
{
    const apr_time_t last = sr_time_now() + service->max_token_age;
    if (!service->max_token_age) return NULL;
    if (*expires_at > last)
        return sr_error(pool, SR_EBADREQUEST, "expiresAt must not be later than %s on this server",
                        sr_time_format(last, pool));
    if (!*expires_at) *expires_at = last;
    return NULL;
}

sr_error_t *sr_service_token_create(const sr_service_t *service, sr_token_t **token, const char **secret,
                                    const char *token_hash, const char *name, apr_time_t expires_at, apr_pool_t *pool)
{
    sr_token_t *caller;
    const char *row;
    SR_TRY(bound_expiry(&expires_at, service, pool));
    /* the new secret's prefix tells its environment, so the caller's must be known before */
    SR_TRY(sr_service_authenticate(service, &caller, token_hash, pool));
    *secret = sr_token_make(caller->environment == SR_PRODUCTION, pool);
    const char *arguments[] = {token_hash,
                               sr_service_now(pool),
                               sr_uuid_make(pool),
                               name,
                               sr_sha256_hex(*secret, strlen(*secret), pool),
                               expires_at ? apr_psprintf(pool, "%" APR_TIME_T_FMT, expires_at) : NULL};
    SR_TRY(sr_service_call_one(service, SR_OP_TOKEN_CREATE, &row, arguments, 6, pool));
    return sr_token_parse(token, row, pool);
}

sr_error_t *sr_service_token(const sr_service_t *service, sr_token_t **token, const char *token_hash, const char *uuid,
                             apr_pool_t *pool)
{
    const char *arguments[] = {token_hash, sr_service_now(pool), uuid}, *row;
    SR_TRY(sr_service_call_one(service, SR_OP_TOKEN_GET, &row, arguments, 3, pool));
    return sr_token_parse(token, row, pool);
}

sr_error_t *sr_service_tokens(const sr_service_t *service, sr_list_result_t *page, const char *token_hash,
                              const sr_list_query_t *query, apr_pool_t *pool)
{
    return sr_service_list(service, page, SR_OP_TOKEN_LIST, token_hash, query, NULL, 0, pool);
}

sr_error_t *sr_service_token_revoke(const sr_service_t *service, const char *token_hash, const char *uuid,
                                    bool children, apr_pool_t *pool)
{
    const char *arguments[] = {token_hash, sr_service_now(pool), uuid, children ? "true" : "false"};
    return sr_service_call(service, SR_OP_TOKEN_REVOKE, NULL, NULL, arguments, 4, pool);
}
