/* SPDX-License-Identifier: Apache-2.0 */
/* jpeg.c: encodes a raster as JPEG, for scans and photographs. It takes a tenth of the bytes of a PNG and is faster. */
#include "helper/main/read/page.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h> /* it needs stdio.h before it */

#define QUALITY 85

typedef struct guard_t {
    struct jpeg_error_mgr manager; /* must be the first member, because libjpeg only knows this one */
    jmp_buf out;
} guard_t;

_Noreturn static void give_up(j_common_ptr info)
{
    longjmp(((guard_t *)info->err)->out, 1);
}

static void jpeg_say_nothing(j_common_ptr info)
{
}

static void write_rows(struct jpeg_compress_struct *jpeg, const sr_pdfd_raster_t *raster, bool gray)
{
    unsigned char *pixels = (unsigned char *)raster->pixels;
    const size_t width = (size_t)raster->width;
    while (jpeg->next_scanline < jpeg->image_height) {
        unsigned char *row = pixels + jpeg->next_scanline * width * 4;
        for (size_t x = 0; gray && x < width; x++) row[x] = row[4 * x]; /* blue is the first byte in memory */
        jpeg_write_scanlines(jpeg, &row, 1);
    }
}

apr_size_t sr_pdfd_jpeg_encode(unsigned char *image, apr_size_t room, sr_pdfd_raster_t *raster, bool gray)
{
    struct jpeg_compress_struct jpeg = {0};
    guard_t guard;
    unsigned long length = room;
    jpeg.err = jpeg_std_error(&guard.manager);
    guard.manager.error_exit = give_up;
    guard.manager.output_message = jpeg_say_nothing;
    if (setjmp(guard.out)) {
        jpeg_destroy_compress(&jpeg);
        return 0;
    }
    jpeg_create_compress(&jpeg);
    unsigned char *out = image;
    jpeg_mem_dest(&jpeg, &out, &length);
    jpeg.image_width = (JDIMENSION)raster->width;
    jpeg.image_height = (JDIMENSION)raster->height;
    jpeg.input_components = gray ? 1 : 4;
    jpeg.in_color_space = gray ? JCS_GRAYSCALE : JCS_EXT_BGRX;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, QUALITY, TRUE);
    jpeg_start_compress(&jpeg, TRUE);
    write_rows(&jpeg, raster, gray);
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    if (out == image) return length;
    free(out); /* libjpeg has allocated a larger buffer */
    return 0;
}
