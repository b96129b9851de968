/* SPDX-License-Identifier: Apache-2.0 */
/* openapi.c: GET /openapi.json, the description of the API, which is written by hand. It needs no token, because
 * everything in it is public. The URLs of its servers are relative in the file, and absolute in the response, because
 * some clients cannot resolve relative ones. */
#include "api/api.h"

#include <string.h>

#include "embed/openapi.json.h"

/* Returns the text with `url` in place of each server's URL `relative`. */
static const char *with_server(const char *text, const char *relative, const char *url, apr_pool_t *pool)
{
    const char *wanted = apr_pstrcat(pool, "{\"url\": \"", relative, "\"", NULL);
    apr_array_header_t *parts = apr_array_make(pool, 16, sizeof(const char *));
    for (const char *found; (found = strstr(text, wanted)) != NULL; text = found + strlen(wanted)) {
        APR_ARRAY_PUSH(parts, const char *) = apr_pstrmemdup(pool, text, (apr_size_t)(found - text));
        APR_ARRAY_PUSH(parts, const char *) = apr_pstrcat(pool, "{\"url\": \"", url, "\"", NULL);
    }
    APR_ARRAY_PUSH(parts, const char *) = text;
    return apr_array_pstrcat(pool, parts, 0);
}

sr_error_t *sr_api_openapi(sr_http_t *http)
{
    const char *api = apr_pstrcat(http->pool, http->base_url, "/api/v3", NULL);
    const char *text = with_server(embedded_openapi_json, ".", api, http->pool);
    text = with_server(text, "../..", http->base_url, http->pool);
    return sr_http_bytes(http, HTTP_OK, "application/json", text, strlen(text));
}
