/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_pixels.h: what the tests of what is seen share: pages as gray pixels, and images to sign with. */
#ifndef SR_TEST_PDF_PIXELS_H
#define SR_TEST_PDF_PIXELS_H

#include "pdf_seal.h"

#include <jpeglib.h>
#include <png.h>

typedef struct pixels_t {
    int width, height;
    unsigned char *gray;
} pixels_t;

/* The only page of the document. */
static inline pixels_t pixels_render(const seal_bench_t *of, const void *data, size_t length, int dpi, apr_pool_t *pool)
{
    int status;
    pixels_t page = {0};
    seal_write(of, "page.pdf", data, length);
    const char *said = seal_run(&status, of, pool, "pdftoppm -r %d -gray -cropbox -singlefile page.pdf page", dpi);
    FILE *file = fopen(apr_pstrcat(pool, of->folder, "/page.pgm", NULL), "rb");
    if (status || !file || fscanf(file, "P5 %d %d 255", &page.width, &page.height) != 2) {
        printf("# pdftoppm: %s\n", said);
        abort();
    }
    size_t size = (size_t)page.width * (size_t)page.height;
    page.gray = apr_palloc(pool, size);
    fgetc(file);
    if (fread(page.gray, 1, size, file) != size) abort();
    fclose(file);
    return page;
}

static inline const void *pixels_png(size_t *size, const void *pixels, int width, int height, png_uint_32 format,
                                     apr_pool_t *pool)
{
    png_image image = {
        .version = PNG_IMAGE_VERSION, .width = (png_uint_32)width, .height = (png_uint_32)height, .format = format};
    png_alloc_size_t room = 0;
    if (!png_image_write_to_memory(&image, NULL, &room, 0, pixels, 0, NULL)) abort();
    void *data = apr_palloc(pool, room);
    if (!png_image_write_to_memory(&image, data, &room, 0, pixels, 0, NULL)) abort();
    *size = room;
    return data;
}

/* A dark JPEG of 64 x 32 pixels with a comment. */
static inline const void *pixels_jpeg(size_t *size, int channels, apr_pool_t *pool)
{
    struct jpeg_compress_struct encoder;
    struct jpeg_error_mgr errors;
    unsigned char *data = NULL, row[64 * 4] = {0};
    JSAMPLE *rows = row;
    unsigned long length = 0;
    encoder.err = jpeg_std_error(&errors);
    jpeg_create_compress(&encoder);
    jpeg_mem_dest(&encoder, &data, &length);
    encoder.image_width = 64;
    encoder.image_height = 32;
    encoder.input_components = channels;
    encoder.in_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 3 ? JCS_RGB : JCS_CMYK;
    jpeg_set_defaults(&encoder);
    jpeg_start_compress(&encoder, TRUE);
    jpeg_write_marker(&encoder, JPEG_COM, (const JOCTET *)"a secret place", 14);
    while (encoder.next_scanline < encoder.image_height) jpeg_write_scanlines(&encoder, &rows, 1);
    jpeg_finish_compress(&encoder);
    jpeg_destroy_compress(&encoder);
    void *copy = apr_pmemdup(pool, data, length);
    free(data);
    *size = length;
    return copy;
}

#endif
