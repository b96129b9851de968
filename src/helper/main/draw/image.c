/* SPDX-License-Identifier: Apache-2.0 */
/* image.c: an uploaded signature as PNG, JPEG or WebP. It is decoded, and a transparent image is cropped to what is
 * visible. The result is written as an image of its colours with a mask of its alpha values. PDF/A permits no
 * transparency, so there the colours are blended with white, and only fully transparent pixels are left out by a
 * stencil mask. A JPEG is kept without decoding, because PDF readers can decode it. Its metadata is removed, because it
 * may contain the place and the camera of a photograph. The signing page turns photographs and removes paper before it
 * sends them (src/web/assets/js/upload.js). (ISO 32000-2, 7.4.8 and 8.9.5) */
#include "helper/main/read/page.h"
#include "helper/main/draw/drawing.h"

#include <math.h>
#include <openssl/evp.h>
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <webp/decode.h>

#include <jpeglib.h> /* it needs stdio.h before it */

static const char UNKNOWN[] = "The image is neither a PNG nor a JPEG nor a WebP";
static const char BROKEN[] = "The image is damaged";
static const char TOO_LARGE[] = "The image is larger than 1 MiB";
static const char TOO_MANY_PIXELS[] = "The image has more than 4 million pixels";
static const char NO_CMYK[] = "The JPEG image is in printing colours (CMYK); RGB and gray can be used";
static const char BLANK[] = "The image is fully transparent";

#define MAX_SCANS 100 /* of a progressive JPEG; decoding one scan costs as much as decoding the whole image */
#define MARK_SCANS 20 /* of a JPEG that is drawn again in a composed document; encoders make ten */
#define TRIMMED 16    /* of 255; pixels with a smaller alpha are not part of the image */
/* Margin on each side, as a part of the shorter side including the margin. model/ink.c uses the same for strokes. */
#define PADDING 0.09

typedef struct image_t {
    const unsigned char *data;
    apr_size_t size;
    sr_pdfd_pixels_t pixels; /* after it was decoded */
    int components;          /* of a JPEG: channels per pixel */
    int scans;               /* of a JPEG: the greatest number that is permitted */
    apr_pool_t *pool;
} image_t;

/* Allocates the pixels. Returns NULL, or what is wrong with their number. */
static const char *begin_pixels(image_t *image, double width, double height)
{
    if (width * height > SR_PDF_MAX_IMAGE_PIXELS) return TOO_MANY_PIXELS;
    image->pixels = (sr_pdfd_pixels_t){sr_pdfd_buffer(image->pool), (int)width, (int)height};
    sr_pdfd_grow(image->pixels.rgba, 4 * (apr_size_t)width * (apr_size_t)height);
    return NULL;
}

/* ------------------------------------------------------------------------------------------------------------- PNG */

static const char *decode_png(image_t *image)
{
    png_image png = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_memory(&png, image->data, image->size)) return BROKEN;
    const char *wrong = begin_pixels(image, png.width, png.height);
    png.format = PNG_FORMAT_RGBA;
    if (!wrong && !png_image_finish_read(&png, NULL, image->pixels.rgba->data, 0, NULL)) wrong = BROKEN;
    png_image_free(&png);
    return wrong;
}

sr_pdfd_buffer_t *sr_pdfd_image_png(const sr_pdfd_drawing_t *drawing, apr_pool_t *pool)
{
    png_image png = {.version = PNG_IMAGE_VERSION, .format = PNG_FORMAT_RGBA, .flags = PNG_IMAGE_FLAG_FAST};
    sr_pdfd_buffer_t *out = sr_pdfd_buffer(pool);
    png_alloc_size_t size = 0;
    png.width = (png_uint_32)drawing->width;
    png.height = (png_uint_32)drawing->height;
    if (!png_image_write_get_memory_size(png, size, 0, drawing->rgba->data, 0, NULL)) _exit(1);
    unsigned char *bytes = sr_pdfd_grow(out, size);
    if (!png_image_write_to_memory(&png, bytes, &size, 0, drawing->rgba->data, 0, NULL)) _exit(1);
    out->size = size;
    return out;
}

/* ------------------------------------------------------------------------------------------------------------ WebP */

static const char *decode_webp(image_t *image)
{
    WebPBitstreamFeatures features;
    if (WebPGetFeatures(image->data, image->size, &features) != VP8_STATUS_OK || features.has_animation) return BROKEN;
    const char *wrong = begin_pixels(image, features.width, features.height);
    if (wrong) return wrong;
    sr_pdfd_buffer_t *rgba = image->pixels.rgba;
    return WebPDecodeRGBAInto(image->data, image->size, rgba->data, rgba->size, 4 * features.width) ? NULL : BROKEN;
}

