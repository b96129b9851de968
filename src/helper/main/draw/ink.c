/* SPDX-License-Identifier: Apache-2.0 */
/* ink.c: a drawn signature as strokes of a round pen. The strokes are quadratic curves through the midpoints of the
 * segments, as signature pads smooth them. src/web/assets/js/draw.js does the same. model/ink.c decides the position of
 * the ink in its box and the width of the lines. */
#include "helper/main/draw/drawing.h"

#include <math.h>

#define UNITS 1000.0     /* of the longer side of the drawing; keeps numbers short */
#define DIGITS 1         /* decimals of a coordinate */
#define WIDTH_STEPS 16.0 /* of a pen; finer steps are not visible */
#define NEAR 1.0         /* units; points closer to the previous one are skipped */
#define VALUES 3         /* x, y and line width of a point */

typedef struct point_t {
    double x, y, line;
} point_t;

typedef struct pen_t {
    sr_pdfd_drawing_t *out;
    double step; /* between two line widths */
    double now;  /* line width of the current path; 0: no path has begun */
    point_t at;
} pen_t;

static point_t between(point_t a, point_t b, double part)
{
    return (point_t){a.x + (b.x - a.x) * part, a.y + (b.y - a.y) * part, a.line + (b.line - a.line) * part};
}

static void lift(pen_t *pen)
{
    if (pen->now > 0) sr_pdfd_draw(pen->out, 'S', NULL, 0);
    pen->now = 0;
}

/* Makes sure that a path with this line width continues at the current point. */
static void press(pen_t *pen, double line)
{
    double width = fmax(pen->step, round(line / pen->step) * pen->step);
    if (width == pen->now) return;
    lift(pen);
    sr_pdfd_draw(pen->out, 'w', &width, 1);
    sr_pdfd_draw(pen->out, 'm', (double[]){pen->at.x, pen->at.y}, 2);
    pen->now = width;
}

static void ink_line_to(pen_t *pen, point_t to)
{
    press(pen, (pen->at.line + to.line) / 2);
    sr_pdfd_draw(pen->out, 'l', (double[]){to.x, to.y}, 2);
    pen->at = to;
}

static void ink_curve_to(pen_t *pen, point_t control, point_t to)
{
    press(pen, control.line);
    const point_t first = between(pen->at, control, 2.0 / 3), second = between(to, control, 2.0 / 3);
    sr_pdfd_draw(pen->out, 'c', (double[]){first.x, first.y, second.x, second.y, to.x, to.y}, 6);
    pen->at = to;
}

/* Reads a stroke. Returns false if it is not valid. `points` has room for all of its points; *count of them are used.
 */
static bool read_stroke(point_t *points, size_t *count, const json_t *stroke, double height)
{
    size_t size = json_array_size(stroke);
    *count = 0;
    if (!size || size % VALUES) return false;
    for (size_t i = 0; i < size; i += VALUES) {
        double v[VALUES];
        for (size_t j = 0; j < VALUES; j++) {
            v[j] = json_number_value(json_array_get(stroke, i + j));
            if (!(v[j] >= 0 && v[j] <= 1)) return false;
        }
        point_t point = {v[0] * UNITS, (height - v[1]) * UNITS, v[2] * UNITS};
        const point_t *last = *count ? &points[*count - 1] : NULL;
        bool is_end = i + VALUES == size;
        if (!last || is_end || hypot(point.x - last->x, point.y - last->y) >= NEAR) points[(*count)++] = point;
    }
    return true;
}

static void ink_draw_stroke(pen_t *pen, const point_t *points, size_t count)
{
    pen->at = points[0];
    if (count == 1) { /* a dot is a very short line, because some readers do not draw lines without length */
        ink_line_to(pen, (point_t){points[0].x + 0.1, points[0].y, points[0].line});
    } else {
        ink_line_to(pen, between(points[0], points[1], 0.5));
        for (size_t i = 1; i + 1 < count; i++) ink_curve_to(pen, points[i], between(points[i], points[i + 1], 0.5));
        ink_line_to(pen, points[count - 1]);
    }
    lift(pen);
}

const char *sr_pdfd_draw_ink(sr_pdfd_drawing_t *drawing, const json_t *ink, apr_pool_t *pool)
{
    static const char unknown[] = "The strokes of the signature cannot be understood";
    const json_t *strokes = json_object_get(ink, "strokes");
    double width = json_number_value(json_object_get(ink, "width"));
    double height = json_number_value(json_object_get(ink, "height"));
    double pen_width = json_number_value(json_object_get(ink, "pen"));
    if (!(width > 0 && width <= 1 && height > 0 && height <= 1) || !json_array_size(strokes)) return unknown;
    if (!(pen_width > 0 && pen_width <= 1)) return unknown;
    *drawing = (sr_pdfd_drawing_t){.width = width * UNITS, .height = height * UNITS, .digits = DIGITS};
    drawing->steps = sr_pdfd_buffer(pool);
    pen_t pen = {.out = drawing, .step = pen_width * UNITS / WIDTH_STEPS};
    for (size_t i = 0; i < json_array_size(strokes); i++) {
        const json_t *stroke = json_array_get(strokes, i);
        point_t *points = apr_palloc(pool, (json_array_size(stroke) / VALUES + 1) * sizeof *points);
        size_t count;
        if (!read_stroke(points, &count, stroke, height)) return unknown;
        ink_draw_stroke(&pen, points, count);
    }
    return NULL;
}
