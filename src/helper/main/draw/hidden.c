/* SPDX-License-Identifier: Apache-2.0 */
/* hidden.c: letters that nobody sees, below text that is drawn as outlines. The text is their /ActualText (ISO 32000-2,
 * 14.9.4), and they are together about as wide as the line. Readers that do not support /ActualText find these letters
 * instead, of which those outside Latin-1 are "?". */
#include "helper/main/draw/drawing.h"

#define LETTER_WIDTH 0.5 /* of most letters of Helvetica at size 1 */

/* Returns true for marks of direction, which are only needed for the outlines. */
static bool is_mark(uint32_t c)
{
    return c == 0x200e || c == 0x200f || (c >= 0x2066 && c <= 0x2069);
}

static const char *plain_text(const char *text, apr_pool_t *pool)
{
    char *plain = apr_palloc(pool, strlen(text) + 1), *out = plain;
    for (const char *at = text, *from = at; *at; from = at)
        if (!is_mark(sr_text_next(&at)))
            while (from < at) *out++ = *from++;
    *out = '\0';
    return plain;
}

/* Writes the letters in WinAnsiEncoding, which is the same as Latin-1 for these characters. */
static void put_letters(sr_pdfd_buffer_t *out, const char *text)
{
    sr_pdfd_put_text(out, "<");
    for (uint32_t c; (c = sr_text_next(&text)) != 0;)
        sr_pdfd_print(out, "%02X", (c >= ' ' && c <= '~') || (c >= 0xa1 && c <= 0xff) ? (unsigned)c : (unsigned)'?');
    sr_pdfd_put_text(out, ">");
}

void sr_pdfd_put_hidden(sr_pdfd_buffer_t *out, const char *text, const double box[4], apr_pool_t *pool)
{
    text = plain_text(text, pool);
    const double width = box[2] / (LETTER_WIDTH * (double)sr_text_length(text));
    sr_pdfd_put_text(out, "/Span<</ActualText");
    sr_pdfd_put_string(out, text);
    sr_pdfd_put_text(out, ">>BDC BT 3 Tr /F 1 Tf ");
    sr_pdfd_put_numbers(out, (double[]){width, 0, 0, box[3], box[0], box[1]}, 6);
    sr_pdfd_put_text(out, "Tm ");
    put_letters(out, text);
    sr_pdfd_put_text(out, " Tj ET EMC\n");
}
