/* SPDX-License-Identifier: Apache-2.0 */
/* caption.c: the small line below a signature. It is drawn as outlines, like a typed signature. Readers can search and
 * copy its text: it is the /ActualText (ISO 32000-2, 14.9.4) of invisible letters that are together about as wide as
 * the line. Readers that do not support /ActualText find these letters instead, of which those outside Latin-1 are "?".
 */
#include "helper/main/draw/drawing.h"

#include <string.h>

#define MAX_CAPTIONS 15  /* the possible orders of one, two or three words */
#define LETTER_WIDTH 0.5 /* of most letters of Helvetica at size 1 */
static const char COLOUR[] = "0.25 0.25 0.25 rg\n";

/* Returns true for marks of direction, which are only needed for the outlines. */
static bool is_mark(uint32_t c)
{
    return c == 0x200e || c == 0x200f || (c >= 0x2066 && c <= 0x2069);
}

static const char *plain_text(const char *text, apr_pool_t *pool)
{
    char *plain = apr_palloc(pool, strlen(text) + 1), *out = plain;
    for (const char *at = text, *from = at; *at; from = at)
        if (!is_mark(sr_text_next(&at)))
            while (from < at) *out++ = *from++;
    *out = '\0';
    return plain;
}

/* Writes the letters in WinAnsiEncoding, which is the same as Latin-1 for these characters. */
static void put_letters(sr_pdfd_buffer_t *out, const char *text)
{
    sr_pdfd_put_text(out, "<");
    for (uint32_t c; (c = sr_text_next(&text)) != 0;)
        sr_pdfd_print(out, "%02X", (c >= ' ' && c <= '~') || (c >= 0xa1 && c <= 0xff) ? (unsigned)c : (unsigned)'?');
    sr_pdfd_put_text(out, ">");
}

static void put_hidden(sr_pdfd_buffer_t *out, const sr_pdfd_drawing_t *drawing, const char *text)
{
    const double width = drawing->width / (LETTER_WIDTH * (double)sr_text_length(text));
    sr_pdfd_put_text(out, "/Span<</ActualText");
    sr_pdfd_put_string(out, text);
    sr_pdfd_put_text(out, ">>BDC BT 3 Tr /F 1 Tf ");
    sr_pdfd_put_numbers(out, (double[]){width, 0, 0, drawing->height, 0, 0}, 6);
    sr_pdfd_put_text(out, "Tm ");
    put_letters(out, text);
    sr_pdfd_put_text(out, " Tj ET EMC\n");
}

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
        put_hidden(content, &drawing, plain_text(json_string_value(json_array_get(texts, i)), update->pool));
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
