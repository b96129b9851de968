/* SPDX-License-Identifier: Apache-2.0 */
/* id.c: UUIDs and random bytes. A signer's UUID is the secret of their signing link, so all randomness comes from the
 * kernel. */
#include "base/base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

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

const char *sr_uuid_make(apr_pool_t *pool)
{
    unsigned char b[16];

    sr_random_fill(b, sizeof b);
    b[6] = (unsigned char)((b[6] & 0x0F) | 0x40); /* version 4 */
    b[8] = (unsigned char)((b[8] & 0x3F) | 0x80); /* variant 10 */
    return apr_psprintf(pool, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2],
                        b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
}

bool sr_uuid_valid(const char *text)
{
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    int i;

    for (i = 0; form[i]; i++) {
        const char *const allowed = form[i] == 'x' ? "0123456789abcdefABCDEF" : "-";
        if (!text[i] || !strchr(allowed, text[i])) return false;
    }
    return text[i] == '\0';
}
