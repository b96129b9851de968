/* SPDX-License-Identifier: Apache-2.0 */
/* binding.c: a documents folder belongs to one database. Its file .database has the uuid of that database, so
 * another database is detected before it stores or removes something. It also has a uuid of the folder, because the
 * locations of one database may have several folders. The file is written when a database first stores something. */
#include "blobs/private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static const char *binding_path(const sr_blobs_t *blobs, apr_pool_t *pool)
{
    return apr_pstrcat(pool, blobs->root, "/.database", NULL);
}

static sr_error_t *binding_fault(const char *path, const char *why, apr_pool_t *pool)
{
    return sr_error_because(
        sr_error(pool, SR_EUNAVAILABLE, "Documents cannot be stored at the moment, try again later"), pool, "%s %s",
        path, why);
}

/* Both are NULL if there is no file. */
sr_error_t *sr_blobs_binding(const char **database, const char **folder, sr_blobs_t *blobs, apr_pool_t *pool)
{
    const char *path = binding_path(blobs, pool);
    const int descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    char text[2 * SR_UUID_LENGTH + 3] = "";

    *database = *folder = NULL;
    if (descriptor < 0) return errno == ENOENT ? NULL : sr_blobs_trouble(pool, "opening", path);
    const ssize_t got = read(descriptor, text, sizeof text - 1);
    sr_error_t *error = got < 0 ? sr_blobs_trouble(pool, "reading", path) : NULL;
    close(descriptor);
    SR_TRY(error);
    char *second = text + strcspn(text, "\n");
    if (*second) *second++ = '\0';
    second[strcspn(second, "\n")] = '\0';
    if (!sr_uuid_valid(text) || !sr_uuid_valid(second))
        return binding_fault(path, "does not hold two uuids: run sigreqctl documents adopt", pool);
    *database = apr_pstrdup(pool, text);
    *folder = apr_pstrdup(pool, second);
    return NULL;
}

sr_error_t *sr_blobs_bind(sr_blobs_t *blobs, const char *uuid, bool replace, apr_pool_t *pool)
{
    const char *path = binding_path(blobs, pool), *before, *folder;
    sr_temporary_t *file;
    sr_error_t *error;
    bool existed;

    if (sr_blobs_binding(&before, &folder, blobs, pool) || !folder) folder = sr_uuid_make(pool);
    const char *text = apr_pstrcat(pool, uuid, "\n", folder, "\n", NULL);
    SR_TRY(sr_temporary_open(&file, blobs->root, pool));
    error = sr_temporary_write(file, text, strlen(text));
    if (!error) error = sr_temporary_sync(file);
    if (!error) error = replace ? sr_temporary_replace(file, path) : sr_temporary_link(&existed, file, path);
    if (!error) error = sr_blobs_sync_root(blobs, pool);
    sr_temporary_drop(file);
    return error;
}

sr_error_t *sr_blobs_check(sr_blobs_t *blobs, const char *uuid, apr_pool_t *pool)
{
    const char *bound, *folder;

    SR_TRY(sr_blobs_binding(&bound, &folder, blobs, pool));
    if (!bound) {
        SR_TRY(sr_blobs_bind(blobs, uuid, false, pool));
        SR_TRY(sr_blobs_binding(&bound, &folder, blobs, pool));
    }
    if (bound && strcasecmp(bound, uuid) == 0) return NULL;
    return binding_fault(
        blobs->root,
        apr_psprintf(pool,
                     "belongs to the database %s, and this is %s: give each database a SigreqDocuments "
                     "of its own, or, if the folder was moved to this database, run sigreqctl "
                     "documents adopt",
                     bound ? bound : "that nobody knows", uuid),
        pool);
}
