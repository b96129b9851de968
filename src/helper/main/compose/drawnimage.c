/* SPDX-License-Identifier: Apache-2.0 */
/* drawnimage.c: draws the uploaded image of a signed document again. It reads the image object, followed by its mask if
 * it has one, only in the form in which image.c writes them. It uses no more pixels than the place can show. */
#include "helper/protocol.h"
#include "helper/main/compose/decorations.h"
#include "helper/main/fields/drawing.h"
#include "helper/main/read/scan.h"

#include <apr_encode.h>
#include <math.h>
#include <zlib.h>

#define MAX_PIXELS SR_PDFD_MAX_MARK_PIXELS

typedef struct coded_t {
    int64_t width, height, length;
    int components; /* bytes of a pixel; 0: a stencil mask with one bit for each pixel */
    bool is_jpeg, is_packed, has_mask;
    const unsigned char *data;
} coded_t;

/* The samples of an image. `mask` is NULL if it has none. */
typedef struct samples_t {
    const unsigned char *colours, *mask;
    int step;        /* bytes of colour for each pixel */
    bool is_stencil; /* the mask has one bit for each pixel: 1 means that nothing is painted */
} samples_t;

static const struct {
    const char *keys;
    int components;
} FORMS[] = {
    {"/ColorSpace/DeviceGray/BitsPerComponent 8", 1},
    {"/ColorSpace/DeviceRGB/BitsPerComponent 8", 3},
    {"/ColorSpace" SR_PDF_GRAY "/BitsPerComponent 8", 1},
    {"/ColorSpace" SR_PDF_RGB "/BitsPerComponent 8", 3},
    {"/ImageMask true/BitsPerComponent 1", 0},
};

static bool drawnimage_read_form(coded_t *coded, cursor_t *c)
{
    for (size_t i = 0; i < sizeof FORMS / sizeof *FORMS; i++) {
        if (!read_word(c, FORMS[i].keys)) continue;
        coded->components = FORMS[i].components;
        return true;
    }
    return false;
}

static bool is_size(const coded_t *coded)
{
    return coded->width > 0 && coded->height > 0 && coded->width <= MAX_PIXELS
           && coded->height <= MAX_PIXELS / coded->width;
}

/* Reads an image object. Returns false if it has another form or is incomplete. */
static bool read_coded(coded_t *coded, cursor_t *c)
{
    int64_t number;
    *coded = (coded_t){0};
    if (!read_word(c, SR_PDFD_IMAGE_BEGIN "/Width ") || !read_number(c, &coded->width)) return false;
    if (!read_word(c, "/Height ") || !read_number(c, &coded->height) || !drawnimage_read_form(coded, c)) return false;
    coded->is_jpeg = read_word(c, "/Filter/DCTDecode");
    coded->has_mask = read_word(c, "/SMask ") || read_word(c, "/Mask ");
    if (coded->has_mask && (!read_number(c, &number) || !read_word(c, "0 R"))) return false;
    coded->is_packed = read_word(c, "/Filter/FlateDecode");
    if (!read_word(c, "/Length ") || !read_number(c, &coded->length) || !read_word(c, ">>stream\n")) return false;
    if (!is_size(coded) || coded->length < 1 || coded->length > c->end - c->at) return false;
    coded->data = c->at;
    c->at += coded->length;
    return true;
}

const unsigned char *sr_pdfd_unpack(apr_size_t *size, const void *data, apr_size_t length, bool is_packed,
                                    apr_size_t room, apr_pool_t *pool)
{
    uLongf count = room;
    *size = length;
    if (!is_packed) return length <= room ? data : NULL;
    unsigned char *bytes = sr_pdfd_grow(sr_pdfd_buffer(pool), room);
    if (uncompress(bytes, &count, data, length) != Z_OK) return NULL;
    *size = count;
    return bytes;
}

/* Returns the samples of an image that is not a JPEG, or NULL if their number does not match its size. */
static const unsigned char *unpack(const coded_t *coded, apr_pool_t *pool)
{
    const int64_t row = coded->components ? coded->width * coded->components : (coded->width + 7) / 8;
    const apr_size_t want = (apr_size_t)(row * coded->height);
    apr_size_t size;
    const unsigned char *samples =
        sr_pdfd_unpack(&size, coded->data, (apr_size_t)coded->length, coded->is_packed, want, pool);
    return samples && size == want ? samples : NULL;
}

static bool drawnimage_decode(samples_t *samples, const coded_t *image, apr_pool_t *pool)
{
    sr_pdfd_pixels_t pixels;
    samples->step = image->components;
    if (!image->is_jpeg) return (samples->colours = unpack(image, pool)) != NULL;
    if (!sr_pdfd_image_jpeg(&pixels, image->data, (apr_size_t)image->length, pool)) return false;
    samples->colours = pixels.rgba->data;
    samples->step = 4;
    return pixels.width == image->width && pixels.height == image->height;
}

/* Reads the mask that follows an image, which must have the same size. */
static bool decode_mask(samples_t *samples, const coded_t *image, cursor_t *c, apr_pool_t *pool)
{
    coded_t mask;
    if (!image->has_mask) return true;
    if (!read_coded(&mask, c) || mask.components > 1 || mask.is_jpeg || mask.has_mask) return false;
    if (mask.width != image->width || mask.height != image->height) return false;
    samples->is_stencil = mask.components == 0;
    samples->mask = unpack(&mask, pool);
    return samples->mask != NULL;
}

