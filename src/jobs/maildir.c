/* SPDX-License-Identifier: Apache-2.0 */
/* maildir.c: writes a mail into a folder, instead of sending it. A file is written completely or not at all, and only
 * its owner can read it. Finished files end in .eml. */
#include "jobs/call.h"

#include <apr_strings.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *maildir_why(const char *what, const char *path, apr_pool_t *pool)
{
    char said[256];
    return apr_psprintf(pool, "%s %s: %s", what, path, apr_strerror(errno, said, sizeof said));
}

const char *sr_maildir_write(const char *folder, const char *message, apr_pool_t *pool)
{
    const char *name = apr_psprintf(pool, "%" APR_TIME_T_FMT ".%s", sr_time_now(), sr_uuid_make(pool));
    const char *kept = apr_pstrcat(pool, folder, "/", name, ".eml", NULL);
    const char *path = apr_pstrcat(pool, folder, "/.", name, ".tmp", NULL);
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return maildir_why("open", path, pool);
    const char *fault = sr_descriptor_write(fd, message, strlen(message)) ? NULL : maildir_why("write", path, pool);
    if (!fault && fsync(fd)) fault = maildir_why("fsync", path, pool);
    if (close(fd) && !fault) fault = maildir_why("close", path, pool);
    if (!fault && rename(path, kept)) fault = maildir_why("rename", path, pool);
    if (fault) unlink(path);
    return fault;
}
