/* SPDX-License-Identifier: Apache-2.0 */
/* glyphs.h: fonts, which fonts.c finds for glyphs.c (typed signatures) and fontmap.c (composed documents). */
#ifndef SR_PDFD_GLYPHS_H
#define SR_PDFD_GLYPHS_H

#include "pdfd/pdfd.h"

#include <hb.h>

#define SR_PDFD_EM 1000.0 /* units of a typed signature's drawing that the size of any font is */

typedef struct sr_pdfd_font_t {
    hb_font_t *font;
    double scale;                  /* from its units to the drawing's */
    struct _PangoCoverage *has;    /* once they are needed: its characters (fontmap.c) */
    struct _cairo_font_face *face; /* and the font as cairo wants it (typeset.c) */
} sr_pdfd_font_t;

/* Later ones of these may fall back on earlier ones. */
typedef enum sr_pdfd_style_t {
    SR_PDFD_TYPED,
    SR_PDFD_PLAIN,
    SR_PDFD_BOLD,
    SR_PDFD_CODE,
    SR_PDFD_STYLES
} sr_pdfd_style_t;

/* ----------------------------------------------------------------------------------------------- fonts.c */
/* The fonts for a style, the best first; NULL behind the last. */
sr_pdfd_font_t *sr_pdfd_font(sr_pdfd_style_t style, int index);

#endif
