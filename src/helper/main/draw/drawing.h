/* SPDX-License-Identifier: Apache-2.0 */
/* drawing.h: the drawing of a signature, and the pixels of an image: drawing.c, ink.c, glyphs.c, fonts.c, image.c and
 * surface.c. */
#ifndef SR_HELPER_MAIN_DRAW_DRAWING_H
#define SR_HELPER_MAIN_DRAW_DRAWING_H

#include "helper/main/pdfd.h"

#include <cairo.h>

/* --------------------------------------------------------------------------------------------- drawing.c
 *
 * The drawing of a signature: strokes and filled outlines in blue, or an image.
 */
typedef struct sr_pdfd_drawing_t {
    double width, height, left, bottom; /* its bounding box, in units of its own; y goes up */
    sr_pdfd_buffer_t *steps;            /* NULL if it is an image */
    int digits;                         /* decimals of its coordinates: 1 or 2 */
    const char *colour;                 /* operators that set the colour; NULL: blue ink */
    /* The code points that no font has, if a text cannot be drawn. Or NULL. */
    json_t *unknown;
    /* An image of width x height pixels: 4 bytes for each pixel from the top row, or the JPEG file as it was uploaded.
     */
    sr_pdfd_buffer_t *rgba, *jpeg;
    bool is_gray; /* the JPEG has no colours */
} sr_pdfd_drawing_t;

/* Draws a parameter of a request. Returns NULL, or what is wrong with it, as a sentence for the signer. */
typedef const char *sr_pdfd_drawer_t(sr_pdfd_drawing_t *drawing, const json_t *value, apr_pool_t *pool);
sr_pdfd_drawer_t sr_pdfd_draw_ink, sr_pdfd_draw_text, sr_pdfd_draw_image; /* ink.c, glyphs.c, image.c */
/* glyphs.c: draws a line of plain text. A character that no font has becomes a question mark. */
sr_pdfd_drawer_t sr_pdfd_draw_line;
/* glyphs.c: does the same, and rejects such a character. The base line begins at 0 0. */
sr_pdfd_drawer_t sr_pdfd_draw_plain;
/* glyphs.c: draws the mark of a seal beside a name in sans-serif type, so that nobody takes it for a person's
 * signature. The value is {"name":"…","right":…}. With `right` the mark is on the right, for pages from right to left.
 */
sr_pdfd_drawer_t sr_pdfd_draw_seal;
/* drawers.c: draws the parameter that is present: "ink", "text", "image" or "seal". */
sr_pdfd_drawer_t sr_pdfd_draw_any;
/* Adds a path operator of a content stream (m, l, c, h), a line width (w, before a path that ends with S), or S or f.
 */
void sr_pdfd_draw(sr_pdfd_drawing_t *drawing, char step, const double *values, int count);
/* Writes the drawing as the content of a form XObject whose box begins at 0 0. */
void sr_pdfd_drawing_content(sr_pdfd_buffer_t *out, const sr_pdfd_drawing_t *drawing);
/* Paints strokes and outlines in blue ink, in units of the drawing. The box begins at the origin. */
void sr_pdfd_drawing_paint(cairo_t *context, const sr_pdfd_drawing_t *drawing);
/* Writes {"width","height","paths":[{"d","stroke"?},…]} with paths as in SVG, y downwards. An image is written as
 * {"width","height","type","image"} in base64. */
void sr_pdfd_drawing_json(sr_pdfd_buffer_t *out, const sr_pdfd_drawing_t *drawing, apr_pool_t *pool);

/* Writes letters that nobody sees, in a box of this size whose lower left corner is at x, y, so that readers can search
 * and copy the text. The resources are SR_PDF_CAPTION_RESOURCES or SR_PDF_CAPTION_ARCHIVAL. */
void sr_pdfd_put_hidden(sr_pdfd_buffer_t *out, const char *text, const double box[4], apr_pool_t *pool);

