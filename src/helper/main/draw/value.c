/* SPDX-License-Identifier: Apache-2.0 */
/* value.c: the appearance of a field with a value (ISO 32000-2, 12.7.4.3): a text in one or several lines, or a tick.
 * Text is drawn as outlines, so that every reader shows the same and no font is embedded, with hidden letters. */
#include "helper/main/draw/drawing.h"
#include "helper/main/draw/typeset.h"

#include <fribidi.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST 12.0 /* points: of a text whose size is not given */
#define SMALLEST 5.0
#define STEP 0.5
#define LEADING 1.2 /* from one line to the next, times the size */
#define ABOVE 0.9   /* of this, above the base line of the first line */
#define BESIDE 2.0  /* points: free space on the left and right */
#define TICK 100.0  /* the side of the square that a tick is drawn in */

static const char TOO_LONG[] = "The text is too long for its field";
static const char TOO_SMALL[] = "The field is too small for a text";
typedef struct line_t {
    const char *text;
    sr_pdfd_drawing_t drawing; /* without steps until it is drawn */
} line_t;

typedef struct layout_t {
    const sr_pdfd_value_t *value;
    double size, room;         /* the width that a line may have */
    apr_array_header_t *lines; /* line_t */
    apr_pool_t *pool;
} layout_t;

/* ------------------------------------------------------------------------------------------------------- size */

static double value_largest(const sr_pdfd_value_t *value)
{
    const double fits = value->height / LEADING;
    if (value->size > 0) return value->size;
    return fmin(LARGEST, value->multiline ? LARGEST : fits);
}

/* Breaks the text into lines of this size. Returns false if they do not fit. */
static bool value_break(layout_t *layout, double size)
{
    const sr_pdfd_look_t look = {SR_PDFD_PLAIN, size, LEADING * size, 0};
    const int most = (int)floor(layout->value->height / (LEADING * size) + 0.01);
    char *state, *text = apr_pstrdup(layout->pool, layout->value->text), *next = text;
    apr_array_clear(layout->lines);
    layout->size = size;
    while ((state = next)) {
        next = strchr(state, '\n');
        if (next) *next++ = '\0';
        const sr_pdfd_paragraph_t *paragraph = sr_pdfd_paragraph(state, &look, layout->room, NULL, layout->pool);
        const int count = sr_pdfd_paragraph_lines(paragraph);
        if (layout->lines->nelts + (count ? count : 1) > most) return false;
        if (!count) APR_ARRAY_PUSH(layout->lines, line_t) = (line_t){.text = ""};
        for (int i = 0; i < count; i++) {
            if (sr_pdfd_paragraph_width(paragraph, i) > layout->room + 0.01) return false;
            APR_ARRAY_PUSH(layout->lines, line_t) =
                (line_t){.text = sr_pdfd_paragraph_text(paragraph, i, layout->pool)};
        }
    }
    return true;
}

static const char *value_set_lines(layout_t *layout)
{
    const double largest = value_largest(layout->value);
    for (int i = 0; largest - i * STEP > SMALLEST; i++)
        if (value_break(layout, largest - i * STEP)) return NULL;
    return value_break(layout, fmin(largest, SMALLEST)) ? NULL : TOO_LONG;
}

static const char *value_draw(sr_pdfd_drawing_t *drawing, const char *text, apr_pool_t *pool)
{
    const char *wrong = sr_pdfd_draw_plain(drawing, sr_json_own(json_string(text), pool), pool);
    const json_t *unknown = json_array_get(drawing->unknown, 0);
    if (!unknown) return wrong;
    return apr_psprintf(pool, "No font on this server has the character U+%04X", (unsigned)json_integer_value(unknown));
}

/* One line becomes as small as it must be. Its width is measured as it is drawn. */
static const char *value_set_line(layout_t *layout)
{
    line_t line = {.text = layout->value->text};
    const char *wrong = value_draw(&line.drawing, line.text, layout->pool);
    if (wrong) return wrong;
    layout->size = fmin(value_largest(layout->value), layout->room * SR_PDFD_EM / line.drawing.width);
    APR_ARRAY_PUSH(layout->lines, line_t) = line;
    return layout->size < fmin(SMALLEST, value_largest(layout->value)) ? TOO_LONG : NULL;
}

/* ---------------------------------------------------------------------------------------------------- drawing */

