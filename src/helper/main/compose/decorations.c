/* SPDX-License-Identifier: Apache-2.0 */
/* decorations.c: what composed documents show besides texts: rectangles, QR codes (ISO/IEC 18004) as one path, and
 * signatures. It also sets their metadata. */
#include "helper/main/compose/decorations.h"
#include "helper/main/draw/drawing.h"

#include <math.h>
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

static void decorations_put_paths(sr_pdfd_canvas_t *canvas, const sr_pdfd_drawing_t *drawing,
                                  const sr_pdfd_place_t *place)
{
    const double scale = fmin(place->width / drawing->width, place->height / drawing->height);
    const double x = place->x + (place->right ? place->width - drawing->width * scale : 0);
    const double y = SR_PDFD_HEIGHT - place->y - (place->height + drawing->height * scale) / 2;
    sr_pdfd_canvas_save(canvas);
    sr_pdfd_buffer_t *out = sr_pdfd_canvas_content(canvas);
    sr_pdfd_print(out, "%.9f 0 0 %.9f %.6f %.6f cm\n", scale, scale, x, y);
    sr_pdfd_drawing_content(out, drawing);
    sr_pdfd_canvas_restore(canvas);
}

static void decorations_put_image(sr_pdfd_canvas_t *canvas, cairo_surface_t *surface, const sr_pdfd_place_t *place)
{
    const double across = cairo_image_surface_get_width(surface), down = cairo_image_surface_get_height(surface);
    const double scale = fmin(place->width / across, place->height / down);
    const double width = across * scale, height = down * scale;
    sr_pdfd_canvas_image(canvas, surface, place->x + (place->right ? place->width - width : 0),
                         place->y + (place->height - height) / 2, width, height);
}

void sr_pdfd_put_drawing(sr_pdfd_canvas_t *canvas, const json_t *drawing, const sr_pdfd_place_t *place,
                         apr_pool_t *pool)
{
    sr_pdfd_drawing_t paths = {0};
    const char *png = sr_json_string(drawing, "png");
    cairo_surface_t *surface = canvas && png ? sr_pdfd_png_surface(png, pool) : NULL;
    if (surface) decorations_put_image(canvas, surface, place);
    else if (canvas && !sr_pdfd_draw_any(&paths, drawing, pool) && paths.steps)
        decorations_put_paths(canvas, &paths, place);
}

int sr_pdfd_describe(sr_pdfd_update_t *update, const char *title, apr_time_t when)
{
    char text[SR_TIME_PRINTED];
    const int number = (int)sr_pdfd_object_number(update);
    sr_pdfd_buffer_t *out = sr_pdfd_object_begin(update, number, 0);
    sr_time_print(text, "D:%Y%m%d%H%M%SZ", when);
    sr_pdfd_print(out, "<</Creator(mod_sigreq)/Producer(mod_sigreq)/CreationDate(%s)/ModDate(%s)", text, text);
    if (title) {
        sr_pdfd_put_text(out, "/Title");
        sr_pdfd_put_string(out, title);
    }
    sr_pdfd_put_text(out, ">>");
    sr_pdfd_object_end(update);
    return number;
}

/* Pango uses 31 bits for lengths in 1/1024 points. A longer text in one line could exceed this limit of two million
 * points. Images are no text. */
// NOLINTNEXTLINE(misc-no-recursion): SR_JSON_MAX_DEPTH
bool sr_pdfd_texts_are_short(const json_t *value)
{
    bool good = json_string_length(value) <= MAX_TEXT;
    const char *key;
    json_t *member;
    for (size_t i = 0; good && i < json_array_size(value); i++)
        good = sr_pdfd_texts_are_short(json_array_get(value, i));
    json_object_foreach ((json_t *)value, key, member) {
        if (!good || (strcmp(key, "png") != 0 && !sr_pdfd_texts_are_short(member))) return false;
    }
    return good;
}
