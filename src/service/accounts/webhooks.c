/* SPDX-License-Identifier: Apache-2.0 */
/* webhooks.c: sets the three webhook URLs of a token: of the caller's own token, or of another one of the same user
 * and environment. */
#include "service/accounts/token_row.h"

#include <string.h>

sr_error_t *sr_service_webhook_set(const sr_service_t *service, const char *token_hash, const char *kind,
                                   const char *url, apr_pool_t *pool)
{
    sr_outcome_t outcome;
    const char *fault = url ? sr_webhook_url_fault(url, pool) : NULL;
    if (fault) return sr_error(pool, SR_EBADREQUEST, "url is invalid: %s", fault);
    SR_TRY(sr_store_webhook_set(service->database, &outcome, token_hash, sr_time_now(), kind, url, pool));
    return sr_service_refusal(outcome, pool);
}

sr_error_t *sr_service_token_webhooks(const sr_service_t *service, sr_token_t **token, const char *token_hash,
                                      const char *uuid, const json_t *urls, apr_pool_t *pool)
{
    const sr_token_row_t *row;
    sr_outcome_t outcome;
    const char *kind;
    const json_t *url;
    json_object_foreach ((json_t *)urls, kind, url) {
        const char *fault = json_is_string(url) ? sr_webhook_url_fault(json_string_value(url), pool) : NULL;
        if (fault) return sr_error(pool, SR_EBADREQUEST, "url is invalid: %s", fault);
    }
    SR_TRY(sr_store_token_webhooks(service->database, &outcome, &row, token_hash, sr_time_now(), uuid,
                                   sr_json_text(urls, pool), pool));
    return sr_service_token_of(token, outcome, row, pool);
}
