/* text.c: UTF-8, by hand, because every string that comes in is judged by its characters and the process's locale
 * (httpd runs in "C") must not matter. Case mapping alone is left to the C library, in a locale of its own. */
#include "base/base.h"

#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <wctype.h>

#define REPLACEMENT 0xFFFD

typedef struct range_t {
    uint32_t first, last;
} range_t;

/* White_Space of the Unicode Character Database, and what has no width and no ink. */
static const range_t blanks[] = {
    {0x09, 0x0D},     {0x20, 0x20},     {0x85, 0x85},      {0xA0, 0xA0},     {0xAD, 0xAD},     {0x034F, 0x034F},
    {0x061C, 0x061C}, {0x115F, 0x1160}, {0x1680, 0x1680},  {0x17B4, 0x17B5}, {0x180B, 0x180F}, {0x2000, 0x200F},
    {0x2028, 0x202F}, {0x205F, 0x206F}, {0x2800, 0x2800},  {0x3000, 0x3000}, {0x3164, 0x3164}, {0xFE00, 0xFE0F},
    {0xFEFF, 0xFEFF}, {0xFFA0, 0xFFA0}, {0xE0000, 0xE0FFF}};

/* Cc, and the two separators that some readers take for a line's end. */
static const range_t controls[] = {{0x01, 0x1F}, {0x7F, 0x9F}, {0x2028, 0x2029}};

/* What changes the direction of the text around it: a name could make another one look reversed. */
static const range_t directions[] = {{0x061C, 0x061C}, {0x200E, 0x200F}, {0x202A, 0x202E}, {0x2066, 0x206F}};

#define IS_IN(table, c) is_in((table), sizeof(table) / sizeof(table)[0], (c))

static bool is_in(const range_t *table, apr_size_t count, uint32_t c)
{
    apr_size_t i;

    for (i = 0; i < count; i++)
        if (c >= table[i].first && c <= table[i].last) return true;
    return false;
}

/* The number of bytes of the well-formed sequence at `text` (RFC 3629, section 4), or 0. NUL counts as malformed. */
static int decode(const unsigned char *text, apr_size_t left, uint32_t *c)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000}; /* smaller ones are overlong */
    int length, i;

    if (left == 0 || text[0] == 0) return 0;
    *c = text[0];
    if (text[0] < 0x80) return 1;
    length = text[0] >= 0xF0 ? 4 : text[0] >= 0xE0 ? 3 : 2;
    if (text[0] < 0xC2 || text[0] > 0xF4 || (apr_size_t)length > left) return 0;
    *c &= 0xFFu >> (length + 1);
    for (i = 1; i < length; i++) {
        if ((text[i] & 0xC0) != 0x80) return 0;
        *c = (*c << 6) | (text[i] & 0x3F);
    }
    if (*c < least[length] || *c > 0x10FFFF || (*c >= 0xD800 && *c <= 0xDFFF)) return 0;
    return length;
}

static char *encode(char *out, uint32_t c)
{
    const int length = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    int i;

    for (i = length - 1; i > 0; i--, c >>= 6) out[i] = (char)(0x80 | (c & 0x3F));
    out[0] = (char)(length == 1 ? c : (0xF00u >> length & 0xFF) | c);
    return out + length;
}

bool sr_text_is_utf8(const char *text, apr_size_t length)
{
    uint32_t c;

    while (length > 0) {
        const int used = decode((const unsigned char *)text, length, &c);
        if (!used) return false;
        text += used;
        length -= (apr_size_t)used;
    }
    return true;
}

uint32_t sr_text_next(const char **text)
{
    uint32_t c;
    int used;

    if (!**text) return 0;
    used = decode((const unsigned char *)*text, strnlen(*text, 4), &c);
    *text += used ? used : 1;
    return used ? c : REPLACEMENT;
}

bool sr_text_is_blank(const char *text)
{
    uint32_t c;

    while ((c = sr_text_next(&text)))
        if (!IS_IN(blanks, c)) return false;
    return true;
}

