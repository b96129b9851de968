/* publish.c: a file gets its name in the folder of documents, for good. */
#include "store/documents.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static sr_error_t *make_folder(const char *path, apr_pool_t *pool)
{
    if (mkdir(path, 0700) == 0 || errno == EEXIST) return NULL;
    return sr_documents_trouble(pool, "making the folder", path);
}

static sr_error_t *sync_folder(const char *path, apr_pool_t *pool)
{
    const int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    sr_error_t *error = NULL;

    if (descriptor < 0) return sr_documents_trouble(pool, "opening the folder", path);
    if (fsync(descriptor) != 0) error = sr_documents_trouble(pool, "syncing the folder", path);
    close(descriptor);
    return error;
}

/* ".../ab/cd" of ".../ab/cd/<sha256>" */
static const char *folder_of(const char *path, apr_pool_t *pool)
{
    return apr_pstrndup(pool, path, (apr_size_t)(strrchr(path, '/') - path));
}

sr_error_t *sr_documents_sync(sr_documents_t *documents, const char *sha256, apr_pool_t *pool)
{
    return sync_folder(folder_of(sr_documents_path(documents, sha256, pool), pool), pool);
}

/* Folders are synced even when they or the file existed: who made them may not have come so far. An upload replaces a
 * file that exists, which is the same: then the disk has as much to do as with a new one, and the time it takes tells
 * nobody whether another has the document. */
sr_error_t *sr_documents_publish(sr_documents_t *documents, sr_temporary_t *file, const char *sha256, bool replace,
                                 apr_pool_t *pool)
{
    const char *const path = sr_documents_path(documents, sha256, pool);
    const char *const cd = folder_of(path, pool), *const ab = folder_of(cd, pool);
    bool existed;

    SR_TRY(make_folder(ab, pool));
    SR_TRY(make_folder(cd, pool));
    SR_TRY(sr_temporary_link(&existed, file, path));
    if (existed && replace) SR_TRY(sr_temporary_replace(file, path));
    SR_TRY(sync_folder(cd, pool));
    SR_TRY(sync_folder(ab, pool));
    return sync_folder(documents->root, pool);
}
