/* SPDX-License-Identifier: Apache-2.0 */
/* gc.c: takes away documents that no row of the database names: those of refused requests, of crashes between disk
 * and database, and of deleted submissions. First all are looked at, and only then is anything deleted, so that a
 * folder that belongs to another database is noticed. Why nothing is deleted that is about to be named: see publish.c.
 */
#include "blobs/private.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEMPORARY_LIFETIME apr_time_from_sec(3600)
#define A_FEW 3 /* so many may go, whatever part of all they are */

typedef struct walk_t {
    sr_blobs_gc_t *result;
    sr_blobs_t *blobs;
    sr_blobs_used_t used;
    void *baton;
    bool dry_run;
    apr_time_t before;              /* what was used later stays */
    apr_array_header_t *candidates; /* const char *: what may go */
    apr_pool_t *pool;               /* of the candidates */
} walk_t;

/* --- one document */

static bool is_report_of(const char *name, const char *sha256)
{
    return strncmp(name, sha256, SR_SHA256_HEX_LENGTH) == 0 && sr_reports_is_name(name + SR_SHA256_HEX_LENGTH);
}

/* When a document was last used, or 0 if it is not there. A report that has lost its document stands for it. */
static apr_time_t last_use(const sr_folder_t *cd, const apr_array_header_t *names, const char *sha256)
{
    apr_time_t newest = 0;
    struct stat status;

    if (sr_folder_find(&status, cd, sha256)) return apr_time_from_sec(status.st_mtime);
    for (int i = 0; i < names->nelts; i++) {
        const char *const name = APR_ARRAY_IDX(names, i, const char *);
        if (!is_report_of(name, sha256) || !sr_folder_find(&status, cd, name)) continue;
        if (apr_time_from_sec(status.st_mtime) > newest) newest = apr_time_from_sec(status.st_mtime);
    }
    return newest;
}

static sr_error_t *take_file(sr_blobs_gc_t *result, const sr_folder_t *cd, const char *name, bool dry_run,
                             apr_pool_t *pool)
{
    bool deleted = dry_run;
    struct stat status;

    if (!sr_folder_find(&status, cd, name)) return NULL;
    if (!dry_run) SR_TRY(sr_folder_delete(&deleted, cd, name, pool));
    if (deleted) result->freed += status.st_size;
    return NULL;
}

/* The reports, of all owners, go first: a document without one is not known, so a crash in between loses nothing. */
static sr_error_t *take_files(const walk_t *walk, const sr_folder_t *cd, const char *sha256, apr_pool_t *pool)
{
    apr_array_header_t *names;

    SR_TRY(sr_folder_list(&names, cd, pool));
    const apr_time_t used = last_use(cd, names, sha256);
    if (used >= walk->before) walk->result->kept++;
    if (!used || used >= walk->before) return NULL;
    for (int i = 0; i < names->nelts; i++) {
        const char *const name = APR_ARRAY_IDX(names, i, const char *);
        if (is_report_of(name, sha256)) SR_TRY(take_file(walk->result, cd, name, walk->dry_run, pool));
    }
    walk->result->deleted++;
    return take_file(walk->result, cd, sha256, walk->dry_run, pool);
}

/* Takes a document, and its folder if that is empty then. The folder above is never taken: only one folder is held. */
static sr_error_t *take_from_folder(const walk_t *walk, const char *sha256, apr_pool_t *pool)
{
    const char *const names[] = {apr_pstrndup(pool, sha256, 2), apr_pstrndup(pool, sha256 + 2, 2)};
    sr_folder_t *root, *ab = NULL, *cd = NULL;

    SR_TRY(sr_folder_open(&root, walk->blobs->root, pool));
    if (root) SR_TRY(sr_folder_below(&ab, root, names[0], pool));
    if (ab) SR_TRY(sr_folder_below(&cd, ab, names[1], pool));
    if (!cd) return NULL;
    SR_TRY(take_files(walk, cd, sha256, pool));
    if (!walk->dry_run) sr_folder_delete_empty(ab, names[1]);
    return NULL;
}

