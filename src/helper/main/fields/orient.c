/* SPDX-License-Identifier: Apache-2.0 */
/* orient.c: makes photographs upright. Phones store the image as the sensor was held, with an "orientation" tag. PDF
 * images have no such tag, so the pixels are turned. Only this tag is read. A tag that does not conform to the standard
 * is ignored, as in browsers. (Exif 3.0, 4.5.4 and 4.6.5; TIFF 6.0, section 2) */
#include "helper/main/fields/drawing.h"

#include <string.h>

#define ORIENTATION 0x0112
#define SHORT 3
#define ENTRY_SIZE 12

static uint32_t number(const unsigned char *at, int size, bool big)
{
    uint32_t value = 0;
    for (int i = 0; i < size; i++) value = value << 8 | at[big ? i : size - 1 - i];
    return value;
}

/* Reads an entry with tag, type, count and value. Returns 1 for another tag or an invalid value. */
static int read_entry(const unsigned char *entry, bool big)
{
    const uint32_t value = number(entry + 8, 2, big);
    const bool is_ours =
        number(entry, 2, big) == ORIENTATION && number(entry + 2, 2, big) == SHORT && number(entry + 4, 4, big) == 1;
    return is_ours && value >= 1 && value <= 8 ? (int)value : 1;
}

int sr_pdfd_orientation(const unsigned char *segment, apr_size_t size)
{
    static const char name[6] = "Exif\0";
    if (size < 14 || memcmp(segment, name, sizeof name) != 0) return 1;
    const unsigned char *tiff = segment + sizeof name;
    const apr_size_t length = size - sizeof name;
    const bool big = !memcmp(tiff, "MM\0*", 4);
    if (!big && memcmp(tiff, "II*\0", 4) != 0) return 1;
    const apr_size_t directory = number(tiff + 4, 4, big);
    if (directory < 8 || directory > length - 2) return 1;
    const apr_size_t entries = number(tiff + directory, 2, big), room = length - directory - 2;
    int found = 1;
    for (apr_size_t i = 0; i < entries && (i + 1) * ENTRY_SIZE <= room && found == 1; i++)
        found = read_entry(tiff + directory + 2 + i * ENTRY_SIZE, big);
    return found;
}

void sr_pdfd_orient(sr_pdfd_pixels_t *pixels, int orientation, apr_pool_t *pool)
{
    static const struct {
        bool swap, mirror, flip; /* exchange x and y; mirror left and right; mirror top and bottom */
    } ways[9] = {[2] = {0, 1, 0}, [3] = {0, 1, 1}, [4] = {0, 0, 1}, [5] = {1, 0, 0},
                 [6] = {1, 0, 1}, [7] = {1, 1, 1}, [8] = {1, 1, 0}};
    const int width = pixels->width, height = pixels->height;
    const bool swap = ways[orientation].swap;
    const unsigned char *from = apr_pmemdup(pool, pixels->rgba->data, pixels->rgba->size);
    unsigned char *to = pixels->rgba->data;
    pixels->width = swap ? height : width;
    pixels->height = swap ? width : height;
    for (int y = 0; y < pixels->height; y++)
        for (int x = 0; x < pixels->width; x++, to += 4) {
            const int across = swap ? y : x, down = swap ? x : y;
            const int column = ways[orientation].mirror ? width - 1 - across : across;
            const int row = ways[orientation].flip ? height - 1 - down : down;
            memcpy(to, from + 4 * ((size_t)row * (size_t)width + (size_t)column), 4);
        }
}
