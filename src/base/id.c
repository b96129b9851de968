/* SPDX-License-Identifier: Apache-2.0 */
/* id.c: UUIDs and random bytes. A signer's UUID is the secret of their signing link, so all randomness comes from the
 * kernel. */
#include "base/base.h"

#include <apr_lib.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define UUID_BYTES 16
#define STOCK 16 /* ids */

/* Without randomness the process cannot continue safely. On Linux getrandom fails only if a seccomp filter denies it
 * or the kernel is very old. */
void sr_random_fill(void *data, apr_size_t length)
{
    unsigned char *bytes = data;
    while (length > 0) {
        const ssize_t got = getrandom(bytes, length, 0);
        if (got < 0) {
            if (errno != EINTR) abort();
            continue;
        }
        bytes += got;
        length -= (apr_size_t)got;
    }
}

static const char *uuid_of(unsigned char *b, apr_pool_t *pool)
{
    char *text = apr_palloc(pool, SR_UUID_LENGTH + 1), *at = text;
    b[6] = (unsigned char)((b[6] & 0x0F) | 0x40); /* version 4 */
    b[8] = (unsigned char)((b[8] & 0x3F) | 0x80); /* variant 10 */
    const char *hex = sr_text_hex(b, UUID_BYTES, pool);
    for (int i = 0; i < 2 * UUID_BYTES; i++) {
        if (i == 8 || i == 12 || i == 16 || i == 20) *at++ = '-';
        *at++ = hex[i];
    }
    *at = '\0';
    return text;
}

const char *sr_uuid_make(apr_pool_t *pool)
{
    unsigned char bytes[UUID_BYTES];
    sr_random_fill(bytes, sizeof bytes);
    return uuid_of(bytes, pool);
}

const char *sr_uuid_make_public(apr_pool_t *pool)
{
    static _Thread_local unsigned char stock[STOCK][UUID_BYTES];
    static _Thread_local unsigned used;

    if (used % STOCK == 0) sr_random_fill(stock, sizeof stock);
    return uuid_of(stock[used++ % STOCK], pool);
}

bool sr_uuid_valid(const char *text)
{
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    int i;
    for (i = 0; form[i]; i++) {
        if (form[i] == 'x' ? !apr_isxdigit(text[i]) : text[i] != '-') return false;
    }
    return text[i] == '\0';
}
