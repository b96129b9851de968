/* SPDX-License-Identifier: Apache-2.0 */
/* typeset.h: paragraphs of composed documents, which typeset.c breaks into lines and draws. */
#ifndef SR_PDFD_TYPESET_H
#define SR_PDFD_TYPESET_H

#include "pdfd/glyphs.h"

#include <cairo.h>

/* How a paragraph looks. Sizes are points. */
typedef struct sr_pdfd_look_t {
    sr_pdfd_style_t style;
    double size, leading; /* of the letters; from line to line at least */
    uint32_t colour;      /* 0xRRGGBB */
} sr_pdfd_look_t;

typedef struct sr_pdfd_paragraph_t sr_pdfd_paragraph_t;

/* Reads what pango reads from files: to be called before the sandbox closes. */
void sr_pdfd_typeset_warm_up(void);
/* Sets a text (valid UTF-8, of any script) in lines of that width; SR_PDFD_CODE is broken anywhere, all else between
 * words while that is possible. `language`: of it, as far as known (BCP 47). NULL for a text with nothing to see. Lives
 * as long as the pool. */
sr_pdfd_paragraph_t *sr_pdfd_paragraph(const char *text, const sr_pdfd_look_t *look, double width, const char *language,
                                       apr_pool_t *pool);
/* Of NULL: 0 */
int sr_pdfd_paragraph_lines(const sr_pdfd_paragraph_t *paragraph);
/* Of a line, from 0: how far its fonts reach above its base and below. 0 and 0 behind the last. */
void sr_pdfd_paragraph_extents(double *above, double *below, const sr_pdfd_paragraph_t *paragraph, int line);
/* How wide a line is. */
double sr_pdfd_paragraph_width(const sr_pdfd_paragraph_t *paragraph, int line);
/* How wide it may be. */
double sr_pdfd_paragraph_room(const sr_pdfd_paragraph_t *paragraph);
/* The least distance from this line to the next. 0 behind the last. */
double sr_pdfd_paragraph_leading(const sr_pdfd_paragraph_t *paragraph, int line);
/* Draws a line with its base at `y`, from `x` on, or with `right`, if it is the only one, to the end of the room from
 * there on; nothing behind the last. It leaves no ink far beyond its extents. */
void sr_pdfd_paragraph_draw(cairo_t *context, const sr_pdfd_paragraph_t *paragraph, int line, double x, double y,
                            bool right);

#endif
