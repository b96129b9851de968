/* SPDX-License-Identifier: Apache-2.0 */
/* email.c: the email addresses to which mail can be sent: those that need neither quoting nor SMTPUTF8 (RFC 5321).
 * Letters of other scripts in the domain are converted to A-labels (RFC 5891). */
#include "model/model.h"

#include <idn2.h>
#include <stdlib.h>
#include <string.h>
#include <unicase.h>
#include <uninorm.h>

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

/* Letters, digits and hyphens (RFC 1123, 2.1). */
static bool is_label(const char *label)
{
    const size_t length = strlen(label);
    for (const char *c = label; *c; c++)
        if (!is_alphanumeric(*c) && *c != '-') return false;
    return length && length <= LABEL_MAX;
}

/* Returns true if a label of the domain begins or ends with a hyphen. In an A-label that cannot be seen. */
static bool has_outer_hyphen(const char *domain)
{
    const size_t length = strlen(domain);
    return *domain == '-' || strstr(domain, ".-") || strstr(domain, "-.") || (length && domain[length - 1] == '-');
}

/* Returns the domain in ASCII, or NULL. Letters are mapped as RFC 5895, 2 says, and not as in UTS 46, which also
 * removes characters that nobody sees. */
static const char *ascii_domain(const char *domain, apr_pool_t *pool)
{
    size_t length;
    char *ascii = NULL;
    if (is_ascii(domain)) return has_outer_hyphen(domain) ? NULL : domain;
    char *mapped = (char *)u8_tolower((const uint8_t *)domain, strlen(domain) + 1, NULL, UNINORM_NFKC, NULL, &length);
    if (mapped && !has_outer_hyphen(mapped)
        && idn2_to_ascii_8z(mapped, &ascii, IDN2_NFC_INPUT | IDN2_NO_TR46) != IDN2_OK)
        ascii = NULL;
    free(mapped);
    const char *copy = ascii ? apr_pstrdup(pool, ascii) : NULL;
    idn2_free(ascii);
    return copy;
}

static bool has_labels(const char *domain, apr_pool_t *pool)
{
    for (;;) {
        const size_t length = strcspn(domain, ".");
        if (!is_label(apr_pstrmemdup(pool, domain, length))) return false;
        if (!domain[length]) return true;
        domain += length + 1;
    }
}

const char *sr_address_of(const char *text, apr_pool_t *pool)
{
    const char *at = strrchr(text, '@');
    if (!at || !is_local(text, at) || strlen(text) > ADDRESS_MAX) return NULL;
    const char *domain = ascii_domain(at + 1, pool);
    if (!domain || !has_labels(domain, pool)) return NULL;
    const char *address = apr_pstrcat(pool, apr_pstrmemdup(pool, text, (apr_size_t)(at + 1 - text)), domain, NULL);
    return strlen(address) <= ADDRESS_MAX ? address : NULL;
}
