/* typeset.c: pango breaks texts into lines, with the fonts of fonts.c, and cairo writes them. Pango's own way to find
 * fonts (pangofc) is left out: it starts a thread for fontconfig, which would have to be there before the sandbox
 * closes and so would stay outside of it. What pango needs instead is a font map that knows our fonts: the first two
 * classes here. */
#include "pdfd/typeset.h"

#include <cairo-ft.h>
#include <math.h>
#include <pango/pango.h>
#include <string.h>
#include <unistd.h>

#define MAX_SETS 16 /* styles and sizes that are kept for the next question; a composed document has fewer */

/* ------------------------------------------------------------------------------------------ one font in one size */

typedef struct sized_t {
    PangoFont parent;
    sr_pdfd_font_t *font;
    double size;
    hb_font_t *scaled;
    PangoFontMetrics metrics;
} sized_t;
typedef struct sized_tClass {
    PangoFontClass parent;
} sized_tClass;
static GType sized_get_type(void);
G_DEFINE_TYPE(sized_t, sized, PANGO_TYPE_FONT)

static PangoFontMap *map; /* the only one */

static PangoFontDescription *sized_describe(PangoFont *font)
{
    PangoFontDescription *description = pango_font_description_new();
    pango_font_description_set_family_static(description, "sigreq");
    pango_font_description_set_absolute_size(description, ((sized_t *)font)->size * PANGO_SCALE);
    return description;
}

static PangoCoverage *sized_get_coverage(PangoFont *font, PangoLanguage *language)
{
    sr_pdfd_font_t *own = ((sized_t *)font)->font;
    if (!own->has) {
        hb_set_t *characters = hb_set_create();
        hb_face_collect_unicodes(hb_font_get_face(own->font), characters);
        own->has = pango_coverage_new();
        for (hb_codepoint_t c = HB_SET_VALUE_INVALID; hb_set_next(characters, &c);)
            pango_coverage_set(own->has, (int)c, PANGO_COVERAGE_EXACT);
        hb_set_destroy(characters);
    }
    return g_object_ref(own->has);
}

/* A character that no font has is shown as the font's glyph for that, and by draw_unknown where that is empty. */
static hb_codepoint_t glyph_of(PangoGlyph glyph)
{
    return glyph & PANGO_GLYPH_UNKNOWN_FLAG ? 0 : glyph;
}

static void sized_get_glyph_extents(PangoFont *font, PangoGlyph glyph, PangoRectangle *ink, PangoRectangle *logical)
{
    const sized_t *own = (const sized_t *)font;
    hb_glyph_extents_t extents = {0};
    bool empty = glyph == PANGO_GLYPH_EMPTY;
    if (!empty) hb_font_get_glyph_extents(own->scaled, glyph_of(glyph), &extents);
    if (ink) *ink = (PangoRectangle){extents.x_bearing, -extents.y_bearing, extents.width, -extents.height};
    if (!logical) return;
    int advance = empty ? 0 : hb_font_get_glyph_h_advance(own->scaled, glyph_of(glyph));
    if (!empty && (glyph & PANGO_GLYPH_UNKNOWN_FLAG) && !extents.width) advance = own->metrics.approximate_char_width;
    *logical = (PangoRectangle){0, -own->metrics.ascent, advance, own->metrics.height};
}

static PangoFontMetrics *sized_get_metrics(PangoFont *font, PangoLanguage *language)
{
    return pango_font_metrics_ref(&((sized_t *)font)->metrics);
}

static PangoFontMap *sized_get_font_map(PangoFont *font)
{
    return map;
}

static hb_font_t *sized_create_hb_font(PangoFont *font)
{
    return hb_font_reference(((sized_t *)font)->scaled);
}

static void sized_init(sized_t *font)
{
}

static void sized_class_init(sized_tClass *class)
{
    class->parent.describe = class->parent.describe_absolute = sized_describe;
    class->parent.get_coverage = sized_get_coverage;
    class->parent.get_glyph_extents = sized_get_glyph_extents;
    class->parent.get_metrics = sized_get_metrics;
    class->parent.get_font_map = sized_get_font_map;
    class->parent.create_hb_font = sized_create_hb_font;
}

