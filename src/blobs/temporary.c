/* SPDX-License-Identifier: Apache-2.0 */
/* temporary.c: files that appear only when they are complete. They are written without a name (O_TMPFILE), synced,
 * and then linked to their path. The kernel deletes them if the process dies. On file systems without O_TMPFILE they
 * have a name in <root>/tmp, and `sigreqctl gc` deletes those of killed processes. */
#include "blobs/private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Documents never change, so not even their owner may write to them. */
#define FILE_MODE 0400

struct sr_temporary_t {
    int descriptor;   /* -1 once dropped */
    const char *name; /* its path, or NULL while it is unnamed */
    const char *root;
    apr_pool_t *pool;
};

void sr_temporary_drop(sr_temporary_t *temporary)
{
    if (temporary->descriptor >= 0) close(temporary->descriptor);
    if (temporary->name) unlink(temporary->name);
    temporary->descriptor = -1;
    temporary->name = NULL;
}

static apr_status_t temporary_drop(void *temporary)
{
    sr_temporary_drop(temporary);
    return APR_SUCCESS;
}

/* The name by which an unnamed file is linked and reopened. Without /proc unnamed files cannot be used. */
static const char *proc_path(const sr_temporary_t *temporary)
{
    return apr_psprintf(temporary->pool, "/proc/self/fd/%d", temporary->descriptor);
}

static sr_error_t *open_unnamed(sr_temporary_t *temporary)
{
    if (access("/proc/self/fd", X_OK) != 0) return NULL;
    temporary->descriptor = open(temporary->root, O_TMPFILE | O_RDWR | O_CLOEXEC, FILE_MODE);
    /* the errors of file systems and kernels that do not support O_TMPFILE */
    if (temporary->descriptor >= 0 || errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL) return NULL;
    return sr_blobs_trouble(temporary->pool, "opening a file in", temporary->root);
}

/* Makes a new name in <root>/tmp. */
static sr_error_t *make_name(const char **name, const sr_temporary_t *temporary)
{
    const char *folder = apr_pstrcat(temporary->pool, temporary->root, "/" SR_BLOBS_TEMPORARY, NULL);
    *name = apr_pstrcat(temporary->pool, folder, "/", sr_uuid_make(temporary->pool), NULL);
    if (mkdir(folder, 0700) == 0 || errno == EEXIST) return NULL;
    return sr_blobs_trouble(temporary->pool, "making the folder", folder);
}

static sr_error_t *open_named(sr_temporary_t *temporary)
{
    const char *name;
    SR_TRY(make_name(&name, temporary));
    temporary->descriptor = open(name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, FILE_MODE);
    if (temporary->descriptor < 0) return sr_blobs_trouble(temporary->pool, "making", name);
    temporary->name = name;
    return NULL;
}

sr_error_t *sr_temporary_open(sr_temporary_t **temporary, const char *root, apr_pool_t *pool)
{
    sr_temporary_t *made = apr_pcalloc(pool, sizeof *made);
    *made = (sr_temporary_t){.descriptor = -1, .root = root, .pool = pool};
    apr_pool_cleanup_register(pool, made, temporary_drop, apr_pool_cleanup_null);
    SR_TRY(open_unnamed(made));
    if (made->descriptor < 0) SR_TRY(open_named(made));
    *temporary = made;
    return NULL;
}

sr_error_t *sr_temporary_write(sr_temporary_t *temporary, const void *data, apr_size_t length)
{
    const char *bytes = data;
    while (length > 0) {
        const ssize_t written = write(temporary->descriptor, bytes, length);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return sr_blobs_trouble(temporary->pool, "writing to a file in", temporary->root);
        bytes += written;
        length -= (apr_size_t)written;
    }
    return NULL;
}

sr_error_t *sr_temporary_sync(sr_temporary_t *temporary)
{
    if (fdatasync(temporary->descriptor) == 0) return NULL;
    return sr_blobs_trouble(temporary->pool, "syncing a file in", temporary->root);
}

int sr_temporary_descriptor(const sr_temporary_t *temporary)
{
    return temporary->descriptor;
}

void sr_temporary_begin_sync(sr_temporary_t *temporary)
{
    (void)sync_file_range(temporary->descriptor, 0, 0, SYNC_FILE_RANGE_WRITE);
}

sr_error_t *sr_temporary_reopen(int *descriptor, sr_temporary_t *temporary)
{
    *descriptor = open(temporary->name ? temporary->name : proc_path(temporary), O_RDONLY | O_CLOEXEC);
    if (*descriptor >= 0) return NULL;
    return sr_blobs_trouble(temporary->pool, "reopening a file in", temporary->root);
}

sr_error_t *sr_temporary_link(bool *existed, sr_temporary_t *temporary, const char *path)
{
    *existed = false;
    if (temporary->name) {
        /* rename() instead of link(), because a file system without O_TMPFILE may also lack hard links. A file that
         * it replaces has the same content. */
        if (rename(temporary->name, path) != 0) return sr_blobs_trouble(temporary->pool, "renaming to", path);
        temporary->name = NULL;
        return NULL;
    }
    if (linkat(AT_FDCWD, proc_path(temporary), AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0) return NULL;
    *existed = errno == EEXIST;
    return *existed ? NULL : sr_blobs_trouble(temporary->pool, "linking", path);
}

sr_error_t *sr_temporary_replace(sr_temporary_t *temporary, const char *path)
{
    const char *name;
    bool existed;
    /* only rename() replaces a file, and it needs a file with a name */
    if (!temporary->name) {
        SR_TRY(make_name(&name, temporary));
        SR_TRY(sr_temporary_link(&existed, temporary, name));
        temporary->name = name;
    }
    return sr_temporary_link(&existed, temporary, path);
}
