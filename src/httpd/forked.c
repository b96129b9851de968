/* SPDX-License-Identifier: Apache-2.0 */
/* forked.c: work in a forked process, whose memory ends with it: that of private keys, which children would inherit. */
#include <httpd.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "httpd/adapters.h"

#define MOST ((apr_size_t)16 << 20) /* a longer text is cut off */

const char *sr_run_forked(const char *(*work)(const void *baton, apr_pool_t *pool), const void *baton, apr_pool_t *pool)
{
    const char *text = NULL;
    apr_size_t length;
    int ends[2], status = 0;
    if (pipe2(ends, O_CLOEXEC) != 0) return NULL;
    const pid_t pid = fork();
    if (pid == 0) {
        text = work(baton, pool);
        _exit(!sr_descriptor_write(ends[1], text, strlen(text)));
    }
    close(ends[1]);
    if (pid > 0) (void)sr_descriptor_receive(&text, &length, ends[0], MOST, 0, pool);
    close(ends[0]);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    return pid < 0 || status ? NULL : text;
}
