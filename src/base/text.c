/* SPDX-License-Identifier: Apache-2.0 */
/* text.c: UTF-8 with libunistring. Input is checked by its characters, and the locale of the process (httpd runs in
 * "C") must not matter. */
#include "base/base.h"

#include <apr_lib.h>
#include <stdlib.h>
#include <string.h>
#include <unicase.h>
#include <unictype.h>
#include <uninorm.h>
#include <unistr.h>

#define REPLACEMENT 0xFFFD

/* True for white space and for characters without width and ink. U+2800 is a Braille pattern without dots. */
static bool is_blank(uint32_t c)
{
    return uc_is_property_white_space(c) || uc_is_property_default_ignorable_code_point(c) || c == 0x2800;
}

/* True for control characters (Cc) and for the two separators that some programs treat as line ends. */
static bool is_control(uint32_t c)
{
    return uc_is_general_category_withtable(c, UC_CATEGORY_MASK_Cc | UC_CATEGORY_MASK_Zl | UC_CATEGORY_MASK_Zp);
}

/* True for characters that change the direction of the text around them, because a name could make another one look
 * reversed. U+206A to U+206F are deprecated characters that do the same. */
static bool is_direction(uint32_t c)
{
    return uc_is_property_bidi_control(c) || (c >= 0x206A && c <= 0x206F);
}

/* Writes a character as UTF-8. `out` must have room for 4 bytes. */
static char *text_encode(char *out, uint32_t c)
{
    return out + u8_uctomb((uint8_t *)out, c, 4);
}

bool sr_text_is_utf8(const char *text, apr_size_t length)
{
    return !memchr(text, '\0', length) && !u8_check((const uint8_t *)text, length);
}

uint32_t sr_text_next(const char **text)
{
    ucs4_t c;
    if (!**text) return 0;
    const int used = u8_mbtoucr(&c, (const uint8_t *)*text, strnlen(*text, 4));
    *text += used > 0 ? used : 1;
    return used > 0 ? c : REPLACEMENT;
}

bool sr_text_is_blank(const char *text)
{
    uint32_t c;
    while ((c = sr_text_next(&text)))
        if (!is_blank(c)) return false;
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
        const char *start = at;
        c = sr_text_next(&at);
        clean = !is_control(c) && !(c == REPLACEMENT && at - start == 1);
    }
    if (clean) return text;
    copy = out = apr_palloc(pool, strlen(text) * 3 + 1); /* one byte may become the three bytes of U+FFFD */
    for (at = text; (c = sr_text_next(&at));) out = text_encode(out, is_control(c) ? REPLACEMENT : c);
    *out = '\0';
    return copy;
}

const char *sr_text_fault(const char *text, apr_size_t longest, apr_pool_t *pool)
{
    if (!sr_text_is_utf8(text, strlen(text))) return "must be UTF-8 text";
    if (sr_text_printable(text, pool) != text) return "must not contain control characters";
    if (sr_text_length(text) <= longest) return NULL;
    return apr_psprintf(pool, "must have at most %" APR_SIZE_T_FMT " characters", longest);
}

/* True for the characters of \s in JavaScript (ECMA-262, 12.2 and 12.3), because the contract's pattern is
 * JavaScript. */
static bool is_space(uint32_t c)
{
    return (uc_is_property_white_space(c) && c != 0x85) || c == 0xFEFF;
}

bool sr_text_is_email(const char *text)
{
    const char *at_sign = strchr(text, '@'), *dot;
    uint32_t c;
    if (!at_sign || at_sign == text || strchr(at_sign + 1, '@')) return false;
    dot = at_sign[1] ? strchr(at_sign + 2, '.') : NULL; /* at least one character is before the dot */
    if (!dot || !dot[1]) return false;
    while ((c = sr_text_next(&text)))
        if (is_space(c)) return false;
    return true;
}

const char *sr_text_undirected(const char *text, apr_pool_t *pool)
{
    char *copy = apr_palloc(pool, strlen(text) * 3 + 1),
         *out = copy; /* a malformed byte becomes the three bytes of U+FFFD */
    uint32_t c;
    while ((c = sr_text_next(&text)))
        if (!is_direction(c)) out = text_encode(out, c);
    *out = '\0';
    return copy;
}

const char *sr_text_composed(const char *text, apr_pool_t *pool)
{
    size_t length;
    uint8_t *composed = u8_normalize(UNINORM_NFC, (const uint8_t *)text, strlen(text) + 1, NULL, &length);
    if (!composed) return text;
    text = apr_pstrmemdup(pool, (char *)composed, length);
    free(composed);
    return text;
}

const char *sr_text_trimmed(const char *text, apr_pool_t *pool)
{
    text += strspn(text, " ");
    apr_size_t length = strlen(text);

    while (length && text[length - 1] == ' ') length--;
    return apr_pstrmemdup(pool, text, length);
}

const char *sr_text_fold(const char *text, apr_pool_t *pool)
{
    char *copy = apr_palloc(
        pool, strlen(text) * 3 + 1); /* the lower-case form may be longer: U+023A has 2 bytes, its lower-case form 3 */
    char *out = copy;
    uint32_t c;
    /* converted to upper case first, so that both lower-case sigmas become the same */
    while ((c = sr_text_next(&text))) out = text_encode(out, uc_tolower(uc_toupper(c)));
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

bool sr_text_is_hex(const char *text, apr_size_t length)
{
    return strspn(text, "0123456789abcdef") == length && text[length] == '\0';
}

bool sr_text_decode_percent(char *text, const char *only)
{
    char *out = text;
    bool good = true;
    for (; *text; text++) {
        char digits[3] = "";
        if (*text == '%') apr_cpystrn(digits, text + 1, sizeof digits);
        const bool is_byte = apr_isxdigit(digits[0]) && apr_isxdigit(digits[1]);
        const char byte = (char)(is_byte ? strtol(digits, NULL, 16) : 0);
        const bool decodes = byte && (!only || strchr(only, byte));
        good = good && (*text != '%' || byte);
        *out++ = (char)(decodes ? byte : *text);
        if (decodes) text += 2;
    }
    *out = '\0';
    return good;
}

#define DIGITS_MAX 9 /* any number with so many digits fits into an int */

bool sr_text_number(int *number, const char *text)
{
    const size_t digits = strspn(text, "0123456789");
    const bool is_number = digits >= 1 && digits <= DIGITS_MAX && !text[digits];
    *number = is_number ? (int)strtol(text, NULL, 10) : 0;
    return is_number;
}

bool sr_text_is_port(const char *text)
{
    int port;
    return sr_text_number(&port, text) && strlen(text) <= 5 && port >= 1 && port <= 65535;
}

bool sr_text_is_token(const char *text)
{
    return !strncmp(text, "pkcs11:", 7);
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
