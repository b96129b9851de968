/* SPDX-License-Identifier: Apache-2.0 */
/* fontmap.h: what fontmap.c and typeset.c share. */
#ifndef SR_PDFD_FONTMAP_H
#define SR_PDFD_FONTMAP_H

#include "pdfd/glyphs.h"

#include <pango/pango.h>

/* Every PangoFont of this map. */
typedef struct sr_pdfd_sized_t {
    PangoFont parent;
    sr_pdfd_font_t *font;
    double size; /* points */
    hb_font_t *scaled;
    PangoFontMetrics metrics;
} sr_pdfd_sized_t;

/* The only one. */
PangoFontMap *sr_pdfd_font_map(void);
/* How the map is asked for a style. New reference. */
PangoFontDescription *sr_pdfd_font_description(sr_pdfd_style_t style, double size);
/* The glyph of a font: for a character that no font has, the one for that. */
hb_codepoint_t sr_pdfd_glyph_of(PangoGlyph glyph);

#endif
