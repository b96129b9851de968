/* SPDX-License-Identifier: Apache-2.0 */
/* front.c: <location>/, the front page. It says what this service is and where its API is described. It shows nothing
 * of any organisation. location/hooks.c calls it only if httpd has nothing else at this path. */
#include <string.h>

#include "web/web.h"

void sr_web_front_begin(sr_http_t *http)
{
    apr_table_t *headers = http->r->err_headers_out;
    apr_table_setn(headers, "Referrer-Policy", "no-referrer");
    apr_table_setn(headers, "Vary", "Accept, Accept-Language");
    sr_web_ask_language(http);
    if (!sr_http_prefers_json(http)) http->show_error = sr_web_error;
}

static void front_set_url(json_t *object, const char *key, const char *path, sr_http_t *http)
{
    json_object_set_new(object, key, json_string(apr_pstrcat(http->pool, http->base_url, path, NULL)));
}

static sr_error_t *reply_json(sr_http_t *http)
{
    json_t *object = json_object();
    json_object_set_new(object, "service", json_string("Signature Request Service"));
    front_set_url(object, "api", "/api/v3", http);
    front_set_url(object, "documentation", "/api/v3/", http);
    front_set_url(object, "openapi", "/api/v3/openapi.json", http);
    front_set_url(object, "health", "/api/v3/health", http);
    if (http->settings->verify_page) front_set_url(object, "verify", "/verify", http);
    return sr_http_json(http, HTTP_OK, object);
}

/* The links of the page are relative to the path with the slash. */
static bool has_slash(const request_rec *r)
{
    const size_t length = strlen(r->uri);
    return length && r->uri[length - 1] == '/';
}

sr_error_t *sr_web_front(sr_http_t *http)
{
    if (sr_http_prefers_json(http)) return reply_json(http);
    if (!has_slash(http->r))
        return sr_http_redirect(http, HTTP_SEE_OTHER, apr_pstrcat(http->pool, http->base_url, "/", NULL));
    json_t *values = sr_json_own(json_object(), http->pool), *front = json_object(), *texts;
    sr_web_theme_t theme;
    sr_web_theme(&theme, http);
    SR_TRY(sr_web_texts(&texts, http, &theme));
    json_object_set_new(values, "title", json_string(sr_web_word(texts, "front.title")));
    json_object_set_new(front, "verify", json_boolean(http->settings->verify_page));
    json_object_set_new(values, "front", front);
    return sr_web_reply(http, HTTP_OK, values, &theme, texts);
}
