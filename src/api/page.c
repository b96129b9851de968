/* SPDX-License-Identifier: Apache-2.0 */
/* page.c: GET /, the description of the API for people, which tools/api_page.py makes of openapi.json when the module
 * is built. It needs no token, because everything in it is public, and it has no scripts. */
#include "api/api.h"

#include <string.h>

#include "embed/api_page.h"

static const char *file(const char *name)
{
    const sr_embedded_t *row = embedded_api;
    while (row->file && strcmp(row->file, name) != 0) row++;
    sr_assert(row->file);
    return row->forms[0].bytes;
}

sr_error_t *sr_api_page(sr_http_t *http)
{
    const char *html = file("page.html");
    apr_table_setn(http->r->headers_out, "Content-Security-Policy", file("policy"));
    apr_table_setn(http->r->headers_out, "Referrer-Policy", "no-referrer");
    return sr_http_bytes(http, HTTP_OK, "text/html; charset=utf-8", html, strlen(html));
}

/* The links of the page are relative to its folder. */
sr_error_t *sr_api_page_moved(sr_http_t *http)
{
    return sr_http_redirect(http, HTTP_SEE_OTHER, apr_pstrcat(http->pool, http->base_url, "/api/v3/", NULL));
}
