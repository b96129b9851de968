/* SPDX-License-Identifier: Apache-2.0 */
/* typeset.c: pango breaks texts into lines, and canvas.c draws them. */
#include "helper/main/draw/typeset.h"
#include "helper/main/draw/fontmap.h"

#include <math.h>
#include <string.h>

#define MAX_WORD 512 /* bytes; a paragraph with a longer word is broken anywhere */

/* ------------------------------------------------------------------------------------------------ paragraphs */

struct sr_pdfd_paragraph_t {
    PangoLayout *layout;
    const sr_pdfd_look_t *look;
    double width;
};

static PangoContext *context_of(const char *language)
{
    static PangoContext *context;
    if (!context) {
        context = pango_font_map_create_context(sr_pdfd_font_map());
        pango_context_set_round_glyph_positions(context, FALSE);
    }
    pango_context_set_language(context, pango_language_from_string(language ? language : "und"));
    return context;
}

static apr_status_t typeset_release(void *layout)
{
    g_object_unref(layout);
    return APR_SUCCESS;
}

/* To break a word, pango first tries its end, and then again for each line. The time grows with the square of the
 * length of the word. */
static PangoWrapMode wrap_of(const char *text, const sr_pdfd_look_t *look)
{
    if (look->style == SR_PDFD_CODE) return PANGO_WRAP_CHAR;
    for (size_t word; *text; text += word + (text[word] == ' ')) {
        word = strcspn(text, " ");
        if (word > MAX_WORD) return PANGO_WRAP_CHAR;
    }
    return PANGO_WRAP_WORD_CHAR;
}

sr_pdfd_paragraph_t *sr_pdfd_paragraph(const char *text, const sr_pdfd_look_t *look, double width, const char *language,
                                       apr_pool_t *pool)
{
    if (!text || sr_text_is_blank(text) || !sr_pdfd_font(look->style, 0)) return NULL;
    sr_pdfd_paragraph_t *paragraph = apr_palloc(pool, sizeof *paragraph);
    *paragraph = (sr_pdfd_paragraph_t){.layout = pango_layout_new(context_of(language)), .look = look, .width = width};
    apr_pool_cleanup_register(pool, paragraph->layout, typeset_release, apr_pool_cleanup_null);
    PangoFontDescription *font = sr_pdfd_font_description(look->style, look->size);
    pango_layout_set_font_description(paragraph->layout, font);
    pango_font_description_free(font);
    PangoAttrList *attributes =
        pango_attr_list_new(); /* a hyphen that was inserted into an address or a hash would look like a part of it */
    pango_attr_list_insert(attributes, pango_attr_insert_hyphens_new(FALSE));
    /* Nimbus Sans has a ligature for "Nr". Letters are shown separately, because the text is evidence. */
    pango_attr_list_insert(attributes, pango_attr_font_features_new("liga 0, dlig 0, clig 0"));
    pango_layout_set_attributes(paragraph->layout, attributes);
    pango_attr_list_unref(attributes);
    pango_layout_set_single_paragraph_mode(paragraph->layout, TRUE);
    pango_layout_set_wrap(paragraph->layout, wrap_of(text, look));
    pango_layout_set_width(paragraph->layout, (int)(width * PANGO_SCALE));
    pango_layout_set_text(paragraph->layout, sr_text_undirected(sr_text_printable(text, pool), pool), -1);
    return paragraph;
}

int sr_pdfd_paragraph_lines(const sr_pdfd_paragraph_t *paragraph)
{
    return paragraph ? pango_layout_get_line_count(paragraph->layout) : 0;
}

static PangoLayoutLine *line_at(const sr_pdfd_paragraph_t *paragraph, int line)
{
    return line < sr_pdfd_paragraph_lines(paragraph) ? pango_layout_get_line_readonly(paragraph->layout, line) : NULL;
}

void sr_pdfd_paragraph_extents(double *above, double *below, const sr_pdfd_paragraph_t *paragraph, int line)
{
    PangoLayoutLine *found = line_at(paragraph, line);
    PangoRectangle logical = {0};
    if (found) pango_layout_line_get_extents(found, NULL, &logical);
    *above = -logical.y / (double)PANGO_SCALE;
    *below = (logical.y + logical.height) / (double)PANGO_SCALE;
}

const char *sr_pdfd_paragraph_text(const sr_pdfd_paragraph_t *paragraph, int line, apr_pool_t *pool)
{
    const PangoLayoutLine *found = line_at(paragraph, line);
    const char *text = pango_layout_get_text(paragraph->layout);
    return found ? apr_pstrmemdup(pool, text + found->start_index, (apr_size_t)found->length) : "";
}

double sr_pdfd_paragraph_leading(const sr_pdfd_paragraph_t *paragraph, int line)
{
    return line_at(paragraph, line) ? paragraph->look->leading : 0;
}

double sr_pdfd_paragraph_width(const sr_pdfd_paragraph_t *paragraph, int line)
{
    PangoLayoutLine *found = line_at(paragraph, line);
    PangoRectangle logical = {0};
    if (found) pango_layout_line_get_extents(found, NULL, &logical);
    return logical.width / (double)PANGO_SCALE;
}

double sr_pdfd_paragraph_room(const sr_pdfd_paragraph_t *paragraph)
{
    return paragraph->width;
}

/* libthai finds Thai words with a dictionary, which it reads from a file when it is first used. */
void sr_pdfd_typeset_warm_up(void)
{
    static const char thai[] =
        "\xe0\xb8\x95\xe0\xb8\xb1\xe0\xb8\xa7\xe0\xb8\xad\xe0\xb8\xa2\xe0\xb9\x88\xe0\xb8\xb2\xe0\xb8\x87";
    PangoLogAttr attributes[sizeof thai / 3 + 1];
    pango_get_log_attrs(thai, -1, 0, pango_language_from_string("th"), attributes,
                        sizeof attributes / sizeof *attributes);
}

