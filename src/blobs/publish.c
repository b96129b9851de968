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

#define LONGEST_HOLD apr_time_from_sec(10) /* others hold it for moments */

sr_error_t *sr_blobs_sync_root(sr_blobs_t *blobs, apr_pool_t *pool)
{
    return sync_folder(blobs->root, pool);
}

/* One lock for each folder ab/cd. */
sr_error_t *sr_blobs_hold(sr_file_lock_t **lock, sr_blobs_t *blobs, const char *sha256, apr_pool_t *pool)
{
    const apr_time_t until = apr_time_now() + LONGEST_HOLD;
    return sr_file_lock_take(lock, blobs, apr_psprintf(pool, "folder %.4s", sha256), until, pool);
}

/* --- using what is there
 *
 * Why gc never deletes a file that a row is about to name: the time of change says when a file was last used, and only
 * moves forward.
 *  - A process that is about to name a file uses it first: it is linked or touched (below), or it was seen to be
 *    younger than RENEWAL. It is then committed within minutes, or never.
 *  - gc asks the database, then holds the folder, looks at the time, and deletes what is older than LIFETIME, all
 * before it lets go. Linking and touching need the folder too. So either they come first, and gc sees a young file; or
 * they come later, find no file, and store it again.
 *  - Who saw a young file did so more than LIFETIME - RENEWAL (12 hours) before gc finds it too old. Their row was
 *    committed by then, and gc, which asked the database less than that long ago, knows it.
 * Nothing depends on a process that lives: kill -9 at any point leaves a file that stays for a day. */

static bool is_young(const char *path, bool *there, int *reason)
{
    struct stat status;

    *there = stat(path, &status) == 0;
    *reason = errno;
    return *there && apr_time_now() - apr_time_from_sec(status.st_mtime) < SR_BLOBS_RENEWAL;
}

/* False if that cannot be done: a file that was restored by another user, for example. */
static bool touch(const char *path)
{
    return utimensat(AT_FDCWD, path, NULL, 0) == 0;
}

sr_error_t *sr_blobs_use(bool *there, sr_blobs_t *blobs, const char *sha256, apr_pool_t *pool)
{
    const char *const path = sr_blobs_path(blobs, sha256, pool);
    sr_file_lock_t *lock;
    int reason;

    if (is_young(path, there, &reason)) return NULL;
    errno = reason;
    if (!*there) return errno == ENOENT ? NULL : sr_blobs_trouble(pool, "looking for", path);
    SR_TRY(sr_blobs_hold(&lock, blobs, sha256, pool));
    *there = touch(path);
    sr_file_lock_release(lock);
    return NULL;
}

/* An upload replaces a file that exists, which is the same: then the disk has as much to do as with a new one, and the
 * time it takes tells nobody whether another has the document. */
static sr_error_t *link_held(sr_temporary_t *file, const char *path, bool replace, apr_pool_t *pool)
{
    bool existed;

    sr_temporary_touch(file);
    SR_TRY(sr_temporary_link(&existed, file, path));
    return existed && (replace || !touch(path)) ? sr_temporary_replace(file, path) : NULL;
}

/* Folders are synced even when they or the file existed: who made them may not have come so far. */
sr_error_t *sr_blobs_publish(sr_blobs_t *blobs, sr_temporary_t *file, const char *sha256, bool replace,
                             apr_pool_t *pool)
{
    const char *const path = sr_blobs_path(blobs, sha256, pool);
    const char *const cd = folder_of(path, pool);
    sr_file_lock_t *lock;
    sr_error_t *error;

    SR_TRY(sr_blobs_hold(&lock, blobs, sha256, pool));
    error = sr_blobs_make_folder(blobs, sha256, pool);
    if (!error) error = link_held(file, path, replace, pool);
    sr_file_lock_release(lock);
    SR_TRY(error);
    SR_TRY(sync_folder(cd, pool));
    SR_TRY(sync_folder(folder_of(cd, pool), pool));
    return sync_folder(blobs->root, pool);
}