static PangoFont *sized_new(sr_pdfd_font_t *font, double size)
{
    sized_t *made = g_object_new(sized_get_type(), NULL);
    int scale = (int)(size * PANGO_SCALE);
    hb_font_extents_t extents = {0};
    made->font = font;
    made->size = size;
    made->scaled = hb_font_create(hb_font_get_face(font->font));
    hb_font_set_scale(made->scaled, scale, scale);
    hb_font_get_h_extents(made->scaled, &extents);
    made->metrics = (PangoFontMetrics){.ref_count = 1, /* and so it is never freed */
                                       .ascent = extents.ascender,
                                       .descent = -extents.descender,
                                       .height = extents.ascender - extents.descender,
                                       .approximate_char_width = scale / 2,
                                       .approximate_digit_width = scale / 2};
    return &made->parent;
}

/* ----------------------------------------------------------------------------------------------- the font map */

typedef struct map_t {
    PangoFontMap parent;
} map_t;
typedef struct map_tClass {
    PangoFontMapClass parent;
} map_tClass;
static GType map_get_type(void);
G_DEFINE_TYPE(map_t, map, PANGO_TYPE_FONT_MAP)

static const char *const FAMILIES[SR_PDFD_STYLES] = {"typed", "plain", "bold", "code"}; /* between us and this map */

static struct {
    sr_pdfd_style_t style;
    int size;
    PangoFontset *set;
} sets[MAX_SETS];
static int set_count;

/* Pango asks for other families where it sees emoji. */
static sr_pdfd_style_t style_of(const PangoFontDescription *description)
{
    const char *family = pango_font_description_get_family(description);
    for (int i = 0; family && i < SR_PDFD_STYLES; i++)
        if (!strcmp(family, FAMILIES[i])) return (sr_pdfd_style_t)i;
    return SR_PDFD_PLAIN;
}

static PangoFontset *map_load_fontset(PangoFontMap *self, PangoContext *context,
                                      const PangoFontDescription *description, PangoLanguage *language)
{
    sr_pdfd_style_t style = style_of(description);
    int size = pango_font_description_get_size(description);
    sr_pdfd_font_t *font;
    for (int i = 0; i < set_count; i++)
        if (sets[i].style == style && sets[i].size == size) return g_object_ref(sets[i].set);
    PangoFontsetSimple *made = pango_fontset_simple_new(language);
    for (int i = 0; (font = sr_pdfd_font(style, i)); i++)
        pango_fontset_simple_append(made, sized_new(font, size / (double)PANGO_SCALE));
    if (set_count == MAX_SETS) return PANGO_FONTSET(made);
    sets[set_count].style = style;
    sets[set_count].size = size;
    sets[set_count++].set = g_object_ref(PANGO_FONTSET(made));
    return PANGO_FONTSET(made);
}

static PangoFont *map_load_font(PangoFontMap *self, PangoContext *context, const PangoFontDescription *description)
{
    PangoFontset *set = map_load_fontset(self, context, description, pango_language_get_default());
    PangoFont *font = pango_fontset_get_font(set, ' ');
    g_object_unref(set);
    return font;
}

static void map_list_families(PangoFontMap *self, PangoFontFamily ***families, int *count)
{
    if (families) *families = NULL;
    *count = 0;
}

static void map_init(map_t *self)
{
}

static void map_class_init(map_tClass *class)
{
    class->parent.load_font = map_load_font;
    class->parent.load_fontset = map_load_fontset;
    class->parent.list_families = map_list_families;
    class->parent.shape_engine_type = "sigreq";
}

/* ------------------------------------------------------------------------------------------------ paragraphs */

struct sr_pdfd_paragraph_t {
    PangoLayout *layout;
    const sr_pdfd_look_t *look;
    double width;
};

