/* SPDX-License-Identifier: Apache-2.0 */
/* drawn.c: draws the signature of a signed document again, on a canvas or in pixels. It only reads objects in the form
 * in which this program writes them (appearance.c, ink.c, glyphs.c): a form with paths, or an image (drawnimage.c).
 * Nothing else is drawn. */
#include "helper/main/compose/decorations.h"
#include "helper/main/pdfd.h"

#include <apr_encode.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CONTENT (4 << 20)
#define OPERANDS 6

#define RED 0.05 /* the colour of ink */
#define GREEN 0.1
#define BLUE 0.45

#define CM 't' /* translates, because this program uses no other matrix */

static const struct {
    const char *name;
    int operands;
    char code;
} OPERATORS[] = {{"m", 2, 'm'}, {"l", 2, 'l'}, {"c", 6, 'c'}, {"cm", 6, CM},
                 {"h", 0, 'h'}, {"w", 1, 'w'}, {"S", 0, 'S'}, {"f", 0, 'f'}};

typedef struct drawing_t {
    cairo_t *context; /* NULL: the operators are written into `content` */
    sr_pdfd_buffer_t *content;
    bool paints;
    double operands[OPERANDS];
    int count;
} drawing_t;

static void draw_pixels(const drawing_t *drawing, char name)
{
    cairo_t *context = drawing->context;
    const double *v = drawing->operands;
    if (name == 'm') cairo_move_to(context, v[0], v[1]);
    else if (name == 'l') cairo_line_to(context, v[0], v[1]);
    else if (name == 'c') cairo_curve_to(context, v[0], v[1], v[2], v[3], v[4], v[5]);
    else if (name == CM) cairo_translate(context, v[4], v[5]);
    else if (name == 'h') cairo_close_path(context);
    else if (name == 'w') cairo_set_line_width(context, v[0]);
    else if (name == 'S') cairo_stroke(context);
    else if (name == 'f') cairo_fill(context);
}

static void drawn_draw(drawing_t *drawing, const char *name)
{
    const double *v = drawing->operands;
    for (size_t i = 0; i < sizeof OPERATORS / sizeof *OPERATORS; i++) {
        if (strcmp(name, OPERATORS[i].name) != 0 || drawing->count < OPERATORS[i].operands) continue;
        if (OPERATORS[i].operands && drawing->count > OPERATORS[i].operands) continue;
        if (OPERATORS[i].code == CM && (v[0] != 1 || v[1] != 0 || v[2] != 0 || v[3] != 1)) continue;
        drawing->paints |= strchr("Sf", OPERATORS[i].code) != NULL;
        if (drawing->context) {
            draw_pixels(drawing, OPERATORS[i].code);
        } else {
            sr_pdfd_put_numbers(drawing->content, v, OPERATORS[i].operands);
            sr_pdfd_print(drawing->content, "%s\n", name);
        }
    }
    drawing->count = 0;
}

/* Draws numbers and operators. An unknown number format ends the drawing. */
static void interpret(drawing_t *drawing, char *content)
{
    char *state = NULL;
    for (char *word = strtok_r(content, " \n", &state); word; word = strtok_r(NULL, " \n", &state)) {
        char *end;
        const double value = strtod(word, &end);
        if (end == word) drawn_draw(drawing, word);
        else if (*end || !isfinite(value) || fabs(value) > 1e6 || drawing->count == OPERANDS) return;
        else drawing->operands[drawing->count++] = value;
    }
}

static bool drawn_read_box(double box[4], const char *text)
{
    for (int i = 0; i < 4; i++) {
        char *end;
        box[i] = strtod(text, &end);
        if (end == text) return false;
        text = end;
    }
    return true;
}

