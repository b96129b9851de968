/* SPDX-License-Identifier: Apache-2.0 */
/* fs.c: the provider "fs": a blob is the file <root>/ab/<key>, which is complete, synced and never changed. Earlier
 * versions stored it as <root>/ab/cd/<key>, where it stays. */
#include "blobs/private.h"

#include <apr_portable.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

static sr_error_t *fs_open(sr_blob_t *blob, sr_blobs_t *blobs, const char *key, apr_pool_t *pool)
{
    const apr_int32_t flags = APR_FOPEN_READ | APR_FOPEN_BINARY | APR_FOPEN_SENDFILE_ENABLED;
    const char *path = sr_blobs_path(blobs, key, pool);
    apr_os_file_t descriptor;
    struct stat status;
    errno = apr_file_open(&blob->file, path, flags, APR_OS_DEFAULT, pool);
    if (errno == ENOENT)
        errno = apr_file_open(&blob->file, sr_blobs_former_path(blobs, key, pool), flags, APR_OS_DEFAULT, pool);
    if (errno) return sr_blobs_trouble(pool, "opening", path);
    apr_os_file_get(&descriptor, blob->file);
    if (fstat(descriptor, &status) != 0) return sr_blobs_trouble(pool, "looking at", path);
    blob->size = status.st_size;
    return NULL;
}

static sr_error_t *fs_exists(bool *there, sr_blobs_t *blobs, const char *key, apr_pool_t *pool)
{
    const char *path = sr_blobs_path(blobs, key, pool);
    *there = access(path, F_OK) == 0 || (errno == ENOENT && access(sr_blobs_former_path(blobs, key, pool), F_OK) == 0);
    return *there || errno == ENOENT ? NULL : sr_blobs_trouble(pool, "looking for", path);
}

static sr_error_t *fs_measure(bool *there, apr_off_t *size, sr_blobs_t *blobs, const char *key, apr_pool_t *pool)
{
    const char *path = sr_blobs_path(blobs, key, pool);
    struct stat status;
    *there =
        stat(path, &status) == 0 || (errno == ENOENT && stat(sr_blobs_former_path(blobs, key, pool), &status) == 0);
    *size = *there ? status.st_size : 0;
    return *there || errno == ENOENT ? NULL : sr_blobs_trouble(pool, "looking for", path);
}

/* --- every blob */

typedef struct listing_t {
    sr_blobs_each_t each;
    void *baton;
} listing_t;

/* `names` are those in the folder, whose blobs have this prefix. */
static sr_error_t *list_files(const listing_t *listing, const sr_folder_t *folder, const apr_array_header_t *names,
                              const char *prefix, apr_pool_t *pool)
{
    apr_pool_t *each;
    apr_pool_create(&each, pool);
    for (int i = 0; i < names->nelts; i++) {
        const char *name = APR_ARRAY_IDX(names, i, const char *);
        struct stat status;
        if (!sr_blobs_is_key(name) || strncmp(name, prefix, strlen(prefix)) != 0) continue;
        if (sr_folder_find(&status, folder, name)) SR_TRY(listing->each(listing->baton, name, status.st_size, each));
        apr_pool_clear(each);
    }
    return NULL;
}

/* <root>/ab/cd */
static sr_error_t *list_former(const listing_t *listing, const sr_folder_t *ab, const char *prefix, apr_pool_t *pool)
{
    apr_array_header_t *names;
    sr_folder_t *folder;
    SR_TRY(sr_folder_below(&folder, ab, prefix + 2, pool));
    if (!folder) return NULL;
    SR_TRY(sr_folder_list(&names, folder, pool));
    return list_files(listing, folder, names, prefix, pool);
}

/* <root>/ab */
static sr_error_t *list_pair(const listing_t *listing, const sr_folder_t *root, const char *ab, apr_pool_t *pool)
{
    apr_array_header_t *names;
    sr_folder_t *folder;
    apr_pool_t *each;
    SR_TRY(sr_folder_below(&folder, root, ab, pool));
    if (!folder) return NULL;
    SR_TRY(sr_folder_list(&names, folder, pool));
    SR_TRY(list_files(listing, folder, names, ab, pool));
    apr_pool_create(&each, pool);
    for (int i = 0; i < names->nelts; i++) {
        const char *cd = APR_ARRAY_IDX(names, i, const char *);
        if (!sr_folder_is_pair(cd)) continue;
        SR_TRY(list_former(listing, folder, apr_pstrcat(each, ab, cd, NULL), each));
        apr_pool_clear(each); /* closes the inner folder */
    }
    return NULL;
}

static sr_error_t *fs_list(sr_blobs_t *blobs, sr_blobs_each_t each, void *baton, apr_pool_t *pool)
{
    const listing_t listing = {each, baton};
    apr_array_header_t *names;
    sr_folder_t *root;
    apr_pool_t *scratch;
    SR_TRY(sr_folder_open(&root, blobs->root, pool));
    if (!root) return NULL;
    apr_pool_create(&scratch, pool);
    SR_TRY(sr_folder_list(&names, root, pool));
    for (int i = 0; i < names->nelts; i++) {
        const char *ab = APR_ARRAY_IDX(names, i, const char *);
        if (!sr_folder_is_pair(ab)) continue;
        SR_TRY(list_pair(&listing, root, ab, scratch));
        apr_pool_clear(scratch);
    }
    apr_pool_destroy(scratch);
    sr_folder_close(root);
    return NULL;
}

const sr_blobs_provider_t sr_blobs_fs = {.name = "fs",
                                         .keep = sr_blobs_publish,
                                         .open = fs_open,
                                         .exists = fs_exists,
                                         .list = fs_list,
                                         .remove = sr_quarantine_put,
                                         .measure = fs_measure,
                                         .quarantine_has = sr_quarantine_find,
                                         .quarantine_expire = sr_quarantine_delete_old};