static PangoContext *context_of(const char *language)
{
    static PangoContext *context; /* the only one, too */
    if (!map) {
        map = g_object_new(map_get_type(), NULL);
        context = pango_font_map_create_context(map);
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

sr_pdfd_paragraph_t *sr_pdfd_paragraph(const char *text, const sr_pdfd_look_t *look, double width, const char *language,
                                       apr_pool_t *pool)
{
    if (!text || sr_text_is_blank(text) || !sr_pdfd_font(look->style, 0)) return NULL;
    sr_pdfd_paragraph_t *paragraph = apr_palloc(pool, sizeof *paragraph);
    *paragraph = (sr_pdfd_paragraph_t){.layout = pango_layout_new(context_of(language)), .look = look, .width = width};
    apr_pool_cleanup_register(pool, paragraph->layout, release, apr_pool_cleanup_null);
    PangoFontDescription *font = pango_font_description_new();
    pango_font_description_set_family_static(font, FAMILIES[look->style]);
    pango_font_description_set_absolute_size(font, look->size * PANGO_SCALE);
    pango_layout_set_font_description(paragraph->layout, font);
    pango_font_description_free(font);
    PangoAttrList *attributes = pango_attr_list_new(); /* a hyphen in an address or a hash would be part of it */
    pango_attr_list_insert(attributes, pango_attr_insert_hyphens_new(FALSE));
    pango_layout_set_attributes(paragraph->layout, attributes);
    pango_attr_list_unref(attributes);
    pango_layout_set_single_paragraph_mode(paragraph->layout, TRUE);
    pango_layout_set_wrap(paragraph->layout, look->style == SR_PDFD_CODE ? PANGO_WRAP_CHAR : PANGO_WRAP_WORD_CHAR);
    pango_layout_set_width(paragraph->layout, (int)(width * PANGO_SCALE));
    pango_layout_set_text(paragraph->layout, sr_text_printable(text, pool), -1);
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

/* --------------------------------------------------------------------------------------------------- drawing */

static cairo_font_face_t *face_of(sr_pdfd_font_t *font)
{
    static FT_Library library;
    if (font->face) return font->face;
    hb_face_t *own = hb_font_get_face(font->font);
    hb_blob_t *blob = hb_face_reference_blob(own); /* kept: FreeType reads from it */
    unsigned size;
    const char *data = hb_blob_get_data(blob, &size);
    FT_Face face;
    if (!library && FT_Init_FreeType(&library)) _exit(1);
    if (FT_New_Memory_Face(library, (const FT_Byte *)data, (FT_Long)size, (FT_Long)hb_face_get_index(own), &face))
        return NULL;
    font->face = cairo_ft_font_face_create_for_ft_face(face, FT_LOAD_NO_HINTING);
    return font->face;
}

#define SLACK 1.5 /* italics and accents may reach so far beyond their line */

typedef struct drawn_t {
    cairo_glyph_t *glyphs;
    cairo_text_cluster_t *clusters;
    int glyph_count, cluster_count;
} drawn_t;

/* What is between two ends of an iterator: the glyphs of one cluster, which run backwards in a text that does. */
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
            drawn->glyphs[drawn->glyph_count++] =
                (cairo_glyph_t){glyph_of(glyph->glyph), x + (advanced + glyph->geometry.x_offset) / (double)PANGO_SCALE,
                                y + glyph->geometry.y_offset / (double)PANGO_SCALE};
        advanced += glyph->geometry.width;
    }
}

static void draw_unknown(cairo_t *context, const sized_t *font, const PangoGlyphInfo *glyph, double x, double y)
{
    hb_glyph_extents_t extents = {0};
    hb_font_get_glyph_extents(font->scaled, 0, &extents);
    if (!(glyph->glyph & PANGO_GLYPH_UNKNOWN_FLAG) || glyph->glyph == PANGO_GLYPH_EMPTY || extents.width) return;
    double width = glyph->geometry.width / (double)PANGO_SCALE;
    cairo_set_line_width(context, font->size / 16);
    cairo_rectangle(context, x + 0.15 * width, y, 0.7 * width, -0.65 * font->size);
    cairo_stroke(context);
}

/* With the text beside the glyphs, so that readers can search and copy it. */
static void draw_run(cairo_t *context, PangoGlyphItem *run, const char *text, double x, double y)
{
    const sized_t *font = (const sized_t *)run->item->analysis.font;
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

void sr_pdfd_paragraph_draw(cairo_t *context, const sr_pdfd_paragraph_t *paragraph, int line, double x, double y)
{
    PangoLayoutLine *found = line_at(paragraph, line);
    double above, below;
    if (!found) return;
    /* What runs from right to left and over more than one line is even on that side. */
    if (found->resolved_dir == PANGO_DIRECTION_RTL && sr_pdfd_paragraph_lines(paragraph) > 1)
        x += fmax(0, paragraph->width - sr_pdfd_paragraph_width(paragraph, line));
    uint32_t colour = paragraph->look->colour;
    sr_pdfd_paragraph_extents(&above, &below, paragraph, line);
    cairo_save(context);
    /* Marks that are piled up must not reach into other lines, where they could say something else. */
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
