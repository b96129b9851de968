/* SPDX-License-Identifier: Apache-2.0 */
/* decorations.h: what composed documents show besides texts. Lengths are in points. */
#ifndef SR_HELPER_MAIN_COMPOSE_DECORATIONS_H
#define SR_HELPER_MAIN_COMPOSE_DECORATIONS_H

#include "helper/protocol.h"
#include "helper/main/draw/canvas.h"

/* Draws a rectangle with a colour, 0xRRGGBB. This function and the following ones draw nothing if `canvas` is NULL. */
void sr_pdfd_box(sr_pdfd_canvas_t *canvas, double x, double y, double width, double height, uint32_t colour);
/* Draws a QR code of a text on a white square. It draws nothing if the text is missing or too long. */
void sr_pdfd_qr(sr_pdfd_canvas_t *canvas, const char *text, double x, double y, double size);
typedef struct sr_pdfd_place_t {
    double x, y, width, height;
    bool right; /* align a narrower drawing on the right */
} sr_pdfd_place_t;
/* Draws a signature as large as it fits, at the left or right of the place. `drawing` is as sr_pdf_drawing returned it.
 * Nothing is drawn if it cannot be read. */
void sr_pdfd_put_drawing(sr_pdfd_canvas_t *canvas, const json_t *drawing, const sr_pdfd_place_t *place,
                         apr_pool_t *pool);
/* Returns true if no text of a request is too long. */
bool sr_pdfd_texts_are_short(const json_t *value);
/* Writes the metadata of a document. `title` may be NULL. Returns the object number. */
int sr_pdfd_describe(sr_pdfd_update_t *update, const char *title, apr_time_t when);

#endif