/* ------------------------------------------------------------------------------------------------------------ JPEG */

typedef struct jpeg_t {
    struct jpeg_decompress_struct decoder;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    int scans;
    jmp_buf broken;
} jpeg_t;

static void image_give_up(j_common_ptr decoder)
{
    longjmp(((jpeg_t *)decoder->client_data)->broken, 1);
}

/* Warnings are treated as damage, because other readers might show something else. */
static void image_note(j_common_ptr decoder, int level)
{
    if (level < 0) image_give_up(decoder);
}

static void count_scans(j_common_ptr decoder)
{
    const int most = ((jpeg_t *)decoder->client_data)->scans;
    if (decoder->is_decompressor && ((j_decompress_ptr)decoder)->input_scan_number > most) image_give_up(decoder);
}

/* Decodes rows and expands them to RGBA. A gray value is used for all three colours. */
static void decode_rows(jpeg_t *jpeg, image_t *image)
{
    JSAMPLE *row = apr_palloc(image->pool, (size_t)jpeg->decoder.image_width * 4);
    unsigned char *to = image->pixels.rgba->data;
    while (jpeg->decoder.output_scanline < jpeg->decoder.output_height) {
        jpeg_read_scanlines(&jpeg->decoder, &row, 1);
        for (const JSAMPLE *from = row, *end = row + jpeg->decoder.image_width * (size_t)image->components; from < end;
             from += image->components, to += 4) {
            to[0] = from[0];
            to[1] = from[image->components > 1 ? 1 : 0];
            to[2] = from[image->components > 1 ? 2 : 0];
            to[3] = 255;
        }
    }
    jpeg_finish_decompress(&jpeg->decoder);
}

static const char *decode_jpeg(image_t *image)
{
    jpeg_t jpeg = {.decoder = {.client_data = &jpeg}, .scans = image->scans};
    const char *volatile wrong = BROKEN;
    jpeg.decoder.err = jpeg_std_error(&jpeg.errors);
    jpeg.errors.error_exit = image_give_up;
    jpeg.errors.emit_message = image_note;
    if (!setjmp(jpeg.broken)) {
        jpeg_create_decompress(&jpeg.decoder);
        jpeg.decoder.client_data = &jpeg;
        jpeg.decoder.progress = &jpeg.progress;
        jpeg.progress.progress_monitor = count_scans;
        jpeg_mem_src(&jpeg.decoder, image->data, image->size);
        jpeg_read_header(&jpeg.decoder, TRUE);
        image->components = jpeg.decoder.num_components;
        wrong = begin_pixels(image, jpeg.decoder.image_width, jpeg.decoder.image_height);
        if (!wrong && image->components != 1 && image->components != 3) wrong = NO_CMYK;
        if (!wrong) {
            wrong = BROKEN;
            jpeg_start_decompress(&jpeg.decoder);
            decode_rows(&jpeg, image);
            image->size -= jpeg.decoder.src->bytes_in_buffer; /* bytes after the image are not part of it */
            wrong = NULL;
        }
    }
    jpeg_destroy_decompress(&jpeg.decoder);
    return wrong;
}

/* Returns false for comments and application segments, except those that define the coding of colours: JFIF and Adobe.
 */
static bool is_needed(int marker)
{
    return marker != 0xfe && (marker < 0xe1 || marker > 0xef || marker == 0xee);
}

static const char *copy_without_notes(sr_pdfd_buffer_t *out, const image_t *image)
{
    const unsigned char *at = image->data, *end = at + image->size;
    sr_pdfd_put(out, at, 2);
    for (at += 2; end - at >= 4 && at[0] == 0xff;) {
        int marker = at[1];
        if (marker == 0xff) { /* padding */
            at++;
            continue;
        }
        apr_size_t length = 2 + (apr_size_t)(at[2] << 8 | at[3]);
        if (length < 4 || length > (apr_size_t)(end - at)) return BROKEN;
        if (marker == 0xda) { /* the image data, including segments between its scans */
            sr_pdfd_put(out, at, (apr_size_t)(end - at));
            return NULL;
        }
        if (is_needed(marker)) sr_pdfd_put(out, at, length);
        at += length;
    }
    return BROKEN;
}

bool sr_pdfd_image_jpeg(sr_pdfd_pixels_t *pixels, const void *data, apr_size_t size, apr_pool_t *pool)
{
    image_t image = {.data = data, .size = size, .scans = MARK_SCANS, .pool = pool};
    const char *wrong = decode_jpeg(&image);
    *pixels = image.pixels;
    return !wrong;
}

