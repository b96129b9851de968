/* SPDX-License-Identifier: Apache-2.0 */
/* call.c: how every use case reaches the store: the connection is held for the one operation, no longer. */
#include "service/private.h"

#include <string.h>

static const struct {
    sr_code_t code;
    const char *message;
} refusals[SR_OUTCOME_COUNT] = {
    [SR_UNAUTHORIZED] = {SR_EUNAUTHORIZED, "User not founded for this API Token"},
    [SR_MISSING] = {SR_ENOTFOUND, "Not found"},
    [SR_QUOTA] = {SR_EFORBIDDEN, "You've reached the API limit for this plan"},
    [SR_CONFLICT] = {SR_ECONFLICT, "This Idempotency-Key was used for another request"},
};

static sr_error_t *refusal(sr_outcome_t outcome, apr_pool_t *pool)
{
    return refusals[outcome].message ? sr_error(pool, refusals[outcome].code, "%s", refusals[outcome].message) : NULL;
}

sr_error_t *sr_service_token_hash(const char **token_hash, const char *token, apr_pool_t *pool)
{
    if (!token || !sr_token_well_formed(token)) return refusal(SR_UNAUTHORIZED, pool);
    *token_hash = sr_sha256_hex(token, strlen(token), pool);
    return NULL;
}

sr_error_t *sr_service_call_any(const sr_service_t *service, sr_op_t op, apr_array_header_t **rows,
                                sr_outcome_t *outcome, const char *const *arguments, int count, apr_pool_t *pool)
{
    sr_store_t *store;
    service->database->reads = sr_store_reads(op);
    SR_TRY(service->database->borrow(service->database, &store, pool));
    sr_error_t *error = sr_store_run(store, op, outcome, rows, arguments, count, pool);
    service->database->give_back(service->database, store);
    return error;
}

sr_error_t *sr_service_call(const sr_service_t *service, sr_op_t op, apr_array_header_t **rows, sr_outcome_t *outcome,
                            const char *const *arguments, int count, apr_pool_t *pool)
{
    sr_outcome_t came;
    apr_array_header_t *found;
    SR_TRY(sr_service_call_any(service, op, &found, &came, arguments, count, pool));
    if (rows) *rows = found;
    if (outcome) *outcome = came;
    return refusal(came, pool);
}

sr_error_t *sr_service_call_one(const sr_service_t *service, sr_op_t op, const char **body,
                                const char *const *arguments, int count, apr_pool_t *pool)
{
    apr_array_header_t *rows;
    SR_TRY(sr_service_call(service, op, &rows, NULL, arguments, count, pool));
    *body = rows->nelts ? APR_ARRAY_IDX(rows, 0, sr_row_t).body : NULL;
    return *body ? NULL : sr_error(pool, SR_EINTERNAL, "The store gave no answer");
}

void sr_service_wake(const sr_service_t *service)
{
    if (service->wake) service->wake(service->wake_baton);
}

sr_service_t sr_service_for_request(const sr_service_t *service, const char *scope, apr_pool_t *pool)
{
    sr_service_t own = *service;
    own.pdf = sr_pdf_pool_for_request(service->pdf, scope, 0, pool);
    return own;
}

const char *sr_service_now(apr_pool_t *pool)
{
    return apr_psprintf(pool, "%" APR_TIME_T_FMT, sr_time_now());
}
