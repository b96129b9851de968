/* SPDX-License-Identifier: Apache-2.0 */
/* png.c: encodes a raster as PNG (ISO/IEC 15948) quickly. libpng would take ten times as long as drawing the page.
 * libdeflate compresses all rows at once, so the number of bytes decides. A page without colours gets 16 levels of gray
 * with four bits per pixel, unless larger areas have another gray. A page with few colours gets a palette, with 64 or
 * 32 levels per channel, a difference that nobody sees at the edges of letters. A page of text 1,200 pixels wide takes
 * 302 kB as RGB, 124 kB with a palette or as gray, and 110 kB with 16 levels of gray. The time is measured by
 * t/speed/pdf_render_speed.c. Most of a page is white, so blocks of white pixels are skipped. Filters only help for
 * photographs, which are encoded as differences to the left neighbour. */
#include "pdfd/page.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

#define FILTER_NONE 0
#define FILTER_SUB 1

#define COLOR 0xffffffu
#define WHITE COLOR
#define BLOCK 16 /* pixels that are compared with white at once; an even number */
#define PALETTE 256
#define LARGE 3000000   /* pixels; a larger image is compressed faster, into a twentieth more bytes */
#define FLAT_SHARE 2000 /* an area counts if it has more than one pixel in this number */

typedef struct encoder_t {
    sr_pdfd_raster_t *raster;
    const sr_pdfd_look_t *look;
    int bits;                  /* per channel of a colour in the palette */
    int colours;               /* number of colours in the palette */
    unsigned char nibble[256]; /* maps a gray to one of 16 levels */
    uint32_t palette[PALETTE];
    bool has_gray[256];       /* grays of the page */
    unsigned char grays[256]; /* their indexes in the palette */
    bool busy;                /* more than half of the rows were filtered */
} encoder_t;

/* The index of a colour in the palette plus one; 0: not in the palette. Global, because a worker has one thread. */
static uint16_t places[1 << 18];

/* Returns true for a row of white pixels. Half of most pages consists of such rows. */
static bool is_white(const uint32_t *pixel, int width)
{
    uint32_t all = COLOR;
    for (int x = 0; x < width && (all & COLOR) == COLOR; x += 64) {
        int end = x + 64 < width ? x + 64 : width;
        for (int i = x; i < end; i++) all &= pixel[i];
    }
    return (all & COLOR) == COLOR;
}

/* Returns true if these BLOCK pixels are white. Most of a line of text is white, too. */
static bool is_white_block(const uint32_t *pixel)
{
    uint64_t two, all = ~(uint64_t)0;
    for (int i = 0; i < BLOCK; i += 2) {
        memcpy(&two, pixel + i, sizeof two);
        all &= two;
    }
    return (~all & ((uint64_t)COLOR << 32 | COLOR)) == 0;
}

/* Returns the end of the block that begins at `x`. *white is set if it is a whole one and white. */
static int end_of_block(bool *white, const uint32_t *pixel, int x, int width)
{
    *white = width - x >= BLOCK && is_white_block(pixel + x);
    return width - x >= BLOCK ? x + BLOCK : width;
}

static bool is_gray(uint32_t pixel)
{
    return !((pixel ^ pixel >> 8) & 0xffff);
}

/* Returns true for text and drawings: at least a quarter of the pixels are equal to their left neighbour. */
static bool is_flat(const uint32_t *pixel, int width)
{
    int same = 0;
    for (int x = 1; x < width; x++) same += !((pixel[x] ^ pixel[x - 1]) & COLOR);
    return same >= width / 4;
}

/* ------------------------------------------------------------------------------------------------------ 16 grays */

/* Returns true if 16 levels of gray are enough: the gray of each larger area must be one of them. Only white becomes
 * white. */
static bool has_few_grays(encoder_t *encoder)
{
    const long pixels = (long)encoder->raster->width * encoder->raster->height;
    for (int level = 0; level < 256; level++) {
        const int near = (level * 15 + 127) / 255;
        encoder->nibble[level] = (unsigned char)(near == 15 && level < 252 ? 14 : near);
        if (near * 17 != level && encoder->look->levels[level] > pixels / FLAT_SHARE) return false;
    }
    return true;
}

