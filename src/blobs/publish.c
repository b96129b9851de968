/* SPDX-License-Identifier: Apache-2.0 */
/* publish.c: a file gets its name in the folder of blobs, for good. */
#include "blobs/private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static sr_error_t *make_folder(const char *path, apr_pool_t *pool)
{
    if (mkdir(path, 0700) == 0 || errno == EEXIST) return NULL;
    return sr_blobs_trouble(pool, "making the folder", path);
}

static sr_error_t *sync_folder(const char *path, apr_pool_t *pool)
{
    const int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    sr_error_t *error = NULL;

    if (descriptor < 0) return sr_blobs_trouble(pool, "opening the folder", path);
    if (fsync(descriptor) != 0) error = sr_blobs_trouble(pool, "syncing the folder", path);
    close(descriptor);
    return error;
}

/* ".../ab/cd" of ".../ab/cd/<sha256>" */
static const char *folder_of(const char *path, apr_pool_t *pool)
{
    return apr_pstrndup(pool, path, (apr_size_t)(strrchr(path, '/') - path));
}

sr_error_t *sr_blobs_make_folder(sr_blobs_t *blobs, const char *name, apr_pool_t *pool)
{
    const char *const cd = folder_of(sr_blobs_path(blobs, name, pool), pool);

    SR_TRY(make_folder(folder_of(cd, pool), pool));
    return make_folder(cd, pool);
}

sr_error_t *sr_blobs_sync_root(sr_blobs_t *blobs, apr_pool_t *pool)
{
    return sync_folder(blobs->root, pool);
}

/* A key belongs to one content and to one who stores it, so a file that is there already is this one. Folders are
 * synced even if they were there: the process that made them may not have come so far. */
sr_error_t *sr_blobs_publish(sr_blobs_t *blobs, sr_temporary_t *file, const char *key, apr_pool_t *pool)
{
    const char *const path = sr_blobs_path(blobs, key, pool);
    const char *const cd = folder_of(path, pool);
    bool existed;

    SR_TRY(sr_blobs_make_folder(blobs, key, pool));
    SR_TRY(sr_temporary_link(&existed, file, path));
    SR_TRY(sync_folder(cd, pool));
    SR_TRY(sync_folder(folder_of(cd, pool), pool));
    return sync_folder(blobs->root, pool);
}
