/* SPDX-License-Identifier: Apache-2.0 */
/* png.c: encodes a raster as PNG (ISO/IEC 15948) quickly. libpng would take ten times as long as drawing the page. A
 * page of few colours gets a palette, whose first colours are 16 levels of gray, or more if larger areas have another
 * gray. Other colours have 64 or 32 levels per channel, a difference that nobody sees at the edges of letters. A page
 * without colours has four bits per pixel if 16 levels are enough. ISA-L compresses all rows at once, in a quarter of
 * the time of libdeflate, but codes long runs worse. Runs of zeros suffer least, so white has index 0. A row becomes
 * its differences to the row above if these have more zeros than the row has bytes equal to their left neighbour, which
 * saves a tenth of a page of text. Rows of photographs become differences to the left neighbour. Most of a page is
 * white, so white rows are not read again, and blocks of white pixels are skipped. The time is measured by
 * t/speed/pdf_render_speed.c. */
#include "helper/main/read/page.h"

#include <isa-l/igzip_lib.h>
#include <libdeflate.h>
#include <string.h>

#define FILTER_NONE 0
#define FILTER_SUB 1
#define FILTER_UP 2

#define COLOR 0xffffffu
#define WHITE COLOR
#define BLOCK 16 /* pixels that are compared with white at once */
#define PALETTE 256
#define LEVEL 2                            /* of libdeflate; for flat pages, level 1 takes longer and more bytes */
#define PLACES_BYTES ((apr_size_t)1 << 18) /* one for each colour of 64 levels per channel */
#define COUNTED 240                        /* bytes; fits into one */
#define FLAT_SHARE 2000                    /* an area counts if it has more than one pixel in this number */

typedef enum kind_t { NIBBLES, PLACES, GRAY, RGB } kind_t; /* four or eight bits of a palette, whole channels */

typedef struct encoder_t {
    sr_pdfd_raster_t *raster;
    const sr_pdfd_look_t *look;
    kind_t kind;
    int levels;               /* 16, 64 or 256: number of grays, which are the first colours of the palette */
    unsigned char grays[256]; /* maps a gray to its index in the palette; white has index 0 */
    int bits;                 /* per channel of another colour in the palette */
    int colours;              /* number of colours in the palette */
    uint32_t palette[PALETTE];
    unsigned char *places; /* maps the key of a colour to its index in the palette; 0: it is not there */
} encoder_t;

/* Returns true if these BLOCK pixels are white. Most of a line of text is white. */
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

/* ---------------------------------------------------------------------------------------------------------- grays */

/* Chooses 16 levels of gray if they are enough: the gray of each larger area must be one of them. Only white becomes
 * white, with index 0. */
static void choose_grays(encoder_t *encoder)
{
    const long few = (long)encoder->raster->width * encoder->raster->height / FLAT_SHARE;
    encoder->levels = 16;
    for (int gray = 0; gray < 256; gray++)
        if (gray % 17 && encoder->look->levels[gray] > few) encoder->levels = encoder->look->gray ? 256 : 64;
    encoder->colours = encoder->levels;
    const int most = encoder->levels - 1;
    for (int i = 0; i <= most; i++) encoder->palette[i] = (uint32_t)((most - i) * 255 + most / 2) / most * 0x10101;
    for (int gray = 0; gray < 256; gray++) {
        const int near = most - (gray * most + 127) / 255;
        encoder->grays[gray] = (unsigned char)(!near && gray < 252 ? 1 : near);
    }
}

static void pack_nibbles(unsigned char *row, const uint32_t *pixel, const encoder_t *encoder)
{
    const int width = encoder->raster->width;
    for (int x = 0; x < width; x += 2) {
        const int right = x + 1 < width ? encoder->grays[pixel[x + 1] & 0xff] : 0;
        *row++ = (unsigned char)(encoder->grays[pixel[x] & 0xff] << 4 | right);
    }
}

/* ------------------------------------------------------------------------------------------------------ a palette */

static uint32_t png_key_of(uint32_t pixel, int bits)
{
    const uint32_t mask = (1u << bits) - 1, shift = 8 - (uint32_t)bits;
    return (pixel >> (16 + shift) & mask) << 2 * bits | (pixel >> (8 + shift) & mask) << bits | (pixel >> shift & mask);
}

/* Returns the colour for a key. The lowest and highest level of a channel are 0 and 255. */
static uint32_t png_colour_of(uint32_t key, int bits)
{
    const uint32_t most = (1u << bits) - 1;
    uint32_t colour = 0;
    for (int channel = 2; channel >= 0; channel--) {
        const uint32_t level = key >> channel * bits & most;
        colour = colour << 8 | (level * 255 + most / 2) / most;
    }
    return colour;
}

