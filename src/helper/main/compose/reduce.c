/* SPDX-License-Identifier: Apache-2.0 */
/* reduce.c: the operation "reduce" makes a small image of a signature that takes many bytes: an uploaded image, or a
 * drawing with many points. The result is an image object and its mask, in the form in which image.c writes them. */
#include "helper/protocol.h"
#include "helper/main/compose/decorations.h"
#include "helper/main/pdfd.h"

#include <math.h>
#include <string.h>
#include <zlib.h>

static void put_object(sr_pdfd_buffer_t *out, cairo_surface_t *surface, const char *form, const unsigned char *samples,
                       apr_size_t size, apr_pool_t *pool)
{
    uLongf packed = compressBound(size);
    unsigned char *bytes = apr_palloc(pool, packed);
    if (compress(bytes, &packed, samples, size) != Z_OK) packed = 0;
    sr_pdfd_print(out, SR_PDFD_IMAGE_BEGIN "/Width %d/Height %d%s/Filter/FlateDecode/Length %lu>>stream\n",
                  cairo_image_surface_get_width(surface), cairo_image_surface_get_height(surface), form,
                  (unsigned long)packed);
    sr_pdfd_put(out, bytes, packed);
}

/* Writes the colours, and the alpha values as their mask, as image.c does. */
static void put_surface(sr_pdfd_buffer_t *out, cairo_surface_t *surface, apr_pool_t *pool)
{
    const sr_pdfd_planes_t planes = sr_pdfd_surface_planes(surface, pool);
    const apr_size_t pixels = (apr_size_t)(planes.alpha - planes.colours) / 3;
    put_object(out, surface, "/ColorSpace/DeviceRGB/BitsPerComponent 8/SMask 1 0 R", planes.colours, 3 * pixels, pool);
    put_object(out, surface, "/ColorSpace/DeviceGray/BitsPerComponent 8", planes.alpha, pixels, pool);
}

/* Draws a form into a surface, as large as a place of *width x *height points can show, and sets its size in points. */
static cairo_surface_t *form_surface(double *width, double *height, const char *object, apr_size_t length,
                                     apr_pool_t *pool)
{
    const sr_pdfd_drawn_t *form = sr_pdfd_drawn_read(object, length, pool);
    if (!form) return NULL;
    const double scale = fmin(*width / form->width, *height / form->height);
    *width = form->width * scale;
    *height = form->height * scale;
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, (int)ceil(*width * SR_PDFD_MARK_DENSITY),
                                                          (int)ceil(*height * SR_PDFD_MARK_DENSITY));
    cairo_t *context = cairo_create(surface);
    cairo_scale(context, SR_PDFD_MARK_DENSITY, SR_PDFD_MARK_DENSITY);
    sr_pdfd_drawn_draw(context, form, scale, pool);
    const bool good = cairo_status(context) == CAIRO_STATUS_SUCCESS;
    cairo_destroy(context);
    if (good) return surface;
    cairo_surface_destroy(surface);
    return NULL;
}

static bool reduce_fits(const sr_pdfd_buffer_t *out, cairo_surface_t *surface, apr_size_t most)
{
    const apr_size_t width = (apr_size_t)cairo_image_surface_get_width(surface);
    const apr_size_t height = (apr_size_t)cairo_image_surface_get_height(surface);
    return out->size <= most && width * height <= most * SR_PDF_MARK_PIXELS;
}

/* Puts the surface into at most `most` bytes, with fewer pixels if necessary. Destroys the surface. */
static bool put_reduced(sr_pdfd_buffer_t *out, cairo_surface_t *surface, double width, double height, apr_size_t most,
                        apr_pool_t *pool)
{
    static const double densities[] = {SR_PDFD_MARK_DENSITY, 3, 2, 1.5, 1, 0.75, 0.5};
    bool is_put = false;
    for (size_t i = 0; surface && !is_put && i < sizeof densities / sizeof *densities; i++) {
        surface = sr_pdfd_reduced_surface(surface, width, height, densities[i]);
        if (!surface) return false;
        out->size = 0;
        put_surface(out, surface, pool);
        is_put = reduce_fits(out, surface, most);
    }
    if (surface) cairo_surface_destroy(surface);
    return is_put;
}

json_t *sr_pdfd_reduce(const sr_pdfd_request_t *request, apr_pool_t *pool)
{
    double width = SR_PDFD_MARK_WIDTH, height = SR_PDFD_MARK_HEIGHT;
    int64_t pixels = SR_PDFD_MAX_MARK_PIXELS;
    const json_int_t most = json_integer_value(json_object_get(request->text, "most"));
    const apr_size_t length = request->bytes.size;
    const char *object = (const char *)request->bytes.data;
    sr_pdfd_buffer_t *out = sr_pdfd_buffer(pool);
    cairo_surface_t *surface = sr_pdfd_is_image(object, length)
                                   ? sr_pdfd_image_surface(&width, &height, object, length, &pixels, pool)
                                   : form_surface(&width, &height, object, length, pool);
    if (!surface) return json_pack("{s:s}", "refused", "it is no image of a signature");
    if (put_reduced(out, surface, width, height, most > 0 ? (apr_size_t)most : 0, pool))
        return sr_pdfd_result(request, out->data, out->size);
    return json_pack("{s:s}", "refused", "it does not become small enough");
}
