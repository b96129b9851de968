/* SPDX-License-Identifier: Apache-2.0 */
/* ink.c: checks a drawn signature and trims it to its strokes, for the PDF helper. Only this file decides how large
 * the ink is in a field and how thick its lines are. The preview and the sealed PDF both use its result. */
#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SIDE 100000.0 /* of the canvas, in the unit of the client */
#define MAX_ASPECT 50.0
#define PRESSURE 0.5 /* of a device without a pressure sensor: that of a mouse (W3C Pointer Events) */

/* The look of the trimmed drawing, which openapi.json describes too. The size of ink is its height, or a quarter of
 * its width if that is more, because fields are usually wider than high. */
#define PEN (1.0 / 72)      /* of the canvas's shorter side: the width of the pen at normal pressure */
#define LIGHT 0.4           /* times the width of the pen, at pressure 0 */
#define HEAVY 1.6           /* times the width of the pen, at pressure 1 */
#define THINNEST (1.0 / 48) /* of the ink's size */
#define SMALLEST (1.0 / 6)  /* of the canvas's shorter side: ink of a smaller size is not enlarged any further */
#define PADDING 0.09        /* of the size including the padding, on each side of the ink */
#define STEPS 20000.0       /* coordinates are rounded to 1/STEPS of the longer side */

typedef struct point_t {
    double x, y, pressure;
} point_t;

typedef struct reading_t {
    double width, height; /* of the canvas */
    point_t *points;
    int count;
    int *ends; /* for each stroke, the number of points up to its end */
    int strokes;
    apr_pool_t *pool; /* for errors */
} reading_t;

static bool read_side(double *side, const json_t *drawn, const char *name)
{
    const json_t *value = json_object_get(drawn, name);
    *side = json_number_value(value);
    return json_is_number(value) && *side >= 1 && *side <= MAX_SIDE;
}

static double ink_within(double value, double least, double most)
{
    return fmax(least, fmin(most, value));
}

/* A stroke may leave the canvas. Points far outside of it are moved to at most one canvas size from its edges. */
static sr_error_t *add_point(reading_t *reading, double x, double y, double pressure)
{
    if (reading->count == SR_INK_MAX_POINTS)
        return sr_error(reading->pool, SR_EBADREQUEST, "A signature has at most %d points", SR_INK_MAX_POINTS);
    reading->points[reading->count++] =
        (point_t){ink_within(x, -reading->width, 2 * reading->width),
                  ink_within(y, -reading->height, 2 * reading->height), ink_within(pressure, 0, 1)};
    return NULL;
}

/* Ends a stroke. An empty stroke is left out. */
static sr_error_t *end_stroke(reading_t *reading)
{
    if (reading->count == (reading->strokes ? reading->ends[reading->strokes - 1] : 0)) return NULL;
    if (reading->strokes == SR_INK_MAX_STROKES)
        return sr_error(reading->pool, SR_EBADREQUEST, "A signature has at most %d strokes", SR_INK_MAX_STROKES);
    reading->ends[reading->strokes++] = reading->count;
    return NULL;
}

/* ------------------------------------------------------------------------------------------- strokes as arrays */

static sr_error_t *read_point(reading_t *reading, const json_t *point)
{
    double v[3] = {0, 0, PRESSURE};
    size_t size = json_array_size(point);
    bool good = size == 2 || size == 3;
    for (size_t i = 0; good && i < size; i++) {
        const json_t *value = json_array_get(point, i);
        v[i] = json_number_value(value);
        if (i == 2 && json_is_null(value)) v[i] = PRESSURE;
        else good = json_is_number(value) && isfinite(v[i]);
    }
    if (!good)
        return sr_error(reading->pool, SR_EBADREQUEST, "Each point of a stroke must be [x, y] or [x, y, pressure]");
    return add_point(reading, v[0], v[1], v[2]);
}

static sr_error_t *read_array(reading_t *reading, const json_t *strokes)
{
    for (size_t i = 0; i < json_array_size(strokes); i++) {
        const json_t *stroke = json_array_get(strokes, i);
        if (!json_is_array(stroke))
            return sr_error(reading->pool, SR_EBADREQUEST, "Each stroke must be an array of points");
        for (size_t j = 0; j < json_array_size(stroke); j++) SR_TRY(read_point(reading, json_array_get(stroke, j)));
        SR_TRY(end_stroke(reading));
    }
    return NULL;
}

/* --------------------------------------------------------------------------------------------- strokes as text */

#define DIGIT_BITS 4
#define MAX_DIGITS 6 /* of a number; larger numbers are outside of any canvas */
#define FULL_PRESSURE 255.0
#define NORMAL_PRESSURE 128

/* Reads an integer: digits of four bits, the lowest first. "a" to "p" are digits that are followed by others, "A" to
 * "P" is the last digit. The lowest bit of the number is its sign. */
static bool ink_take_number(long *number, const char **text)
{
    unsigned long value = 0;
    for (int i = 0; i < MAX_DIGITS; i++) {
        const char c = *(*text)++;
        const bool is_last = c >= 'A' && c <= 'P';
        if (!is_last && (c < 'a' || c > 'p')) return false;
        value |= (unsigned long)(c - (is_last ? 'A' : 'a')) << (DIGIT_BITS * i);
        if (!is_last) continue;
        *number = value & 1 ? -(long)(value >> 1) : (long)(value >> 1);
        return true;
    }
    return false;
}

