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

/* Sets both uuids from the text of a file. */
static sr_error_t *binding_parse(const char **database, const char **folder, const char *text, const char *path,
                                 apr_pool_t *pool)
{
    char *first = apr_pstrdup(pool, text), *second = first + strcspn(first, "\n");
    if (*second) *second++ = '\0';
    second[strcspn(second, "\n")] = '\0';
    if (!sr_uuid_valid(first) || !sr_uuid_valid(second))
        return binding_fault(path, "does not hold two uuids: run sigreqctl documents adopt", pool);
    *database = first;
    *folder = second;
    return NULL;
}

/* Both are NULL if there is no file. */
static sr_error_t *read_local(const char **database, const char **folder, sr_blobs_t *blobs, apr_pool_t *pool)
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
    return binding_parse(database, folder, text, path, pool);
}

static sr_error_t *write_local(sr_blobs_t *blobs, const char *text, bool replace, apr_pool_t *pool)
{
    const char *path = binding_path(blobs, pool);
    sr_temporary_t *file;
    bool existed;
    SR_TRY(sr_temporary_open(&file, blobs->root, pool));
    sr_error_t *error = sr_temporary_write(file, text, strlen(text));
    if (!error) error = sr_temporary_sync(file);
    if (!error) error = replace ? sr_temporary_replace(file, path) : sr_temporary_link(&existed, file, path);
    if (!error) error = sr_blobs_sync_root(blobs, pool);
    sr_temporary_drop(file);
    return error;
}

static const char *binding_name_of(const sr_blobs_t *blobs)
{
    return blobs->bucket ? sr_bucket_name(blobs->bucket) : blobs->root;
}

static const char *binding_text_of(const char *database, const char *folder, apr_pool_t *pool)
{
    return apr_pstrcat(pool, database, "\n", folder, "\n", NULL);
}

/* Copies the object of a bucket, if it has one, to the local file. *lost is true if a bucket has none. */
static sr_error_t *refresh(bool *lost, sr_blobs_t *blobs, apr_pool_t *pool)
{
    const char *text, *database, *folder, *old_database, *old_folder;
    *lost = false;
    if (!blobs->provider->note_read) return NULL;
    SR_TRY(blobs->provider->note_read(&text, blobs, pool));
    *lost = !text;
    if (!text) return NULL;
    SR_TRY(binding_parse(&database, &folder, text, "the object .database of the bucket", pool));
    if (!read_local(&old_database, &old_folder, blobs, pool) && old_database && !strcmp(old_database, database)
        && !strcmp(old_folder, folder))
        return NULL;
    return write_local(blobs, binding_text_of(database, folder, pool), true, pool);
}

/* If the bucket has lost its object, the local copy stays, and sr_blobs_check stores it again. */
sr_error_t *sr_blobs_binding_refresh(sr_blobs_t *blobs, apr_pool_t *pool)
{
    bool unused;
    return refresh(&unused, blobs, pool);
}

sr_error_t *sr_blobs_binding(const char **database, const char **folder, sr_blobs_t *blobs, apr_pool_t *pool)
{
    SR_TRY(read_local(database, folder, blobs, pool));
    if (*database || !blobs->provider->note_read) return NULL;
    SR_TRY(sr_blobs_binding_refresh(blobs, pool));
    return read_local(database, folder, blobs, pool);
}

/* Hosts that store something in a new bucket at the same time must choose the same uuid of the folder. */
static const char *new_folder(const sr_blobs_t *blobs, const char *uuid, apr_pool_t *pool)
{
    if (!blobs->bucket) return sr_uuid_make(pool);
    const char *both = apr_pstrcat(pool, sr_bucket_name(blobs->bucket), "\n", uuid, NULL);
    const char *hash = sr_sha256_hex(both, strlen(both), pool);
    return apr_psprintf(pool, "%.8s-%.4s-8%.3s-8%.3s-%.12s", hash, hash + 8, hash + 12, hash + 15, hash + 18);
}

sr_error_t *sr_blobs_bind(sr_blobs_t *blobs, const char *uuid, bool replace, apr_pool_t *pool)
{
    const char *before, *folder;
    if (sr_blobs_binding(&before, &folder, blobs, pool) || !folder) folder = new_folder(blobs, uuid, pool);
    const char *text = binding_text_of(uuid, folder, pool);
    if (blobs->provider->note_write) SR_TRY(blobs->provider->note_write(blobs, text, pool));
    return write_local(blobs, text, replace, pool);
}

sr_error_t *sr_blobs_bind_as(sr_blobs_t *blobs, const char *database, const char *folder, apr_pool_t *pool)
{
    const char *bound, *own, *text = binding_text_of(database, folder, pool);
    SR_TRY(sr_blobs_binding_refresh(blobs, pool));
    SR_TRY(sr_blobs_binding(&bound, &own, blobs, pool));
    if (!bound) {
        if (blobs->provider->note_write) SR_TRY(blobs->provider->note_write(blobs, text, pool));
        SR_TRY(write_local(blobs, text, false, pool));
        SR_TRY(sr_blobs_binding(&bound, &own, blobs, pool));
    }
    if (bound && strcasecmp(bound, database) == 0 && strcasecmp(own, folder) == 0) return NULL;
    return binding_fault(binding_name_of(blobs), "has documents of its own: its .database is another one", pool);
}

/* Two places between which blobs are moved have the same uuids. If those of the second one cannot be read, this is
 * checked another time. */
static sr_error_t *check_also(sr_blobs_t *blobs, const char *uuid, apr_pool_t *pool)
{
    const char *bound, *own, *database = NULL, *folder = NULL;
    SR_TRY(sr_blobs_binding(&bound, &own, blobs, pool));
    sr_error_t *error = sr_blobs_binding_refresh(blobs->also, pool);
    if (!error) error = sr_blobs_binding(&database, &folder, blobs->also, pool);
    if (error) return bound ? NULL : error;
    if (!database) return NULL;
    if (strcasecmp(database, uuid) != 0)
        return binding_fault(binding_name_of(blobs->also), "(SigreqDocumentsAlso) belongs to another database", pool);
    return sr_blobs_bind_as(blobs, database, folder, pool);
}

sr_error_t *sr_blobs_check(sr_blobs_t *blobs, const char *uuid, apr_pool_t *pool)
{
    const char *bound, *folder;
    bool lost;
    SR_TRY(refresh(&lost, blobs, pool));
    if (blobs->also) SR_TRY(check_also(blobs, uuid, pool));
    SR_TRY(sr_blobs_binding(&bound, &folder, blobs, pool));
    if (!bound) {
        SR_TRY(sr_blobs_bind(blobs, uuid, false, pool));
        SR_TRY(sr_blobs_binding(&bound, &folder, blobs, pool));
        lost = false;
    }
    if (bound && strcasecmp(bound, uuid) == 0)
        return lost ? blobs->provider->note_write(blobs, binding_text_of(bound, folder, pool), pool) : NULL;
    return binding_fault(
        binding_name_of(blobs),
        apr_psprintf(pool,
                     "belongs to the database %s, and this is %s: give each database a SigreqDocuments "
                     "of its own, or, if the folder was moved to this database, run sigreqctl "
                     "documents adopt",
                     bound ? bound : "(unknown)", uuid),
        pool);
}
