/* SPDX-License-Identifier: Apache-2.0 */
/* look.c: decides whether a page is text and drawings, or a scan or photograph. In a scan most pixels differ slightly
 * from their neighbours. In text they are equal or differ much. */
#include "pdfd/page.h"

#include <stdlib.h>
#include <string.h>

#define EVERY 4   /* one in this number of rows is examined */
#define LITTLE 16 /* of 255: the greatest difference that counts as slight */
#define COLOR 0xffffffu
#define SHARE 12 /* a scan has at least one slight difference in this number of pixels */

static bool is_gray(const uint32_t *pixel, int width)
{
    uint32_t different = 0;
    for (int x = 0; x < width; x++) different |= pixel[x] ^ (pixel[x] >> 8);
    return !(different & 0xffff);
}

static bool is_white(const uint32_t *pixel, int width)
{
    uint32_t all = COLOR;
    for (int x = 0; x < width; x++) all &= pixel[x];
    return (all & COLOR) == COLOR;
}

/* Returns the greatest difference of a channel. */
static int difference(uint32_t one, uint32_t other)
{
    int most = 0;
    for (int shift = 0; shift < 24; shift += 8) {
        const int found = abs((int)(one >> shift & 0xff) - (int)(other >> shift & 0xff));
        if (found > most) most = found;
    }
    return most;
}

void sr_pdfd_look(sr_pdfd_look_t *look, const sr_pdfd_raster_t *raster)
{
    const uint32_t *pixel = raster->pixels;
    long little = 0, much = 0, seen = 0;
    memset(look, 0, sizeof *look);
    look->gray = true;
    for (int y = 0; y < raster->height; y++, pixel += raster->width) {
        if (look->gray) look->gray = is_gray(pixel, raster->width);
        if (y % EVERY) continue;
        seen += raster->width;
        if (is_white(pixel, raster->width)) continue;
        const uint32_t *above = y ? pixel - raster->width : pixel;
        for (int x = 1; x < raster->width; x++) {
            if (!((pixel[x] ^ pixel[x - 1]) & COLOR)) look->levels[pixel[x] & 0xff] += pixel[x] == above[x] ? EVERY : 0;
            else if (difference(pixel[x], pixel[x - 1]) <= LITTLE) little++;
            else much++;
        }
    }
    look->photograph = little > seen / SHARE && little > much / 2;
}
