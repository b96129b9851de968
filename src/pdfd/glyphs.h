/* glyphs.h: what fonts.c and glyphs.c share. */
#ifndef SR_PDFD_GLYPHS_H
#define SR_PDFD_GLYPHS_H

#include "pdfd/pdfd.h"

#include <hb.h>

#define SR_PDFD_EM 1000.0 /* units of the drawing that the size of any font is */

typedef struct sr_pdfd_font_t {
    hb_font_t *font;
    double scale; /* from its units to the drawing's */
} sr_pdfd_font_t;

/* ----------------------------------------------------------------------------------------------- fonts.c */
/* The fonts, the best first; NULL behind the last. */
const sr_pdfd_font_t *sr_pdfd_font(int index);

#endif
