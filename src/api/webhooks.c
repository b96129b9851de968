/* SPDX-License-Identifier: Apache-2.0 */
/* webhooks.c: /webhooks/{sent,signed,completed}-webhook-url: the three webhook URLs of the calling token; and the
 * same below /tokens/{uuid}, for any token of the same user and environment, also if it is revoked. /webhooks/test: a
 * call that tries one of them. */
#include "api/api.h"
#include "model/names.h"

#include <string.h>

typedef struct hook_t {
    const char *path, *kind, *member;
} hook_t;
static const hook_t hooks[] = {
    {"sent-webhook-url", "sent", "sentWebhookUrl"},
    {"signed-webhook-url", "signed", "signedWebhookUrl"},
    {"completed-webhook-url", "completed", "completedWebhookUrl"},
};
#define HOOK_COUNT (sizeof hooks / sizeof *hooks)

/* Returns the row of the URL's name at the end of the path. The route table allows only these names. */
static const hook_t *hook_of(const sr_http_t *http)
{
    size_t i = 0;
    while (strcmp(hooks[i].path, strrchr(http->path, '/') + 1) != 0) i++;
    return &hooks[i];
}

static sr_error_t *webhooks_answer(sr_http_t *http, const char *url)
{
    json_t *body = json_object();
    json_object_set_new(body, hook_of(http)->member, sr_json_string_or_null(url));
    return sr_http_json(http, HTTP_OK, body);
}

/* Reads the URL from the body; NULL removes it. */
static sr_error_t *webhooks_read_url(const char **url, const char **token_hash, sr_http_t *http)
{
    sr_token_t *caller;
    json_t *body;
    SR_TRY(sr_api_caller_body(&body, &caller, token_hash, http));
    const json_t *sent = json_object_get(body, "url");
    *url = NULL;
    if (json_is_null(sent)) return NULL;
    if (!sent || (json_is_string(sent) && !json_string_length(sent)))
        return sr_error(http->pool, SR_EBADREQUEST, "url is required");
    if (!json_is_string(sent)) return sr_error(http->pool, SR_EBADREQUEST, "url is invalid: not a string");
    *url = json_string_value(sent);
    return NULL;
}

static sr_error_t *webhooks_store(sr_http_t *http, const char *token_hash, const char *url)
{
    SR_TRY(sr_service_webhook_set(http->service, token_hash, hook_of(http)->kind, url, http->pool));
    return webhooks_answer(http, url);
}

static sr_error_t *store_of_token(sr_http_t *http, const char *token_hash, const char *url)
{
    const char *uuid;
    sr_token_t *token;
    SR_TRY(sr_api_uuid(&uuid, http, 0));
    json_t *urls = sr_json_own(json_object(), http->pool);
    json_object_set_new(urls, hook_of(http)->kind, sr_json_string_or_null(url));
    SR_TRY(sr_service_token_webhooks(http->service, &token, token_hash, uuid, urls, http->pool));
    return webhooks_answer(http, url);
}

typedef sr_error_t *store_t(sr_http_t *http, const char *token_hash, const char *url);

static sr_error_t *webhooks_set(sr_http_t *http, store_t *of)
{
    const char *token_hash, *url;
    SR_TRY(webhooks_read_url(&url, &token_hash, http));
    return of(http, token_hash, url);
}

static sr_error_t *take_away(sr_http_t *http, store_t *of)
{
    const char *token_hash;
    SR_TRY(sr_api_token(&token_hash, http));
    return of(http, token_hash, NULL);
}

sr_error_t *sr_api_webhook_set(sr_http_t *http)
{
    return webhooks_set(http, webhooks_store);
}

sr_error_t *sr_api_webhook_remove(sr_http_t *http)
{
    return take_away(http, webhooks_store);
}

sr_error_t *sr_api_token_webhook_set(sr_http_t *http)
{
    return webhooks_set(http, store_of_token);
}

sr_error_t *sr_api_token_webhook_remove(sr_http_t *http)
{
    return take_away(http, store_of_token);
}

sr_error_t *sr_api_token_webhooks_clear(sr_http_t *http)
{
    const char *token_hash, *uuid;
    sr_token_t *token;
    SR_TRY(sr_api_token(&token_hash, http));
    SR_TRY(sr_api_uuid(&uuid, http, 0));
    json_t *urls = sr_json_own(json_object(), http->pool), *body = json_object();
    for (size_t i = 0; i < HOOK_COUNT; i++) {
        json_object_set_new(urls, hooks[i].kind, json_null());
        json_object_set_new(body, hooks[i].member, json_null());
    }
    sr_error_t *error = sr_service_token_webhooks(http->service, &token, token_hash, uuid, urls, http->pool);
    if (!error) return sr_http_json(http, HTTP_OK, body);
    json_decref(body);
    return error;
}

sr_error_t *sr_api_webhook_test(sr_http_t *http)
{
    static const char *const events[] = {"sent", "signed", "refused", "completed", NULL};
    const char *token_hash, *delivery;
    sr_token_t *caller;
    json_t *body;
    SR_TRY(sr_api_caller_body(&body, &caller, &token_hash, http));
    const char *event = json_string_value(json_object_get(body, "event"));
    SR_TRY(sr_name_expect(events, event ? event : "", "event", http->pool));
    SR_TRY(sr_service_webhook_test(http->service, &delivery, token_hash, caller, event, http->pool));
    return sr_http_bytes(http, HTTP_ACCEPTED, SR_HTTP_JSON, delivery, strlen(delivery));
}
