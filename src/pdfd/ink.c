/* ink.c: a drawn signature as strokes of a round pen. Between the points it goes along quadratic curves through
 * the middles of the segments, which is how signature pads smooth them; the pen is as wide as it was pressed. */
#include "pdfd/pdfd.h"

#include <math.h>

#define UNITS 1000.0     /* of the drawing's longer side: numbers stay short */
#define PEN (1.0 / 36)   /* of the shorter side: the pen that is pressed normally */
#define THINNEST 0.6     /* points, on the smallest of the fields */
#define WIDTH_STEPS 16.0 /* of a pen: finer ones cannot be seen */
#define NEAR 1.0         /* units: points nearer to the last one than this add nothing */
#define VALUES 3         /* x, y and pressure of a point */

static const char COLOUR[] = "0.05 0.1 0.45 RG 1 J 1 j\n"; /* blue ink; round ends, round corners */

typedef struct point_t {
    double x, y, pressure;
} point_t;

typedef struct pen_t {
    sr_pdfd_buffer_t *out;
    double normal; /* its width */
    double now;    /* the width that the path being drawn has; 0: no path */
    point_t at;
} pen_t;

static point_t between(point_t a, point_t b, double part)
{
    return (point_t){a.x + (b.x - a.x) * part, a.y + (b.y - a.y) * part, a.pressure + (b.pressure - a.pressure) * part};
}

static void put_point(pen_t *pen, point_t p)
{
    sr_pdfd_put_number(pen->out, p.x);
    sr_pdfd_put_number(pen->out, p.y);
}

static void lift(pen_t *pen)
{
    if (pen->now > 0) sr_pdfd_put_text(pen->out, "S\n");
    pen->now = 0;
}

/* Sees to a path that goes on from where the pen is, as wide as `pressure` says. */
static void press(pen_t *pen, double pressure)
{
    double step = pen->normal / WIDTH_STEPS;
    double width = fmax(step, round(pen->normal * (0.4 + 1.2 * pressure) / step) * step);
    if (width == pen->now) return;
    lift(pen);
    sr_pdfd_put_number(pen->out, width);
    sr_pdfd_put_text(pen->out, "w ");
    put_point(pen, pen->at);
    sr_pdfd_put_text(pen->out, "m\n");
    pen->now = width;
}

static void line_to(pen_t *pen, point_t to)
{
    press(pen, (pen->at.pressure + to.pressure) / 2);
    put_point(pen, to);
    sr_pdfd_put_text(pen->out, "l\n");
    pen->at = to;
}

static void curve_to(pen_t *pen, point_t control, point_t to)
{
    press(pen, control.pressure);
    put_point(pen, between(pen->at, control, 2.0 / 3));
    put_point(pen, between(to, control, 2.0 / 3));
    put_point(pen, to);
    sr_pdfd_put_text(pen->out, "c\n");
    pen->at = to;
}

/* False when the stroke is none. `points` has room for all of them; *count are worth drawing. */
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
        point_t point = {v[0] * UNITS, (height - v[1]) * UNITS, v[2]};
        const point_t *last = *count ? &points[*count - 1] : NULL;
        bool is_end = i + VALUES == size;
        if (!last || is_end || hypot(point.x - last->x, point.y - last->y) >= NEAR) points[(*count)++] = point;
    }
    return true;
}

static void draw_stroke(pen_t *pen, const point_t *points, size_t count)
{
    pen->at = points[0];
    if (count == 1) { /* a dot, a little longer than nothing, which some readers do not draw */
        line_to(pen, (point_t){points[0].x + 0.1, points[0].y, points[0].pressure});
    } else {
        line_to(pen, between(points[0], points[1], 0.5));
        for (size_t i = 1; i + 1 < count; i++) curve_to(pen, points[i], between(points[i], points[i + 1], 0.5));
        line_to(pen, points[count - 1]);
    }
    lift(pen);
}

/* The pen's width, in units. */
static double normal_pen(const sr_pdfd_mark_t *mark, const apr_array_header_t *widgets)
{
    double width = fmin(mark->width, mark->height) * PEN;
    for (int i = 0; i < widgets->nelts; i++) {
        double scale = sr_pdfd_fit(&APR_ARRAY_IDX(widgets, i, sr_pdfd_widget_t), mark->width, mark->height);
        width = fmax(width, fmin(THINNEST / scale, UNITS / 10));
    }
    return width;
}

const char *sr_pdfd_ink_mark(sr_pdfd_mark_t *mark, sr_pdfd_update_t *update, const json_t *ink,
                             const apr_array_header_t *widgets)
{
    static const char unknown[] = "The strokes of the signature cannot be understood";
    const json_t *strokes = json_object_get(ink, "strokes");
    double width = json_number_value(json_object_get(ink, "width"));
    double height = json_number_value(json_object_get(ink, "height"));
    if (!(width > 0 && width <= 1 && height > 0 && height <= 1) || !json_array_size(strokes)) return unknown;
    *mark = (sr_pdfd_mark_t){.width = width * UNITS, .height = height * UNITS};
    pen_t pen = {.out = sr_pdfd_buffer(update->pool), .normal = normal_pen(mark, widgets)};
    sr_pdfd_put_text(pen.out, COLOUR);
    for (size_t i = 0; i < json_array_size(strokes); i++) {
        const json_t *stroke = json_array_get(strokes, i);
        point_t *points = apr_palloc(update->pool, (json_array_size(stroke) / VALUES + 1) * sizeof *points);
        size_t count;
        if (!read_stroke(points, &count, stroke, height)) return unknown;
        draw_stroke(&pen, points, count);
    }
    sr_pdfd_mark_form(mark, update, pen.out, 2 * pen.normal);
    return NULL;
}
