/* SPDX-License-Identifier: Apache-2.0 */
/* conditional.c: ETag and If-None-Match of JSON that changes. The ETag is weak, because the text and its gzip form have
 * the same one: nobody needs a range of JSON, and a client that accepts gzip only sometimes gets 304, too. */
#include "http/http.h"

#include <http_protocol.h>
#include <string.h>

#define BASE_DIGITS 8 /* of the digest of the base URL, which links in the text begin with */

static const char *etag_of(const sr_http_t *http, const char *tag)
{
    const char *base = sr_sha256_hex(http->base_url, strlen(http->base_url), http->pool);
    return apr_psprintf(http->pool, "W/\"%s-%.*s\"", tag, BASE_DIGITS, base);
}

bool sr_http_unchanged(sr_http_t *http, const char *tag)
{
    request_rec *r = http->r;
    apr_table_setn(r->headers_out, "ETag", etag_of(http, tag));
    apr_table_setn(r->headers_out, "Cache-Control", "private, no-cache");
    sr_http_vary(r);
    /* there is no Last-Modified, and httpd would compare these with the present time */
    apr_table_unset(r->headers_in, "If-Modified-Since");
    apr_table_unset(r->headers_in, "If-Unmodified-Since");
    const int condition = ap_meets_conditions(r);
    if (condition == OK) return false;
    r->status = condition;
    apr_table_setn(r->err_headers_out, "X-Content-Type-Options", "nosniff");
    return true;
}
