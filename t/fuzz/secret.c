/* SPDX-License-Identifier: Apache-2.0 */
/* secret.c: what is taken out of request lines before they are logged. The first line of the input is the secret, the
 * rest is the text. */
#include "fuzz.h"

#include "base/base.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *secret = fuzz_text(data, size);
    char *text = secret ? strchr(secret, '\n') : NULL;
    if (text) {
        apr_pool_t *pool = fuzz_pool();
        *text++ = '\0';
        const char *hidden = sr_secret_hide(text, secret, pool);
        fuzz_must(strlen(hidden) <= 2 * strlen(text));
        fuzz_must(!sr_uuid_valid(secret) || !strstr(hidden, secret));
        hidden = sr_secret_hide_after(text, "/sign/", pool);
        fuzz_must(strlen(hidden) <= 2 * strlen(text));
        for (const char *at = hidden; (at = strstr(at, "/sign/")) != NULL;) {
            at += strlen("/sign/");
            fuzz_must(strcspn(at, "/? ") <= 11);
        }
        apr_pool_destroy(pool);
    }
    free(secret);
    return 0;
}