/* Asked again, as the walk may have taken long; and before the folder is held, as the database may take long. */
static sr_error_t *take_away(const walk_t *walk, const char *sha256, apr_pool_t *pool)
{
    sr_file_lock_t *lock = NULL;
    sr_error_t *error;
    bool used;

    SR_TRY(walk->used(walk->baton, sha256, &used, pool));
    if (used) {
        walk->result->kept++;
        return NULL;
    }
    if (!walk->dry_run) SR_TRY(sr_blobs_hold(&lock, walk->blobs, sha256, pool));
    error = take_from_folder(walk, sha256, pool);
    if (lock) sr_file_lock_release(lock);
    return error;
}

/* --- all of them */

static bool is_listed(const apr_array_header_t *digests, const char *sha256)
{
    for (int i = 0; i < digests->nelts; i++)
        if (strcmp(APR_ARRAY_IDX(digests, i, const char *), sha256) == 0) return true;
    return false;
}

/* Whether it is a document, or a report that has lost its own; *sha256 is the digest in its name. */
static bool is_document(const char **sha256, const sr_folder_t *folder, const char *name, const char *prefix,
                        apr_pool_t *pool)
{
    struct stat status;

    *sha256 = apr_pstrndup(pool, name, SR_SHA256_HEX_LENGTH);
    if (!sr_folder_is_hex(*sha256, SR_SHA256_HEX_LENGTH) || strncmp(*sha256, prefix, 4) != 0) return false;
    if (!name[SR_SHA256_HEX_LENGTH]) return sr_folder_find(&status, folder, name);
    if (!is_report_of(name, *sha256) || sr_folder_find(&status, folder, *sha256)) return false;
    return sr_folder_find(&status, folder, name);
}

/* The digests of what lies in a folder, each once. */
static void list_digests(apr_array_header_t **digests, const sr_folder_t *folder, const apr_array_header_t *names,
                         const char *prefix, apr_pool_t *pool)
{
    *digests = apr_array_make(pool, 16, sizeof(const char *));
    for (int i = 0; i < names->nelts; i++) {
        const char *sha256;
        if (is_document(&sha256, folder, APR_ARRAY_IDX(names, i, const char *), prefix, pool)
            && !is_listed(*digests, sha256))
            APR_ARRAY_PUSH(*digests, const char *) = sha256;
    }
}

/* One folder of documents: <root>/ab/cd. */
static sr_error_t *sweep(const walk_t *walk, const sr_folder_t *parent, const char *ab, const char *cd,
                         apr_pool_t *pool)
{
    apr_array_header_t *digests, *names;
    sr_folder_t *folder;

    SR_TRY(sr_folder_below(&folder, parent, cd, pool));
    if (!folder) return NULL;
    SR_TRY(sr_folder_list(&names, folder, pool));
    list_digests(&digests, folder, names, apr_pstrcat(pool, ab, cd, NULL), pool);
    for (int i = 0; i < digests->nelts; i++) {
        const char *const sha256 = APR_ARRAY_IDX(digests, i, const char *);
        bool stays = last_use(folder, names, sha256) >= walk->before;

        if (!stays) SR_TRY(walk->used(walk->baton, sha256, &stays, pool));
        if (stays) walk->result->kept++;
        else APR_ARRAY_PUSH(walk->candidates, const char *) = apr_pstrdup(walk->pool, sha256);
    }
    sr_folder_close(folder);
    return NULL;
}

