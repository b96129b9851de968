/* SPDX-License-Identifier: Apache-2.0 */
/* forked.c: work in a forked process, whose memory ends with it: that of private keys, which children would inherit. */
#include <httpd.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/run.h"

#define STEP ((apr_size_t)4096)
#define MOST ((apr_size_t)16 << 20)

static bool write_all(int descriptor, const char *text)
{
    for (apr_size_t left = strlen(text); left;) {
        const ssize_t count = write(descriptor, text, left);
        if (count < 0 && errno != EINTR) return false;
        if (count <= 0) continue;
        text += count;
        left -= (apr_size_t)count;
    }
    return true;
}

/* Reads until the end. A longer text is cut off. */
static const char *read_all(int descriptor, apr_pool_t *pool)
{
    apr_size_t room = STEP, length = 0;
    char *text = apr_palloc(pool, room + 1);
    while (length < MOST) {
        const ssize_t got = read(descriptor, text + length, room - length);
        if (got == 0 || (got < 0 && errno != EINTR)) break;
        if (got > 0) length += (apr_size_t)got;
        if (length < room) continue;
        char *larger = apr_palloc(pool, 2 * room + 1);
        memcpy(larger, text, length);
        text = larger;
        room *= 2;
    }
    text[length] = '\0';
    return text;
}

const char *sr_run_forked(const char *(*work)(const void *baton, apr_pool_t *pool), const void *baton, apr_pool_t *pool)
{
    int ends[2], status = 0;
    if (pipe2(ends, O_CLOEXEC) != 0) return NULL;
    const pid_t pid = fork();
    if (pid == 0) _exit(!write_all(ends[1], work(baton, pool)));
    close(ends[1]);
    const char *text = pid > 0 ? read_all(ends[0], pool) : NULL;
    close(ends[0]);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    return pid < 0 || status ? NULL : text;
}