static sr_error_t *ink_read_text(reading_t *reading, const char *text)
{
    long at[3] = {0, 0, NORMAL_PRESSURE};
    while (*text) {
        if (*text == '.') {
            SR_TRY(end_stroke(reading));
            text++;
            continue;
        }
        for (int i = 0; i < 3; i++) {
            long step;
            if (!ink_take_number(&step, &text))
                return sr_error(reading->pool, SR_EBADREQUEST,
                                "The strokes of a signature as a text must be numbers "
                                "written with the letters A to P and a to p");
            at[i] += step;
        }
        SR_TRY(add_point(reading, (double)at[0], (double)at[1], (double)at[2] / FULL_PRESSURE));
    }
    return end_stroke(reading);
}

/* ------------------------------------------------------------------------------------------------- the geometry */

typedef struct box_t {
    double left, top, right, bottom;
} box_t;

static double line_width(double pen, double pressure)
{
    return pen * (LIGHT + (HEAVY - LIGHT) * pressure);
}

/* Returns the box around the points, with half of the line's width around each. */
static box_t box_of(const reading_t *reading, double pen)
{
    box_t box = {INFINITY, INFINITY, -INFINITY, -INFINITY};
    for (int i = 0; i < reading->count; i++) {
        const point_t *point = &reading->points[i];
        const double half = line_width(pen, point->pressure) / 2;
        box.left = fmin(box.left, point->x - half);
        box.right = fmax(box.right, point->x + half);
        box.top = fmin(box.top, point->y - half);
        box.bottom = fmax(box.bottom, point->y + half);
    }
    return box;
}

static box_t grown(box_t box, double by_x, double by_y)
{
    return (box_t){box.left - by_x, box.top - by_y, box.right + by_x, box.bottom + by_y};
}

static double size_of(const box_t *box)
{
    return fmax(box->bottom - box->top, (box->right - box->left) / 4);
}

/* Returns the part of the plane that becomes the drawing, and sets the width of its pen. */
static box_t ink_trim(double *pen, const reading_t *reading)
{
    const double side = fmin(reading->width, reading->height), least = side * SMALLEST;
    *pen = side * PEN;
    box_t box = box_of(reading, *pen);
    if (*pen < THINNEST * size_of(&box)) {
        *pen = THINNEST * size_of(&box);
        box = box_of(reading, *pen);
    }
    if (size_of(&box) < least) box = grown(box, 0, (least - (box.bottom - box.top)) / 2);
    const double padding = size_of(&box) * PADDING / (1 - 2 * PADDING);
    return grown(box, padding, padding);
}

static json_t *ink_rounded(double value)
{
    return json_real(round(value * STEPS) / STEPS);
}

static const char *write_ink(const reading_t *reading, apr_pool_t *result_pool, apr_pool_t *scratch_pool)
{
    double pen;
    const box_t box = ink_trim(&pen, reading);
    const double width = box.right - box.left, height = box.bottom - box.top, unit = fmax(width, height);
    json_t *out = sr_json_own(json_object(), scratch_pool), *strokes = json_array();
    json_object_set_new(out, "width", ink_rounded(width / unit));
    json_object_set_new(out, "height", ink_rounded(height / unit));
    json_object_set_new(out, "pen", ink_rounded(pen / unit));
    json_object_set_new(out, "strokes", strokes);
    for (int i = 0, at = 0; i < reading->strokes; i++) {
        json_t *stroke = json_array();
        json_array_append_new(strokes, stroke);
        for (; at < reading->ends[i]; at++) {
            json_array_append_new(stroke, ink_rounded((reading->points[at].x - box.left) / unit));
            json_array_append_new(stroke, ink_rounded((reading->points[at].y - box.top) / unit));
            json_array_append_new(stroke, ink_rounded(line_width(pen, reading->points[at].pressure) / unit));
        }
    }
    return sr_json_text(out, result_pool);
}

/* -------------------------------------------------------------------------------------------------------- parsing */

static sr_error_t *ink_read_drawn(reading_t *reading, const json_t *drawn)
{
    const json_t *strokes = json_object_get(drawn, "strokes");
    apr_pool_t *pool = reading->pool;
    if (!read_side(&reading->width, drawn, "width") || !read_side(&reading->height, drawn, "height"))
        return sr_error(pool, SR_EBADREQUEST, "A drawn signature needs width and height, from 1 to %d", (int)MAX_SIDE);
    if (reading->width > MAX_ASPECT * reading->height || reading->height > MAX_ASPECT * reading->width)
        return sr_error(pool, SR_EBADREQUEST,
                        "A drawn signature is at most %d times as wide as high, or as high as wide", (int)MAX_ASPECT);
    if (json_is_string(strokes)) SR_TRY(ink_read_text(reading, json_string_value(strokes)));
    else if (json_is_array(strokes)) SR_TRY(read_array(reading, strokes));
    else return sr_error(pool, SR_EBADREQUEST, "The strokes of a signature must be an array, or a text");
    return reading->count ? NULL : sr_error(pool, SR_EBADREQUEST, "The signature is empty");
}

sr_error_t *sr_ink_parse(sr_ink_t **ink, const json_t *drawn, apr_pool_t *pool)
{
    apr_pool_t *scratch; /* thousands of points need megabytes */
    apr_pool_create(&scratch, pool);
    reading_t reading = {.pool = pool};
    reading.points = apr_palloc(scratch, SR_INK_MAX_POINTS * sizeof *reading.points);
    reading.ends = apr_palloc(scratch, SR_INK_MAX_STROKES * sizeof *reading.ends);
    sr_error_t *error = ink_read_drawn(&reading, drawn);
    if (!error) {
        *ink = apr_palloc(pool, sizeof **ink);
        **ink = (sr_ink_t){.text = write_ink(&reading, pool, scratch), .points = reading.count};
    }
    apr_pool_destroy(scratch);
    return error;
}