/* Adds the colours of a row to the palette. Returns false if it is full. */
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
            const uint32_t key = png_key_of(last, encoder->bits);
            if (is_gray(last) || encoder->places[key]) continue;
            if (encoder->colours == PALETTE) return false;
            encoder->places[key] = (unsigned char)encoder->colours;
            encoder->palette[encoder->colours++] = png_colour_of(key, encoder->bits);
        }
    }
    return true;
}

static bool has_palette(encoder_t *encoder, apr_pool_t *pool)
{
    const sr_pdfd_raster_t *raster = encoder->raster;
    encoder->places = apr_palloc(pool, PLACES_BYTES);
    for (encoder->bits = 6; encoder->bits >= 5; encoder->bits--) {
        int y = 0;
        memset(encoder->places, 0, PLACES_BYTES);
        encoder->colours = encoder->levels;
        for (; y < raster->height; y++)
            if (encoder->look->rows[y] == SR_PDFD_COLOURED
                && !add_colours(encoder, raster->pixels + (size_t)y * (size_t)raster->width))
                break;
        if (y == raster->height) return true;
    }
    return false;
}

static void pack_places(unsigned char *row, const uint32_t *pixel, const encoder_t *encoder)
{
    const int width = encoder->raster->width;
    bool white;
    for (int x = 0, end; x < width; x = end) {
        end = end_of_block(&white, pixel, x, width);
        if (white) memset(row + x, 0, BLOCK);
        for (int i = x; !white && i < end; i++)
            row[i] = is_gray(pixel[i]) ? encoder->grays[pixel[i] & 0xff]
                                       : encoder->places[png_key_of(pixel[i], encoder->bits)];
    }
}

