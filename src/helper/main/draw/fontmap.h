/* SPDX-License-Identifier: Apache-2.0 */
/* fontmap.h: shared by fontmap.c and typeset.c. */
#ifndef SR_HELPER_MAIN_DRAW_FONTMAP_H
#define SR_HELPER_MAIN_DRAW_FONTMAP_H

#include "helper/main/draw/glyphs.h"

#include <pango/pango.h>

/* Every PangoFont of this font map has this type. */
typedef struct sr_pdfd_sized_t {
    PangoFont parent;
    sr_pdfd_font_t *font;
    double size; /* points */
    hb_font_t *scaled;
    PangoFontMetrics metrics;
} sr_pdfd_sized_t;

/* Returns the only font map. It is never freed. */
PangoFontMap *sr_pdfd_font_map(void);
/* Returns the description with which the map is asked for a style. New reference. */
PangoFontDescription *sr_pdfd_font_description(sr_pdfd_style_t style, double size);
/* Returns the glyph of a font. For a character that no font has, it is the glyph for missing characters. */
hb_codepoint_t sr_pdfd_glyph_of(PangoGlyph glyph);

#endif