static void pack_nibbles(unsigned char *row, const uint32_t *pixel, const encoder_t *encoder)
{
    const int width = encoder->raster->width;
    bool white;
    for (int x = 0, end; x < width; x = end) {
        end = end_of_block(&white, pixel, x, width);
        if (white) {
            memset(row, 0xff, BLOCK / 2);
            row += BLOCK / 2;
        }
        for (int i = x; !white && i < end; i += 2) {
            const int right = i + 1 < width ? encoder->nibble[pixel[i + 1] & 0xff] : 15;
            *row++ = (unsigned char)(encoder->nibble[pixel[i] & 0xff] << 4 | right);
        }
    }
}

/* ------------------------------------------------------------------------------------------------------ a palette */

static uint32_t key_of(uint32_t pixel, int bits)
{
    const uint32_t mask = (1u << bits) - 1, shift = 8 - (uint32_t)bits;
    return (pixel >> (16 + shift) & mask) << 2 * bits | (pixel >> (8 + shift) & mask) << bits | (pixel >> shift & mask);
}

/* Returns the colour for a key. The lowest and highest level of a channel are 0 and 255. */
static uint32_t colour_of(uint32_t key, int bits)
{
    const uint32_t most = (1u << bits) - 1;
    uint32_t colour = 0;
    for (int channel = 2; channel >= 0; channel--) {
        const uint32_t level = key >> channel * bits & most;
        colour = colour << 8 | (level * 255 + most / 2) / most;
    }
    return colour;
}

/* Returns the index of a colour. Adds it if necessary; returns -1 if the palette is full. */
static int add_colour(encoder_t *encoder, uint32_t pixel)
{
    const uint32_t key = key_of(pixel, encoder->bits);
    if (places[key]) return places[key] - 1;
    if (encoder->colours == PALETTE) return -1;
    encoder->palette[encoder->colours++] = colour_of(key, encoder->bits);
    places[key] = (uint16_t)encoder->colours;
    return encoder->colours - 1;
}

static bool add_colours(encoder_t *encoder, const uint32_t *pixel)
{
    const int width = encoder->raster->width;
    uint32_t last = WHITE;
    bool white;
    for (int x = 0, end; x < width; x = end) {
        end = end_of_block(&white, pixel, x, width);
        for (int i = x; !white && i < end; i++) {
            if (!((pixel[i] ^ last) & COLOR)) continue;
            last = pixel[i];
            if (is_gray(last)) encoder->has_gray[last & 0xff] = true;
            else if (add_colour(encoder, last) < 0) return false;
        }
    }
    return true;
}

static bool add_grays(encoder_t *encoder)
{
    encoder->has_gray[255] = true;
    for (uint32_t level = 0; level < 256; level++) {
        const int place = encoder->has_gray[level] ? add_colour(encoder, level * 0x10101) : 0;
        if (place < 0) return false;
        encoder->grays[level] = (unsigned char)place;
    }
    return true;
}

static bool has_palette(encoder_t *encoder)
{
    for (encoder->bits = 6; encoder->bits >= 5; encoder->bits--) {
        const uint32_t *pixel = encoder->raster->pixels;
        int y = 0;
        memset(places, 0, sizeof places);
        encoder->colours = 0;
        for (; y < encoder->raster->height; y++, pixel += encoder->raster->width)
            if (!add_colours(encoder, pixel)) break;
        if (y == encoder->raster->height && add_grays(encoder)) return true;
    }
    return false;
}

static void pack_places(unsigned char *row, const uint32_t *pixel, const encoder_t *encoder)
{
    const int width = encoder->raster->width;
    bool white;
    for (int x = 0, end; x < width; x = end) {
        end = end_of_block(&white, pixel, x, width);
        if (white) memset(row + x, encoder->grays[255], BLOCK);
        for (int i = x; !white && i < end; i++)
            row[i] = is_gray(pixel[i]) ? encoder->grays[pixel[i] & 0xff]
                                       : (unsigned char)(places[key_of(pixel[i], encoder->bits)] - 1);
    }
}

/* ------------------------------------------------------------------------------------------------ whole channels */

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

/* ----------------------------------------------------------------------------------------------------- all the rows */

typedef enum kind_t { NIBBLES, PLACES, GRAY, RGB } kind_t;

static int bytes_of(kind_t kind, int width)
{
    return kind == NIBBLES ? (width + 1) / 2 : kind == RGB ? 3 * width : width;
}

/* Makes the rows of the PNG, each with its filter byte, in the memory of the raster. A row is at most as long as its
 * pixels, and it is read before it is overwritten. */
