/* SPDX-License-Identifier: Apache-2.0 */
/* conditional.c: ETag and If-None-Match of JSON that changes. The ETag is weak, because the text and its gzip form have
 * the same one: nobody needs a range of JSON, and a client that accepts gzip only sometimes gets 304, too. */
#include "http/http.h"

#include <http_protocol.h>
#include <string.h>

#define BASE_DIGITS 8 /* of the digest of the base URL, which links in the text begin with */
#define BASE_KEPT 512 /* the digest of a longer URL is not kept */

/* Returns the first digits of the digest of the base URL. Nearly all requests of a thread have the same one, so
 * those of the last request are kept. */
static const char *base_digits(const sr_http_t *http)
{
    static _Thread_local char url[BASE_KEPT], digits[BASE_DIGITS + 1];
    const apr_size_t length = strlen(http->base_url);
    if (*digits && !strcmp(url, http->base_url)) return digits;
    const char *made = apr_pstrmemdup(http->pool, sr_sha256_hex(http->base_url, length, http->pool), BASE_DIGITS);
    if (length >= sizeof url) return made;
    memcpy(url, http->base_url, length + 1);
    return memcpy(digits, made, BASE_DIGITS); /* the zero after them is never written */
}

const char *sr_http_etag(const sr_http_t *http, const char *tag)
{
    return apr_pstrcat(http->pool, "W/\"", tag, "-", base_digits(http), "\"", NULL);
}

void sr_http_tag(sr_http_t *http, const char *tag)
{
    apr_table_setn(http->r->headers_out, "ETag", sr_http_etag(http, tag));
    apr_table_setn(http->r->headers_out, "Cache-Control", "private, no-cache");
    sr_http_vary(http->r);
}

bool sr_http_unchanged(sr_http_t *http, const char *tag)
{
    request_rec *r = http->r;
    sr_http_tag(http, tag);
    /* there is no Last-Modified, and httpd would compare these with the present time */
    apr_table_unset(r->headers_in, "If-Modified-Since");
    apr_table_unset(r->headers_in, "If-Unmodified-Since");
    const int condition = ap_meets_conditions(r);
    if (condition == OK) return false;
    r->status = condition;
    apr_table_setn(r->err_headers_out, "X-Content-Type-Options", "nosniff");
    return true;
}
