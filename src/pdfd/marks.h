/* SPDX-License-Identifier: Apache-2.0 */
/* marks.h: what composed documents show beside texts. */
#ifndef SR_PDFD_MARKS_H
#define SR_PDFD_MARKS_H

#include "base/base.h"

#include <cairo.h>

/* A `context` that is NULL draws nothing.
 * A rectangle of a colour, 0xRRGGBB. */
void sr_pdfd_box(cairo_t *context, double x, double y, double width, double height, uint32_t colour);
/* Draws a QR code of a text in a white square; nothing for none, or one that is too long. */
void sr_pdfd_qr(cairo_t *context, const char *text, double x, double y, double size);
typedef struct sr_pdfd_place_t {
    double x, y, width, height;
    bool right; /* what is less wide is on the right */
} sr_pdfd_place_t;
/* How an image object begins that image.c has written. */
#define SR_PDFD_IMAGE_BEGIN "<</Type/XObject/Subtype/Image"
#define SR_PDFD_MARK_WIDTH 150.0 /* of the place for a signature, in points */
#define SR_PDFD_MARK_HEIGHT 36.0
#define SR_PDFD_MARK_PIXELS 40000000 /* of all images of one document: what a worker has time for */
/* Draws a signature that was sealed before (drawn.c), as large as it fits, at the upper left or right. `chunks` are
 * texts in base64: the objects that were appended for it. One that this program does not write so is not drawn, nor is
 * an image of more than *pixels, which it lessens. */
void sr_pdfd_put_mark(cairo_t *context, const json_t *chunks, const sr_pdfd_place_t *place, int64_t *pixels,
                      apr_pool_t *pool);
/* The same for an image object and its mask (drawnimage.c). */
void sr_pdfd_drawn_image(cairo_t *context, const char *object, apr_size_t length, const sr_pdfd_place_t *place,
                         int64_t *pixels, apr_pool_t *pool);
/* The bytes of a stream, of at most `room`; with FlateDecode if it is packed. NULL: there are more, or it is damaged.
 */
const unsigned char *sr_pdfd_unpack(apr_size_t *size, const void *data, apr_size_t length, bool is_packed,
                                    apr_size_t room, apr_pool_t *pool);
/* Whether all texts of a request can be set. */
bool sr_pdfd_texts_are_short(const json_t *value);
/* The properties of a document; `title` may be NULL. */
void sr_pdfd_describe(cairo_surface_t *surface, const char *title, apr_time_t when);

#endif
