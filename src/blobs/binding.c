/* SPDX-License-Identifier: Apache-2.0 */
/* binding.c: a folder of documents belongs to one database, whose uuid is in its file .database. With another database
 * every document would look unused, and gc would delete it. The first database that stores something writes the file;
 * a folder of an older installation has none. */
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

sr_error_t *sr_blobs_database(const char **uuid, sr_blobs_t *blobs, apr_pool_t *pool)
{
    const char *const path = binding_path(blobs, pool);
    const int descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    char text[SR_UUID_LENGTH + 2] = "";

    *uuid = NULL;
    if (descriptor < 0) return errno == ENOENT ? NULL : sr_blobs_trouble(pool, "opening", path);
    const ssize_t got = read(descriptor, text, sizeof text - 1);
    sr_error_t *error = got < 0 ? sr_blobs_trouble(pool, "reading", path) : NULL;
    close(descriptor);
    SR_TRY(error);
    text[strcspn(text, "\n")] = '\0';
    if (!sr_uuid_valid(text))
        return binding_fault(path, "does not hold the uuid of a database: run sigreqctl documents adopt", pool);
    *uuid = apr_pstrdup(pool, text);
    return NULL;
}

sr_error_t *sr_blobs_bind(sr_blobs_t *blobs, const char *uuid, bool replace, apr_pool_t *pool)
{
    const char *const path = binding_path(blobs, pool), *const text = apr_pstrcat(pool, uuid, "\n", NULL);
    sr_temporary_t *file;
    sr_error_t *error;
    bool existed;

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
    const char *bound;

    SR_TRY(sr_blobs_database(&bound, blobs, pool));
    if (!bound) {
        SR_TRY(sr_blobs_bind(blobs, uuid, false, pool));
        SR_TRY(sr_blobs_database(&bound, blobs, pool));
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
