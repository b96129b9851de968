/* SPDX-License-Identifier: Apache-2.0 */
/* email.c: the email addresses to which mail can be sent: those that need neither quoting nor SMTPUTF8 (RFC 5321).
 * Letters of other scripts in the domain are converted to A-labels (RFC 5891, RFC 3492). */
#include "model/model.h"

#include <stdlib.h>
#include <string.h>
#include <unicase.h>
#include <uninorm.h>
#include <unictype.h>
#include <unistr.h>

#define ADDRESS_MAX 254 /* RFC 5321, 4.5.3.1.3 */
#define LABEL_MAX 63    /* RFC 1035, 2.3.4 */

static bool is_ascii(const char *text)
{
    while (*text && (unsigned char)*text < 0x80) text++;
    return !*text;
}

static bool is_alphanumeric(char c)
{
    return ((c | 32) >= 'a' && (c | 32) <= 'z') || (c >= '0' && c <= '9');
}

/* A dot-atom (RFC 5322, 3.2.3). */
static bool is_local(const char *text, const char *end)
{
    char before = '.';
    for (; text < end; before = *text++) {
        const bool dot = *text == '.';
        if (dot ? before == '.' : !is_alphanumeric(*text) && !strchr("!#$%&'*+-/=?^_`{|}~", *text)) return false;
    }
    return before != '.';
}

/* --- Punycode (RFC 3492) */

enum { BASE = 36, T_MIN = 1, T_MAX = 26, SKEW = 38, DAMP = 700, BIAS = 72, FIRST = 128 };

static char digit(uint32_t value)
{
    return (char)(value < 26 ? 'a' + value : '0' + value - 26);
}

static uint32_t adapted(uint32_t delta, uint32_t count, bool first)
{
    uint32_t k = 0;
    delta = first ? delta / DAMP : delta / 2;
    for (delta += delta / count; delta > (BASE - T_MIN) * T_MAX / 2; k += BASE) delta /= BASE - T_MIN;
    return k + (BASE - T_MIN + 1) * delta / (delta + SKEW);
}

/* Appends a number as digits of variable length. */
static char *put_number(char *out, uint32_t q, uint32_t bias)
{
    for (uint32_t k = BASE;; k += BASE) {
        const uint32_t t = k <= bias ? T_MIN : k >= bias + T_MAX ? T_MAX : k - bias;
        if (q < t) break;
        *out++ = digit(t + (q - t) % (BASE - t));
        q = (q - t) / (BASE - t);
    }
    *out++ = digit(q);
    return out;
}

static uint32_t smallest_from(const uint32_t *c, size_t count, uint32_t n)
{
    uint32_t smallest = UINT32_MAX;
    for (size_t i = 0; i < count; i++)
        if (c[i] >= n && c[i] < smallest) smallest = c[i];
    return smallest;
}

/* `count` is at most LABEL_MAX, so nothing overflows. */
static const char *punycode(const uint32_t *c, size_t count, apr_pool_t *pool)
{
    char *text = apr_palloc(pool, (apr_size_t)8 * LABEL_MAX), *out = text;
    uint32_t n = FIRST, delta = 0, bias = BIAS, basic, done = 0;
    for (size_t i = 0; i < count; i++)
        if (c[i] < FIRST) *out++ = (char)c[i];
    basic = done = (uint32_t)(out - text);
    if (basic) *out++ = '-';
    for (; done < count; delta++, n++) {
        const uint32_t next = smallest_from(c, count, n);
        delta += (next - n) * (done + 1);
        n = next;
        for (size_t i = 0; i < count; i++) {
            if (c[i] < n) delta++;
            if (c[i] != n) continue;
            out = put_number(out, delta, bias);
            bias = adapted(delta, done + 1, done == basic);
            delta = 0;
            done++;
        }
    }
    *out = '\0';
    return text;
}

/* --- domains */

/* Letters, digits and hyphens, none of them at the ends (RFC 1123, 2.1). */
static bool is_label(const char *label)
{
    const size_t length = strlen(label);
    for (const char *c = label; *c; c++)
        if (!is_alphanumeric(*c) && *c != '-') return false;
    return length && length <= LABEL_MAX && *label != '-' && label[length - 1] != '-';
}

/* Returns a label with other characters as an A-label, or NULL. IDNA allows letters, marks and digits, and no mark at
 * the beginning (RFC 5892). */
static const char *a_label(const char *label, apr_pool_t *pool)
{
    uint32_t c[LABEL_MAX];
    size_t count = 0;
    while (*label) {
        if (count == LABEL_MAX) return NULL;
        c[count] = sr_text_next(&label);
        const bool mark = uc_is_general_category_withtable(c[count], UC_CATEGORY_MASK_M);
        const bool letter = uc_is_general_category_withtable(c[count], UC_CATEGORY_MASK_L | UC_CATEGORY_MASK_Nd);
        if (!letter && c[count] != '-' && (!mark || !count)) return NULL;
        count++;
    }
    if (c[0] == '-' || c[count - 1] == '-') return NULL;
    return apr_pstrcat(pool, "xn--", punycode(c, count, pool), NULL);
}

/* Returns the domain in ASCII, or NULL. */
static const char *ascii_domain(const char *domain, apr_pool_t *pool)
{
    const char *whole = NULL;
    if (!is_ascii(domain)) { /* RFC 5895, 2 */
        size_t length;
        uint8_t *mapped = u8_tolower((const uint8_t *)domain, strlen(domain), NULL, UNINORM_NFKC, NULL, &length);
        if (!mapped) return NULL;
        domain = apr_pstrmemdup(pool, (char *)mapped, length);
        free(mapped);
    }
    for (;;) {
        const size_t length = strcspn(domain, ".");
        const char *label = apr_pstrmemdup(pool, domain, length);
        if (!is_ascii(label)) label = a_label(label, pool);
        if (!label || !is_label(label)) return NULL;
        whole = whole ? apr_pstrcat(pool, whole, ".", label, NULL) : label;
        if (!domain[length]) return whole;
        domain += length + 1;
    }
}

const char *sr_address_of(const char *text, apr_pool_t *pool)
{
    const char *at = strrchr(text, '@');
    if (!at || !is_local(text, at) || strlen(text) > ADDRESS_MAX) return NULL;
    const char *domain = ascii_domain(at + 1, pool);
    if (!domain) return NULL;
    const char *address = apr_pstrcat(pool, apr_pstrmemdup(pool, text, (apr_size_t)(at + 1 - text)), domain, NULL);
    return strlen(address) <= ADDRESS_MAX ? address : NULL;
}
