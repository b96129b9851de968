/* SPDX-License-Identifier: Apache-2.0 */
/* webhooks.c: the three webhook URLs of a token: the caller's own, or another one of the same user and environment. */
#include "service/private.h"

#include <string.h>

sr_error_t *sr_service_webhook_set(const sr_service_t *service, const char *token_hash, const char *kind,
                                   const char *url, apr_pool_t *pool)
{
    const char *arguments[] = {token_hash, sr_service_now(pool), kind, url};
    const char *fault = url ? sr_webhook_url_fault(url, pool) : NULL;
    if (fault) return sr_error(pool, SR_EBADREQUEST, "url is invalid: %s", fault);
    return sr_service_call(service, SR_OP_WEBHOOK_SET, NULL, NULL, arguments, 4, pool);
}

sr_error_t *sr_service_token_webhooks(const sr_service_t *service, sr_token_t **token, const char *token_hash,
                                      const char *uuid, const json_t *urls, apr_pool_t *pool)
{
    const char *arguments[] = {token_hash, sr_service_now(pool), uuid, sr_json_text(urls, pool)}, *row, *kind;
    const json_t *url;
    json_object_foreach ((json_t *)urls, kind, url) {
        const char *fault = json_is_string(url) ? sr_webhook_url_fault(json_string_value(url), pool) : NULL;
        if (fault) return sr_error(pool, SR_EBADREQUEST, "url is invalid: %s", fault);
    }
    SR_TRY(sr_service_call_one(service, SR_OP_TOKEN_WEBHOOKS, &row, arguments, 4, pool));
    return sr_token_parse(token, row, pool);
}