static bool is_right_to_left(const char *text, apr_pool_t *pool)
{
    const apr_size_t count = sr_text_length(text);
    FriBidiChar *characters = apr_palloc(pool, (count + 1) * sizeof *characters);
    FriBidiCharType *types = apr_palloc(pool, (count + 1) * sizeof *types);
    for (apr_size_t i = 0; i < count; i++) characters[i] = sr_text_next(&text);
    fribidi_get_bidi_types(characters, (FriBidiStrIndex)count, types);
    return fribidi_get_par_direction(types, (FriBidiStrIndex)count) == FRIBIDI_PAR_RTL;
}

static bool value_is_right(const sr_pdfd_value_t *value, bool right_to_left)
{
    if (value->align == SR_PDFD_LEFT || value->align == SR_PDFD_RIGHT) return value->align == SR_PDFD_RIGHT;
    return (value->align == SR_PDFD_END) != right_to_left;
}

static double value_left(const layout_t *layout, double width, bool right_to_left)
{
    const double free = layout->value->width - width;
    if (layout->value->align == SR_PDFD_CENTER) return free / 2;
    return value_is_right(layout->value, right_to_left) ? free - BESIDE : BESIDE;
}

/* Returns the operators of the colour. It is never gray, which in PDF/A would depend on the device. */
static const char *value_ink(const sr_pdfd_value_t *value, apr_pool_t *pool)
{
    const unsigned long color = value->color ? strtoul(value->color + 1, NULL, 16) : 0;
    sr_pdfd_buffer_t *ink = sr_pdfd_buffer(pool);
    for (int shift = 16; shift >= 0; shift -= 8)
        sr_pdfd_put_numbers(ink, (double[]){(double)(color >> shift & 0xff) / 255}, 1);
    sr_pdfd_put_text(ink, "rg\n");
    return (const char *)ink->data;
}

/* Puts a drawing with its lower left corner at x, y. */
static void value_put_drawing(sr_pdfd_buffer_t *out, const sr_pdfd_value_t *value, const sr_pdfd_drawing_t *drawing,
                              const double place[3], apr_pool_t *pool)
{
    const double x = place[0], y = place[1], scale = place[2], height = drawing->height * scale;
    if (value->as_json) {
        if (out->size > 1) sr_pdfd_put_text(out, ",");
        sr_pdfd_print(out, "{\"box\":[%.3f,%.3f,%.3f,%.3f],\"drawing\":", x, value->height - y - height,
                      drawing->width * scale, height);
        sr_pdfd_drawing_json(out, drawing, pool);
        sr_pdfd_put_text(out, "}");
        return;
    }
    sr_pdfd_print(out, "q %.6f 0 0 %.6f ", scale, scale);
    sr_pdfd_put_numbers(out, place, 2);
    sr_pdfd_put_text(out, "cm\n");
    sr_pdfd_drawing_content(out, drawing);
    sr_pdfd_put_text(out, "Q\n");
}

/* `y`: of the base line. */
static const char *value_put_line(sr_pdfd_buffer_t *out, const layout_t *layout, line_t *line, double y,
                                  bool right_to_left)
{
    sr_pdfd_drawing_t *drawing = &line->drawing;
    if (sr_text_is_blank(line->text)) return NULL;
    const char *wrong = drawing->steps ? NULL : value_draw(drawing, line->text, layout->pool);
    if (wrong) return wrong;
    const double scale = layout->size / SR_PDFD_EM, width = drawing->width * scale;
    const double x = value_left(layout, width, right_to_left), low = y + drawing->bottom * scale;
    drawing->colour = value_ink(layout->value, layout->pool);
    if (!layout->value->as_json)
        sr_pdfd_put_hidden(out, line->text, (double[]){x, y, width, layout->size}, layout->pool);
    value_put_drawing(out, layout->value, drawing, (double[]){x, low, scale}, layout->pool);
    return NULL;
}

/* One line is in the middle. Several begin at the top. */
static const char *value_put_text(sr_pdfd_buffer_t *out, double *size, const sr_pdfd_value_t *value, apr_pool_t *pool)
{
    layout_t layout = {.value = value, .room = value->width - 2 * BESIDE, .pool = pool};
    layout.lines = apr_array_make(pool, 4, sizeof(line_t));
    if (layout.room <= 0 || value->height < LEADING * SMALLEST) return TOO_SMALL;
    const char *wrong = value->multiline ? value_set_lines(&layout) : value_set_line(&layout);
    const bool right_to_left = is_right_to_left(value->text, pool);
    const double leading = LEADING * layout.size;
    const double top = value->multiline ? value->height : (value->height + leading) / 2;
    for (int i = 0; !wrong && i < layout.lines->nelts; i++)
        wrong = value_put_line(out, &layout, &APR_ARRAY_IDX(layout.lines, i, line_t), top - (i + ABOVE) * leading,
                               right_to_left);
    *size = layout.size;
    return wrong;
}

