/* png.c: a raster as PNG (ISO/IEC 15948), fast: libpng spends ten times what drawing the page took. libdeflate packs
 * the rows at once, one channel where the page has no colour, and most filters do not pay. Measured over 48 pages
 * 1,000 pixels wide: text and drawings are smallest and fastest unfiltered at level 2 (83 kB in 5.3 ms; level 1: 85
 * kB in 7.0 ms; libpng's choice among filters per row: 93 kB in 12 ms); photographs by differences to the left
 * neighbour at level 1 (1,230 kB in 17 ms; unfiltered 1,811 kB in 27 ms). Which of both a row is, its neighbouring
 * pixels tell. */
#include "pdfd/page.h"

#include <libdeflate.h>
#include <string.h>

#define FILTER_NONE 0
#define FILTER_SUB 1

#define COLOR 0xffffffu

/* Whether every pixel's channels are equal. */
static bool is_gray(const sr_pdfd_raster_t *raster)
{
    const uint32_t *pixel = raster->pixels;
    for (int y = 0; y < raster->height; y++, pixel += raster->width) {
        uint32_t different = 0;
        for (int x = 0; x < raster->width; x++) different |= pixel[x] ^ (pixel[x] >> 8);
        if (different & 0xffff) return false;
    }
    return true;
}

/* Text and drawings: at least a quarter of the row's pixels are their left neighbour again. */
static bool is_flat(const uint32_t *pixel, int width)
{
    int same = 0;
    for (int x = 1; x < width; x++) same += !((pixel[x] ^ pixel[x - 1]) & COLOR);
    return same >= width / 4;
}

/* A row of paper, which half of most pages is. */
static bool is_white(const uint32_t *pixel, int width)
{
    uint32_t all = COLOR;
    for (int x = 0; x < width && all == COLOR; x += 64) {
        int end = x + 64 < width ? x + 64 : width;
        for (int i = x; i < end; i++) all &= pixel[i];
    }
    return all == COLOR;
}

static void pack_gray(unsigned char *row, const uint32_t *pixel, int width)
{
    for (int x = 0; x < width; x++) row[x] = (unsigned char)pixel[x];
}

static void pack_color(unsigned char *row, const uint32_t *pixel, int width)
{
    for (int x = 0; x < width; x++, row += 3) {
        row[0] = (unsigned char)(pixel[x] >> 16);
        row[1] = (unsigned char)(pixel[x] >> 8);
        row[2] = (unsigned char)pixel[x];
    }
}

/* Makes the rows as PNG has them, filter byte first, in the raster's own memory: a row is at most as long as its
 * pixels, and read before it is written. Returns how many rows are not flat. */
static int filter_rows(sr_pdfd_raster_t *raster, unsigned char *row, int channels)
{
    unsigned char *out = (unsigned char *)raster->pixels;
    const uint32_t *pixel = raster->pixels;
    int length = raster->width * channels, busy = 0;
    for (int y = 0; y < raster->height; y++, pixel += raster->width, out += length) {
        bool white = is_white(pixel, raster->width), flat = white || is_flat(pixel, raster->width);
        if (white) memset(row, 0xff, (size_t)length);
        else if (channels == 1) pack_gray(row, pixel, raster->width);
        else pack_color(row, pixel, raster->width);
        *out++ = flat ? FILTER_NONE : FILTER_SUB;
        memcpy(out, row, (size_t)length);
        if (flat) continue;
        for (int i = channels; i < length; i++) out[i] = (unsigned char)(row[i] - row[i - channels]);
        busy++;
    }
    return busy;
}

static unsigned char *put_number(unsigned char *out, uint32_t number)
{
    for (int shift = 24; shift >= 0; shift -= 8) *out++ = (unsigned char)(number >> shift);
    return out;
}

/* A chunk whose data is in place already, at out + 8. */
static unsigned char *put_chunk(unsigned char *out, const char *type, apr_size_t length)
{
    put_number(out, (uint32_t)length);
    memcpy(out + 4, type, 4);
    return put_number(out + 8 + length, libdeflate_crc32(0, out + 4, length + 4));
}

static unsigned char *put_header(unsigned char *out, const sr_pdfd_raster_t *raster, bool gray)
{
    static const unsigned char signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    memcpy(out, signature, sizeof signature);
    out += sizeof signature;
    unsigned char *data = put_number(put_number(out + 8, (uint32_t)raster->width), (uint32_t)raster->height);
    const unsigned char rest[5] = {8, gray ? 0 : 2, 0, 0, 0}; /* bits, colour type, and what there is one of */
    memcpy(data, rest, sizeof rest);
    return put_chunk(out, "IHDR", 13);
}

#define HEADER_BYTES (8 + 25) /* signature and IHDR */
#define CHUNK_BYTES 12        /* besides its data */

apr_size_t sr_pdfd_png_encode(bool *gray, unsigned char *png, apr_size_t room, sr_pdfd_raster_t *raster)
{
    *gray = is_gray(raster);
    int channels = *gray ? 1 : 3;
    unsigned char *row = malloc((size_t)raster->width * (size_t)channels);
    if (!row || room < HEADER_BYTES + 2 * CHUNK_BYTES) {
        free(row);
        return 0;
    }
    bool photograph = filter_rows(raster, row, channels) > raster->height / 2;
    free(row);
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(photograph ? 1 : 2);
    if (!compressor) return 0;
    size_t length = ((size_t)raster->width * (size_t)channels + 1) * (size_t)raster->height;
    unsigned char *out = put_header(png, raster, *gray);
    size_t packed = libdeflate_zlib_compress(compressor, raster->pixels, length, out + 8,
                                             room - HEADER_BYTES - 2 * CHUNK_BYTES);
    libdeflate_free_compressor(compressor);
    if (!packed) return 0;
    out = put_chunk(out, "IDAT", packed);
    out = put_chunk(out, "IEND", 0);
    return (apr_size_t)(out - png);
}
