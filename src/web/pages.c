/* SPDX-License-Identifier: Apache-2.0 */
/* pages.c: the pages of the documents as images and as text. The content of a URL with a version never changes, so
 * browsers may cache it. */
#include <httpd.h>
#include <http_log.h>
#include <string.h>

#include "mod_sigreq.h"
#include "web/web.h"

APLOG_USE_MODULE(sigreq);

#define DEFAULT_WIDTH 800

/* Reads a number without leading zeros, so that each number has one URL. Returns false for other text. */
static bool pages_read_number(int *number, const char *text)
{
    return sr_text_number(number, text) && (*text != '0' || !text[1]);
}

/* Reads the link (unless a caller shows the page), the document and the page from the path. The document is the path
 * parameter with this number. */
static sr_error_t *pages_read_path(sr_show_t *show, sr_http_t *http, int param)
{
    const char **link = http->viewing ? &show->viewer : http->placing ? &show->placement : &show->signer;
    if (!show->submission) SR_TRY(sr_web_uuid(link, http, 0));
    SR_TRY(sr_web_uuid(&show->document, http, param));
    if (!pages_read_number(&show->page, http->params[param + 1])
        || (show->version && !sr_text_is_hex(show->version, SR_SHA256_HEX_LENGTH)))
        return sr_error(http->pool, SR_ENOTFOUND, "Not found");
    return NULL;
}

/* Reading a document takes less than an hour, so a browser requests each page once. After an hour it asks again, so
 * that the document does not stay on a shared computer for long. */
#define KEPT "private, max-age=3600, immutable"

/* A page image is not made for a HEAD request, because that would cost as much as a GET. The response for an image
 * that is not in the cache then has neither Content-Length nor ETag, which HTTP allows (RFC 9110, 9.3.2). */
static sr_error_t *reply(sr_http_t *http, sr_show_t *show)
{
    sr_shown_t shown;
    show->only_cached = http->r->header_only;
    sr_error_t *error = sr_service_show(http->service, &shown, show, http->pool);
    /* not logged for the request: its Referer may contain the link */
    if (shown.uncached)
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, http->r->server, "SR0500: a page cannot be cached: %s [request %s]",
                     shown.uncached->cause ? shown.uncached->cause : shown.uncached->message, http->r->log_id);
    SR_TRY(error);
    const sr_http_content_t content = {.file = shown.file,
                                       .size = shown.size,
                                       .type = shown.type,
                                       .etag = shown.etag,
                                       .cache_control = show->version ? KEPT : NULL};
    return sr_http_content(http, &content);
}

sr_error_t *sr_web_show_image(sr_http_t *http, sr_show_t *show, int param)
{
    const char *width = NULL;
    const sr_query_param_t params[] = {{"width", &width}, {"version", &show->version}, {NULL, NULL}};
    show->width = DEFAULT_WIDTH;
    http->show_error = NULL;
    apr_table_unset(http->r->err_headers_out, "Vary"); /* these responses are the same for every client */
    SR_TRY(sr_http_query(http, params));
    SR_TRY(pages_read_path(show, http, param));
    if (width
        && (!pages_read_number(&show->width, width) || show->width < SR_SHOW_MIN_WIDTH
            || show->width > SR_SHOW_MAX_WIDTH))
        return sr_error(http->pool, SR_EBADREQUEST, "width must be %d to %d", SR_SHOW_MIN_WIDTH, SR_SHOW_MAX_WIDTH);
    show->width = sr_show_width(show->width);
    return reply(http, show);
}

sr_error_t *sr_web_image(sr_http_t *http)
{
    sr_show_t show = {0};
    return sr_web_show_image(http, &show, 1);
}

sr_error_t *sr_web_png(sr_http_t *http)
{
    sr_show_t show = {.png = true};
    return sr_web_show_image(http, &show, 1);
}

sr_error_t *sr_web_text(sr_http_t *http)
{
    sr_show_t show = {0};
    const sr_query_param_t params[] = {{"version", &show.version}, {NULL, NULL}};
    http->show_error = NULL;
    apr_table_unset(http->r->err_headers_out, "Vary");
    SR_TRY(sr_http_query(http, params));
    SR_TRY(pages_read_path(&show, http, 1));
    return reply(http, &show);
}