apr_size_t sr_text_length(const char *text)
{
    apr_size_t length = 0;

    while (sr_text_next(&text)) length++;
    return length;
}

const char *sr_text_printable(const char *text, apr_pool_t *pool)
{
    const char *at = text;
    char *copy, *out;
    uint32_t c;
    bool clean = true;

    while (clean && *at) {
        const char *const start = at;
        c = sr_text_next(&at);
        clean = !IS_IN(controls, c) && !(c == REPLACEMENT && at - start == 1);
    }
    if (clean) return text;
    copy = out = apr_palloc(pool, strlen(text) * 3 + 1); /* one byte may become the three of U+FFFD */
    for (at = text; (c = sr_text_next(&at));) out = encode(out, IS_IN(controls, c) ? REPLACEMENT : c);
    *out = '\0';
    return copy;
}

const char *sr_text_undirected(const char *text, apr_pool_t *pool)
{
    char *copy = apr_palloc(pool, strlen(text) * 3 + 1), *out = copy; /* a bad byte becomes the three of U+FFFD */
    uint32_t c;

    while ((c = sr_text_next(&text)))
        if (!IS_IN(directions, c)) out = encode(out, c);
    *out = '\0';
    return copy;
}

static pthread_once_t locale_once = PTHREAD_ONCE_INIT;
static locale_t fold_locale;

static void make_locale(void)
{
    fold_locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    if (!fold_locale) fold_locale = newlocale(LC_CTYPE_MASK, "C", (locale_t)0); /* ASCII is then folded alone */
}

const char *sr_text_fold(const char *text, apr_pool_t *pool)
{
    char *const copy = apr_palloc(pool, strlen(text) * 3 + 1); /* a lower case may be longer: U+023A, 2 bytes to 3 */
    char *out = copy;
    uint32_t c;

    pthread_once(&locale_once, make_locale);
    while ((c = sr_text_next(&text))) { /* by way of upper case, so that the two small sigmas become one */
        const wint_t upper = towupper_l((wint_t)c, fold_locale);
        out = encode(out, (uint32_t)towlower_l(upper, fold_locale));
    }
    *out = '\0';
    return copy;
}

const char *sr_text_cut(const char *text, apr_size_t characters, apr_pool_t *pool)
{
    const char *end = text;

    for (; characters > 0 && *end; characters--) sr_text_next(&end);
    if (!*end) return text;
    return apr_pstrcat(pool, apr_pstrmemdup(pool, text, (apr_size_t)(end - text)), "\xE2\x80\xA6", NULL);
}

const char *sr_text_hex(const void *data, apr_size_t length, apr_pool_t *pool)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *bytes = data;
    char *text = apr_palloc(pool, length * 2 + 1);
    apr_size_t i;

    for (i = 0; i < length; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    text[2 * length] = '\0';
    return text;
}

bool sr_text_is_port(const char *text)
{
    const size_t digits = strspn(text, "0123456789");
    const int port = digits >= 1 && digits <= 5 && !text[digits] ? atoi(text) : 0;

    return port >= 1 && port <= 65535;
}

const char *sr_text_with_base(const char *view, const char *base_url, apr_pool_t *pool)
{
    const apr_size_t base = strlen(base_url);
    apr_size_t marks = 0;
    const char *mark;
    char *text, *out;

    for (mark = view; (mark = strchr(mark, SR_BASE_URL_PLACEHOLDER)) != NULL; mark++) marks++;
    text = out = apr_palloc(pool, strlen(view) + marks * base + 1);
    for (; (mark = strchr(view, SR_BASE_URL_PLACEHOLDER)) != NULL; view = mark + 1) {
        memcpy(out, view, (apr_size_t)(mark - view));
        out += mark - view;
        memcpy(out, base_url, base);
        out += base;
    }
    strcpy(out, view);
    return text;
}
