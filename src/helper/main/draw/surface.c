/* SPDX-License-Identifier: Apache-2.0 */
/* surface.c: pixels as surfaces of cairo, which multiplies colours with their alpha values. It scales drawings and
 * images down to what a composed document shows of them. */
#include "helper/main/draw/drawing.h"

#include <apr_encode.h>
#include <math.h>

static uint32_t surface_pixel(const unsigned char *rgba)
{
    const unsigned alpha = rgba[3];
    return alpha << 24 | rgba[0] * alpha / 255 << 16 | rgba[1] * alpha / 255 << 8 | rgba[2] * alpha / 255;
}

cairo_surface_t *sr_pdfd_surface(const sr_pdfd_pixels_t *pixels)
{
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, pixels->width, pixels->height);
    unsigned char *row = cairo_image_surface_get_data(surface);
    const unsigned char *from = pixels->rgba->data;
    if (!row) {
        cairo_surface_destroy(surface);
        return NULL;
    }
    for (int y = 0; y < pixels->height; y++, row += cairo_image_surface_get_stride(surface))
        for (int x = 0; x < pixels->width; x++, from += 4) ((uint32_t *)(void *)row)[x] = surface_pixel(from);
    cairo_surface_mark_dirty(surface);
    return surface;
}

cairo_surface_t *sr_pdfd_png_surface(const char *base64, apr_pool_t *pool)
{
    sr_pdfd_pixels_t pixels;
    apr_size_t size;
    const void *png = apr_pdecode_base64(pool, base64, APR_ENCODE_STRING, APR_ENCODE_NONE, &size);
    return png && sr_pdfd_image_png_read(&pixels, png, size, pool) ? sr_pdfd_surface(&pixels) : NULL;
}

/* Returns the colour before cairo multiplied it with its alpha. */
static unsigned char plain_colour(uint32_t colour, uint32_t alpha)
{
    const uint32_t value = alpha ? ((colour & 0xff) * 255 + alpha / 2) / alpha : 255;
    return (unsigned char)(value < 255 ? value : 255);
}

sr_pdfd_planes_t sr_pdfd_surface_planes(cairo_surface_t *surface, apr_pool_t *pool)
{
    const int width = cairo_image_surface_get_width(surface), height = cairo_image_surface_get_height(surface);
    const apr_size_t pixels = (apr_size_t)width * (apr_size_t)height;
    unsigned char *to = apr_palloc(pool, 4 * pixels), *alpha = to + 3 * pixels;
    const sr_pdfd_planes_t planes = {to, alpha};
    cairo_surface_flush(surface);
    const unsigned char *row = cairo_image_surface_get_data(surface);
    for (int y = 0; y < height; y++, row += cairo_image_surface_get_stride(surface))
        for (int x = 0; x < width; x++, to += 3) {
            const uint32_t value = ((const uint32_t *)(const void *)row)[x];
            *alpha++ = (unsigned char)(value >> 24);
            for (int i = 0; i < 3; i++) to[i] = plain_colour(value >> (16 - 8 * i), value >> 24);
        }
    return planes;
}

/* Paints the surface at the origin of the context, scaled to this size. */
static void surface_paint(cairo_t *context, cairo_surface_t *surface, double width, double height)
{
    cairo_scale(context, width / cairo_image_surface_get_width(surface),
                height / cairo_image_surface_get_height(surface));
    cairo_set_source_surface(context, surface, 0, 0);
    cairo_pattern_set_filter(cairo_get_source(context), CAIRO_FILTER_GOOD);
    cairo_paint(context);
}

/* Destroys the context. Returns its surface, or NULL if there was no memory. */
static cairo_surface_t *surface_end(cairo_t *context, cairo_surface_t *surface)
{
    const bool good = cairo_status(context) == CAIRO_STATUS_SUCCESS;
    cairo_destroy(context);
    if (good) return surface;
    cairo_surface_destroy(surface);
    return NULL;
}

cairo_surface_t *sr_pdfd_reduced_surface(cairo_surface_t *surface, double width, double height, double density)
{
    const int across = (int)ceil(width * density), down = (int)ceil(height * density);
    if (cairo_image_surface_get_width(surface) <= across) return surface;
    cairo_surface_t *small = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, across, down);
    cairo_t *context = cairo_create(small);
    surface_paint(context, surface, across, down);
    cairo_surface_destroy(surface);
    return surface_end(context, small);
}

/* ---------------------------------------------------------------------------------------------- smaller drawings */

/* Draws strokes and outlines with this number of pixels per unit. */
static cairo_surface_t *surface_of_paths(const sr_pdfd_drawing_t *drawing, double scale)
{
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, (int)ceil(drawing->width * scale),
                                                          (int)ceil(drawing->height * scale));
    cairo_t *context = cairo_create(surface);
    cairo_translate(context, 0, drawing->height * scale);
    cairo_scale(context, scale, -scale);
    sr_pdfd_drawing_paint(context, drawing);
    return surface_end(context, surface);
}

/* Returns strokes and outlines in the greatest density that is used, and an image with all its pixels. Returns NULL if
 * there is no memory, or if the image is damaged. `scale`: points for each unit of the drawing. */
static cairo_surface_t *surface_of_drawing(const sr_pdfd_drawing_t *drawing, double scale, apr_pool_t *pool)
{
    sr_pdfd_pixels_t pixels = {drawing->rgba, (int)drawing->width, (int)drawing->height};
    if (drawing->steps) return surface_of_paths(drawing, scale * SR_PDFD_DENSITY);
    if (drawing->jpeg && !sr_pdfd_image_jpeg(&pixels, drawing->jpeg->data, drawing->jpeg->size, pool)) return NULL;
    return sr_pdfd_surface(&pixels);
}

static sr_pdfd_drawing_t surface_as_drawing(cairo_surface_t *surface, apr_pool_t *pool)
{
    const int width = cairo_image_surface_get_width(surface), height = cairo_image_surface_get_height(surface);
    const sr_pdfd_planes_t planes = sr_pdfd_surface_planes(surface, pool);
    const apr_size_t pixels = (apr_size_t)width * (apr_size_t)height;
    const sr_pdfd_drawing_t drawing = {.width = width, .height = height, .rgba = sr_pdfd_buffer(pool)};
    unsigned char *to = sr_pdfd_grow(drawing.rgba, 4 * pixels);
    for (apr_size_t i = 0; i < pixels; i++, to += 4) {
        memcpy(to, planes.colours + 3 * i, 3);
        to[3] = planes.alpha[i];
    }
    return drawing;
}

bool sr_pdfd_drawing_reduce(sr_pdfd_drawing_t *drawing, apr_size_t most, apr_pool_t *pool)
{
    static const double densities[] = {SR_PDFD_DENSITY, 3, 2, 1.5, 1, 0.75, 0.5};
    const double scale = fmin(SR_PDFD_SIGNATURE_WIDTH / drawing->width, SR_PDFD_SIGNATURE_HEIGHT / drawing->height);
    const double width = drawing->width * scale, height = drawing->height * scale;
    cairo_surface_t *surface = surface_of_drawing(drawing, scale, pool);
    bool fits = false;
    for (size_t i = 0; surface && !fits && i < sizeof densities / sizeof *densities; i++) {
        surface = sr_pdfd_reduced_surface(surface, width, height, densities[i]);
        if (!surface) return false;
        const sr_pdfd_drawing_t small = surface_as_drawing(surface, pool);
        fits = sr_pdfd_image_png(&small, pool)->size <= most;
        if (fits) *drawing = small;
    }
    if (surface) cairo_surface_destroy(surface);
    return fits;
}
