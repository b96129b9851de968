/* SPDX-License-Identifier: Apache-2.0 */
/* hide_links.c: removes signing links from a line of text, such as the request line, before it is logged. The text may
 * come from anybody, so the work must be linear in its length: replaced text is not searched again. */
#include "base/base.h"

#include <string.h>

#define SHOWN 8 /* characters of a uuid: enough to find it in a log, too few to guess the rest */
#define MARK "..."

/* Appends the part of a secret that may be shown: the beginning of a uuid. Any other secret is replaced completely,
 * because it is not known which part of it is secret. */
static char *append_hidden(char *end, const char *secret)
{
    if (sr_uuid_valid(secret)) end = (char *)memcpy(end, secret, SHOWN) + SHOWN;
    return (char *)memcpy(end, MARK, sizeof MARK) + sizeof MARK - 1;
}

static char *hide_links_append(char *end, const char *from, const char *to)
{
    return (char *)memcpy(end, from, (size_t)(to - from)) + (to - from);
}

const char *sr_secret_hide(const char *text, const char *secret, apr_pool_t *pool)
{
    const size_t length = strlen(secret);
    const char *at = length > SHOWN ? strstr(text, secret) : NULL;
    if (!at) return text;
    /* each replacement has at most SHOWN + sizeof MARK characters and replaces more than SHOWN */
    char *hidden = apr_palloc(pool, 2 * strlen(text) + sizeof MARK), *end = hidden;
    for (; at; at = strstr(text, secret)) {
        end = append_hidden(hide_links_append(end, text, at), secret);
        text = at + length;
    }
    memcpy(end, text, strlen(text) + 1);
    return hidden;
}

const char *sr_secret_hide_after(const char *text, const char *prefix, apr_pool_t *pool)
{
    const char *at = strstr(text, prefix), *const whole = text;
    char *hidden = at ? apr_palloc(pool, 2 * strlen(text) + sizeof MARK) : NULL, *end = hidden;
    for (; at; at = strstr(at, prefix)) {
        at += strlen(prefix);
        const size_t length = strcspn(at, "/? ");
        if (length <= SHOWN) {
            at--; /* the slash may belong to the next prefix, in "/sign/sign/…" */
            continue;
        }
        end = append_hidden(hide_links_append(end, text, at), apr_pstrmemdup(pool, at, length));
        text = at += length;
    }
    if (text == whole) return whole;
    memcpy(end, text, strlen(text) + 1);
    return hidden;
}