/* --------------------------------------------------------------------------------------------------- drawing */

#define SLACK 1.5            /* points by which italics and accents may exceed their line */
#define FIRST_DIACRITIC 0xcc /* the first byte of U+0300 in UTF-8 */

/* Places the glyphs of a cluster, from left to right. `from` is the place of the first glyph of the run. */
static int place_glyphs(sr_pdfd_placed_t *placed, const PangoGlyphItemIter *at, const double *from, double y)
{
    const PangoGlyphInfo *glyphs = at->glyph_item->glyphs->glyphs;
    const bool forward = at->start_glyph < at->end_glyph;
    const int begin = forward ? at->start_glyph : at->end_glyph + 1,
              end = forward ? at->end_glyph : at->start_glyph + 1;
    int count = 0;
    for (int i = begin; i < end; i++) {
        if (glyphs[i].glyph == PANGO_GLYPH_EMPTY) continue;
        placed[count++] = (sr_pdfd_placed_t){sr_pdfd_glyph_of(glyphs[i].glyph),
                                             from[i] + glyphs[i].geometry.x_offset / (double)PANGO_SCALE,
                                             y + glyphs[i].geometry.y_offset / (double)PANGO_SCALE};
    }
    return count;
}

/* Draws a box for a missing character if the font's own glyph for this is empty. */
static void draw_unknown(sr_pdfd_canvas_t *canvas, const sr_pdfd_sized_t *font, const PangoGlyphInfo *glyph, double x,
                         double y, uint32_t colour)
{
    hb_glyph_extents_t extents = {0};
    if (!(glyph->glyph & PANGO_GLYPH_UNKNOWN_FLAG) || glyph->glyph == PANGO_GLYPH_EMPTY) return;
    hb_font_get_glyph_extents(font->scaled, 0, &extents);
    if (extents.width) return;
    const double width = glyph->geometry.width / (double)PANGO_SCALE;
    sr_pdfd_canvas_frame(canvas, x + 0.15 * width, y - 0.65 * font->size, 0.7 * width, 0.65 * font->size,
                         font->size / 16, colour);
}

/* Draws a run together with its text, so that readers can search and copy it. */
static void typeset_draw_run(sr_pdfd_canvas_t *canvas, PangoGlyphItem *run, const char *text, double x, double y,
                             uint32_t colour)
{
    const sr_pdfd_sized_t *font = (const sr_pdfd_sized_t *)run->item->analysis.font;
    const int count = run->glyphs->num_glyphs;
    PangoGlyphItemIter at;
    if (!count) return;
    double *from = g_new(double, count);
    sr_pdfd_placed_t *placed = g_new(sr_pdfd_placed_t, count);
    for (int i = 0; i < count; i++) {
        from[i] = x;
        x += run->glyphs->glyphs[i].geometry.width / (double)PANGO_SCALE;
    }
    sr_pdfd_canvas_begin_run(canvas, font->font, font->size);
    for (gboolean more = pango_glyph_item_iter_init_start(&at, run, text); more;
         more = pango_glyph_item_iter_next_cluster(&at)) {
        const int glyphs = place_glyphs(placed, &at, from, y);
        sr_pdfd_canvas_cluster(canvas, text + at.start_index, (apr_size_t)(at.end_index - at.start_index), placed,
                               glyphs);
    }
    sr_pdfd_canvas_end_run(canvas);
    for (int i = 0; i < count; i++) draw_unknown(canvas, font, &run->glyphs->glyphs[i], from[i], y, colour);
    g_free(from);
    g_free(placed);
}

/* Returns true if a text may have diacritics, which can be stacked: all of them follow these letters of Unicode. */
static bool may_be_stacked(const char *text)
{
    while (*text && (unsigned char)*text < FIRST_DIACRITIC) text++;
    return *text;
}

void sr_pdfd_paragraph_draw(sr_pdfd_canvas_t *canvas, const sr_pdfd_paragraph_t *paragraph, int line, double x,
                            double y, bool right)
{
    PangoLayoutLine *found = line_at(paragraph, line);
    double above, below;
    if (!found) return;
    /* A paragraph of several lines from right to left is aligned on the right. */
    if (right || (sr_pdfd_paragraph_lines(paragraph) > 1 && found->resolved_dir == PANGO_DIRECTION_RTL))
        x += fmax(0, paragraph->width - sr_pdfd_paragraph_width(paragraph, line));
    const char *text = pango_layout_get_text(paragraph->layout);
    const bool clips = may_be_stacked(text);
    if (clips) {
        /* Stacked diacritics must not reach into other lines, where they could change the text. */
        sr_pdfd_paragraph_extents(&above, &below, paragraph, line);
        sr_pdfd_canvas_save(canvas);
        sr_pdfd_canvas_clip(canvas, x - SLACK, y - above - SLACK, paragraph->width + 2 * SLACK,
                            above + below + 2 * SLACK);
    }
    sr_pdfd_canvas_colour(canvas, paragraph->look->colour);
    for (GSList *run = found->runs; run; run = run->next) {
        PangoGlyphItem *item = run->data;
        typeset_draw_run(canvas, item, text, x, y, paragraph->look->colour);
        x += pango_glyph_string_get_width(item->glyphs) / (double)PANGO_SCALE;
    }
    if (clips) sr_pdfd_canvas_restore(canvas);
}