static void pack_levels(unsigned char *row, const uint32_t *pixel, const encoder_t *encoder)
{
    for (int x = 0; x < encoder->raster->width; x++) row[x] = encoder->grays[pixel[x] & 0xff];
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

static int bytes_of(kind_t kind, int width)
{
    return kind == NIBBLES ? (width + 1) / 2 : kind == RGB ? 3 * width : width;
}

static void png_pack(unsigned char *row, const uint32_t *pixel, const encoder_t *encoder, sr_pdfd_row_t kind)
{
    const int width = encoder->raster->width;
    if (kind == SR_PDFD_WHITE) memset(row, encoder->kind >= GRAY ? 0xff : 0, (size_t)bytes_of(encoder->kind, width));
    else if (encoder->kind == NIBBLES) pack_nibbles(row, pixel, encoder);
    else if (encoder->kind == PLACES && kind == SR_PDFD_COLOURED) pack_places(row, pixel, encoder);
    else if (encoder->kind == PLACES) pack_levels(row, pixel, encoder);
    else if (encoder->kind == GRAY) pack_gray(row, pixel, width);
    else pack_color(row, pixel, width);
}

/* Counts in bytes, which the compiler makes vectors of. */
static int count_different(const unsigned char *row, const unsigned char *other, int length)
{
    int different = 0;
    for (int i = 0; i < length; i += COUNTED) {
        const int count = length - i < COUNTED ? length - i : COUNTED;
        unsigned char found = 0;
        for (int k = i; k < i + count; k++) found = (unsigned char)(found + (row[k] != other[k]));
        different += found;
    }
    return different;
}

static void subtract(unsigned char *out, const unsigned char *row, const unsigned char *other, int length)
{
    for (int i = 0; i < length; i++) out[i] = (unsigned char)(row[i] - other[i]);
}

/* Writes a row with its filter byte. */
static void png_put_row(unsigned char *out, const unsigned char *row, const unsigned char *above,
                        const encoder_t *encoder)
{
    const int length = bytes_of(encoder->kind, encoder->raster->width), pixel = encoder->kind == RGB ? 3 : 1;
    const int left = count_different(row + pixel, row, length - pixel), up = count_different(row, above, length);
    *out++ = up < left ? FILTER_UP : left > length / 4 * 3 && encoder->kind >= GRAY ? FILTER_SUB : FILTER_NONE;
    memcpy(out, row, (size_t)length);
    if (out[-1] == FILTER_UP) subtract(out, row, above, length);
    if (out[-1] == FILTER_SUB) subtract(out + pixel, row + pixel, row, length - pixel);
}

/* Makes the rows of the PNG in the memory of the raster. A row is at most as long as its pixels, and it is read before
 * it is overwritten. Returns the number of bytes. */
static size_t png_make_rows(const encoder_t *encoder, apr_pool_t *pool)
{
    const int width = encoder->raster->width, height = encoder->raster->height;
    const size_t length = (size_t)bytes_of(encoder->kind, width);
    unsigned char *row = apr_palloc(pool, length), *above = apr_pcalloc(pool, length);
    unsigned char *out = (unsigned char *)encoder->raster->pixels;
    const uint32_t *pixel = encoder->raster->pixels;
    for (int y = 0; y < height; y++, pixel += width, out += length + 1) {
        png_pack(row, pixel, encoder, (sr_pdfd_row_t)encoder->look->rows[y]);
        png_put_row(out, row, above, encoder);
        unsigned char *swapped = above;
        above = row;
        row = swapped;
    }
    return (length + 1) * (size_t)height;
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

static unsigned char *put_header(unsigned char *out, const encoder_t *encoder)
{
    static const unsigned char signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    static const unsigned char types[] = {[NIBBLES] = 3, [PLACES] = 3, [GRAY] = 0, [RGB] = 2};
    memcpy(out, signature, sizeof signature);
    out += sizeof signature;
    unsigned char *data = put_number(out + 8, (uint32_t)encoder->raster->width);
    data = put_number(data, (uint32_t)encoder->raster->height);
    const unsigned char rest[5] = {encoder->kind == NIBBLES ? 4 : 8, types[encoder->kind], 0, 0,
                                   0}; /* depth and type */
    memcpy(data, rest, sizeof rest);
    out = put_chunk(out, "IHDR", 13);
    if (encoder->kind >= GRAY) return out;
    for (int i = 0; i < encoder->colours; i++)
        for (int channel = 0; channel < 3; channel++)
            out[8 + 3 * i + channel] = (unsigned char)(encoder->palette[i] >> (16 - 8 * channel));
    return put_chunk(out, "PLTE", 3 * (apr_size_t)encoder->colours);
}

#define CHUNK_BYTES ((apr_size_t)12)                                  /* of a chunk without its data */
#define HEADER_BYTES (8 + 25 + CHUNK_BYTES + (apr_size_t)3 * PALETTE) /* signature, IHDR and PLTE */

/* ISA-L leaves the upper halves of vector registers in use. All other code with vectors would take half as long again
 * until they are cleared. */
static void clear_vectors(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx")) __asm__ volatile("vzeroupper");
#endif
}

/* Both return the number of bytes, or 0 if there is too little room. ISA-L takes a quarter of the time, but a long run
 * of equal bytes takes several times as many, except of zeros. */
static size_t compress_palette(unsigned char *out, apr_size_t room, unsigned char *rows, size_t length,
                               apr_pool_t *pool)
{
    struct isal_zstream stream;
    isal_deflate_stateless_init(&stream);
    stream.level = 2;
    stream.level_buf_size = ISAL_DEF_LVL2_DEFAULT;
    stream.level_buf = apr_palloc(pool, ISAL_DEF_LVL2_DEFAULT);
    stream.gzip_flag = IGZIP_ZLIB;
    stream.next_in = rows;
    stream.avail_in = (uint32_t)length;
    stream.next_out = out;
    stream.avail_out = (uint32_t)room;
    const bool complete = !isal_deflate_stateless(&stream);
    clear_vectors();
    return complete ? stream.total_out : 0;
}

static size_t compress_channels(unsigned char *out, apr_size_t room, const unsigned char *rows, size_t length)
{
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(LEVEL);
    const size_t packed = compressor ? libdeflate_zlib_compress(compressor, rows, length, out, room) : 0;
    libdeflate_free_compressor(compressor);
    return packed;
}

apr_size_t sr_pdfd_png_encode(unsigned char *png, apr_size_t room, sr_pdfd_raster_t *raster, const sr_pdfd_look_t *look,
                              apr_pool_t *pool)
{
    encoder_t encoder = {.raster = raster, .look = look, .kind = look->gray ? GRAY : RGB};
    if (room < HEADER_BYTES + 2 * CHUNK_BYTES) return 0;
    room -= HEADER_BYTES + 2 * CHUNK_BYTES;
    choose_grays(&encoder);
    if (!look->photograph && (look->gray || has_palette(&encoder, pool)))
        encoder.kind = look->gray && encoder.levels == 16 ? NIBBLES : PLACES;
    const size_t length = png_make_rows(&encoder, pool);
    unsigned char *out = put_header(png, &encoder);
    unsigned char *rows = (unsigned char *)raster->pixels;
    const size_t packed = encoder.kind < GRAY ? compress_palette(out + 8, room, rows, length, pool)
                                              : compress_channels(out + 8, room, rows, length);
    if (!packed) return 0;
    out = put_chunk(out, "IDAT", packed);
    out = put_chunk(out, "IEND", 0);
    return (apr_size_t)(out - png);
}
