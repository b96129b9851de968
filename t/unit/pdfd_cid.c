/* SPDX-License-Identifier: Apache-2.0 */
/* pdfd_cid.c: which fonts of the CFF format get another charset, and that no damaged font does harm. */
#include "helper/main/pdfd.h"
#include "tap.h"

#include <apr_general.h>
#include <string.h>

#define HEADER "\1\0\4\1"
#define NAME                                                                                                           \
    "\0\1\1\1\2"                                                                                                       \
    "X"
#define ROS "\x8b\x8b\x8b\x0c\x1e"
#define CHARSET "\x1d\0\0\0\x63\x0f"
#define REST "\0\0\0\0"
#define GLYPHS 700

static apr_pool_t *pool;

typedef struct font_t {
    const char *name, *bytes;
    apr_size_t size, place; /* place: of the four bytes that are changed, or 0 */
} font_t;
#define FONT(name, bytes, place)                                                                                       \
    {                                                                                                                  \
        name, bytes, sizeof(bytes) - 1, place                                                                          \
    }

static const font_t FONTS[] = {
    FONT("a CID-keyed font", HEADER NAME "\0\1\1\1\x0c" ROS CHARSET REST, 21),
    FONT("one with more operands",
         HEADER NAME "\0\1\1\1\x17" ROS "\x1c\1\2\5"
                     "\xf7\1\xff\x1e\x1a\x2f\x04" CHARSET REST,
         32),
    FONT("a font that is not CID-keyed", HEADER NAME "\0\1\1\1\7" CHARSET REST, 0),
    FONT("one with a predefined charset", HEADER NAME "\0\1\1\1\x08" ROS "\x8b\x0f" REST, 0),
    FONT("one without a charset", HEADER NAME "\0\1\1\1\6" ROS REST, 0),
    FONT("one without a dictionary", HEADER NAME "\0\0" REST, 0),
};

static sr_pdfd_buffer_t *changed(const font_t *font, apr_size_t size)
{
    sr_pdfd_buffer_t *buffer = sr_pdfd_buffer(pool);
    sr_pdfd_put(buffer, font->bytes, size);
    sr_pdfd_cid(buffer, GLYPHS);
    return buffer;
}

static void test_font(const font_t *font)
{
    static const unsigned char ranges[] = {2, 0, 1, (GLYPHS - 2) >> 8, (GLYPHS - 2) & 0xff};
    const sr_pdfd_buffer_t *after = changed(font, font->size);
    if (!font->place) {
        ok(after->size == font->size && !memcmp(after->data, font->bytes, font->size), "%s stays as it is", font->name);
        return;
    }
    const char offset[] = {0, 0, 0, (char)font->size};
    is_int((long)after->size, (long)(font->size + sizeof ranges), "%s: a charset is appended", font->name);
    ok(!memcmp(after->data + font->size, ranges, sizeof ranges), "each glyph has its own number in the charset");
    ok(!memcmp(after->data + font->place, offset, sizeof offset), "the font refers to the charset");
    ok(!memcmp(after->data, font->bytes, font->place)
           && !memcmp(after->data + font->place + 4, font->bytes + font->place + 4, font->size - font->place - 4),
       "nothing else of the font has changed");
}

/* Fonts that end anywhere, or have another byte anywhere: memory outside of them is neither read nor written. */
static void test_damaged(const font_t *font)
{
    int larger = 0;
    for (apr_size_t size = 1; size < font->size; size++) larger += changed(font, size)->size > size + 5;
    char *copy = apr_pmemdup(pool, font->bytes, font->size);
    for (apr_size_t i = 0; i < font->size; i++)
        for (int byte = 0; byte < 256; byte++) {
            const font_t other = {font->name, copy, font->size, 0};
            copy[i] = (char)byte;
            larger += changed(&other, font->size)->size > font->size + 5;
            copy[i] = font->bytes[i];
        }
    is_int(larger, 0, "%s, damaged anywhere: at most the charset is added", font->name);
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    for (size_t i = 0; i < sizeof FONTS / sizeof *FONTS; i++) {
        test_font(&FONTS[i]);
        test_damaged(&FONTS[i]);
    }
    apr_pool_destroy(pool);
    return done();
}