bool sr_pdfd_image_png_read(sr_pdfd_pixels_t *pixels, const void *data, apr_size_t size, apr_pool_t *pool)
{
    image_t image = {.data = data, .size = size, .pool = pool};
    const char *wrong = decode_png(&image);
    *pixels = image.pixels;
    return !wrong;
}

/* -------------------------------------------------------------------------------------------------- all of them */

static bool is_opaque(const sr_pdfd_pixels_t *pixels)
{
    for (apr_size_t i = 3; i < pixels->rgba->size; i += 4)
        if (pixels->rgba->data[i] != 255) return false;
    return true;
}

/* Crops invisible borders and leaves a margin. Returns false if nothing is visible. */
static bool trim_image(sr_pdfd_pixels_t *pixels, apr_pool_t *pool)
{
    int left = pixels->width, right = 0, top = pixels->height, bottom = 0;
    const unsigned char *pixel = pixels->rgba->data;
    for (int y = 0; y < pixels->height; y++)
        for (int x = 0; x < pixels->width; x++, pixel += 4) {
            if (pixel[3] < TRIMMED) continue;
            if (x < left) left = x;
            if (x >= right) right = x + 1;
            if (y < top) top = y;
            bottom = y + 1;
        }
    const int width = right - left, height = bottom - top;
    if (width <= 0) return false;
    /* With the longer side, the margin of a narrow image would be many times its width. */
    const int padding = (int)ceil((width < height ? width : height) * PADDING / (1 - 2 * PADDING));
    sr_pdfd_pixels_t trimmed = {sr_pdfd_buffer(pool), width + 2 * padding, height + 2 * padding};
    const size_t row = 4 * (size_t)trimmed.width, from_row = 4 * (size_t)pixels->width;
    unsigned char *to = sr_pdfd_grow(trimmed.rgba, row * (size_t)trimmed.height);
    memset(to, 0, row * (size_t)trimmed.height);
    to += row * (size_t)padding + 4 * (size_t)padding;
    const unsigned char *from = pixels->rgba->data + from_row * (size_t)top + 4 * (size_t)left;
    for (int y = 0; y < height; y++, to += row, from += from_row) memcpy(to, from, 4 * (size_t)width);
    *pixels = trimmed;
    return true;
}

static const struct {
    const char *magic;
    size_t offset, length;
    const char *(*decode)(image_t *image);
} FORMATS[] = {
    {"\x89PNG\r\n\x1a\n", 0, 8, decode_png},
    {"\xff\xd8\xff", 0, 3, decode_jpeg},
    {"WEBP", 8, 4, decode_webp},
};

/* Prepares a decoded image for drawing. Returns NULL, or what is wrong with it. */
static const char *use(sr_pdfd_drawing_t *drawing, image_t *image)
{
    sr_pdfd_pixels_t *pixels = &image->pixels;
    if (!is_opaque(pixels) && !trim_image(pixels, image->pool)) return BLANK;
    drawing->width = pixels->width;
    drawing->height = pixels->height;
    if (!image->components) {
        drawing->rgba = pixels->rgba;
        return NULL;
    }
    drawing->jpeg = sr_pdfd_buffer(image->pool);
    drawing->is_gray = image->components == 1;
    return copy_without_notes(drawing->jpeg, image);
}

const char *sr_pdfd_draw_image(sr_pdfd_drawing_t *drawing, const json_t *value, apr_pool_t *pool)
{
    size_t length = json_string_length(value);
    const char *digits = json_string_value(value);
    if (length > (apr_size_t)4 * (SR_PDF_MAX_IMAGE_BYTES / 3 + 1)) return TOO_LARGE;
    unsigned char *data = apr_palloc(pool, 3 * (length / 4) + 3);
    int size = digits ? EVP_DecodeBlock(data, (const unsigned char *)digits, (int)length) : -1;
    if (size < 3) return UNKNOWN;
    for (size_t i = length; i > 0 && digits[i - 1] == '='; i--) size--;
    image_t image = {.data = data, .size = (apr_size_t)size, .scans = MAX_SCANS, .pool = pool};
    *drawing = (sr_pdfd_drawing_t){0};
    for (size_t i = 0; i < sizeof FORMATS / sizeof *FORMATS; i++) {
        const size_t end = FORMATS[i].offset + FORMATS[i].length;
        if (image.size < end || memcmp(data + FORMATS[i].offset, FORMATS[i].magic, FORMATS[i].length) != 0) continue;
        const char *wrong = FORMATS[i].decode(&image);
        return wrong ? wrong : use(drawing, &image);
    }
    return UNKNOWN;
}

