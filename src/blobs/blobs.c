/* SPDX-License-Identifier: Apache-2.0 */
/* blobs.c: the functions of blobs.h that call a provider. Paths are used instead of open folders, so that a file
 * system that was unmounted and mounted again needs no restart of httpd. */
#include "blobs/private.h"

#include <apr_portable.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

sr_error_t *sr_blobs_folder(sr_blobs_t **blobs, const char *root, apr_pool_t *pool)
{
    apr_size_t length = strlen(root);
    sr_blobs_t *made = apr_pcalloc(pool, sizeof *made);
    struct stat status;
    while (length > 1 && root[length - 1] == '/') length--;
    made->provider = &sr_blobs_fs;
    made->root = apr_pstrmemdup(pool, root, length);
    if (stat(made->root, &status) != 0) return sr_blobs_trouble(pool, "opening the folder", made->root);
    if (!S_ISDIR(status.st_mode)) {
        errno = ENOTDIR;
        return sr_blobs_trouble(pool, "opening the folder", made->root);
    }
    *blobs = made;
    return NULL;
}

sr_error_t *sr_blobs_place(sr_blobs_t **blobs, const sr_place_t *place, apr_pool_t *pool)
{
    if (place->bucket) return sr_blobs_bucket(blobs, place->bucket, false, pool);
    return sr_blobs_folder(blobs, place->root, pool);
}

sr_error_t *sr_blobs_read_also(sr_blobs_t *blobs, const sr_place_t *also, apr_pool_t *pool)
{
    return sr_blobs_place(&blobs->also, also, pool);
}

void sr_blobs_own(sr_blobs_t *blobs, const char *owner)
{
    blobs->owner = owner;
    if (blobs->also) blobs->also->owner = owner;
}

/* A bucket that does not have an object is asked again for some time, so it is asked first whether it has it. */
static sr_error_t *open_either(sr_blob_t *blob, sr_blobs_t *blobs, const char *key, apr_pool_t *pool)
{
    bool there = false;
    sr_error_t *error = blobs->provider->exists(&there, blobs, key, pool);
    if (!error && there) error = blobs->provider->open(blob, blobs, key, pool);
    if (!error && there) return NULL;
    if (!blobs->also->provider->open(blob, blobs->also, key, pool)) return NULL;
    return error ? error : blobs->provider->open(blob, blobs, key, pool);
}

sr_error_t *sr_blobs_open(sr_blob_t *blob, sr_blobs_t *blobs, const char *key, apr_pool_t *pool)
{
    return blobs->also ? open_either(blob, blobs, key, pool) : blobs->provider->open(blob, blobs, key, pool);
}

sr_error_t *sr_blobs_reader(int *descriptor, sr_blobs_t *blobs, const char *key, apr_pool_t *pool)
{
    sr_blob_t blob;
    SR_TRY(sr_blobs_open(&blob, blobs, key, pool));
    apr_os_file_get(descriptor, blob.file);
    return NULL;
}

void sr_blob_append(apr_bucket_brigade *brigade, const sr_blob_t *blob, apr_pool_t *pool)
{
    apr_brigade_insert_file(brigade, blob->file, 0, blob->size, pool);
}

bool sr_blobs_is_bucket(const sr_blobs_t *blobs)
{
    return blobs->bucket != NULL;
}

sr_error_t *sr_blobs_exists(bool *there, sr_blobs_t *blobs, const char *key, apr_pool_t *pool)
{
    SR_TRY(blobs->provider->exists(there, blobs, key, pool));
    return *there || !blobs->also ? NULL : blobs->also->provider->exists(there, blobs->also, key, pool);
}

sr_error_t *sr_blobs_list(sr_blobs_t *blobs, sr_blobs_each_t each, void *baton, apr_pool_t *pool)
{
    SR_TRY(blobs->provider->list(blobs, each, baton, pool));
    return blobs->also ? blobs->also->provider->list(blobs->also, each, baton, pool) : NULL;
}

sr_error_t *sr_blobs_remove(bool *removed, apr_off_t *size, sr_blobs_t *blobs, const char *key, apr_pool_t *pool)
{
    apr_off_t other;
    bool either;
    SR_TRY(blobs->provider->remove(removed, size, blobs, key, pool));
    if (!blobs->also) return NULL;
    SR_TRY(blobs->also->provider->remove(&either, &other, blobs->also, key, pool));
    if (!*removed) *size = other;
    *removed = *removed || either;
    return NULL;
}

sr_error_t *sr_blobs_measure(bool *there, apr_off_t *size, sr_blobs_t *blobs, const char *key, apr_pool_t *pool)
{
    SR_TRY(blobs->provider->measure(there, size, blobs, key, pool));
    return *there || !blobs->also ? NULL : blobs->also->provider->measure(there, size, blobs->also, key, pool);
}

sr_error_t *sr_quarantine_has(bool *there, sr_blobs_t *blobs, const char *key, apr_pool_t *pool)
{
    SR_TRY(blobs->provider->quarantine_has(there, blobs, key, pool));
    return *there || !blobs->also ? NULL : blobs->also->provider->quarantine_has(there, blobs->also, key, pool);
}

sr_error_t *sr_quarantine_expire(sr_blobs_gc_t *result, sr_blobs_t *blobs, apr_interval_time_t lifetime, bool dry_run,
                                 apr_pool_t *pool)
{
    sr_blobs_gc_t other;
    SR_TRY(blobs->provider->quarantine_expire(result, blobs, lifetime, dry_run, pool));
    if (!blobs->also) return NULL;
    SR_TRY(blobs->also->provider->quarantine_expire(&other, blobs->also, lifetime, dry_run, pool));
    result->deleted += other.deleted;
    result->freed += other.freed;
    return NULL;
}

sr_error_t *sr_blobs_probe(sr_blobs_t *blobs, apr_pool_t *pool)
{
    static const char block[4096];
    const char *text;
    sr_temporary_t *file;
    SR_TRY(sr_temporary_open(&file, blobs->root, pool));
    sr_error_t *error = sr_temporary_write(file, block, sizeof block);
    if (!error) error = sr_temporary_sync(file);
    sr_temporary_drop(file);
    if (!error && blobs->provider->note_read) error = blobs->provider->note_read(&text, blobs, pool);
    return error;
}

static sr_error_t *put_part(sr_kept_t *kept, const sr_blobs_t *blobs, const sr_blob_part_t *part, apr_pool_t *pool)
{
    kept->key = part->key;
    SR_TRY(sr_temporary_open(&kept->file, blobs->root, pool));
    return sr_temporary_write(kept->file, part->data, part->length);
}

sr_error_t *sr_blobs_put_all(sr_blobs_t *blobs, const sr_blob_part_t *parts, int count, apr_pool_t *pool)
{
    sr_kept_t *files = apr_pcalloc(pool, (apr_size_t)count * sizeof *files);
    sr_error_t *error = NULL;
    for (int i = 0; i < count && !error; i++) error = put_part(&files[i], blobs, &parts[i], pool);
    if (!error && count) error = blobs->provider->keep(blobs, files, count, pool);
    for (int i = 0; i < count; i++)
        if (files[i].file) sr_temporary_drop(files[i].file);
    return error;
}

sr_error_t *sr_blobs_put(sr_blobs_t *blobs, const char *key, const void *data, apr_size_t length, apr_pool_t *pool)
{
    const sr_blob_part_t part = {key, data, length};
    return sr_blobs_put_all(blobs, &part, 1, pool);
}