static sr_error_t *sweep_temporary(const walk_t *walk, apr_pool_t *pool)
{
    sr_folder_t *root, *folder = NULL;
    apr_array_header_t *names;

    SR_TRY(sr_folder_open(&root, walk->blobs->root, pool));
    if (root) SR_TRY(sr_folder_below(&folder, root, SR_BLOBS_TEMPORARY, pool));
    if (!folder) return NULL;
    SR_TRY(sr_folder_list(&names, folder, pool));
    for (int i = 0; i < names->nelts; i++) {
        const char *const name = APR_ARRAY_IDX(names, i, const char *);
        bool deleted = walk->dry_run;
        struct stat status;

        if (!sr_uuid_valid(name) || !sr_folder_find(&status, folder, name)) continue;
        if (apr_time_from_sec(status.st_mtime) + TEMPORARY_LIFETIME > apr_time_now()) continue;
        if (!walk->dry_run) SR_TRY(sr_folder_delete(&deleted, folder, name, pool));
        if (!deleted) continue;
        walk->result->temporary++;
        walk->result->freed += status.st_size;
    }
    sr_folder_close(folder);
    return NULL;
}

/* <root>/ab: the folders in it. */
static sr_error_t *sweep_pair(const walk_t *walk, const sr_folder_t *root, const char *ab, apr_pool_t *pool)
{
    apr_array_header_t *names;
    sr_folder_t *folder;
    apr_pool_t *each;

    SR_TRY(sr_folder_below(&folder, root, ab, pool));
    if (!folder) return NULL;
    apr_pool_create(&each, pool); /* one folder's; an error in it lives as long as `pool` */
    SR_TRY(sr_folder_list(&names, folder, pool));
    for (int i = 0; i < names->nelts; i++) {
        const char *const cd = APR_ARRAY_IDX(names, i, const char *);

        if (!sr_folder_is_pair(cd)) continue;
        SR_TRY(sweep(walk, folder, ab, cd, each));
        apr_pool_clear(each);
    }
    sr_folder_close(folder);
    return NULL;
}

static sr_error_t *sweep_all(const walk_t *walk, apr_pool_t *pool)
{
    apr_array_header_t *names;
    sr_folder_t *root;
    apr_pool_t *each;

    SR_TRY(sr_folder_open(&root, walk->blobs->root, pool));
    if (!root) return NULL;
    apr_pool_create(&each, pool);
    SR_TRY(sr_folder_list(&names, root, pool));
    for (int i = 0; i < names->nelts; i++) {
        const char *const ab = APR_ARRAY_IDX(names, i, const char *);

        if (!sr_folder_is_pair(ab)) continue;
        SR_TRY(sweep_pair(walk, root, ab, each));
        apr_pool_clear(each);
    }
    apr_pool_destroy(each);
    sr_folder_close(root);
    return NULL;
}

static sr_error_t *take_candidates(const walk_t *walk, apr_pool_t *pool)
{
    apr_pool_t *each;

    apr_pool_create(&each, pool);
    for (int i = 0; i < walk->candidates->nelts; i++) {
        SR_TRY(take_away(walk, APR_ARRAY_IDX(walk->candidates, i, const char *), each));
        apr_pool_clear(each);
    }
    apr_pool_destroy(each);
    return NULL;
}

sr_error_t *sr_blobs_gc(sr_blobs_gc_t *result, sr_blobs_t *blobs, sr_blobs_used_t used, void *baton, int most_percent,
                        bool dry_run, apr_pool_t *pool)
{
    const walk_t walk = {.result = result,
                         .blobs = blobs,
                         .used = used,
                         .baton = baton,
                         .dry_run = dry_run,
                         .before = apr_time_now() - SR_BLOBS_LIFETIME,
                         .candidates = apr_array_make(pool, 16, sizeof(const char *)),
                         .pool = pool};

    *result = (sr_blobs_gc_t){0};
    SR_TRY(sweep_all(&walk, pool));
    const apr_size_t going = (apr_size_t)walk.candidates->nelts, all = result->kept + going;
    if (!dry_run && going > A_FEW && going * 100 > all * (apr_size_t)most_percent)
        return sr_error(pool, SR_ECONFLICT,
                        "This database does not know %" APR_SIZE_T_FMT " of the %" APR_SIZE_T_FMT
                        " documents in %s, which is more than %d %%: nothing was deleted",
                        going, all, blobs->root, most_percent);
    SR_TRY(take_candidates(&walk, pool));
    return sweep_temporary(&walk, pool);
}
