/* SPDX-License-Identifier: Apache-2.0 */
/* commit.c: links complete files durably into the folder of blobs. Each sync waits for the disk, and on a file system
 * with a journal the first one waits for a commit of everything that was changed before. So all files are linked before
 * the first one is synced, several files are published together, and each folder is synced once. After a crash in
 * between a file may have its name and only a part of its bytes. Its key is reserved then, and no row ever refers to
 * it. */
#include "blobs/private.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- folders whose names are durable: this process has synced the folders above them since it found them. So that a
 * folder that an administrator has replaced is not taken for it, they are known by their inodes and times of birth. A
 * filesystem without times of birth has no known folders. */

#define KNOWN 8192

typedef struct identity_t {
    apr_uint64_t device, inode;
    apr_int64_t seconds, nanoseconds;
} identity_t;

static pthread_mutex_t known_mutex = PTHREAD_MUTEX_INITIALIZER;
static identity_t known[KNOWN];

static bool identify(identity_t *identity, const char *path)
{
    struct statx status;
    memset(identity, 0, sizeof *identity);
    if (statx(AT_FDCWD, path, 0, STATX_INO | STATX_BTIME, &status) != 0 || !(status.stx_mask & STATX_BTIME))
        return false;
    identity->device = (apr_uint64_t)status.stx_dev_major << 32 | status.stx_dev_minor;
    identity->inode = status.stx_ino;
    identity->seconds = status.stx_btime.tv_sec;
    identity->nanoseconds = status.stx_btime.tv_nsec;
    return true;
}

static bool commit_is_known(const identity_t *identity)
{
    pthread_mutex_lock(&known_mutex);
    const bool found = memcmp(&known[identity->inode % KNOWN], identity, sizeof *identity) == 0;
    pthread_mutex_unlock(&known_mutex);
    return found;
}

static void commit_remember(const identity_t *identity)
{
    pthread_mutex_lock(&known_mutex);
    memcpy(&known[identity->inode % KNOWN], identity, sizeof *identity);
    pthread_mutex_unlock(&known_mutex);
}

/* --- making and syncing folders */

/* *made, if it is not NULL, tells whether the folder was missing. */
static sr_error_t *commit_make_folder(bool *made, const char *path, apr_pool_t *pool)
{
    const bool missing = mkdir(path, 0700) == 0;
    if (!missing && errno != EEXIST) return sr_blobs_trouble(pool, "making the folder", path);
    if (made) *made = missing;
    return NULL;
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

/* ".../ab" of ".../ab/<key>" */
static const char *commit_folder_of(const char *path, apr_pool_t *pool)
{
    return apr_pstrndup(pool, path, (apr_size_t)(strrchr(path, '/') - path));
}

sr_error_t *sr_blobs_make_folder(sr_blobs_t *blobs, const char *name, apr_pool_t *pool)
{
    return commit_make_folder(NULL, commit_folder_of(sr_blobs_path(blobs, name, pool), pool), pool);
}

sr_error_t *sr_blobs_sync_root(sr_blobs_t *blobs, apr_pool_t *pool)
{
    return sync_folder(blobs->root, pool);
}

/* --- publishing */

/* The folders to sync, each once. */
typedef struct folders_t {
    apr_array_header_t *changed; /* const char *: a name in them is new, or may be new */
    apr_array_header_t *names;   /* identity_t: their names are durable when all are synced */
    apr_pool_t *pool;
} folders_t;

static void add_changed(const folders_t *folders, const char *path)
{
    for (int i = 0; i < folders->changed->nelts; i++)
        if (strcmp(APR_ARRAY_IDX(folders->changed, i, const char *), path) == 0) return;
    APR_ARRAY_PUSH(folders->changed, const char *) = path;
}

/* Makes the folder if it is missing. A folder that was there may have been made a moment ago by a process that has not
 * synced the one above. */
static sr_error_t *commit_add_folder(const folders_t *folders, const char *path)
{
    identity_t identity;
    bool made = false;
    SR_TRY(commit_make_folder(&made, path, folders->pool));
    const bool identified = identify(&identity, path);
    if (identified && !made && commit_is_known(&identity)) return NULL;
    add_changed(folders, commit_folder_of(path, folders->pool));
    if (identified) APR_ARRAY_PUSH(folders->names, identity_t) = identity;
    return NULL;
}

/* A key belongs to one content and to one who stores it, so a file that is there already is this one. *linked tells
 * whether it was not. */
static sr_error_t *commit_link_file(bool *linked, const folders_t *folders, sr_blobs_t *blobs, const sr_kept_t *kept)
{
    const char *path = sr_blobs_path(blobs, kept->key, folders->pool);
    const char *ab = commit_folder_of(path, folders->pool);
    bool existed;
    SR_TRY(commit_add_folder(folders, ab));
    SR_TRY(sr_temporary_link(&existed, kept->file, path));
    *linked = !existed;
    add_changed(folders, ab);
    sr_temporary_begin_sync(kept->file);
    return NULL;
}

static sr_error_t *sync_all(const folders_t *folders, const sr_kept_t *files, int count)
{
    for (int i = 0; i < count; i++) SR_TRY(sr_temporary_sync(files[i].file));
    for (int i = 0; i < folders->changed->nelts; i++)
        SR_TRY(sync_folder(APR_ARRAY_IDX(folders->changed, i, const char *), folders->pool));
    for (int i = 0; i < folders->names->nelts; i++) commit_remember(&APR_ARRAY_IDX(folders->names, i, identity_t));
    return NULL;
}

sr_error_t *sr_blobs_publish(sr_blobs_t *blobs, const sr_kept_t *files, int count, apr_pool_t *pool)
{
    const folders_t folders = {apr_array_make(pool, 2 * count, sizeof(const char *)),
                               apr_array_make(pool, count, sizeof(identity_t)), pool};
    bool *linked = apr_pcalloc(pool, (apr_size_t)count * sizeof *linked);
    sr_error_t *error = NULL;
    for (int i = 0; i < count && !error; i++) error = commit_link_file(&linked[i], &folders, blobs, &files[i]);
    if (!error) error = sync_all(&folders, files, count);
    for (int i = 0; i < count && error; i++)
        if (linked[i]) (void)unlink(sr_blobs_path(blobs, files[i].key, pool));
    return error;
}
