/* SPDX-License-Identifier: Apache-2.0 */
/* drawing.c: a signature drawing without a place: strokes and filled outlines, or an image. It is written as the
 * content of a form XObject into a PDF, as JSON for the browser of the signer, so that both show the same, and painted
 * in pixels. */
#include "helper/main/draw/drawing.h"

#include <limits.h>
#include <math.h>
#include <openssl/evp.h>
#include <string.h>

#define MAX_VALUES 6
#define RED 0.05 /* the colour of ink */
#define GREEN 0.1
#define BLUE 0.45
static const char INK[] = "0.05 0.1 0.45 RG 0.05 0.1 0.45 rg 1 J 1 j\n"; /* with round ends and corners */

/* A path operator of a content stream: m, l, c, h, f or S, or w for the width of the stroke that follows. */
typedef struct step_t {
    double values[MAX_VALUES];
    char step;
    unsigned char count;
} step_t;

/* Most coordinates of outlines are whole numbers already. */
static double drawing_round(double value, double scale)
{
    return fabs(value) < INT_MAX && value == (int)value ? value : round(value * scale) / scale;
}

void sr_pdfd_draw(sr_pdfd_drawing_t *drawing, char step, const double *values, int count)
{
    step_t made = {.step = step, .count = (unsigned char)count};
    const double scale = drawing->digits == 1 ? 10 : 100;
    for (int i = 0; i < count; i++) made.values[i] = drawing_round(values[i], scale);
    sr_pdfd_put(drawing->steps, &made, sizeof made);
}

static size_t step_count(const sr_pdfd_drawing_t *drawing)
{
    return drawing->steps->size / sizeof(step_t);
}

static const step_t *step_at(const sr_pdfd_drawing_t *drawing, size_t index)
{
    return (const step_t *)(const void *)drawing->steps->data + index;
}

void sr_pdfd_drawing_content(sr_pdfd_buffer_t *out, const sr_pdfd_drawing_t *drawing)
{
    sr_pdfd_put_text(out, drawing->colour ? drawing->colour : INK);
    if (drawing->left != 0 || drawing->bottom != 0) {
        sr_pdfd_put_text(out, "1 0 0 1 ");
        sr_pdfd_put_number(out, -drawing->left);
        sr_pdfd_put_number(out, -drawing->bottom);
        sr_pdfd_put_text(out, "cm\n");
    }
    for (size_t i = 0; i < step_count(drawing); i++) {
        const step_t *step = step_at(drawing, i);
        sr_pdfd_put_numbers(out, step->values, step->count);
        sr_pdfd_put(out, &step->step, 1);
        sr_pdfd_put_text(out, step->step == 'w' ? " " : "\n");
    }
}

static void paint_step(cairo_t *context, const step_t *step)
{
    const double *v = step->values;
    switch (step->step) {
    case 'm': cairo_move_to(context, v[0], v[1]); break;
    case 'l': cairo_line_to(context, v[0], v[1]); break;
    case 'c': cairo_curve_to(context, v[0], v[1], v[2], v[3], v[4], v[5]); break;
    case 'h': cairo_close_path(context); break;
    case 'w': cairo_set_line_width(context, v[0]); break;
    case 'S': cairo_stroke(context); break;
    default: cairo_fill(context);
    }
}

void sr_pdfd_drawing_paint(cairo_t *context, const sr_pdfd_drawing_t *drawing)
{
    cairo_translate(context, -drawing->left, -drawing->bottom);
    cairo_set_source_rgb(context, RED, GREEN, BLUE);
    cairo_set_line_cap(context, CAIRO_LINE_CAP_ROUND);
    cairo_set_line_join(context, CAIRO_LINE_JOIN_ROUND);
    for (size_t i = 0; i < step_count(drawing); i++) paint_step(context, step_at(drawing, i));
}

/* ----------------------------------------------------------------------------------------------------------- JSON */

/* Writes a step of an SVG path, where y goes down. */
static void put_svg(sr_pdfd_buffer_t *out, const sr_pdfd_drawing_t *drawing, const step_t *step)
{
    static const char from[] = "mlch", to[] = "MLCZ";
    sr_pdfd_put(out, to + (strchr(from, step->step) - from), 1);
    for (int i = 0; i < step->count; i++)
        sr_pdfd_put_number(out, i % 2 ? drawing->height - (step->values[i] - drawing->bottom)
                                      : step->values[i] - drawing->left);
}

static void put_paths(sr_pdfd_buffer_t *out, const sr_pdfd_drawing_t *drawing)
{
    double width = 0;
    bool open = false;
    int count = 0;
    sr_pdfd_put_text(out, ",\"paths\":[");
    for (size_t i = 0; i < step_count(drawing); i++) {
        const step_t *step = step_at(drawing, i);
        const bool ends = step->step == 'S' || step->step == 'f';
        if (step->step == 'w') width = step->values[0];
        if (!ends && step->step != 'w') {
            if (!open) sr_pdfd_put_text(out, count++ ? ",{\"d\":\"" : "{\"d\":\"");
            open = true;
            put_svg(out, drawing, step);
        }
        if (!ends || !open) continue;
        sr_pdfd_put_text(out, "\"");
        if (step->step == 'S') sr_pdfd_print(out, ",\"stroke\":%.4f", width);
        sr_pdfd_put_text(out, "}");
        open = false;
    }
    sr_pdfd_put_text(out, "]");
}

static void put_base64(sr_pdfd_buffer_t *out, const sr_pdfd_buffer_t *bytes)
{
    const apr_size_t length = 4 * ((bytes->size + 2) / 3);
    unsigned char *at = sr_pdfd_grow(out, length + 1); /* EVP_EncodeBlock writes a NUL at the end */
    EVP_EncodeBlock(at, bytes->data, (int)bytes->size);
    out->size--;
}

void sr_pdfd_drawing_json(sr_pdfd_buffer_t *out, const sr_pdfd_drawing_t *drawing, apr_pool_t *pool)
{
    sr_pdfd_print(out, "{\"width\":%.4f,\"height\":%.4f", drawing->width, drawing->height);
    if (drawing->steps) {
        put_paths(out, drawing);
    } else {
        const bool is_jpeg = drawing->jpeg;
        sr_pdfd_print(out, ",\"type\":\"image/%s\",\"image\":\"", is_jpeg ? "jpeg" : "png");
        put_base64(out, is_jpeg ? drawing->jpeg : sr_pdfd_image_png(drawing, pool));
        sr_pdfd_put_text(out, "\"");
    }
    sr_pdfd_put_text(out, "}");
}