static void make_rows(encoder_t *encoder, unsigned char *row, kind_t kind)
{
    unsigned char *out = (unsigned char *)encoder->raster->pixels;
    const uint32_t *pixel = encoder->raster->pixels;
    const int width = encoder->raster->width, height = encoder->raster->height;
    const int length = bytes_of(kind, width), channels = kind == RGB ? 3 : 1;
    int busy = 0;
    for (int y = 0; y < height; y++, pixel += width, out += length) {
        const bool white = is_white(pixel, width);
        const bool flat = white || kind == NIBBLES || kind == PLACES || is_flat(pixel, width);
        if (white) memset(row, kind == PLACES ? encoder->grays[255] : 0xff, (size_t)length);
        else if (kind == NIBBLES) pack_nibbles(row, pixel, encoder);
        else if (kind == PLACES) pack_places(row, pixel, encoder);
        else if (kind == GRAY) pack_gray(row, pixel, width);
        else pack_color(row, pixel, width);
        *out++ = flat ? FILTER_NONE : FILTER_SUB;
        memcpy(out, row, (size_t)length);
        if (flat) continue;
        for (int i = channels; i < length; i++) out[i] = (unsigned char)(row[i] - row[i - channels]);
        busy++;
    }
    encoder->busy = busy > height / 2;
}

/* --------------------------------------------------------------------------------------------------------- the file */

static unsigned char *put_number(unsigned char *out, uint32_t number)
{
    for (int shift = 24; shift >= 0; shift -= 8) *out++ = (unsigned char)(number >> shift);
    return out;
}

/* Completes a chunk whose data is already at out + 8. */
static unsigned char *put_chunk(unsigned char *out, const char *type, apr_size_t length)
{
    put_number(out, (uint32_t)length);
    memcpy(out + 4, type, 4);
    return put_number(out + 8 + length, libdeflate_crc32(0, out + 4, length + 4));
}

static unsigned char *put_header(unsigned char *out, const encoder_t *encoder, kind_t kind)
{
    static const unsigned char signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    static const unsigned char types[] = {[NIBBLES] = 0, [PLACES] = 3, [GRAY] = 0, [RGB] = 2};
    memcpy(out, signature, sizeof signature);
    out += sizeof signature;
    unsigned char *data = put_number(out + 8, (uint32_t)encoder->raster->width);
    data = put_number(data, (uint32_t)encoder->raster->height);
    const unsigned char rest[5] = {kind == NIBBLES ? 4 : 8, types[kind], 0, 0, 0}; /* bit depth and colour type */
    memcpy(data, rest, sizeof rest);
    out = put_chunk(out, "IHDR", 13);
    if (kind != PLACES) return out;
    for (int i = 0; i < encoder->colours; i++)
        for (int channel = 0; channel < 3; channel++)
            out[8 + 3 * i + channel] = (unsigned char)(encoder->palette[i] >> (16 - 8 * channel));
    return put_chunk(out, "PLTE", 3 * (apr_size_t)encoder->colours);
}

#define CHUNK_BYTES ((apr_size_t)12)                                  /* of a chunk without its data */
#define HEADER_BYTES (8 + 25 + CHUNK_BYTES + (apr_size_t)3 * PALETTE) /* signature, IHDR and PLTE */

apr_size_t sr_pdfd_png_encode(unsigned char *png, apr_size_t room, sr_pdfd_raster_t *raster, const sr_pdfd_look_t *look)
{
    encoder_t encoder = {.raster = raster, .look = look};
    kind_t kind = look->gray ? GRAY : RGB;
    if (!look->photograph && look->gray && has_few_grays(&encoder)) kind = NIBBLES;
    else if (!look->photograph && !look->gray && has_palette(&encoder)) kind = PLACES;
    const size_t length = (size_t)bytes_of(kind, raster->width);
    unsigned char *row = malloc(length);
    if (!row || room < HEADER_BYTES + 2 * CHUNK_BYTES) {
        free(row);
        return 0;
    }
    make_rows(&encoder, row, kind);
    free(row);
    const bool large = (long)raster->width * raster->height > LARGE;
    const int level = encoder.busy || large ? 1 : 2;
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(level);
    if (!compressor) return 0;
    unsigned char *out = put_header(png, &encoder, kind);
    size_t packed = libdeflate_zlib_compress(compressor, raster->pixels, (length + 1) * (size_t)raster->height, out + 8,
                                             room - HEADER_BYTES - 2 * CHUNK_BYTES);
    libdeflate_free_compressor(compressor);
    if (!packed) return 0;
    out = put_chunk(out, "IDAT", packed);
    out = put_chunk(out, "IEND", 0);
    return (apr_size_t)(out - png);
}
