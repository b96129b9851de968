/* SPDX-License-Identifier: Apache-2.0 */
/* caption.c: the small line below a signature. It is drawn as outlines, like a typed signature, with hidden letters
 * that readers can search and copy. */
#include "helper/main/draw/drawing.h"

#include <string.h>

#define MAX_CAPTIONS 15 /* the possible orders of one, two or three words */
static const char COLOUR[] = "0.25 0.25 0.25 rg\n";

static const json_t *caption_texts_of(const json_t *parameters)
{
    return json_object_get(json_object_get(parameters, "captions"), "texts");
}

static const char *draw_caption(sr_pdfd_drawing_t *drawing, const json_t *texts, size_t i, apr_pool_t *pool)
{
    if (i == MAX_CAPTIONS) return "There are too many captions";
    const char *reason = sr_pdfd_draw_line(drawing, json_array_get(texts, i), pool);
    drawing->colour = COLOUR;
    return reason;
}

const char *sr_pdfd_captions(apr_array_header_t **marks, sr_pdfd_update_t *update, const json_t *parameters)
{
    const json_t *texts = caption_texts_of(parameters);
    *marks = apr_array_make(update->pool, MAX_CAPTIONS, sizeof(sr_pdfd_mark_t));
    for (size_t i = 0; i < json_array_size(texts); i++) {
        sr_pdfd_drawing_t drawing;
        const char *reason = draw_caption(&drawing, texts, i, update->pool);
        if (reason) return reason;
        sr_pdfd_buffer_t *content = sr_pdfd_buffer(update->pool);
        sr_pdfd_put_hidden(content, json_string_value(json_array_get(texts, i)),
                           (double[]){0, 0, drawing.width, drawing.height}, update->pool);
        sr_pdfd_drawing_content(content, &drawing);
        sr_pdfd_mark_t *mark = apr_array_push(*marks);
        *mark = (sr_pdfd_mark_t){.width = drawing.width, .height = drawing.height};
        sr_pdfd_mark_form(mark, update, update->archival ? SR_PDF_CAPTION_ARCHIVAL : SR_PDF_CAPTION_RESOURCES, content);
    }
    return NULL;
}

const sr_pdfd_mark_t *sr_pdfd_caption_of(const apr_array_header_t *marks, const sr_pdfd_widget_t *widget,
                                         const json_t *parameters)
{
    const json_t *fields = json_object_get(json_object_get(parameters, "captions"), "fields");
    const json_t *number = json_array_get(fields, (size_t)widget->number - 1);
    const json_int_t i = number ? json_integer_value(number) : -1;
    return i >= 0 && i < marks->nelts ? &APR_ARRAY_IDX(marks, i, sr_pdfd_mark_t) : NULL;
}

const char *sr_pdfd_captions_json(sr_pdfd_buffer_t *out, const json_t *parameters, apr_pool_t *pool)
{
    const json_t *texts = caption_texts_of(parameters);
    for (size_t i = 0; i < json_array_size(texts); i++) {
        sr_pdfd_drawing_t drawing;
        const char *reason = draw_caption(&drawing, texts, i, pool);
        if (reason) return reason;
        sr_pdfd_put_text(out, i ? "," : ",\"captions\":[");
        sr_pdfd_drawing_json(out, &drawing, pool);
    }
    if (json_array_size(texts)) sr_pdfd_put_text(out, "]");
    return NULL;
}
