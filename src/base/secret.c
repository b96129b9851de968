/* SPDX-License-Identifier: Apache-2.0 */
/* secret.c: takes signing links out of a line of text, such as the request line, before it is logged. The text comes
 * from anybody, so the work is linear in its length: what was replaced is never searched again. */
#include "base/base.h"

#include <string.h>

#define SHOWN 8 /* characters of a uuid: enough to find it again, too few to guess the rest */
#define MARK "..."

/* Appends what may be shown of a secret: the beginning of a uuid. Anything else is hidden wholly, as nobody knows which
 * part of it is the secret. */
static char *append_hidden(char *end, const char *secret)
{
    if (sr_uuid_valid(secret)) end = (char *)memcpy(end, secret, SHOWN) + SHOWN;
    return (char *)memcpy(end, MARK, sizeof MARK) + sizeof MARK - 1;
}

static char *append(char *end, const char *from, const char *to)
{
    return (char *)memcpy(end, from, (size_t)(to - from)) + (to - from);
}

const char *sr_secret_hide(const char *text, const char *secret, apr_pool_t *pool)
{
    const size_t length = strlen(secret);
    const char *at = length > SHOWN ? strstr(text, secret) : NULL;
    if (!at) return text;
    /* each replacement is at most SHOWN + sizeof MARK long, and stands for more than SHOWN characters */
    char *hidden = apr_palloc(pool, 2 * strlen(text) + sizeof MARK), *end = hidden;
    for (; at; at = strstr(text, secret)) {
        end = append_hidden(append(end, text, at), secret);
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
            at--; /* the slash may begin the next prefix, in "/sign/sign/…" */
            continue;
        }
        end = append_hidden(append(end, text, at), apr_pstrmemdup(pool, at, length));
        text = at += length;
    }
    if (text == whole) return whole;
    memcpy(end, text, strlen(text) + 1);
    return hidden;
}
