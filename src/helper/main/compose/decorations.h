/* SPDX-License-Identifier: Apache-2.0 */
/* decorations.h: what composed documents show besides texts. Lengths are in points. */
#ifndef SR_PDFD_MARKS_H
#define SR_PDFD_MARKS_H

#include "helper/protocol.h"
#include "helper/main/compose/canvas.h"

/* Draws a rectangle with a colour, 0xRRGGBB. This function and the following ones draw nothing if `canvas` is NULL. */
void sr_pdfd_box(sr_pdfd_canvas_t *canvas, double x, double y, double width, double height, uint32_t colour);
/* Draws a QR code of a text on a white square. It draws nothing if the text is missing or too long. */
void sr_pdfd_qr(sr_pdfd_canvas_t *canvas, const char *text, double x, double y, double size);
typedef struct sr_pdfd_place_t {
    double x, y, width, height;
    bool right; /* align a narrower drawing on the right */
} sr_pdfd_place_t;
/* The beginning of each image object that image.c writes. */
#define SR_PDFD_IMAGE_BEGIN "<</Type/XObject/Subtype/Image"
#define SR_PDFD_MARK_WIDTH 150.0 /* of the area for a signature, in points */
#define SR_PDFD_MARK_HEIGHT 32.0
#define SR_PDFD_MARK_DENSITY 4.0 /* pixels per point: 288 dpi */
/* The pixels of all images of one document together. This limits the processor time. */
#define SR_PDFD_MARK_PIXELS ((int64_t)SR_PDF_MARKS_BYTES * SR_PDF_MARK_PIXELS)
/* The pixels of one image, including the margin that paper.c adds around ink. */
#define SR_PDFD_MAX_MARK_PIXELS ((int64_t)2 * SR_PDF_MAX_IMAGE_PIXELS)
/* Draws the signature of a signed document (drawn.c) as large as it fits, at the left or right of the place.
 * `chunks` are base64 texts of the objects that were appended for it. An object that this program would not write in
 * this form is not drawn, and neither is an image of more than *pixels. The pixels of the image are subtracted from
 * *pixels. */
void sr_pdfd_put_mark(sr_pdfd_canvas_t *canvas, const json_t *chunks, const sr_pdfd_place_t *place, int64_t *pixels,
                      apr_pool_t *pool);
/* Returns true if the object is an image, and false if it is a form. */
bool sr_pdfd_is_image(const char *object, apr_size_t length);
typedef struct sr_pdfd_drawn_t {
    double x, y, width, height;
    const char *content; /* numbers and operators */
} sr_pdfd_drawn_t;
/* Reads a form with paths. Returns NULL if this program would not write it in this form. */
sr_pdfd_drawn_t *sr_pdfd_drawn_read(const char *object, apr_size_t length, apr_pool_t *pool);
/* Draws a form, scaled, at the origin of the context. */
void sr_pdfd_drawn_draw(cairo_t *context, const sr_pdfd_drawn_t *form, double scale, apr_pool_t *pool);
/* Does the same as sr_pdfd_put_mark for an image object and its mask (drawnimage.c). */
void sr_pdfd_drawn_image(sr_pdfd_canvas_t *canvas, const char *object, apr_size_t length, const sr_pdfd_place_t *place,
                         int64_t *pixels, apr_pool_t *pool);
/* Reads an image object and its mask into a surface that has no more pixels than a place of *width x *height points can
 * show, and sets its size in points. Returns NULL if image.c would not write it in this form, or if it has more than
 * *pixels. Its pixels are subtracted from *pixels. */
cairo_surface_t *sr_pdfd_image_surface(double *width, double *height, const char *object, apr_size_t length,
                                       int64_t *pixels, apr_pool_t *pool);
/* Reads a PNG file. Returns NULL if it cannot be drawn. */
cairo_surface_t *sr_pdfd_png_surface(const char *base64, apr_pool_t *pool);
/* The pixels of a surface, without the multiplication by alpha that cairo uses. */
typedef struct sr_pdfd_planes_t {
    unsigned char *colours, *alpha; /* 3 bytes for each pixel, and 1 byte */
} sr_pdfd_planes_t;
sr_pdfd_planes_t sr_pdfd_surface_planes(cairo_surface_t *surface, apr_pool_t *pool);
/* Returns the surface, or a smaller copy that replaces it: with at most `density` pixels per point of this size.
 * Returns NULL if there is no memory. */
cairo_surface_t *sr_pdfd_reduced_surface(cairo_surface_t *surface, double width, double height, double density);
/* Paints the surface at the origin of the context, scaled to this size. */
void sr_pdfd_paint_surface(cairo_t *context, cairo_surface_t *surface, double width, double height);
/* Returns the data of a stream, decoded with FlateDecode if `is_packed`. Returns NULL if there are more than `room`
 * bytes or if they are damaged. */
const unsigned char *sr_pdfd_unpack(apr_size_t *size, const void *data, apr_size_t length, bool is_packed,
                                    apr_size_t room, apr_pool_t *pool);
/* Returns true if no text of a request is too long. */
bool sr_pdfd_texts_are_short(const json_t *value);
/* Writes the metadata of a document. `title` may be NULL. Returns the object number. */
int sr_pdfd_describe(sr_pdfd_file_t *file, const char *title, apr_time_t when);

#endif
