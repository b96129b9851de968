/* SPDX-License-Identifier: Apache-2.0 */
/* cid.c: gives the glyphs of a CFF font the CIDs that are their numbers. A CID-keyed font, such as those for Chinese
 * and Japanese, has a charset that maps glyphs to other CIDs, and readers of PDF find glyphs by it (ISO 32000-2,
 * 9.7.4.2). Its charset is replaced by one that maps each glyph to its own number. (Adobe Technical Note 5176) */
#include "helper/main/pdfd.h"

#include <string.h>

#define OPERATORS 22 /* smaller bytes are operators */
#define ESCAPE 12    /* the first byte of an operator of two bytes */
#define ROS 30       /* the second one of the operator that each CID-keyed font begins with */
#define CHARSET 15   /* its operand is the offset of the charset */
#define SHORT_NUMBER 28
#define LONG_NUMBER 29 /* followed by four bytes */
#define REAL_NUMBER 30
#define RANGES 2 /* a charset of ranges with 16 bits each */

typedef struct cff_t {
    const unsigned char *data;
    apr_size_t size, at, end; /* the dictionary of the font */
} cff_t;

static unsigned byte_at(const cff_t *cff, apr_size_t at)
{
    return at < cff->size ? cff->data[at] : 0;
}

static apr_size_t cid_number_at(const cff_t *cff, apr_size_t at, unsigned length)
{
    apr_size_t number = 0;
    for (unsigned i = 0; i < length; i++) number = number << 8 | byte_at(cff, at + i);
    return number;
}

/* Finds the first item of an INDEX, and the end of the INDEX. */
static bool read_index(cff_t *cff, apr_size_t from, apr_size_t *after)
{
    const apr_size_t count = cid_number_at(cff, from, 2);
    const unsigned length = byte_at(cff, from + 2);
    if (!count || length < 1 || length > 4) return false;
    const apr_size_t data = from + 2 + (count + 1) * length; /* offsets begin at 1 */
    cff->at = data + cid_number_at(cff, from + 3, length);
    cff->end = data + cid_number_at(cff, from + 3 + length, length);
    *after = data + cid_number_at(cff, from + 3 + count * length, length);
    return cff->at <= cff->end && cff->end <= cff->size && *after <= cff->size;
}

/* Moves after the next operand or operator and returns its first byte. */
static unsigned cid_next(cff_t *cff)
{
    const unsigned first = byte_at(cff, cff->at++);
    if (first == ESCAPE || (first >= 247 && first < 255)) cff->at++;
    else if (first == SHORT_NUMBER) cff->at += 2;
    else if (first == LONG_NUMBER) cff->at += 4;
    else if (first == REAL_NUMBER)
        while (cff->at < cff->end && (byte_at(cff, cff->at++) & 0xf) != 0xf) continue;
    return first;
}

/* Returns where the offset of the charset is, in four bytes. Returns 0 if the font is not CID-keyed. */
static apr_size_t find_charset(cff_t *cff)
{
    bool is_cid = false;
    for (apr_size_t operand = 0, place; cff->at < cff->end;) {
        place = cff->at;
        const unsigned first = cid_next(cff);
        if (first == ESCAPE && byte_at(cff, place + 1) == ROS) is_cid = true;
        if (first == CHARSET && is_cid && byte_at(cff, operand) == LONG_NUMBER) return operand + 1;
        if (first >= OPERATORS) operand = place;
    }
    return 0;
}

void sr_pdfd_cid(sr_pdfd_buffer_t *font, unsigned glyphs)
{
    cff_t cff = {.data = font->data, .size = font->size};
    apr_size_t after;
    if (!read_index(&cff, byte_at(&cff, 2), &after) || !read_index(&cff, after, &after)) return;
    const apr_size_t place = find_charset(&cff), charset = font->size;
    if (!place || place + 4 > charset || glyphs < 2) return;
    const unsigned char ranges[] = {RANGES, 0, 1, (unsigned char)((glyphs - 2) >> 8), (unsigned char)(glyphs - 2)};
    for (int i = 0; i < 4; i++) font->data[place + (apr_size_t)i] = (unsigned char)(charset >> (24 - 8 * i));
    sr_pdfd_put(font, ranges, sizeof ranges);
}
