/* SPDX-License-Identifier: Apache-2.0 */
/* tokens.c: API tokens of the caller's user, organisation and environment. Only a token's SHA-256 is stored. */
#include "service/accounts/token_row.h"

#include <string.h>

/* Applies SigreqMaxTokenAge. Tokens that sigreqctl makes have no such limit. */
static sr_error_t *bound_expiry(apr_time_t *expires_at, const sr_service_t *service, apr_pool_t *pool)
{
    const apr_time_t last = sr_time_now() + service->settings->max_token_age;
    if (!service->settings->max_token_age) return NULL;
    if (*expires_at > last)
        return sr_error(pool, SR_EBADREQUEST, "expiresAt must not be later than %s on this server",
                        sr_time_format(last, pool));
    if (!*expires_at) *expires_at = last;
    return NULL;
}

/* A token that expires may make tokens that are valid for at most the same time. Otherwise a stolen token could be
 * replaced by one that never expires. */
static sr_error_t *bound_child(apr_time_t *expires_at, const sr_token_t *caller, apr_pool_t *pool)
{
    if (!caller->expires_at) return NULL;
    const apr_time_t last = sr_time_now() + (caller->expires_at - caller->created_at);
    if (*expires_at > last)
        return sr_error(pool, SR_EBADREQUEST,
                        "expiresAt must not be later than %s, because the token of this request expires, too",
                        sr_time_format(last, pool));
    if (!*expires_at) *expires_at = last;
    return NULL;
}

sr_error_t *sr_service_token_create(const sr_service_t *service, sr_token_t **token, const char **secret,
                                    const char *token_hash, const char *name, apr_time_t expires_at, apr_pool_t *pool)
{
    sr_token_t *caller;
    const sr_token_row_t *row;
    sr_outcome_t outcome;
    SR_TRY(bound_expiry(&expires_at, service, pool));
    /* the caller is needed first, because the prefix of the new secret depends on the environment */
    SR_TRY(sr_service_authenticate(service, &caller, token_hash, pool));
    SR_TRY(bound_child(&expires_at, caller, pool));
    *secret = sr_token_make(caller->environment == SR_PRODUCTION, pool);
    const char *secret_hash = sr_sha256_hex(*secret, strlen(*secret), pool);
    SR_TRY(sr_store_token_create(service->database, &outcome, &row, token_hash, sr_time_now(), sr_uuid_make(pool), name,
                                 secret_hash, expires_at, pool));
    return sr_service_token_of(token, outcome, row, pool);
}

sr_error_t *sr_service_token(const sr_service_t *service, sr_token_t **token, const char *token_hash, const char *uuid,
                             apr_pool_t *pool)
{
    const sr_token_row_t *row;
    sr_outcome_t outcome;
    SR_TRY(sr_store_token_get(service->database, &outcome, &row, token_hash, sr_time_now(), uuid, pool));
    return sr_service_token_of(token, outcome, row, pool);
}

sr_error_t *sr_service_tokens(const sr_service_t *service, sr_list_result_t *page, const char *token_hash,
                              const sr_list_query_t *query, apr_pool_t *pool)
{
    apr_array_header_t *rows;
    sr_list_place_t place;
    sr_outcome_t outcome;
    SR_TRY(sr_service_list_place(&place, query, pool));
    SR_TRY(sr_store_token_list(service->database, &outcome, &rows, token_hash, sr_time_now(), place.limit,
                               place.direction, place.at, place.id, pool));
    SR_TRY(sr_service_refusal(outcome, pool));
    apr_array_header_t *items = apr_array_make(pool, rows->nelts, sizeof(sr_list_item_t));
    for (int i = 0; i < rows->nelts; i++) {
        const sr_token_row_t *row = &APR_ARRAY_IDX(rows, i, sr_token_row_t);
        sr_token_t *token;
        SR_TRY(sr_service_token_of(&token, SR_OK, row, pool));
        const char *body = sr_json_text(sr_json_own(sr_token_representation(token, NULL), pool), pool);
        APR_ARRAY_PUSH(items, sr_list_item_t) = (sr_list_item_t){body, row->created_at, row->id};
    }
    sr_service_list_page(page, items, &place, pool);
    return NULL;
}

sr_error_t *sr_service_token_revoke(const sr_service_t *service, const char *token_hash, const char *uuid,
                                    bool children, apr_pool_t *pool)
{
    sr_outcome_t outcome;
    SR_TRY(sr_store_token_revoke(service->database, &outcome, token_hash, sr_time_now(), uuid, children, pool));
    return sr_service_refusal(outcome, pool);
}
