/* SPDX-License-Identifier: Apache-2.0 */
/* cached.c: walks through the cache of a bucket on this host, <root>/objects/ab/cd/<key>.blob. */
#include "blobs/private.h"

#include <string.h>
#include <unistd.h>

#define ENDING ".blob"

const char *sr_blobs_cached_path(const sr_blobs_t *blobs, const char *key, apr_pool_t *pool)
{
    return apr_psprintf(pool, "%s/" SR_BLOBS_OBJECTS "/%.2s/%.2s/%s" ENDING, blobs->root, key, key + 2, key);
}

void sr_blobs_uncache(sr_blobs_t *blobs, const char *key, apr_pool_t *pool)
{
    for (const sr_blobs_t *place = blobs; place; place = place->also)
        if (place->bucket) (void)unlink(sr_blobs_cached_path(place, key, pool));
}

typedef struct walk_t {
    sr_blobs_each_t each;
    void *baton;
} walk_t;

/* Calls `each` for the blobs in objects/ab/cd. */
static sr_error_t *walk_files(const walk_t *walk, const sr_folder_t *folder, apr_pool_t *pool)
{
    const apr_size_t ending = sizeof ENDING - 1;
    apr_array_header_t *names;
    SR_TRY(sr_folder_list(&names, folder, pool));
    for (int i = 0; i < names->nelts; i++) {
        const char *name = APR_ARRAY_IDX(names, i, const char *);
        const apr_size_t length = strlen(name);
        struct stat status;
        if (length <= ending || strcmp(name + length - ending, ENDING) != 0) continue;
        const char *key = apr_pstrmemdup(pool, name, length - ending);
        if (sr_blobs_is_key(key) && sr_folder_find(&status, folder, name))
            SR_TRY(walk->each(walk->baton, key, status.st_size, pool));
    }
    return NULL;
}

/* Opens each folder in `parent` whose name is two digits, `depth` levels deep. */
// NOLINTNEXTLINE(misc-no-recursion): two levels
static sr_error_t *walk_pairs(const walk_t *walk, const sr_folder_t *parent, int depth, apr_pool_t *pool)
{
    apr_array_header_t *names;
    apr_pool_t *each;
    if (!depth) return walk_files(walk, parent, pool);
    apr_pool_create(&each, pool);
    SR_TRY(sr_folder_list(&names, parent, pool));
    for (int i = 0; i < names->nelts; i++) {
        const char *name = APR_ARRAY_IDX(names, i, const char *);
        sr_folder_t *folder;
        if (!sr_folder_is_pair(name)) continue;
        SR_TRY(sr_folder_below(&folder, parent, name, each));
        if (folder) SR_TRY(walk_pairs(walk, folder, depth - 1, each));
        apr_pool_clear(each);
    }
    apr_pool_destroy(each);
    return NULL;
}

static sr_error_t *list_cached(const walk_t *walk, const sr_blobs_t *blobs, apr_pool_t *pool)
{
    apr_pool_t *own; /* of the open folders */
    sr_folder_t *objects;
    if (!blobs->bucket) return NULL;
    apr_pool_create(&own, pool);
    sr_error_t *error = sr_folder_open(&objects, apr_pstrcat(own, blobs->root, "/" SR_BLOBS_OBJECTS, NULL), own);
    if (!error && objects) error = walk_pairs(walk, objects, 2, own);
    error = sr_error_copy(error, pool);
    apr_pool_destroy(own);
    return error;
}

sr_error_t *sr_blobs_list_cached(sr_blobs_t *blobs, sr_blobs_each_t each, void *baton, apr_pool_t *pool)
{
    const walk_t walk = {each, baton};
    SR_TRY(list_cached(&walk, blobs, pool));
    return blobs->also ? list_cached(&walk, blobs->also, pool) : NULL;
}
