/* SPDX-License-Identifier: Apache-2.0 */
/* compress.c: compresses HTML and JSON with gzip for clients that accept it. Only successful responses to GET and
 * HEAD are compressed. Responses to POST, such as a new token, and errors, which may repeat text from the request,
 * are not. So no secret is compressed together with text that the sender of the request has chosen
 * (docs/security.md). Modules such as mod_deflate are told to leave all responses alone (router.c). */
#include "http/http.h"

#include <http_protocol.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

#define LEAST 1024 /* bytes; a smaller response fits into one packet anyway */
#define MOST ((apr_size_t)4 << 20)
#define LEVEL 4

static bool is_text(const char *type)
{
    return type && (!strncmp(type, SR_HTTP_JSON, sizeof SR_HTTP_JSON - 1) || !strncmp(type, "text/html", 9));
}

/* Adds to an existing Vary header: pages also depend on other header fields. */
void sr_http_vary(request_rec *r)
{
    const char *vary = apr_table_get(r->err_headers_out, "Vary");
    if (vary && (!strcmp(vary, "Accept-Encoding") || strcasestr(vary, "Accept-Encoding"))) return;
    apr_table_setn(r->err_headers_out, "Vary",
                   vary ? apr_pstrcat(r->pool, vary, ", Accept-Encoding", NULL) : "Accept-Encoding");
}

bool sr_http_wants_gzip(sr_http_t *http, int status, const char *type, apr_size_t length)
{
    request_rec *r = http->r;
    if (status != HTTP_OK || r->method_number != M_GET || r->content_encoding || !is_text(type) || length < LEAST
        || length > MOST)
        return false;
    sr_http_vary(r);
    /* a range of the compressed form is useless to a client that asks for a range of the text */
    return !apr_table_get(r->headers_in, "Range") && sr_http_accepts_encoding(http, "gzip");
}

bool sr_http_gzip(sr_http_t *http, const char **data, apr_size_t *length)
{
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(LEVEL);
    if (!compressor) return false;
    char *packed = apr_palloc(http->pool, *length);
    const size_t size = libdeflate_gzip_compress(compressor, *data, *length, packed, *length);
    libdeflate_free_compressor(compressor);
    if (!size) return false; /* the compressed form would not be shorter */
    *data = packed;
    *length = size;
    http->r->content_encoding = "gzip";
    return true;
}
