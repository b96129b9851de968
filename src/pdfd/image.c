/* image.c: an uploaded signature. A PNG is decoded and written anew: its colours, and its transparency as a mask; in
 * PDF/A, which has no transparency, on white, and only what is fully transparent is left out. A
 * JPEG is decoded to see that it can be, and kept as it is, since PDF readers decode it as well, but for its notes:
 * where and with what a photograph was taken is nobody's business. (ISO 32000-2, 7.4.8 and 8.9.5) */
#include "pdfd/pdfd.h"

#include <openssl/evp.h>
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jpeglib.h> /* it needs stdio.h before it */

static const char UNKNOWN[] = "The image is neither a PNG nor a JPEG";
static const char BROKEN[] = "The image is damaged";
static const char TOO_LARGE[] = "The image is larger than 1 MiB";
static const char TOO_MANY_PIXELS[] = "The image has more than 4 million pixels";
static const char NO_CMYK[] = "The JPEG image is in printing colours (CMYK); RGB and gray can be used";
static const char BLANK[] = "The image is fully transparent";

#define MAX_SCANS 100 /* of a progressive JPEG: each one costs as much as the whole image */

typedef struct image_t {
    const unsigned char *data;
    apr_size_t size;
    sr_pdfd_update_t *update;
    sr_pdfd_mark_t *mark;
} image_t;

static const char *check_size(const image_t *image, double width, double height)
{
    *image->mark = (sr_pdfd_mark_t){.width = width, .height = height, .is_image = true};
    return width * height > SR_PDF_MAX_IMAGE_PIXELS ? TOO_MANY_PIXELS : NULL;
}

static int64_t put_image(const image_t *image, const char *more, const void *data, apr_size_t size)
{
    const char *keys = apr_psprintf(image->update->pool, "/Type/XObject/Subtype/Image/Width %d/Height %d%s",
                                    (int)image->mark->width, (int)image->mark->height, more);
    int64_t number = sr_pdfd_object_number(image->update);
    sr_pdfd_stream(image->update, number, keys, data, size);
    return number;
}

/* ------------------------------------------------------------------------------------------------------------- PNG */

/* Parts colours from transparency: `rgb` and `alpha` come in one after the other. What cannot be seen is white, which
 * packs well and is a good guess for readers that know no masks. */
static void part(const unsigned char *rgba, apr_size_t pixels, unsigned char *rgb, unsigned char *alpha, bool *seen,
                 bool *opaque)
{
    for (apr_size_t i = 0; i < pixels; i++, rgba += 4) {
        alpha[i] = rgba[3];
        if (rgba[3]) {
            memcpy(rgb + 3 * i, rgba, 3);
            *seen = true;
        } else {
            memset(rgb + 3 * i, 255, 3);
        }
        if (rgba[3] != 255) *opaque = false;
    }
}

static const char *colours_of(const image_t *image, bool gray)
{
    const char *device = gray ? "/DeviceGray" : "/DeviceRGB", *archival = gray ? SR_PDF_GRAY : SR_PDF_RGB;
    return apr_pstrcat(image->update->pool, "/ColorSpace", image->update->archival ? archival : device,
                       "/BitsPerComponent 8", NULL);
}

static int64_t put_soft_mask(const image_t *image, const unsigned char *alpha, apr_size_t pixels)
{
    return put_image(image, "/ColorSpace/DeviceGray/BitsPerComponent 8", alpha, pixels);
}

/* One bit for each pixel, rows from whole bytes; 1: nothing is painted (ISO 32000-2, 8.9.6.3). */
static int64_t put_stencil(const image_t *image, const unsigned char *alpha)
{
    const apr_size_t width = (apr_size_t)image->mark->width, height = (apr_size_t)image->mark->height;
    const apr_size_t row = (width + 7) / 8;
    unsigned char *bits = memset(sr_pdfd_grow(sr_pdfd_buffer(image->update->pool), row * height), 0, row * height);
    for (apr_size_t y = 0; y < height; y++)
        for (apr_size_t x = 0; x < width; x++)
            if (!*alpha++) bits[y * row + x / 8] |= (unsigned char)(0x80 >> x % 8);
    return put_image(image, "/ImageMask true/BitsPerComponent 1", bits, row * height);
}

/* What the colours are on white paper. */
static void flatten(unsigned char *rgb, const unsigned char *alpha, apr_size_t pixels)
{
    for (apr_size_t i = 0; i < 3 * pixels; i++) rgb[i] = (unsigned char)(255 - (255 - rgb[i]) * alpha[i / 3] / 255);
}

static const char *put_mask(const image_t *image, unsigned char *rgb, const unsigned char *alpha, apr_size_t pixels)
{
    const bool soft = !image->update->archival;
    if (!soft) flatten(rgb, alpha, pixels);
    const int64_t mask = soft ? put_soft_mask(image, alpha, pixels) : put_stencil(image, alpha);
    return apr_psprintf(image->update->pool, "/%sMask %" APR_INT64_T_FMT " 0 R", soft ? "S" : "", mask);
}

static const char *use_pixels(const image_t *image, const unsigned char *rgba)
{
    apr_size_t pixels = (apr_size_t)image->mark->width * (apr_size_t)image->mark->height;
    sr_pdfd_buffer_t *parts = sr_pdfd_buffer(image->update->pool);
    unsigned char *rgb = sr_pdfd_grow(parts, 4 * pixels), *alpha = rgb + 3 * pixels;
    const char *colours = colours_of(image, false);
    bool seen = false, opaque = true;
    part(rgba, pixels, rgb, alpha, &seen, &opaque);
    if (!seen) return BLANK;
    if (!opaque) colours = apr_pstrcat(image->update->pool, colours, put_mask(image, rgb, alpha, pixels), NULL);
    image->mark->object = put_image(image, colours, rgb, 3 * pixels);
    return NULL;
}

