/* webhooks.c: /webhooks/{sent,signed,completed}-webhook-url: the three URLs of the calling token. */
#include "api/api.h"

#include <string.h>

static const struct {
    const char *path, *kind, *member;
} hooks[] = {
    {"/webhooks/sent-webhook-url", "sent", "sentWebhookUrl"},
    {"/webhooks/signed-webhook-url", "signed", "signedWebhookUrl"},
    {"/webhooks/completed-webhook-url", "completed", "completedWebhookUrl"},
};

static sr_error_t *store(sr_http_t *http, const char *token_hash, const char *url)
{
    size_t i = 0;
    while (strcmp(hooks[i].path, http->path)) i++; /* the route table has these paths alone */
    SR_TRY(sr_service_webhook_set(http->service, token_hash, hooks[i].kind, url, http->pool));
    json_t *answer = json_object();
    json_object_set_new(answer, hooks[i].member, sr_json_string_or_null(url));
    return sr_http_json(http, HTTP_OK, answer);
}

sr_error_t *sr_api_webhook_set(sr_http_t *http)
{
    const char *token_hash;
    sr_token_t *caller;
    json_t *body;
    SR_TRY(sr_http_bearer(&token_hash, http));
    SR_TRY(sr_service_authenticate(http->service, &caller, token_hash, http->pool));
    SR_TRY(sr_http_read_json(&body, http, SR_HTTP_JSON_MAX));
    const json_t *url = json_object_get(body, "url");
    if (json_is_null(url)) return store(http, token_hash, NULL);
    if (!url || (json_is_string(url) && !json_string_length(url)))
        return sr_error(http->pool, SR_EBADREQUEST, "url is required");
    if (!json_is_string(url)) return sr_error(http->pool, SR_EBADREQUEST, "url is invalid: not a string");
    return store(http, token_hash, json_string_value(url));
}

sr_error_t *sr_api_webhook_remove(sr_http_t *http)
{
    const char *token_hash;
    SR_TRY(sr_http_bearer(&token_hash, http));
    return store(http, token_hash, NULL);
}
