/* SPDX-License-Identifier: Apache-2.0 */
/* fontmap.c: lets pango use the fonts of fonts.c. pango's own font map (pangofc) starts a thread for fontconfig. It
 * would have to be started before the sandbox is entered, and would then be outside of it. So this file implements the
 * two classes that pango needs: a font in one size, and a map that returns the fonts for a style. */
#include "helper/main/draw/fontmap.h"

#include <string.h>

#define MAX_SETS 16 /* styles and sizes that are kept for later requests; a composed document has fewer */

/* ------------------------------------------------------------------------------------------ one font in one size */

typedef struct sr_pdfd_sized_tClass {
    PangoFontClass parent;
} sr_pdfd_sized_tClass;
static GType sized_get_type(void);
G_DEFINE_TYPE(sr_pdfd_sized_t, sized, PANGO_TYPE_FONT)

static PangoFontMap *map; /* the only font map */

static PangoFontDescription *sized_describe(PangoFont *font)
{
    PangoFontDescription *description = pango_font_description_new();
    pango_font_description_set_family_static(description, "sigreq");
    pango_font_description_set_absolute_size(description, ((sr_pdfd_sized_t *)font)->size * PANGO_SCALE);
    return description;
}

static PangoCoverage *sized_get_coverage(PangoFont *font, PangoLanguage *language)
{
    sr_pdfd_font_t *own = ((sr_pdfd_sized_t *)font)->font;
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

hb_codepoint_t sr_pdfd_glyph_of(PangoGlyph glyph)
{
    return glyph & PANGO_GLYPH_UNKNOWN_FLAG ? 0 : glyph;
}

static void sized_get_glyph_extents(PangoFont *font, PangoGlyph glyph, PangoRectangle *ink, PangoRectangle *logical)
{
    const sr_pdfd_sized_t *own = (const sr_pdfd_sized_t *)font;
    const bool empty = glyph == PANGO_GLYPH_EMPTY, unknown = !empty && (glyph & PANGO_GLYPH_UNKNOWN_FLAG);
    hb_glyph_extents_t extents = {0};
    int advance = empty ? 0 : hb_font_get_glyph_h_advance(own->scaled, sr_pdfd_glyph_of(glyph));
    if (unknown) hb_font_get_glyph_extents(own->scaled, sr_pdfd_glyph_of(glyph), &extents);
    if (unknown && !extents.width) advance = own->metrics.approximate_char_width;
    const PangoRectangle box = {0, -own->metrics.ascent, advance, own->metrics.height};
    if (logical) *logical = box;
    if (ink)
        *ink = box; /* nobody uses it, but pango asks for it; HarfBuzz would have to run the program of each outline */
}

static PangoFontMetrics *sized_get_metrics(PangoFont *font, PangoLanguage *language)
{
    return pango_font_metrics_ref(&((sr_pdfd_sized_t *)font)->metrics);
}

static PangoFontMap *sized_get_font_map(PangoFont *font)
{
    return map;
}

static hb_font_t *sized_create_hb_font(PangoFont *font)
{
    return hb_font_reference(((sr_pdfd_sized_t *)font)->scaled);
}

static void sized_init(sr_pdfd_sized_t *font)
{
}

static void sized_finalize(GObject *object)
{
    hb_font_destroy(((sr_pdfd_sized_t *)object)->scaled);
    G_OBJECT_CLASS(sized_parent_class)->finalize(object);
}

static void sized_class_init(sr_pdfd_sized_tClass *class)
{
    G_OBJECT_CLASS(class)->finalize = sized_finalize;
    class->parent.describe = class->parent.describe_absolute = sized_describe;
    class->parent.get_coverage = sized_get_coverage;
    class->parent.get_glyph_extents = sized_get_glyph_extents;
    class->parent.get_metrics = sized_get_metrics;
    class->parent.get_font_map = sized_get_font_map;
    class->parent.create_hb_font = sized_create_hb_font;
}

static PangoFont *sized_new(sr_pdfd_font_t *font, double size)
{
    sr_pdfd_sized_t *made = g_object_new(sized_get_type(), NULL);
    int scale = (int)(size * PANGO_SCALE);
    hb_font_extents_t extents = {0};
    made->font = font;
    made->size = size;
    made->scaled = hb_font_create(hb_font_get_face(font->font));
    hb_font_set_scale(made->scaled, scale, scale);
    hb_font_get_h_extents(made->scaled, &extents);
    made->metrics = (PangoFontMetrics){.ref_count = 1, /* so it is never freed */
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

static const char *const FAMILIES[SR_PDFD_STYLES] = {"typed", "plain", "bold", "code"};

static struct {
    sr_pdfd_style_t style;
    int size;
    PangoFontset *set;
} sets[MAX_SETS];
static int set_count;

/* pango asks for other families for emoji. */
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

PangoFontMap *sr_pdfd_font_map(void)
{
    if (!map) map = g_object_new(map_get_type(), NULL);
    return map;
}

PangoFontDescription *sr_pdfd_font_description(sr_pdfd_style_t style, double size)
{
    PangoFontDescription *description = pango_font_description_new();
    pango_font_description_set_family_static(description, FAMILIES[style]);
    pango_font_description_set_absolute_size(description, size * PANGO_SCALE);
    return description;
}
