/* SPDX-License-Identifier: Apache-2.0 */
/* canvas.h: draws the pages of a new document (canvas.c), and writes them (paged.c, embed.c).
 * Lengths are in points, and y goes down from the upper edge of the page. */
#ifndef SR_HELPER_MAIN_DRAW_CANVAS_H
#define SR_HELPER_MAIN_DRAW_CANVAS_H

#include "helper/main/draw/glyphs.h"
#include "helper/main/pdfd.h"

#include <apr_tables.h>
#include <cairo.h>

#define SR_PDFD_WIDTH 595.28 /* of each page: A4 */
#define SR_PDFD_HEIGHT 841.89

/* ---------------------------------------------------------------------------------------------- canvas.c */
/* What a document shows of a glyph. */
typedef struct sr_pdfd_use_t {
    const char *text; /* of which it is the only glyph, wherever it is used; NULL: of none */
    uint32_t length;
    int16_t width; /* 1/1000 of the font size */
    bool is_used;
} sr_pdfd_use_t;

typedef struct sr_pdfd_used_font_t {
    const sr_pdfd_font_t *font;
    sr_pdfd_use_t *glyphs; /* all glyphs of the font */
    unsigned count;
} sr_pdfd_used_font_t;

typedef struct sr_pdfd_canvas_t {
    apr_pool_t *pool;
    sr_pdfd_buffer_t *content;  /* of the current page */
    apr_array_header_t *pages;  /* sr_pdfd_buffer_t *: the contents of the pages that are complete */
    apr_array_header_t *fonts;  /* sr_pdfd_used_font_t */
    apr_array_header_t *images; /* cairo_surface_t *, destroyed with the pool */
    int marked;                 /* parts of the current page that belong to the structure */
    struct {                    /* the run of text that is drawn */
        int font;               /* index in `fonts` */
        double size, x, y;      /* x, y: where the current string began */
        double advance;         /* from there, in 1/1000 of the size */
        enum { SR_PDFD_NO_STRING, SR_PDFD_ARRAY, SR_PDFD_STRING } open;
    } run;
} sr_pdfd_canvas_t;

typedef struct sr_pdfd_placed_t {
    hb_codepoint_t glyph;
    double x, y;
} sr_pdfd_placed_t;

sr_pdfd_canvas_t *sr_pdfd_canvas(apr_pool_t *pool);
/* Returns the content of the current page, for operators that the functions below do not write. */
sr_pdfd_buffer_t *sr_pdfd_canvas_content(sr_pdfd_canvas_t *canvas);
void sr_pdfd_canvas_end_page(sr_pdfd_canvas_t *canvas);
/* Begin and end a part of the page that belongs to an element of the structure. Everything outside of such parts is an
 * artifact. Returns the number of the part on its page. */
int sr_pdfd_canvas_begin(sr_pdfd_canvas_t *canvas, const char *type);
void sr_pdfd_canvas_end(sr_pdfd_canvas_t *canvas);
void sr_pdfd_canvas_save(sr_pdfd_canvas_t *canvas);
void sr_pdfd_canvas_restore(sr_pdfd_canvas_t *canvas);
/* Nothing is drawn outside of the rectangle until the canvas is restored. */
void sr_pdfd_canvas_clip(sr_pdfd_canvas_t *canvas, double x, double y, double width, double height);
/* Set the colour (0xRRGGBB) of everything that is filled, add a rectangle to the path, and fill the path. */
void sr_pdfd_canvas_colour(sr_pdfd_canvas_t *canvas, uint32_t colour);
void sr_pdfd_canvas_rectangle(sr_pdfd_canvas_t *canvas, double x, double y, double width, double height);
void sr_pdfd_canvas_fill(sr_pdfd_canvas_t *canvas);
/* Draws the outline of a rectangle. */
void sr_pdfd_canvas_frame(sr_pdfd_canvas_t *canvas, double x, double y, double width, double height, double line,
                          uint32_t colour);
/* Draws an image and takes over the surface. */
void sr_pdfd_canvas_image(sr_pdfd_canvas_t *canvas, cairo_surface_t *surface, double x, double y, double width,
                          double height);
/* Draws a run of text cluster by cluster: a part of the text with its glyphs. Readers find, read and copy the text. */
void sr_pdfd_canvas_begin_run(sr_pdfd_canvas_t *canvas, const sr_pdfd_font_t *font, double size);
void sr_pdfd_canvas_cluster(sr_pdfd_canvas_t *canvas, const char *text, apr_size_t length,
                            const sr_pdfd_placed_t *glyphs, int count);
void sr_pdfd_canvas_end_run(sr_pdfd_canvas_t *canvas);
/* Adds ASCII letters to those that all fonts of the document contain, although they are not drawn. */
void sr_pdfd_canvas_embed(sr_pdfd_canvas_t *canvas, const char *letters);

/* ----------------------------------------------------------------------------------------------- paged.c */
/* Writes the dictionary of what the pages of a canvas use. Returns its number, or 0 if a font cannot be embedded. */
int sr_pdfd_file_resources(sr_pdfd_update_t *update, const sr_pdfd_canvas_t *canvas);
/* Writes the pages of a canvas, the root of their tree, and what they use. Returns their object numbers, or NULL if a
 * font cannot be embedded. */
const int *sr_pdfd_file_pages(sr_pdfd_update_t *update, int root, const sr_pdfd_canvas_t *canvas);

/* ----------------------------------------------------------------------------------------------- embed.c */
/* Writes the used glyphs of a font. Returns the number of the font object, or 0 on failure. */
int sr_pdfd_embed(sr_pdfd_update_t *update, const sr_pdfd_used_font_t *used);

#endif
