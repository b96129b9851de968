/* SPDX-License-Identifier: Apache-2.0 */
/* typeset.c: pango breaks texts into lines, and cairo writes them. */
#include "pdfd/typeset.h"
#include "pdfd/fontmap.h"

#include <cairo-ft.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

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

static apr_status_t release(void *layout)
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
    apr_pool_cleanup_register(pool, paragraph->layout, release, apr_pool_cleanup_null);
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

static cairo_font_face_t *face_of(sr_pdfd_font_t *font)
{
    static FT_Library library;
    if (font->face) return font->face;
    hb_face_t *own = hb_font_get_face(font->font);
    hb_blob_t *blob = hb_face_reference_blob(own); /* not released, because FreeType reads from it */
    unsigned size;
    const char *data = hb_blob_get_data(blob, &size);
    FT_Face face;
    if (!library && FT_Init_FreeType(&library)) _exit(1);
    if (FT_New_Memory_Face(library, (const FT_Byte *)data, (FT_Long)size, (FT_Long)hb_face_get_index(own), &face))
        return NULL;
    font->face = cairo_ft_font_face_create_for_ft_face(face, FT_LOAD_NO_HINTING);
    return font->face;
}

#define SLACK 1.5 /* points by which italics and accents may exceed their line */

typedef struct drawn_t {
    cairo_glyph_t *glyphs;
    cairo_text_cluster_t *clusters;
    int glyph_count, cluster_count;
} drawn_t;

/* Adds the glyphs between two positions of an iterator as one cluster. In text from right to left they are in reverse
 * order. */
static void add_cluster(drawn_t *drawn, const PangoGlyphItemIter *at)
{
    int from = at->start_glyph < at->end_glyph ? at->start_glyph : at->end_glyph + 1, count = 0;
    int to = at->start_glyph < at->end_glyph ? at->end_glyph : at->start_glyph + 1;
    for (int i = from; i < to; i++)
        if (at->glyph_item->glyphs->glyphs[i].glyph != PANGO_GLYPH_EMPTY) count++;
    drawn->clusters[drawn->cluster_count++] = (cairo_text_cluster_t){at->end_index - at->start_index, count};
}

static void place_glyphs(drawn_t *drawn, const PangoGlyphString *glyphs, double x, double y)
{
    int advanced = 0;
    for (int i = 0; i < glyphs->num_glyphs; i++) {
        const PangoGlyphInfo *glyph = &glyphs->glyphs[i];
        if (glyph->glyph != PANGO_GLYPH_EMPTY)
            drawn->glyphs[drawn->glyph_count++] = (cairo_glyph_t){
                sr_pdfd_glyph_of(glyph->glyph), x + (advanced + glyph->geometry.x_offset) / (double)PANGO_SCALE,
                y + glyph->geometry.y_offset / (double)PANGO_SCALE};
        advanced += glyph->geometry.width;
    }
}

/* Draws a box for a missing character if the font's own glyph for this is empty. */
static void draw_unknown(cairo_t *context, const sr_pdfd_sized_t *font, const PangoGlyphInfo *glyph, double x, double y)
{
    hb_glyph_extents_t extents = {0};
    hb_font_get_glyph_extents(font->scaled, 0, &extents);
    if (!(glyph->glyph & PANGO_GLYPH_UNKNOWN_FLAG) || glyph->glyph == PANGO_GLYPH_EMPTY || extents.width) return;
    double width = glyph->geometry.width / (double)PANGO_SCALE;
    cairo_set_line_width(context, font->size / 16);
    cairo_rectangle(context, x + 0.15 * width, y, 0.7 * width, -0.65 * font->size);
    cairo_stroke(context);
}

/* Draws a run together with its text, so that readers can search and copy it. */
static void draw_run(cairo_t *context, PangoGlyphItem *run, const char *text, double x, double y)
{
    const sr_pdfd_sized_t *font = (const sr_pdfd_sized_t *)run->item->analysis.font;
    int count = run->glyphs->num_glyphs;
    cairo_font_face_t *face = face_of(font->font);
    PangoGlyphItemIter at;
    if (!face || !count) return;
    drawn_t drawn = {.glyphs = g_new(cairo_glyph_t, count), .clusters = g_new(cairo_text_cluster_t, count)};
    place_glyphs(&drawn, run->glyphs, x, y);
    for (gboolean more = pango_glyph_item_iter_init_start(&at, run, text); more;
         more = pango_glyph_item_iter_next_cluster(&at))
        add_cluster(&drawn, &at);
    cairo_set_font_face(context, face);
    cairo_set_font_size(context, font->size);
    bool backward = run->item->analysis.level % 2;
    cairo_show_text_glyphs(context, text + run->item->offset, run->item->length, drawn.glyphs, drawn.glyph_count,
                           drawn.clusters, drawn.cluster_count,
                           backward ? CAIRO_TEXT_CLUSTER_FLAG_BACKWARD : (cairo_text_cluster_flags_t)0);
    for (int i = 0; i < count; i++) {
        draw_unknown(context, font, &run->glyphs->glyphs[i], x, y);
        x += run->glyphs->glyphs[i].geometry.width / (double)PANGO_SCALE;
    }
    g_free(drawn.glyphs);
    g_free(drawn.clusters);
}

void sr_pdfd_paragraph_draw(cairo_t *context, const sr_pdfd_paragraph_t *paragraph, int line, double x, double y,
                            bool right)
{
    PangoLayoutLine *found = line_at(paragraph, line);
    double above, below;
    if (!found) return;
    /* A paragraph of several lines from right to left is aligned on the right. */
    const bool several = sr_pdfd_paragraph_lines(paragraph) > 1;
    if (several ? found->resolved_dir == PANGO_DIRECTION_RTL : right)
        x += fmax(0, paragraph->width - sr_pdfd_paragraph_width(paragraph, line));
    uint32_t colour = paragraph->look->colour;
    sr_pdfd_paragraph_extents(&above, &below, paragraph, line);
    cairo_save(context);
    /* Stacked diacritics must not reach into other lines, where they could change the text. */
    cairo_rectangle(context, x - SLACK, y - above - SLACK, paragraph->width + 2 * SLACK, above + below + 2 * SLACK);
    cairo_clip(context);
    cairo_set_source_rgb(context, (colour >> 16) / 255.0, (colour >> 8 & 0xff) / 255.0, (colour & 0xff) / 255.0);
    for (GSList *run = found->runs; run; run = run->next) {
        PangoGlyphItem *item = run->data;
        draw_run(context, item, pango_layout_get_text(paragraph->layout), x, y);
        x += pango_glyph_string_get_width(item->glyphs) / (double)PANGO_SCALE;
    }
    cairo_restore(context);
}
