/* SPDX-License-Identifier: Apache-2.0 */
/* decorations.c: what composed documents show besides texts: rectangles, and QR codes (ISO/IEC 18004) as one path. It
 * also sets their metadata. */
#include "helper/main/compose/decorations.h"

#include <qrencode.h>
#include <time.h>

#define MAX_TEXT 32768
#define QUIET 4 /* modules around the code that must stay white */

void sr_pdfd_box(sr_pdfd_canvas_t *canvas, double x, double y, double width, double height, uint32_t colour)
{
    if (!canvas) return;
    sr_pdfd_canvas_colour(canvas, colour);
    sr_pdfd_canvas_rectangle(canvas, x, y, width, height);
    sr_pdfd_canvas_fill(canvas);
}

void sr_pdfd_qr(sr_pdfd_canvas_t *canvas, const char *text, double x, double y, double size)
{
    QRcode *code = canvas && text ? QRcode_encodeString8bit(text, 0, QR_ECLEVEL_M) : NULL;
    if (!code) return;
    const int width = code->width;
    const double module = size / (width + 2 * QUIET);
    sr_pdfd_box(canvas, x, y, size, size, 0xffffff);
    sr_pdfd_canvas_colour(canvas, 0);
    for (int row = 0; row < width; row++)
        for (int from = 0, to; from < width; from = to) {
            for (to = from; to < width && code->data[row * width + to] & 1;) to++;
            if (to > from)
                sr_pdfd_canvas_rectangle(canvas, x + (QUIET + from) * module, y + (QUIET + row) * module,
                                         (to - from) * module, module);
            else to++;
        }
    sr_pdfd_canvas_fill(canvas);
    QRcode_free(code);
}

int sr_pdfd_describe(sr_pdfd_file_t *file, const char *title, apr_time_t when)
{
    char text[SR_TIME_PRINTED];
    const int number = sr_pdfd_file_number(file);
    sr_pdfd_buffer_t *out = sr_pdfd_file_begin(file, number);
    sr_time_print(text, "D:%Y%m%d%H%M%SZ", when);
    sr_pdfd_print(out, "<</Creator(mod_sigreq)/Producer(mod_sigreq)/CreationDate(%s)/ModDate(%s)", text, text);
    if (title) {
        sr_pdfd_put_text(out, "/Title");
        sr_pdfd_put_string(out, title);
    }
    sr_pdfd_put_text(out, ">>");
    sr_pdfd_file_end(file);
    return number;
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