static const char *use_png(image_t *image)
{
    png_image png = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_memory(&png, image->data, image->size)) return BROKEN;
    const char *wrong = check_size(image, png.width, png.height);
    png.format = PNG_FORMAT_RGBA;
    unsigned char *rgba = wrong ? NULL : malloc(PNG_IMAGE_SIZE(png));
    if (!wrong && !rgba) _exit(1);
    if (!wrong && !png_image_finish_read(&png, NULL, rgba, 0, NULL)) wrong = BROKEN;
    png_image_free(&png);
    if (!wrong) wrong = use_pixels(image, rgba);
    free(rgba);
    return wrong;
}

/* ------------------------------------------------------------------------------------------------------------ JPEG */

typedef struct jpeg_t {
    struct jpeg_decompress_struct decoder;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf broken;
} jpeg_t;

static void give_up(j_common_ptr decoder)
{
    longjmp(((jpeg_t *)decoder->client_data)->broken, 1);
}

/* A warning is damage too: other readers would see something else. */
static void note(j_common_ptr decoder, int level)
{
    if (level < 0) give_up(decoder);
}

static void count_scans(j_common_ptr decoder)
{
    if (decoder->is_decompressor && ((j_decompress_ptr)decoder)->input_scan_number > MAX_SCANS) give_up(decoder);
}

static void decode(jpeg_t *jpeg)
{
    JSAMPLE *row = malloc((size_t)jpeg->decoder.image_width * 4);
    if (!row) _exit(1);
    while (jpeg->decoder.output_scanline < jpeg->decoder.output_height) jpeg_read_scanlines(&jpeg->decoder, &row, 1);
    free(row);
    jpeg_finish_decompress(&jpeg->decoder);
}

/* The process is a short-lived one: a row that a broken image leaves behind is not worth more code. */
static const char *check_jpeg(image_t *image, int *components)
{
    jpeg_t jpeg = {.decoder = {.client_data = &jpeg}};
    const char *volatile wrong = BROKEN;
    jpeg.decoder.err = jpeg_std_error(&jpeg.errors);
    jpeg.errors.error_exit = give_up;
    jpeg.errors.emit_message = note;
    if (!setjmp(jpeg.broken)) {
        jpeg_create_decompress(&jpeg.decoder);
        jpeg.decoder.client_data = &jpeg;
        jpeg.decoder.progress = &jpeg.progress;
        jpeg.progress.progress_monitor = count_scans;
        jpeg_mem_src(&jpeg.decoder, image->data, image->size);
        jpeg_read_header(&jpeg.decoder, TRUE);
        *components = jpeg.decoder.num_components;
        wrong = check_size(image, jpeg.decoder.image_width, jpeg.decoder.image_height);
        if (!wrong && *components != 1 && *components != 3) wrong = NO_CMYK;
        if (!wrong) {
            wrong = BROKEN;
            jpeg_start_decompress(&jpeg.decoder);
            decode(&jpeg);
            image->size -= jpeg.decoder.src->bytes_in_buffer; /* what comes behind the image is no part of it */
            wrong = NULL;
        }
    }
    jpeg_destroy_decompress(&jpeg.decoder);
    return wrong;
}

/* Application segments and comments go, but for those that say how colours are coded: JFIF and Adobe. */
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
        if (marker == 0xda) { /* the image itself, and whatever comes between its scans */
            sr_pdfd_put(out, at, (apr_size_t)(end - at));
            return NULL;
        }
        if (is_needed(marker)) sr_pdfd_put(out, at, length);
        at += length;
    }
    return BROKEN;
}

static const char *use_jpeg(image_t *image)
{
    sr_pdfd_buffer_t *out = sr_pdfd_buffer(image->update->pool);
    int components = 0;
    const char *wrong = check_jpeg(image, &components);
    if (!wrong) wrong = copy_without_notes(out, image);
    if (wrong) return wrong;
    const char *keys = apr_pstrcat(image->update->pool, colours_of(image, components == 1), "/Filter/DCTDecode", NULL);
    image->mark->object = put_image(image, keys, out->data, out->size);
    return NULL;
}

/* ----------------------------------------------------------------------------------------------------------- both */

static const struct {
    const char *magic;
    size_t length;
    const char *(*use)(image_t *image);
} FORMATS[] = {
    {"\x89PNG\r\n\x1a\n", 8, use_png},
    {"\xff\xd8\xff", 3, use_jpeg},
};

const char *sr_pdfd_image_mark(sr_pdfd_mark_t *mark, sr_pdfd_update_t *update, const json_t *value,
                               const apr_array_header_t *widgets)
{
    size_t length = json_string_length(value);
    const char *digits = json_string_value(value);
    if (length > 4 * (SR_PDF_MAX_IMAGE_BYTES / 3 + 1)) return TOO_LARGE;
    unsigned char *data = apr_palloc(update->pool, 3 * (length / 4) + 3);
    int size = digits ? EVP_DecodeBlock(data, (const unsigned char *)digits, (int)length) : -1;
    if (size < 3) return UNKNOWN;
    for (size_t i = length; i > 0 && digits[i - 1] == '='; i--) size--;
    image_t image = {data, (apr_size_t)size, update, mark};
    for (size_t i = 0; i < sizeof FORMATS / sizeof *FORMATS; i++)
        if (image.size >= FORMATS[i].length && !memcmp(data, FORMATS[i].magic, FORMATS[i].length))
            return FORMATS[i].use(&image);
    return UNKNOWN;
}
