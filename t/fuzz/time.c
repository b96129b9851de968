/* SPDX-License-Identifier: Apache-2.0 */
/* time.c: times as clients send them: what is read, written and read again is the same to the millisecond. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    apr_time_t when, again;
    if (text && sr_time_parse(&when, text)) {
        apr_pool_t *pool = fuzz_pool();
        const char *written = sr_time_format(when, pool);
        if (written[0] != '-' && strlen(written) == 24) { /* an offset may carry it out of the four-digit years */
            fuzz_must(sr_time_parse(&again, written) || !strncmp(written, "0000", 4));
            if (strncmp(written, "0000", 4) != 0) fuzz_must(when - again >= 0 && when - again < 1000);
        }
        apr_pool_destroy(pool);
    }
    free(text);
    return 0;
}
