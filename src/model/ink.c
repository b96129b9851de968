/* ink.c: a drawn signature, from what a client sends to what the PDF helper draws: checked, within its canvas, in a
 * unit of its own and in numbers that are short, so that whoever draws it has no cases to think of. */
#include "model/model.h"

#include <math.h>
#include <stdlib.h>

#define MAX_SIDE 100000.0 /* of the canvas, in whatever unit the client has */
#define MAX_ASPECT 50.0
#define PRESSURE 0.5  /* of a pen that has none to tell: what pointer events say of a mouse (W3C Pointer Events) */
#define STEPS 20000.0 /* that the unit is rounded to: a fifth of a pixel on a canvas of 4,000 */

typedef struct reading_t {
    double width, height, longer;
    json_t *strokes; /* what comes out */
    int points;
    apr_pool_t *pool;
} reading_t;

static bool read_side(double *side, const json_t *drawn, const char *name)
{
    const json_t *value = json_object_get(drawn, name);
    *side = json_number_value(value);
    return json_is_number(value) && *side >= 1 && *side <= MAX_SIDE;
}

static void append(json_t *stroke, double value)
{
    json_array_append_new(stroke, json_real(round(value * STEPS) / STEPS));
}

static double within(double value, double limit)
{
    return fmax(0, fmin(limit, value));
}

static sr_error_t *read_point(reading_t *reading, json_t *out, const json_t *point)
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
    append(out, within(v[0], reading->width) / reading->longer);
    append(out, within(v[1], reading->height) / reading->longer);
    append(out, within(v[2], 1));
    reading->points++;
    return NULL;
}

static sr_error_t *read_stroke(reading_t *reading, const json_t *stroke)
{
    if (!json_is_array(stroke))
        return sr_error(reading->pool, SR_EBADREQUEST, "Each stroke must be an array of points");
    if (json_array_size(stroke) > (size_t)(SR_INK_MAX_POINTS - reading->points))
        return sr_error(reading->pool, SR_EBADREQUEST, "A signature has at most %d points", SR_INK_MAX_POINTS);
    if (!json_array_size(stroke)) return NULL;
    json_t *out = json_array();
    json_array_append_new(reading->strokes, out);
    for (size_t i = 0; i < json_array_size(stroke); i++) SR_TRY(read_point(reading, out, json_array_get(stroke, i)));
    return NULL;
}

sr_error_t *sr_ink_parse(sr_ink_t **ink, const json_t *drawn, apr_pool_t *pool)
{
    reading_t reading = {.pool = pool};
    const json_t *strokes = json_object_get(drawn, "strokes");
    if (!read_side(&reading.width, drawn, "width") || !read_side(&reading.height, drawn, "height"))
        return sr_error(pool, SR_EBADREQUEST, "A drawn signature needs width and height, from 1 to %d", (int)MAX_SIDE);
    if (reading.width > MAX_ASPECT * reading.height || reading.height > MAX_ASPECT * reading.width)
        return sr_error(pool, SR_EBADREQUEST,
                        "A drawn signature is at most %d times as wide as high, or as high as wide", (int)MAX_ASPECT);
    if (!json_is_array(strokes)) return sr_error(pool, SR_EBADREQUEST, "The strokes of a signature must be an array");
    if (json_array_size(strokes) > SR_INK_MAX_STROKES)
        return sr_error(pool, SR_EBADREQUEST, "A signature has at most %d strokes", SR_INK_MAX_STROKES);

    reading.longer = fmax(reading.width, reading.height);
    reading.strokes = json_array();
    apr_pool_t *scratch; /* thousands of points are megabytes */
    apr_pool_create(&scratch, pool);
    json_t *out = sr_json_own(json_object(), scratch);
    json_object_set_new(out, "width", json_real(reading.width / reading.longer));
    json_object_set_new(out, "height", json_real(reading.height / reading.longer));
    json_object_set_new(out, "strokes", reading.strokes);
    for (size_t i = 0; i < json_array_size(strokes); i++) SR_TRY(read_stroke(&reading, json_array_get(strokes, i)));
    if (!reading.points) return sr_error(pool, SR_EBADREQUEST, "The signature is empty");
    *ink = apr_palloc(pool, sizeof **ink);
    **ink = (sr_ink_t){.text = sr_json_text(out, pool), .points = reading.points};
    apr_pool_destroy(scratch);
    return NULL;
}
