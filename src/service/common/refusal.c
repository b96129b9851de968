/* SPDX-License-Identifier: Apache-2.0 */
/* refusal.c: functions that all use cases need: errors of outcomes, and hashes of tokens. */
#include "service/private.h"

#include <string.h>

static const struct {
    sr_code_t code;
    const char *message;
} refusals[SR_OUTCOME_COUNT] = {
    [SR_UNAUTHORIZED] = {SR_EUNAUTHORIZED, "User not founded for this API Token"},
    [SR_MISSING] = {SR_ENOTFOUND, "Not found"},
    [SR_QUOTA] = {SR_EFORBIDDEN, "You've reached the API limit for this plan"},
    [SR_GONE] = {SR_EGONE, "This link was replaced by another one"},
    [SR_DELETED] = {SR_EGONE, "This submission was deleted"},
};

sr_error_t *sr_service_refusal(sr_outcome_t outcome, apr_pool_t *pool)
{
    return refusals[outcome].message ? sr_error(pool, refusals[outcome].code, "%s", refusals[outcome].message) : NULL;
}

sr_error_t *sr_service_token_hash(const char **token_hash, const char *token, apr_pool_t *pool)
{
    if (!token || !sr_token_well_formed(token)) return sr_service_refusal(SR_UNAUTHORIZED, pool);
    *token_hash = sr_sha256_hex(token, strlen(token), pool);
    return NULL;
}

sr_service_t sr_service_for_request(const sr_service_t *service, const char *scope, apr_pool_t *pool)
{
    sr_service_t own = *service;
    own.pdf = sr_pdf_pool_for_request(service->pdf, scope, 0, pool);
    return own;
}

sr_service_t sr_service_for_drawing(const sr_service_t *service, const char *owner, apr_pool_t *pool)
{
    return sr_service_for_request(service, apr_pstrcat(pool, owner, ".drawing", NULL), pool);
}
