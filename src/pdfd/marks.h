/* SPDX-License-Identifier: Apache-2.0 */
/* marks.h: what composed documents show besides texts. Lengths are in points. */
#ifndef SR_PDFD_MARKS_H
#define SR_PDFD_MARKS_H

#include "base/base.h"

#include <cairo.h>

/* Draws a rectangle with a colour, 0xRRGGBB. This function and the following ones draw nothing if `context` is NULL. */
void sr_pdfd_box(cairo_t *context, double x, double y, double width, double height, uint32_t colour);
/* Draws a QR code of a text on a white square. It draws nothing if the text is missing or too long. */
void sr_pdfd_qr(cairo_t *context, const char *text, double x, double y, double size);
typedef struct sr_pdfd_place_t {
    double x, y, width, height;
    bool right; /* align a narrower drawing on the right */
} sr_pdfd_place_t;
/* The beginning of each image object that image.c writes. */
#define SR_PDFD_IMAGE_BEGIN "<</Type/XObject/Subtype/Image"
#define SR_PDFD_MARK_WIDTH 150.0 /* of the area for a signature, in points */
#define SR_PDFD_MARK_HEIGHT 36.0
#define SR_PDFD_MARK_PIXELS 40000000 /* of all images of one document together, which limits the processor time */
/* Draws the signature of a signed document (drawn.c) as large as it fits, at the upper left or right of the place.
 * `chunks` are base64 texts of the objects that were appended for it. An object that this program would not write in
 * this form is not drawn, and neither is an image of more than *pixels. The pixels of the image are subtracted from
 * *pixels. */
void sr_pdfd_put_mark(cairo_t *context, const json_t *chunks, const sr_pdfd_place_t *place, int64_t *pixels,
                      apr_pool_t *pool);
/* Does the same for an image object and its mask (drawnimage.c). */
void sr_pdfd_drawn_image(cairo_t *context, const char *object, apr_size_t length, const sr_pdfd_place_t *place,
                         int64_t *pixels, apr_pool_t *pool);
/* Returns the data of a stream, decoded with FlateDecode if `is_packed`. Returns NULL if there are more than `room`
 * bytes or if they are damaged. */
const unsigned char *sr_pdfd_unpack(apr_size_t *size, const void *data, apr_size_t length, bool is_packed,
                                    apr_size_t room, apr_pool_t *pool);
/* Returns true if no text of a request is too long. */
bool sr_pdfd_texts_are_short(const json_t *value);
/* Sets the metadata of a document. `title` may be NULL. */
void sr_pdfd_describe(cairo_surface_t *surface, const char *title, apr_time_t when);

#endif
