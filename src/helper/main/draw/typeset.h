/* SPDX-License-Identifier: Apache-2.0 */
/* typeset.h: the paragraphs of composed documents, which typeset.c breaks into lines and draws. Lengths are in points.
 */
#ifndef SR_HELPER_MAIN_DRAW_TYPESET_H
#define SR_HELPER_MAIN_DRAW_TYPESET_H

#include "helper/main/draw/canvas.h"

/* The style of a paragraph. */
typedef struct sr_pdfd_look_t {
    sr_pdfd_style_t style;
    double size, leading; /* font size, and the least distance from one line to the next */
    uint32_t colour;      /* 0xRRGGBB */
} sr_pdfd_look_t;

typedef struct sr_pdfd_paragraph_t sr_pdfd_paragraph_t;

/* Loads what pango reads from files. Call it before the sandbox is entered. */
void sr_pdfd_typeset_warm_up(void);
/* Breaks a text (valid UTF-8 of any script) into lines of this width. SR_PDFD_CODE may be broken anywhere, other text
 * is broken between words if possible. `language` is its language if known (BCP 47). Returns NULL for a text without
 * visible characters. The paragraph lives as long as the pool. */
sr_pdfd_paragraph_t *sr_pdfd_paragraph(const char *text, const sr_pdfd_look_t *look, double width, const char *language,
                                       apr_pool_t *pool);
/* Returns the text of a line in `pool`. */
const char *sr_pdfd_paragraph_text(const sr_pdfd_paragraph_t *paragraph, int line, apr_pool_t *pool);
/* Returns the number of lines; 0 for NULL. */
int sr_pdfd_paragraph_lines(const sr_pdfd_paragraph_t *paragraph);
/* Returns the extents of a line (from 0) above and below its base line; 0 after the last line. */
void sr_pdfd_paragraph_extents(double *above, double *below, const sr_pdfd_paragraph_t *paragraph, int line);
/* Returns the width of a line. */
double sr_pdfd_paragraph_width(const sr_pdfd_paragraph_t *paragraph, int line);
/* Returns the width that lines may have. */
double sr_pdfd_paragraph_room(const sr_pdfd_paragraph_t *paragraph);
/* Returns the least distance from this line to the next; 0 after the last line. */
double sr_pdfd_paragraph_leading(const sr_pdfd_paragraph_t *paragraph, int line);
/* Draws a line with its base line at `y`, beginning at `x`. With `right`, it ends at `x` plus the room of the
 * paragraph. Draws nothing after the last line. It draws nothing far outside the extents. */
void sr_pdfd_paragraph_draw(sr_pdfd_canvas_t *canvas, const sr_pdfd_paragraph_t *paragraph, int line, double x,
                            double y, bool right);

#endif