/* ------------------------------------------------------------------------------------------------------- cells */

/* Draws the characters of a text, each apart, and finds the size at which all fit into their cells. */
static const char *value_draw_cells(layout_t *layout, double cell)
{
    const sr_pdfd_value_t *value = layout->value;
    double widest = 1;
    for (const char *at = value->text, *from = at; *at; from = at) {
        sr_text_next(&at);
        line_t *line = apr_array_push(layout->lines);
        *line = (line_t){.text = apr_pstrmemdup(layout->pool, from, (apr_size_t)(at - from))};
        if (sr_text_is_blank(line->text)) continue;
        const char *wrong = value_draw(&line->drawing, line->text, layout->pool);
        if (wrong) return wrong;
        widest = fmax(widest, line->drawing.width);
    }
    layout->size = fmin(value_largest(value), cell * SR_PDFD_EM / widest);
    return layout->lines->nelts > value->comb || layout->size < SMALLEST ? TOO_LONG : NULL;
}

/* Puts each character into the middle of its cell. A text from right to left begins in the last one. */
static const char *value_put_cells(sr_pdfd_buffer_t *out, double *size, const sr_pdfd_value_t *value, apr_pool_t *pool)
{
    layout_t layout = {.value = value, .pool = pool};
    layout.lines = apr_array_make(pool, 16, sizeof(line_t));
    const double cell = value->width / value->comb;
    const bool right_to_left = is_right_to_left(value->text, pool);
    const char *wrong = value_draw_cells(&layout, cell);
    if (wrong) return wrong;
    const int count = layout.lines->nelts, free = value->comb - count;
    const int first = value->align == SR_PDFD_CENTER ? free / 2 : value_is_right(value, right_to_left) ? free : 0;
    const double scale = layout.size / SR_PDFD_EM;
    const double base = (value->height + LEADING * layout.size) / 2 - ABOVE * LEADING * layout.size;
    if (!value->as_json)
        sr_pdfd_put_hidden(out, value->text, (double[]){first * cell, base, count * cell, layout.size}, pool);
    for (int i = 0; i < count; i++) {
        sr_pdfd_drawing_t *drawing = &APR_ARRAY_IDX(layout.lines, i, line_t).drawing;
        const int at = first + (right_to_left ? count - 1 - i : i);
        drawing->colour = value_ink(value, pool);
        const double left = at * cell + (cell - drawing->width * scale) / 2;
        if (drawing->steps)
            value_put_drawing(out, value, drawing, (double[]){left, base + drawing->bottom * scale, scale}, pool);
    }
    *size = layout.size;
    return NULL;
}

/* ------------------------------------------------------------------------------------------------------- ticks */

/* Draws a tick into the middle of the field. */
static void value_put_tick(sr_pdfd_buffer_t *out, const sr_pdfd_value_t *value, apr_pool_t *pool)
{
    static const double tick[][2] = {{15, 50}, {40, 20}, {85, 80}};
    sr_pdfd_drawing_t drawing = {
        .width = TICK, .height = TICK, .steps = sr_pdfd_buffer(pool), .digits = 2, .colour = "0 0 0 RG 1 J 1 j\n"};
    const double side = fmin(value->width, value->height);
    sr_pdfd_draw(&drawing, 'w', (double[]){TICK / 10}, 1);
    for (size_t i = 0; i < sizeof tick / sizeof *tick; i++) sr_pdfd_draw(&drawing, i ? 'l' : 'm', tick[i], 2);
    sr_pdfd_draw(&drawing, 'S', NULL, 0);
    value_put_drawing(out, value, &drawing,
                      (double[]){(value->width - side) / 2, (value->height - side) / 2, side / TICK}, pool);
}

const char *sr_pdfd_value_put(sr_pdfd_buffer_t *out, double *size, const sr_pdfd_value_t *value, apr_pool_t *pool)
{
    const char *wrong = NULL;
    *size = 0;
    if (value->as_json) {
        sr_pdfd_put_text(out, "[");
    } else {
        sr_pdfd_put_text(out, "/Tx BMC\nq 0 0 ");
        sr_pdfd_put_numbers(out, (double[]){value->width, value->height}, 2);
        sr_pdfd_put_text(out, "re W n\n");
    }
    if (value->ticked) value_put_tick(out, value, pool);
    else if (value->text && !sr_text_is_blank(value->text))
        wrong = (value->comb ? value_put_cells : value_put_text)(out, size, value, pool);
    sr_pdfd_put_text(out, value->as_json ? "]" : "Q\nEMC\n");
    return wrong;
}
