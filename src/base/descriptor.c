/* SPDX-License-Identifier: Apache-2.0 */
/* descriptor.c: file descriptors: reading and writing everything, and closing with a pool. */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define STEP ((apr_size_t)4096)
#define LEAST_RAISED 16

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

bool sr_descriptor_write(int descriptor, const void *bytes, apr_size_t length)
{
    for (const char *at = bytes; length > 0;) {
        const ssize_t count = write(descriptor, at, length);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return false;
        at += count;
        length -= (apr_size_t)count;
    }
    return true;
}

/* Waits until something can be read. Returns false at the deadline. */
static bool wait_for_input(int descriptor, apr_time_t deadline)
{
    struct pollfd ready = {.fd = descriptor, .events = POLLIN};
    for (int left = -1;;) {
        if (deadline && (left = (int)apr_time_as_msec(deadline - sr_time_steady()) + 1) <= 0) return false;
        if (poll(&ready, 1, left) > 0) return true;
    }
}

bool sr_descriptor_receive(const char **text, apr_size_t *length, int descriptor, apr_size_t most, apr_time_t deadline,
                           apr_pool_t *pool)
{
    apr_size_t room = STEP, have = 0;
    char *bytes = apr_palloc(pool, room + 1);
    bool ended = false;
    while (!ended && have < most && wait_for_input(descriptor, deadline)) {
        const ssize_t got = read(descriptor, bytes + have, room - have);
        ended = got == 0 || (got < 0 && errno != EINTR);
        if (got > 0) have += (apr_size_t)got;
        if (have < room) continue;
        char *larger = apr_palloc(pool, 2 * room + 1);
        memcpy(larger, bytes, have);
        bytes = larger;
        room *= 2;
    }
    bytes[have] = '\0';
    *text = bytes;
    *length = have;
    return ended;
}

int sr_descriptor_raise(int descriptor)
{
    const int raised = fcntl(descriptor, F_DUPFD_CLOEXEC, LEAST_RAISED);
    close(descriptor);
    return raised;
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