sr_pdfd_drawn_t *sr_pdfd_drawn_read(const char *object, apr_size_t length, apr_pool_t *pool)
{
    static const char stream[] = ">>stream\n";
    double box[4];
    const char *data = memmem(object, length, stream, strlen(stream));
    if (!data) return NULL;
    const char *keys = apr_pstrmemdup(pool, object, (apr_size_t)(data - object)), *at = strstr(keys, "/BBox[");
    data += strlen(stream);
    if (!at || !drawn_read_box(box, at + strlen("/BBox["))) return NULL;
    sr_pdfd_drawn_t *form = apr_palloc(pool, sizeof *form);
    *form = (sr_pdfd_drawn_t){.x = box[0], .y = box[1], .width = box[2] - box[0], .height = box[3] - box[1]};
    if (!(form->width > 0 && form->height > 0 && form->width < 1e6 && form->height < 1e6)) return NULL;
    apr_size_t size;
    const unsigned char *content = sr_pdfd_unpack(&size, data, length - (apr_size_t)(data - object),
                                                  strstr(keys, "/FlateDecode"), MAX_CONTENT, pool);
    form->content = content ? apr_pstrmemdup(pool, (const char *)content, size) : NULL;
    return content ? form : NULL;
}

void sr_pdfd_drawn_draw(cairo_t *context, const sr_pdfd_drawn_t *form, double scale, apr_pool_t *pool)
{
    drawing_t drawing = {.context = context};
    cairo_save(context);
    cairo_translate(context, 0, form->height * scale);
    cairo_scale(context, scale, -scale);
    cairo_translate(context, -form->x, -form->y);
    cairo_set_source_rgb(context, RED, GREEN, BLUE);
    cairo_set_line_cap(context, CAIRO_LINE_CAP_ROUND);
    cairo_set_line_join(context, CAIRO_LINE_JOIN_ROUND);
    interpret(&drawing, apr_pstrdup(pool, form->content));
    cairo_restore(context);
}

/* A form that paints nothing leaves no trace. */
static void drawn_put_form(sr_pdfd_canvas_t *canvas, const sr_pdfd_drawn_t *form, const sr_pdfd_place_t *place,
                           apr_pool_t *pool)
{
    drawing_t drawing = {.content = sr_pdfd_buffer(pool)};
    const double scale = fmin(place->width / form->width, place->height / form->height);
    const double x = place->x + (place->right ? place->width - form->width * scale : 0);
    const double y = SR_PDFD_HEIGHT - place->y - (place->height + form->height * scale) / 2;
    interpret(&drawing, apr_pstrdup(pool, form->content));
    if (!drawing.paints) return;
    sr_pdfd_canvas_save(canvas);
    sr_pdfd_canvas_clip(canvas, place->x, place->y, place->width, place->height);
    sr_pdfd_buffer_t *out = sr_pdfd_canvas_content(canvas);
    sr_pdfd_print(out, "%.9f 0 0 %.9f %.6f %.6f cm\n1 J 1 j\n%g %g %g rg\n%g %g %g RG\n", scale, scale,
                  x - form->x * scale, y - form->y * scale, RED, GREEN, BLUE, RED, GREEN, BLUE);
    sr_pdfd_put(out, drawing.content->data, drawing.content->size);
    sr_pdfd_put_text(out, "n\n");
    sr_pdfd_canvas_restore(canvas);
}

bool sr_pdfd_is_image(const char *object, apr_size_t length)
{
    static const char image[] = SR_PDFD_IMAGE_BEGIN;
    return length >= strlen(image) && !memcmp(object, image, strlen(image));
}

void sr_pdfd_put_mark(sr_pdfd_canvas_t *canvas, const json_t *chunks, const sr_pdfd_place_t *place, int64_t *pixels,
                      apr_pool_t *pool)
{
    char *object, *end;
    size_t room = 1;
    apr_size_t length;
    for (size_t i = 0; i < json_array_size(chunks); i++) room += json_string_length(json_array_get(chunks, i)) + 3;
    object = end = apr_palloc(pool, room);
    for (size_t i = 0; i < json_array_size(chunks); i++) {
        const char *text = json_string_value(json_array_get(chunks, i));
        const void *bytes = text ? apr_pdecode_base64(pool, text, APR_ENCODE_STRING, APR_ENCODE_NONE, &length) : NULL;
        if (!bytes) return;
        memcpy(end, bytes, length);
        end += length;
    }
    length = (apr_size_t)(end - object);
    if (sr_pdfd_is_image(object, length)) {
        sr_pdfd_drawn_image(canvas, object, length, place, pixels, pool);
        return;
    }
    const sr_pdfd_drawn_t *form = canvas ? sr_pdfd_drawn_read(object, length, pool) : NULL;
    if (form) drawn_put_form(canvas, form, place, pool);
}