/* --------------------------------------------------------------------------------------------- value.c */
typedef struct sr_pdfd_value_t {
    const char *text;     /* UTF-8; lines end with "\n" if there may be several */
    bool ticked;          /* a tick instead of a text */
    double width, height; /* of the field, in points */
    double size;          /* of the font; 0: as large as fits, up to 12 points */
    bool multiline;
    int comb;          /* the number of cells for one character each; 0: the text is not divided */
    const char *color; /* "#rrggbb"; NULL: black */
    enum {
        SR_PDFD_START,
        SR_PDFD_CENTER,
        SR_PDFD_END,
        SR_PDFD_LEFT,
        SR_PDFD_RIGHT
    } align;      /* start: of its direction */
    bool as_json; /* for the signing page */
} sr_pdfd_value_t;
/* Writes the content of the appearance of a field with this value. Text that does not fit is made smaller. *size gets
 * the font size. `as_json` writes what is seen of it: [{"box":[left,top,width,height],"drawing":{…}},…] in points from
 * the top left corner of the field, with drawings as sr_pdfd_drawing_json writes them. Returns NULL, or why the value
 * cannot be shown: a sentence for people. */
const char *sr_pdfd_value_put(sr_pdfd_buffer_t *out, double *size, const sr_pdfd_value_t *value, apr_pool_t *pool);

/* fonts.c: loads the fonts of the system, within limits. It must be called before the sandbox is entered. */
void sr_pdfd_fonts_load(void);
/* Returns the address space of the fonts in bytes. */
apr_size_t sr_pdfd_fonts_mapped(void);

/* ----------------------------------------------------------------------------------------------- image.c */
/* Adds the image of a drawing and returns its object number. */
int64_t sr_pdfd_image_object(sr_pdfd_update_t *update, const sr_pdfd_drawing_t *drawing);
/* Returns the pixels as a PNG file. */
sr_pdfd_buffer_t *sr_pdfd_image_png(const sr_pdfd_drawing_t *drawing, apr_pool_t *pool);
typedef struct sr_pdfd_pixels_t {
    sr_pdfd_buffer_t *rgba; /* 4 bytes for each pixel, from the top row */
    int width, height;
} sr_pdfd_pixels_t;
/* Decodes a JPEG. Returns false if it is damaged, has too many scans, or is not a JPEG. */
bool sr_pdfd_image_jpeg(sr_pdfd_pixels_t *pixels, const void *data, apr_size_t size, apr_pool_t *pool);
/* Decodes a PNG file. Returns false if it is damaged or has too many pixels. */
bool sr_pdfd_image_png_read(sr_pdfd_pixels_t *pixels, const void *data, apr_size_t size, apr_pool_t *pool);

/* --------------------------------------------------------------------------------------------- surface.c */
#define SR_PDFD_SIGNATURE_WIDTH 150.0 /* of the area that a composed document has for a signature, in points */
#define SR_PDFD_SIGNATURE_HEIGHT 32.0
#define SR_PDFD_DENSITY 4.0 /* pixels per point of the images in composed documents: 288 dpi */
/* Return a surface, or NULL if there is no memory, or if the PNG file is damaged or has too many pixels. */
cairo_surface_t *sr_pdfd_surface(const sr_pdfd_pixels_t *pixels);
cairo_surface_t *sr_pdfd_png_surface(const char *base64, apr_pool_t *pool);
/* The pixels of a surface, without the multiplication by alpha that cairo uses. */
typedef struct sr_pdfd_planes_t {
    unsigned char *colours, *alpha; /* 3 bytes for each pixel, and 1 byte */
} sr_pdfd_planes_t;
sr_pdfd_planes_t sr_pdfd_surface_planes(cairo_surface_t *surface, apr_pool_t *pool);
/* Returns the surface, or a smaller copy that replaces it: with at most `density` pixels per point of this size.
 * Returns NULL if there is no memory. */
cairo_surface_t *sr_pdfd_reduced_surface(cairo_surface_t *surface, double width, double height, double density);
/* Makes a drawing an image that has no more pixels than the area for a signature can show, and takes at most `most`
 * bytes as a PNG file. Returns false if that is not possible. */
bool sr_pdfd_drawing_reduce(sr_pdfd_drawing_t *drawing, apr_size_t most, apr_pool_t *pool);

#endif
