/* SPDX-License-Identifier: Apache-2.0 */
/* descriptor.c: file descriptors: reading a whole range, and closing with a pool. */
#include "base/base.h"

#include <errno.h>
#include <unistd.h>

apr_ssize_t sr_descriptor_read(int descriptor, void *bytes, apr_size_t length, apr_off_t offset)
{
    apr_size_t got = 0;
    while (got < length) {
        const ssize_t count = pread(descriptor, (char *)bytes + got, length - got, offset + (apr_off_t)got);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return -1;
        if (count == 0) break;
        got += (apr_size_t)count;
    }
    return (apr_ssize_t)got;
}

static apr_status_t close_descriptor(void *descriptor)
{
    close(*(int *)descriptor);
    return APR_SUCCESS;
}

void sr_descriptor_own(int descriptor, apr_pool_t *pool)
{
    int *kept = apr_palloc(pool, sizeof *kept);
    *kept = descriptor;
    apr_pool_cleanup_register(pool, kept, close_descriptor, apr_pool_cleanup_null);
}
