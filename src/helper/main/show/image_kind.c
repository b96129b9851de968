/* SPDX-License-Identifier: Apache-2.0 */
/* image_kind.c: decides whether a page is text and drawings, or a scan or photograph. In a scan most pixels differ
 * slightly from their neighbours. In text they are equal or differ much. */
#include "helper/main/read/page.h"

#include <stdlib.h>
#include <string.h>

#define EVERY 4 /* one in this number of rows is examined */
#define COLOR 0xffffffu
#define MUCH 0xf0f0f0u /* bits of differences of 16 or more; smaller ones are slight */
#define SHARE 12       /* a scan has at least one slight difference in this number of pixels */
#define BLOCK 64       /* pixels that are examined at once */
#define GRID 8         /* one in this number of pixels of a row tells the colour of areas */

static sr_pdfd_row_t image_kind_kind_of(const uint32_t *pixel, int width)
{
    uint32_t all = COLOR, different = 0;
    for (int x = 0; x < width; x++) {
        all &= pixel[x];
        different |= pixel[x] ^ (pixel[x] >> 8);
    }
    if (different & 0xffff) return SR_PDFD_COLOURED;
    return (all & COLOR) == COLOR ? SR_PDFD_WHITE : SR_PDFD_GRAY_ROW;
}

typedef struct counts_t {
    long different, much; /* pixels that differ, and that differ much, from their left neighbour */
} counts_t;

/* Counts up to BLOCK pixels. The compiler makes vectors of both loops. */
static void count_block(counts_t *counts, const uint32_t *pixel, int count)
{
    const unsigned char *one = (const unsigned char *)pixel, *other = (const unsigned char *)(pixel - 1);
    uint32_t differences[BLOCK];
    unsigned char *difference = (unsigned char *)differences;
    int different = 0, much = 0;
    for (int i = 0; i < 4 * count; i++)
        difference[i] = (unsigned char)(one[i] > other[i] ? one[i] - other[i] : other[i] - one[i]);
    for (int i = 0; i < count; i++) {
        different += (differences[i] & COLOR) != 0;
        much += (differences[i] & MUCH) != 0;
    }
    counts->different += different;
    counts->much += much;
}

/* Counts the pixels in areas of each gray: they are equal to the three on their left and to the one above. */
static void count_areas(long *levels, const uint32_t *pixel, const uint32_t *above, int width)
{
    for (int x = GRID; x < width; x += GRID) {
        const uint32_t gray = (pixel[x] & 0xff) * 0x10101, *left = pixel + x - 3;
        const uint32_t different =
            (pixel[x] ^ gray) | (above[x] ^ gray) | (left[0] ^ gray) | (left[1] ^ gray) | (left[2] ^ gray);
        if (!(different & COLOR)) levels[gray & 0xff] += (long)EVERY * GRID;
    }
}

void sr_pdfd_image_kind(sr_pdfd_look_t *look, const sr_pdfd_raster_t *raster, apr_pool_t *pool)
{
    const int width = raster->width;
    const uint32_t *pixel = raster->pixels;
    counts_t counts = {0};
    long seen = 0;
    *look = (sr_pdfd_look_t){.gray = true, .rows = apr_palloc(pool, (apr_size_t)raster->height)};
    for (int y = 0; y < raster->height; y++, pixel += width) {
        const sr_pdfd_row_t kind = image_kind_kind_of(pixel, width);
        look->rows[y] = (unsigned char)kind;
        if (kind == SR_PDFD_COLOURED) look->gray = false;
        if (y % EVERY) continue;
        seen += width;
        if (kind == SR_PDFD_WHITE) continue;
        for (int x = 1; x < width; x += BLOCK) count_block(&counts, pixel + x, width - x < BLOCK ? width - x : BLOCK);
        count_areas(look->levels, pixel, y ? pixel - width : pixel, width);
    }
    const long little = counts.different - counts.much;
    look->photograph = little > seen / SHARE && little > counts.much / 2;
}
