/* SPDX-License-Identifier: Apache-2.0 */
/* qr.c: a signing link as a QR code (ISO/IEC 18004), with which a signer at a desk continues on their phone. */
#include <qrencode.h>
#include <stdio.h>
#include <string.h>

#include "web/web.h"

#define QUIET 4     /* modules around the code that stay white */
#define RUN_ROOM 32 /* bytes for one run of dark modules in the path */
#define HEAD_ROOM 256

/* Returns the code as an image. Each run of dark modules of a row is a rectangle of the path. */
static const char *svg_of(const QRcode *code, apr_pool_t *pool)
{
    const int width = code->width, all = width + 2 * QUIET;
    const size_t room = HEAD_ROOM + (size_t)RUN_ROOM * (size_t)width * (size_t)(width / 2 + 1);
    char *svg = apr_palloc(pool, room), *to = svg;
    to += snprintf(to, room,
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" shape-rendering=\"crispEdges\">"
                   "<path fill=\"#fff\" d=\"M0 0h%dv%dH0z\"/><path d=\"",
                   all, all, all, all);
    for (int row = 0; row < width; row++)
        for (int from = 0, end; from < width; from = end + 1) {
            for (end = from; end < width && code->data[row * width + end] & 1;) end++;
            if (end == from) continue;
            to += snprintf(to, RUN_ROOM, "M%d %dh%dv1h-%dz", QUIET + from, QUIET + row, end - from, end - from);
        }
    memcpy(to, "\"/></svg>", sizeof "\"/></svg>");
    return svg;
}

sr_error_t *sr_web_qr(sr_http_t *http)
{
    const char *signer;
    sr_signing_t *signing;
    http->show_error = NULL;
    SR_TRY(sr_web_uuid(&signer, http, 0));
    SR_TRY(sr_service_signing(http->service, &signing, signer, http->pool));
    QRcode *code = QRcode_encodeString8bit(sr_web_link(http, signer), 0, QR_ECLEVEL_L);
    if (!code) return sr_error(http->pool, SR_ENOTFOUND, "Not found"); /* the URL of this service is too long */
    const char *svg = svg_of(code, http->pool);
    QRcode_free(code);
    return sr_http_bytes(http, HTTP_OK, "image/svg+xml", svg, strlen(svg));
}
