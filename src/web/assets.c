/* SPDX-License-Identifier: Apache-2.0 */
/* assets.c: the files that browsers load for the pages. Their names contain a hash of their content, so a file with
 * one name never changes. Pages of other sites load embed.js, which has one name for ever. */
#include <string.h>

#include "web/web.h"

static const struct {
    const char *suffix, *type;
} types[] = {{".js", "text/javascript; charset=utf-8"},
             {".css", "text/css; charset=utf-8"},
             {".svg", "image/svg+xml"},
             {".woff2", "font/woff2"}};

static const char *assets_type_of(const char *file)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(file + strlen(file) - strlen(types[i].suffix), types[i].suffix)) return types[i].type;
    return "application/octet-stream";
}

sr_error_t *sr_web_asset(sr_http_t *http)
{
    static const char *const encodings[] = {NULL, "gzip", "br"};
    const sr_embedded_t *asset = sr_web_asset_file(http->params[0]);
    request_rec *r = http->r;
    size_t form = 2;
    http->show_error = NULL;
    apr_table_setn(r->err_headers_out, "Vary", "Accept-Encoding");
    if (!asset) return sr_error(http->pool, SR_ENOTFOUND, "Not found");
    while (form && !(asset->forms[form].bytes && sr_http_accepts_encoding(http, encodings[form]))) form--;
    if (form) r->content_encoding = encodings[form];
    apr_table_setn(r->headers_out, "Cache-Control", "public, max-age=31536000, immutable");
    apr_table_setn(r->err_headers_out, "Cross-Origin-Resource-Policy", "same-origin");
    return sr_http_bytes(http, HTTP_OK, assets_type_of(asset->file), asset->forms[form].bytes,
                         asset->forms[form].length);
}

/* The ETag of embed.js is its name with the hash. */
sr_error_t *sr_web_embed(sr_http_t *http)
{
    const sr_embedded_t *script = sr_web_asset_named("embed.js");
    request_rec *r = http->r;
    if (!script) return sr_error(http->pool, SR_ENOTFOUND, "Not found");
    apr_bucket_brigade *brigade = apr_brigade_create(http->pool, r->connection->bucket_alloc);
    apr_brigade_write(brigade, NULL, NULL, script->forms[0].bytes, script->forms[0].length);
    apr_table_unset(r->err_headers_out, "Vary");
    apr_table_setn(r->err_headers_out, "Cross-Origin-Resource-Policy", "cross-origin");
    apr_table_setn(r->err_headers_out, "Access-Control-Allow-Origin", "*");
    const sr_http_content_t content = {.brigade = brigade,
                                       .type = assets_type_of(script->file),
                                       .etag = script->file,
                                       .cache_control = "public, max-age=3600"};
    return sr_http_content(http, &content);
}
