/* SPDX-License-Identifier: Apache-2.0 */
/* walk.c: walks through folders and deletes files in them. The user of httpd can put links there, and root may run
 * sigreqctl. So each folder is opened relative to its parent, links are never followed, and files are deleted by
 * their name in the open folder. */
#include "blobs/private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static apr_status_t folder_close(void *folder)
{
    sr_folder_close(folder);
    return APR_SUCCESS;
}

void sr_folder_close(sr_folder_t *folder)
{
    if (folder->descriptor < 0) return;
    close(folder->descriptor);
    folder->descriptor = -1;
    apr_pool_cleanup_kill(folder->pool, folder, folder_close);
}

/* True for the errors of open() if the folder is missing, is a link or is not a folder. */
static bool is_absent(int reason)
{
    return reason == ENOENT || reason == ENOTDIR || reason == ELOOP;
}

static sr_error_t *folder_make(sr_folder_t **folder, int descriptor, const char *path, apr_pool_t *pool)
{
    *folder = NULL;
    if (descriptor < 0) return is_absent(errno) ? NULL : sr_blobs_trouble(pool, "opening the folder", path);
    *folder = apr_pcalloc(pool, sizeof **folder);
    **folder = (sr_folder_t){descriptor, path, pool};
    apr_pool_cleanup_register(pool, *folder, folder_close, apr_pool_cleanup_null);
    return NULL;
}

sr_error_t *sr_folder_open(sr_folder_t **folder, const char *path, apr_pool_t *pool)
{
    return folder_make(folder, open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), path, pool);
}

sr_error_t *sr_folder_below(sr_folder_t **folder, const sr_folder_t *parent, const char *name, apr_pool_t *pool)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    const char *path = apr_pstrcat(pool, parent->path, "/", name, NULL);
    return folder_make(folder, openat(parent->descriptor, name, flags), path, pool);
}

sr_error_t *sr_folder_list(apr_array_header_t **names, const sr_folder_t *folder, apr_pool_t *pool)
{
    /* another descriptor, because closedir() closes it */
    const int descriptor = openat(folder->descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = descriptor < 0 ? NULL : fdopendir(descriptor);
    *names = apr_array_make(pool, 16, sizeof(const char *));
    if (!stream) {
        if (descriptor >= 0) close(descriptor);
        return errno == ENOENT ? NULL : sr_blobs_trouble(pool, "reading the folder", folder->path);
    }
    errno = 0;
    for (const struct dirent *entry; (entry = readdir(stream)) != NULL; errno = 0)
        if (entry->d_name[0] != '.') APR_ARRAY_PUSH(*names, const char *) = apr_pstrdup(pool, entry->d_name);
    const int reason = errno;
    closedir(stream);
    errno = reason;
    return reason ? sr_blobs_trouble(pool, "reading the folder", folder->path) : NULL;
}

bool sr_folder_find(struct stat *status, const sr_folder_t *folder, const char *name)
{
    return fstatat(folder->descriptor, name, status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status->st_mode);
}

sr_error_t *sr_folder_delete(bool *deleted, const sr_folder_t *folder, const char *name, apr_pool_t *pool)
{
    *deleted = unlinkat(folder->descriptor, name, 0) == 0;
    if (*deleted || errno == ENOENT) return NULL;
    return sr_blobs_trouble(pool, "removing", apr_pstrcat(pool, folder->path, "/", name, NULL));
}

sr_error_t *sr_folder_make(const sr_folder_t *parent, const char *name, apr_pool_t *pool)
{
    if (mkdirat(parent->descriptor, name, 0700) == 0 || errno == EEXIST) return NULL;
    return sr_blobs_trouble(pool, "making the folder", apr_pstrcat(pool, parent->path, "/", name, NULL));
}

/* The time is set first, so that a process that is killed in between leaves the file where it was. */
sr_error_t *sr_folder_move(bool *moved, const sr_folder_t *from, const sr_folder_t *to, const char *name,
                           apr_pool_t *pool)
{
    *moved = utimensat(from->descriptor, name, NULL, AT_SYMLINK_NOFOLLOW) == 0
             && renameat(from->descriptor, name, to->descriptor, name) == 0;
    if (*moved || errno == ENOENT) return NULL;
    return sr_blobs_trouble(pool, "moving to the quarantine", apr_pstrcat(pool, from->path, "/", name, NULL));
}

void sr_folder_delete_empty(const sr_folder_t *parent, const char *name)
{
    (void)unlinkat(parent->descriptor, name, AT_REMOVEDIR);
}

bool sr_folder_is_hex(const char *name, apr_size_t length)
{
    return strspn(name, "0123456789abcdef") >= length;
}

bool sr_folder_is_pair(const char *name)
{
    return strlen(name) == 2 && sr_folder_is_hex(name, 2);
}
