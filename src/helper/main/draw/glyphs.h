/* SPDX-License-Identifier: Apache-2.0 */
/* glyphs.h: the fonts that fonts.c loads for glyphs.c (typed signatures) and fontmap.c (composed documents). */
#ifndef SR_HELPER_MAIN_DRAW_GLYPHS_H
#define SR_HELPER_MAIN_DRAW_GLYPHS_H

#include "helper/main/draw/drawing.h"

#include <hb.h>

#define SR_PDFD_EM 1000.0 /* the size of each font in the drawing of a typed signature, in units of the drawing */

typedef struct sr_pdfd_font_t {
    hb_font_t *font;
    double scale;               /* from font units to units of the drawing */
    struct _PangoCoverage *has; /* set when it is first needed: the characters of the font (fontmap.c) */
} sr_pdfd_font_t;

/* Later styles may fall back on earlier ones. */
typedef enum sr_pdfd_style_t {
    SR_PDFD_TYPED,
    SR_PDFD_PLAIN,
    SR_PDFD_BOLD,
    SR_PDFD_CODE,
    SR_PDFD_STYLES
} sr_pdfd_style_t;

/* ----------------------------------------------------------------------------------------------- fonts.c */
/* Returns font `index` of a style; the best font has index 0. Returns NULL after the last one. */
sr_pdfd_font_t *sr_pdfd_font(sr_pdfd_style_t style, int index);

#endif