static unsigned alpha_at(const samples_t *samples, int64_t x, int64_t y, int64_t width)
{
    if (!samples->mask) return 255;
    if (!samples->is_stencil) return samples->mask[y * width + x];
    return samples->mask[y * ((width + 7) / 8) + x / 8] & (0x80 >> x % 8) ? 0 : 255;
}

static uint32_t pixel_of(const unsigned char *colour, int step, unsigned alpha)
{
    const unsigned red = colour[0], green = colour[step > 1 ? 1 : 0], blue = colour[step > 1 ? 2 : 0];
    return alpha << 24 | red * alpha / 255 << 16 | green * alpha / 255 << 8 | blue * alpha / 255;
}

/* Returns NULL if there is no memory. */
static cairo_surface_t *surface_of(const samples_t *samples, int width, int height)
{
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height);
    unsigned char *row = cairo_image_surface_get_data(surface);
    const unsigned char *colour = samples->colours;
    if (!row) {
        cairo_surface_destroy(surface);
        return NULL;
    }
    for (int y = 0; y < height; y++, row += cairo_image_surface_get_stride(surface))
        for (int x = 0; x < width; x++, colour += samples->step)
            ((uint32_t *)(void *)row)[x] = pixel_of(colour, samples->step, alpha_at(samples, x, y, width));
    cairo_surface_mark_dirty(surface);
    return surface;
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

void sr_pdfd_paint_surface(cairo_t *context, cairo_surface_t *surface, double width, double height)
{
    const double across = width / cairo_image_surface_get_width(surface);
    const double down = height / cairo_image_surface_get_height(surface);
    cairo_save(context);
    cairo_scale(context, across, down);
    cairo_set_source_surface(context, surface, 0, 0);
    cairo_pattern_set_filter(cairo_get_source(context), CAIRO_FILTER_GOOD);
    cairo_paint(context);
    cairo_restore(context);
}

cairo_surface_t *sr_pdfd_reduced_surface(cairo_surface_t *surface, double width, double height, double density)
{
    const int across = (int)ceil(width * density), down = (int)ceil(height * density);
    if (cairo_image_surface_get_width(surface) <= across) return surface;
    cairo_surface_t *small = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, across, down);
    cairo_t *context = cairo_create(small);
    sr_pdfd_paint_surface(context, surface, across, down);
    const bool good = cairo_status(context) == CAIRO_STATUS_SUCCESS;
    cairo_destroy(context);
    cairo_surface_destroy(surface);
    if (good) return small;
    cairo_surface_destroy(small);
    return NULL;
}

cairo_surface_t *sr_pdfd_image_surface(double *width, double *height, const char *object, apr_size_t length,
                                       int64_t *pixels, apr_pool_t *pool)
{
    cursor_t c = {(const unsigned char *)object, (const unsigned char *)object + length};
    coded_t image;
    samples_t samples = {0};
    if (!read_coded(&image, &c) || !image.components || image.width * image.height > *pixels) return NULL;
    *pixels -= image.width * image.height;
    if (!drawnimage_decode(&samples, &image, pool) || !decode_mask(&samples, &image, &c, pool)) return NULL;
    const double scale = fmin(*width / (double)image.width, *height / (double)image.height);
    *width = (double)image.width * scale;
    *height = (double)image.height * scale;
    cairo_surface_t *surface = surface_of(&samples, (int)image.width, (int)image.height);
    return surface ? sr_pdfd_reduced_surface(surface, *width, *height, SR_PDFD_MARK_DENSITY) : NULL;
}

void sr_pdfd_drawn_image(sr_pdfd_canvas_t *canvas, const char *object, apr_size_t length, const sr_pdfd_place_t *place,
                         int64_t *pixels, apr_pool_t *pool)
{
    double width = place->width, height = place->height;
    cairo_surface_t *surface = canvas ? sr_pdfd_image_surface(&width, &height, object, length, pixels, pool) : NULL;
    const double x = place->x + (place->right ? place->width - width : 0);
    const double y = place->y + (place->height - height) / 2;
    if (surface) sr_pdfd_canvas_image(canvas, surface, x, y, width, height);
}

cairo_surface_t *sr_pdfd_png_surface(const char *base64, apr_pool_t *pool)
{
    sr_pdfd_pixels_t pixels;
    apr_size_t size;
    const void *png = apr_pdecode_base64(pool, base64, APR_ENCODE_STRING, APR_ENCODE_NONE, &size);
    if (!png || !sr_pdfd_image_png_read(&pixels, png, size, pool)) return NULL;
    const apr_size_t count = (apr_size_t)pixels.width * (apr_size_t)pixels.height;
    unsigned char *alpha = apr_palloc(pool, count);
    for (apr_size_t i = 0; i < count; i++) alpha[i] = pixels.rgba->data[4 * i + 3];
    const samples_t samples = {.colours = pixels.rgba->data, .mask = alpha, .step = 4};
    return surface_of(&samples, pixels.width, pixels.height);
}