/* ------------------------------------------------------------------------------------------------- into a document */

/* Separates colours and alpha values. Invisible pixels become white, which compresses well and suits readers that
 * ignore masks. */
static bool image_part(const unsigned char *rgba, apr_size_t pixels, unsigned char *rgb, unsigned char *alpha)
{
    bool opaque = true;
    for (apr_size_t i = 0; i < pixels; i++, rgba += 4) {
        alpha[i] = rgba[3];
        if (rgba[3]) memcpy(rgb + 3 * i, rgba, 3);
        else memset(rgb + 3 * i, 255, 3);
        if (rgba[3] != 255) opaque = false;
    }
    return opaque;
}

static int64_t image_put_image(sr_pdfd_update_t *update, const sr_pdfd_drawing_t *drawing, const char *more,
                               const void *data, apr_size_t size)
{
    const char *keys = apr_psprintf(update->pool, "/Type/XObject/Subtype/Image/Width %d/Height %d%s",
                                    (int)drawing->width, (int)drawing->height, more);
    int64_t number = sr_pdfd_object_number(update);
    sr_pdfd_stream(update, number, keys, data, size);
    return number;
}

static const char *colours_of(const sr_pdfd_update_t *update, bool gray)
{
    const char *device = gray ? "/DeviceGray" : "/DeviceRGB", *archival = gray ? SR_PDF_GRAY : SR_PDF_RGB;
    return apr_pstrcat(update->pool, "/ColorSpace", update->archival ? archival : device, "/BitsPerComponent 8", NULL);
}

/* Writes a stencil mask: one bit for each pixel, rows of whole bytes, and 1 where nothing is painted (ISO 32000-2,
 * 8.9.6.3). */
static int64_t put_stencil(sr_pdfd_update_t *update, const sr_pdfd_drawing_t *drawing, const unsigned char *alpha)
{
    const apr_size_t width = (apr_size_t)drawing->width, height = (apr_size_t)drawing->height;
    const apr_size_t row = (width + 7) / 8;
    unsigned char *bits = memset(sr_pdfd_grow(sr_pdfd_buffer(update->pool), row * height), 0, row * height);
    for (apr_size_t y = 0; y < height; y++)
        for (apr_size_t x = 0; x < width; x++)
            if (!*alpha++) bits[y * row + x / 8] |= (unsigned char)(0x80 >> x % 8);
    return image_put_image(update, drawing, "/ImageMask true/BitsPerComponent 1", bits, row * height);
}

/* Blends the colours with white. */
static void flatten(unsigned char *rgb, const unsigned char *alpha, apr_size_t pixels)
{
    for (apr_size_t i = 0; i < 3 * pixels; i++) rgb[i] = (unsigned char)(255 - (255 - rgb[i]) * alpha[i / 3] / 255);
}

static const char *put_mask(sr_pdfd_update_t *update, const sr_pdfd_drawing_t *drawing, unsigned char *rgb,
                            const unsigned char *alpha, apr_size_t pixels)
{
    if (update->archival) {
        flatten(rgb, alpha, pixels);
        return apr_psprintf(update->pool, "/Mask %" APR_INT64_T_FMT " 0 R", put_stencil(update, drawing, alpha));
    }
    int64_t mask = image_put_image(update, drawing, "/ColorSpace/DeviceGray/BitsPerComponent 8", alpha, pixels);
    return apr_psprintf(update->pool, "/SMask %" APR_INT64_T_FMT " 0 R", mask);
}

int64_t sr_pdfd_image_object(sr_pdfd_update_t *update, const sr_pdfd_drawing_t *drawing)
{
    const char *colours = colours_of(update, drawing->jpeg && drawing->is_gray);
    if (drawing->jpeg)
        return image_put_image(update, drawing, apr_pstrcat(update->pool, colours, "/Filter/DCTDecode", NULL),
                               drawing->jpeg->data, drawing->jpeg->size);
    apr_size_t pixels = drawing->rgba->size / 4;
    unsigned char *rgb = sr_pdfd_grow(sr_pdfd_buffer(update->pool), 4 * pixels), *alpha = rgb + 3 * pixels;
    if (!image_part(drawing->rgba->data, pixels, rgb, alpha))
        colours = apr_pstrcat(update->pool, colours, put_mask(update, drawing, rgb, alpha, pixels), NULL);
    return image_put_image(update, drawing, colours, rgb, 3 * pixels);
}
