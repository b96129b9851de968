/* SPDX-License-Identifier: Apache-2.0 */
/* gc.c: the file operations of `sigreqctl gc`. The database decides which keys are removed. Their files are moved to
 * the quarantine, <root>/quarantine, and deleted there after some time, so a file that was removed by mistake can be
 * moved back. Temporary files of killed processes, and reports of contents that are not stored any more, are deleted
 * at once. */
#include "blobs/private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define TEMPORARY_LIFETIME apr_time_from_sec(3600)

/* The folders in which a name may be: <root>/ab, and <root>/ab/cd of earlier versions. They are closed with the pool.
 */
typedef struct places_t {
    sr_folder_t *root;
    sr_folder_t *all[2]; /* NULL: there is no such folder */
} places_t;

static sr_error_t *open_places(places_t *places, const sr_blobs_t *blobs, const char *name, apr_pool_t *pool)
{
    *places = (places_t){0};
    SR_TRY(sr_folder_open(&places->root, blobs->root, pool));
    if (!places->root) return NULL;
    SR_TRY(sr_folder_below(&places->all[0], places->root, apr_pstrndup(pool, name, 2), pool));
    if (!places->all[0]) return NULL;
    return sr_folder_below(&places->all[1], places->all[0], apr_pstrndup(pool, name + 2, 2), pool);
}

/* --- the quarantine */

static sr_error_t *open_quarantine(sr_folder_t **quarantine, const sr_folder_t *root, apr_pool_t *pool)
{
    SR_TRY(sr_folder_make(root, SR_BLOBS_QUARANTINE, pool));
    SR_TRY(sr_folder_below(quarantine, root, SR_BLOBS_QUARANTINE, pool));
    if (*quarantine) return NULL;
    errno = ENOTDIR;
    return sr_blobs_trouble(pool, "opening the folder", apr_pstrcat(pool, root->path, "/" SR_BLOBS_QUARANTINE, NULL));
}

static sr_error_t *set_aside(bool *removed, apr_off_t *size, const sr_folder_t *root, const sr_folder_t *place,
                             const char *key, apr_pool_t *pool)
{
    sr_folder_t *quarantine;
    struct stat status;
    if (!place || !sr_folder_find(&status, place, key)) return NULL;
    SR_TRY(open_quarantine(&quarantine, root, pool));
    SR_TRY(sr_folder_move(removed, place, quarantine, key, pool));
    if (*removed) *size = status.st_size;
    return NULL;
}

sr_error_t *sr_quarantine_put(bool *removed, apr_off_t *size, sr_blobs_t *blobs, const char *key, apr_pool_t *pool)
{
    places_t places;
    apr_pool_t *own; /* of the open folders */
    *removed = false;
    *size = 0;
    apr_pool_create(&own, pool);
    sr_error_t *error = open_places(&places, blobs, key, own);
    for (int i = 0; i < 2 && !error && !*removed; i++)
        error = set_aside(removed, size, places.root, places.all[i], key, own);
    error = sr_error_copy(error, pool);
    apr_pool_destroy(own);
    return error;
}

sr_error_t *sr_quarantine_find(bool *there, sr_blobs_t *blobs, const char *key, apr_pool_t *pool)
{
    const char *path = apr_pstrcat(pool, blobs->root, "/" SR_BLOBS_QUARANTINE "/", key, NULL);
    struct stat status;
    *there = lstat(path, &status) == 0 && S_ISREG(status.st_mode);
    return NULL;
}

/* --- deleting the old files of a folder */

static sr_error_t *delete_old(sr_blobs_gc_t *result, const sr_folder_t *folder, bool (*is_ours)(const char *name),
                              apr_time_t before, bool dry_run, apr_pool_t *pool)
{
    apr_array_header_t *names;
    SR_TRY(sr_folder_list(&names, folder, pool));
    for (int i = 0; i < names->nelts; i++) {
        const char *name = APR_ARRAY_IDX(names, i, const char *);
        bool deleted = dry_run;
        struct stat status;
        if (!is_ours(name) || !sr_folder_find(&status, folder, name)) continue;
        if (apr_time_from_sec(status.st_mtime) > before) continue;
        if (!dry_run) SR_TRY(sr_folder_delete(&deleted, folder, name, pool));
        if (!deleted) continue;
        result->deleted++;
        result->freed += status.st_size;
    }
    return NULL;
}

static sr_error_t *delete_old_below(sr_blobs_gc_t *result, const sr_blobs_t *blobs, const char *name,
                                    bool (*is_ours)(const char *name), apr_time_t before, bool dry_run,
                                    apr_pool_t *pool)
{
    sr_folder_t *root, *folder = NULL;
    *result = (sr_blobs_gc_t){0};
    SR_TRY(sr_folder_open(&root, blobs->root, pool));
    if (root) SR_TRY(sr_folder_below(&folder, root, name, pool));
    if (!folder) return NULL;
    sr_error_t *error = delete_old(result, folder, is_ours, before, dry_run, pool);
    sr_folder_close(folder);
    sr_folder_close(root);
    return error;
}

sr_error_t *sr_quarantine_delete_old(sr_blobs_gc_t *result, sr_blobs_t *blobs, apr_interval_time_t lifetime,
                                     bool dry_run, apr_pool_t *pool)
{
    return delete_old_below(result, blobs, SR_BLOBS_QUARANTINE, sr_blobs_is_key, sr_time_now() - lifetime, dry_run,
                            pool);
}

sr_error_t *sr_temporary_expire(sr_blobs_gc_t *result, sr_blobs_t *blobs, bool dry_run, apr_pool_t *pool)
{
    return delete_old_below(result, blobs, SR_BLOBS_TEMPORARY, sr_uuid_valid, sr_time_now() - TEMPORARY_LIFETIME,
                            dry_run, pool);
}

/* --- reports */

static sr_error_t *delete_reports(const sr_folder_t *place, const char *sha256, apr_pool_t *pool)
{
    apr_array_header_t *names;
    bool ignored;
    if (!place) return NULL;
    SR_TRY(sr_folder_list(&names, place, pool));
    for (int i = 0; i < names->nelts; i++) {
        const char *name = APR_ARRAY_IDX(names, i, const char *);
        if (strncmp(name, sha256, SR_SHA256_HEX_LENGTH) != 0 || !sr_reports_is_name(name + SR_SHA256_HEX_LENGTH))
            continue;
        SR_TRY(sr_folder_delete(&ignored, place, name, pool));
    }
    return NULL;
}

sr_error_t *sr_reports_forget(sr_blobs_t *blobs, const char *sha256, apr_pool_t *pool)
{
    sr_error_t *error = NULL;
    places_t places;
    apr_pool_t *own;
    apr_pool_create(&own, pool);
    for (const sr_blobs_t *one = blobs; one && !error; one = one->also) {
        error = open_places(&places, one, sha256, own);
        for (int i = 0; i < 2 && !error; i++) error = delete_reports(places.all[i], sha256, own);
    }
    error = sr_error_copy(error, pool);
    apr_pool_destroy(own);
    return error;
}
