/* SPDX-License-Identifier: Apache-2.0 */
/* appearance.c: the visible part of a signature. The signature drawing (drawn, typed or an image) is one object that
 * all widgets of the signer show. Each widget has a form that scales it to its size, upright on the displayed page. In
 * the test environment it shows the word TEST below the drawing. A caption (caption.c) is a line at the bottom. In
 * PDF/A the colours are device-independent. (ISO 32000-2, 8.10 and 12.5.5) */
#include "helper/main/draw/drawing.h"

#include <math.h>

void sr_pdfd_mark_form(sr_pdfd_mark_t *mark, sr_pdfd_update_t *update, const char *resources,
                       const sr_pdfd_buffer_t *content)
{
    sr_pdfd_buffer_t *keys = sr_pdfd_buffer(update->pool);
    double box[4] = {0, 0, mark->width, mark->height};
    sr_pdfd_put_text(keys, "/Type/XObject/Subtype/Form/BBox[");
    sr_pdfd_put_numbers(keys, box, 4);
    sr_pdfd_print(keys, "]/Resources%s", resources);
    mark->object = sr_pdfd_object_number(update);
    sr_pdfd_stream(update, mark->object, (const char *)keys->data, content->data, content->size);
}

static const char *colours(const sr_pdfd_update_t *update)
{
    return update->archival ? SR_PDF_RESOURCES : "<<>>";
}

const char *sr_pdfd_mark(sr_pdfd_mark_t *mark, sr_pdfd_update_t *update, const json_t *parameters)
{
    sr_pdfd_drawing_t drawing = {0};
    const char *reason = sr_pdfd_draw_any(&drawing, parameters, update->pool);
    if (reason) return reason;
    *mark = (sr_pdfd_mark_t){.width = drawing.width, .height = drawing.height, .is_image = !drawing.steps};
    if (mark->is_image) {
        mark->object = sr_pdfd_image_object(update, &drawing);
        return NULL;
    }
    sr_pdfd_buffer_t *content = sr_pdfd_buffer(update->pool);
    sr_pdfd_drawing_content(content, &drawing);
    sr_pdfd_mark_form(mark, update, colours(update), content);
    return NULL;
}

/* Four letters made of strokes in a box of 100 x 30. They need no font, so they look the same everywhere. */
#define TEST_WIDTH 100.0
#define TEST_HEIGHT 30.0
static const char TEST[] = "1 .78 .78 RG 3.5 w 1 J 1 j\n"
                           "4 26 m 24 26 l 14 26 m 14 4 l\n"
                           "47 26 m 31 26 l 31 4 l 47 4 l 31 15.5 m 44 15.5 l\n"
                           "71 22 m 70 25 66 26 63 26 c 58 26 55 24 55 20.5 c 55 17 59 16 63 15 c "
                           "68 14 72 13 72 9.5 c 72 6 68 4 63 4 c 59 4 55 5.5 54 8.5 c\n"
                           "77 26 m 97 26 l 87 26 m 87 4 l S";

int64_t sr_pdfd_test_form(sr_pdfd_update_t *update)
{
    sr_pdfd_mark_t mark = {.width = TEST_WIDTH, .height = TEST_HEIGHT};
    sr_pdfd_buffer_t *content = sr_pdfd_buffer(update->pool);
    sr_pdfd_put_text(content, TEST);
    sr_pdfd_mark_form(&mark, update, colours(update), content);
    return mark.object;
}

/* A horizontal part of a widget. */
typedef struct part_t {
    double bottom, width, height;
} part_t;

/* Draws `name` centred and as large as it fits. An image XObject always has the size of one unit. */
static void put_fitted(sr_pdfd_buffer_t *out, const char *name, const part_t *part, const sr_pdfd_mark_t *mark)
{
    const bool is_image = mark->is_image;
    double scale = fmin(part->width / mark->width, part->height / mark->height);
    double w = mark->width * scale, h = mark->height * scale;
    const double matrix[6] = {
        is_image ? w : scale, 0, 0, is_image ? h : scale, (part->width - w) / 2, part->bottom + (part->height - h) / 2};
    sr_pdfd_put_text(out, "q ");
    /* a scale needs more decimals than a position */
    sr_pdfd_print(out, "%.8f 0 0 %.8f ", matrix[0], matrix[3]);
    sr_pdfd_put_numbers(out, matrix + 4, 2);
    sr_pdfd_print(out, "cm %s Do Q\n", name);
}

void sr_pdfd_put_form(sr_pdfd_buffer_t *keys, const sr_pdfd_widget_t *widget)
{
    const double box[4] = {0, 0, widget->width, widget->height};
    double matrix[6];
    sr_pdf_upright(matrix, widget->width, widget->height, widget->rotate);
    sr_pdfd_put_text(keys, "/Type/XObject/Subtype/Form/BBox[");
    sr_pdfd_put_numbers(keys, box, 4);
    sr_pdfd_put_text(keys, "]/Matrix[");
    sr_pdfd_put_numbers(keys, matrix, 6);
    sr_pdfd_put_text(keys, "]");
}

int64_t sr_pdfd_appearance(sr_pdfd_update_t *update, const sr_pdfd_widget_t *widget, const sr_pdfd_mark_t *mark,
                           int64_t warning, const sr_pdfd_mark_t *caption)
{
    const sr_pdfd_mark_t test = {.width = TEST_WIDTH, .height = TEST_HEIGHT};
    const double line = caption ? sr_caption_line(widget->height) : 0;
    const part_t above = {line, widget->width, widget->height - line}, below = {0, widget->width, line};
    sr_pdfd_buffer_t *keys = sr_pdfd_buffer(update->pool), *content = sr_pdfd_buffer(update->pool);
    sr_pdfd_put_form(keys, widget);
    sr_pdfd_print(keys, "/Resources<</XObject<</M %lld 0 R", (long long)mark->object);
    if (warning) {
        sr_pdfd_print(keys, "/T %lld 0 R", (long long)warning);
        put_fitted(content, "/T", &above, &test);
    }
    if (line > 0) {
        sr_pdfd_print(keys, "/C %lld 0 R", (long long)caption->object);
        put_fitted(content, "/C", &below, caption);
    }
    sr_pdfd_put_text(keys, ">>>>");
    put_fitted(content, "/M", &above, mark);
    int64_t number = sr_pdfd_object_number(update);
    sr_pdfd_stream(update, number, (const char *)keys->data, content->data, content->size);
    return number;
}
