/* SPDX-License-Identifier: Apache-2.0 */
/* marks.c: what composed documents show besides texts: rectangles, and QR codes (ISO/IEC 18004) as one path. It also
 * sets their metadata. */
#include "pdfd/marks.h"

#include <cairo-pdf.h>
#include <qrencode.h>
#include <time.h>

#define MAX_TEXT 32768
#define QUIET 4 /* modules around the code that must stay white */

void sr_pdfd_box(cairo_t *context, double x, double y, double width, double height, uint32_t colour)
{
    if (!context) return;
    cairo_set_source_rgb(context, (colour >> 16) / 255.0, (colour >> 8 & 0xff) / 255.0, (colour & 0xff) / 255.0);
    cairo_rectangle(context, x, y, width, height);
    cairo_fill(context);
}

void sr_pdfd_qr(cairo_t *context, const char *text, double x, double y, double size)
{
    QRcode *code = context && text ? QRcode_encodeString8bit(text, 0, QR_ECLEVEL_M) : NULL;
    if (!code) return;
    const int width = code->width;
    const double module = size / (width + 2 * QUIET);
    cairo_save(context);
    sr_pdfd_box(context, x, y, size, size, 0xffffff);
    cairo_set_source_rgb(context, 0, 0, 0);
    for (int row = 0; row < width; row++)
        for (int from = 0, to; from < width; from = to) {
            for (to = from; to < width && code->data[row * width + to] & 1;) to++;
            if (to > from)
                cairo_rectangle(context, x + (QUIET + from) * module, y + (QUIET + row) * module, (to - from) * module,
                                module);
            else to++;
        }
    cairo_fill(context);
    cairo_restore(context);
    QRcode_free(code);
}

void sr_pdfd_describe(cairo_surface_t *surface, const char *title, apr_time_t when)
{
    char text[SR_TIME_PRINTED];
    sr_time_print(text, "%Y-%m-%dT%H:%M:%SZ", when);
    if (title) cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE, title);
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATOR, "mod_sigreq");
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, text);
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_MOD_DATE, text);
}

/* Pango uses 31 bits for lengths in 1/1024 points. A longer text in one line could exceed this limit of two million
 * points. */
// NOLINTNEXTLINE(misc-no-recursion): SR_JSON_MAX_DEPTH
bool sr_pdfd_texts_are_short(const json_t *value)
{
    bool good = json_string_length(value) <= MAX_TEXT;
    const char *key;
    json_t *member;
    for (size_t i = 0; good && i < json_array_size(value); i++)
        good = sr_pdfd_texts_are_short(json_array_get(value, i));
    json_object_foreach ((json_t *)value, key, member) {
        if (!good || !sr_pdfd_texts_are_short(member)) return false;
    }
    return good;
}
