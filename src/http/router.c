/* SPDX-License-Identifier: Apache-2.0 */
/* router.c: finds the route for a path and a method, and handles what HTTP requires of every resource: 404, 405 with
 * Allow, OPTIONS and HEAD (RFC 9110). */
#include "http/http.h"

#include <http_protocol.h>
#include <http_request.h>
#include <string.h>

/* Returns true if the path matches `pattern`. The text of each {…} is stored in params. */
static bool matches(sr_http_t *http, const char *pattern)
{
    const char *p = http->path;
    int count = 0;
    while (*pattern) {
        if (*pattern != '{') {
            if (*pattern++ != *p++) return false;
            continue;
        }
        size_t length = strcspn(p, "/");
        const char *behind = strchr(pattern, '}') + 1;
        const size_t ending = strcspn(behind, "/");
        if (length <= ending || count == SR_HTTP_PARAMS) return false;
        length -= ending; /* the ending is compared literally, as the rest of the pattern */
        http->params[count++] = apr_pstrmemdup(http->pool, p, length);
        p += length;
        pattern = behind;
    }
    return !*p;
}

static const sr_route_t *router_find(sr_http_t *http, const sr_route_t *routes)
{
    for (const sr_route_t *row = routes; row->path; row++)
        if (row->method == http->r->method_number && matches(http, row->path)) return row;
    return NULL;
}

/* Returns the Allow header of a path, or NULL if no route has this path. */
static const char *router_allowed(sr_http_t *http, const sr_route_t *routes)
{
    const char *allow = NULL;
    for (const sr_route_t *row = routes; row->path; row++) {
        if (!matches(http, row->path)) continue;
        const char *methods = row->method == M_GET ? "GET, HEAD" : ap_method_name_of(http->pool, row->method);
        if (allow && strstr(allow, methods)) continue; /* a path that matches "{n}.png" also matches "{n}" */
        allow = allow ? apr_pstrcat(http->pool, allow, ", ", methods, NULL) : methods;
    }
    return allow ? apr_pstrcat(http->pool, allow, ", OPTIONS", NULL) : NULL;
}

static sr_error_t *router_answer(sr_http_t *http, const sr_route_t *routes)
{
    http->route = router_find(http, routes);
    SR_TRY(sr_http_rate_begin(http));
    if (http->route) return http->route->handler(http);
    const char *allow = router_allowed(http, routes);
    if (!allow) {
        sr_error_t *error = sr_error(http->pool, SR_ENOTFOUND, "Not found");
        return http->manual ? sr_error_hint(error, http->pool, "there is no such path: see %s", http->manual) : error;
    }
    apr_table_setn(http->r->err_headers_out, "Allow", allow);
    if (http->r->method_number == M_OPTIONS) return sr_http_empty(http);
    return sr_error(http->pool, SR_EMETHOD, "Method not allowed");
}

/* compress.c decides which responses are compressed. mod_deflate and mod_brotli would also compress new tokens,
 * errors and images, and would change ETags, so that If-None-Match never matches. */
static void forbid_compression(request_rec *r)
{
    apr_table_setn(r->subprocess_env, "no-gzip", "1");
    apr_table_setn(r->subprocess_env, "no-brotli", "1");
}

void sr_http_dispatch(sr_http_t *http, const sr_route_t *routes)
{
    forbid_compression(http->r);
    sr_error_t *error = sr_http_rate_end(http, router_answer(http, routes));
    if (error) sr_http_error(http, error);
}
