/* gc.c: takes away documents that no row of the database names: those of refused requests, of crashes between disk
 * and database, and of deleted submissions. It locks one folder at a time, and only where there is something to take,
 * so that uploads hardly wait. */
#include "store/documents.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEMPORARY_LIFETIME apr_time_from_sec(3600)
#define COLLECT_PATIENCE apr_time_from_msec(100)

typedef struct walk_t {
    sr_documents_gc_t *result;
    sr_documents_t *documents;
    sr_documents_used_t used;
    void *baton;
    bool dry_run;
} walk_t;

/* --- one document */

/* Where a document lies: its folder, if it is there, and the one above it. */
static sr_error_t *open_place(sr_folder_t **ab, sr_folder_t **cd, sr_documents_t *documents, const char *sha256,
                              apr_pool_t *pool)
{
    sr_folder_t *root;

    *cd = *ab = NULL;
    SR_TRY(sr_folder_open(&root, documents->root, pool));
    if (root) SR_TRY(sr_folder_below(ab, root, apr_pstrndup(pool, sha256, 2), pool));
    if (*ab) SR_TRY(sr_folder_below(cd, *ab, apr_pstrndup(pool, sha256 + 2, 2), pool));
    if (root) sr_folder_close(root);
    return NULL;
}

static bool is_report_of(const char *name, const char *sha256)
{
    return strncmp(name, sha256, SR_SHA256_HEX_LENGTH) == 0 && sr_documents_is_report(name + SR_SHA256_HEX_LENGTH);
}

static sr_error_t *take_file(sr_documents_gc_t *result, const sr_folder_t *cd, const char *name, bool dry_run,
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
static sr_error_t *take_files(sr_documents_gc_t *result, const sr_folder_t *cd, const char *sha256, bool dry_run,
                              apr_pool_t *pool)
{
    apr_array_header_t *names;

    SR_TRY(sr_folder_list(&names, cd, pool));
    for (int i = 0; i < names->nelts; i++) {
        const char *const name = APR_ARRAY_IDX(names, i, const char *);
        if (is_report_of(name, sha256)) SR_TRY(take_file(result, cd, name, dry_run, pool));
    }
    result->deleted++;
    return take_file(result, cd, sha256, dry_run, pool);
}

/* Folders that are empty then go too; with the exclusive lock nobody is about to put something in. */
static sr_error_t *take_away(sr_documents_gc_t *result, sr_documents_t *documents, const char *sha256, bool dry_run,
                             apr_pool_t *pool)
{
    sr_folder_t *ab, *cd;

    SR_TRY(open_place(&ab, &cd, documents, sha256, pool));
    if (cd) SR_TRY(take_files(result, cd, sha256, dry_run, pool));
    if (cd) sr_folder_close(cd);
    if (!ab) return NULL;
    if (!dry_run) sr_folder_delete_empty(ab, apr_pstrndup(pool, sha256 + 2, 2));
    sr_folder_close(ab);
    if (!dry_run) (void)rmdir(apr_psprintf(pool, "%s/%.2s", documents->root, sha256));
    return NULL;
}

sr_error_t *sr_documents_collect(sr_documents_t *documents, const char *sha256, sr_documents_used_t used, void *baton,
                                 apr_pool_t *pool)
{
    sr_documents_gc_t ignored = {0};
    sr_documents_lock_t *lock;
    sr_error_t *error;
    bool is_used;

    SR_TRY(sr_documents_try_lock(&lock, documents, true, COLLECT_PATIENCE, pool));
    if (!lock) return NULL;
    error = used(baton, sha256, &is_used, pool);
    if (!error && !is_used) error = take_away(&ignored, documents, sha256, false, pool);
    sr_documents_unlock(lock);
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
static sr_error_t *list_digests(apr_array_header_t **digests, const sr_folder_t *folder, const char *prefix,
                                apr_pool_t *pool)
{
    apr_array_header_t *names;

    *digests = apr_array_make(pool, 16, sizeof(const char *));
    SR_TRY(sr_folder_list(&names, folder, pool));
    for (int i = 0; i < names->nelts; i++) {
        const char *sha256;
        if (is_document(&sha256, folder, APR_ARRAY_IDX(names, i, const char *), prefix, pool)
            && !is_listed(*digests, sha256))
            APR_ARRAY_PUSH(*digests, const char *) = sha256;
    }
    return NULL;
}

/* Those of the digests that nobody uses. */
static sr_error_t *filter(apr_array_header_t **unused, const walk_t *walk, const apr_array_header_t *digests,
                          apr_pool_t *pool)
{
    int i;

    *unused = apr_array_make(pool, 1, sizeof(const char *));
    for (i = 0; i < digests->nelts; i++) {
        const char *const sha256 = APR_ARRAY_IDX(digests, i, const char *);
        bool is_used;

        SR_TRY(walk->used(walk->baton, sha256, &is_used, pool));
        if (!is_used) APR_ARRAY_PUSH(*unused, const char *) = sha256;
    }
    return NULL;
}

static sr_error_t *take_unused(const walk_t *walk, const apr_array_header_t *candidates, apr_pool_t *pool)
{
    apr_array_header_t *unused;
    int i;

    /* asked again, now that nobody can be about to name one */
    SR_TRY(filter(&unused, walk, candidates, pool));
    walk->result->kept += (apr_size_t)(candidates->nelts - unused->nelts);
    for (i = 0; i < unused->nelts; i++)
        SR_TRY(take_away(walk->result, walk->documents, APR_ARRAY_IDX(unused, i, const char *), walk->dry_run, pool));
    return NULL;
}

/* One folder of documents: <root>/ab/cd. */
static sr_error_t *sweep(const walk_t *walk, const sr_folder_t *parent, const char *ab, const char *cd,
                         apr_pool_t *pool)
{
    apr_array_header_t *digests, *candidates;
    sr_documents_lock_t *lock;
    sr_folder_t *folder;
    sr_error_t *error;

    SR_TRY(sr_folder_below(&folder, parent, cd, pool));
    if (!folder) return NULL;
    SR_TRY(list_digests(&digests, folder, apr_pstrcat(pool, ab, cd, NULL), pool));
    sr_folder_close(folder);
    SR_TRY(filter(&candidates, walk, digests, pool));
    walk->result->kept += (apr_size_t)(digests->nelts - candidates->nelts);
    if (!candidates->nelts) return NULL;
    SR_TRY(sr_documents_lock(&lock, walk->documents, true, pool));
    error = take_unused(walk, candidates, pool);
    sr_documents_unlock(lock);
    return error;
}

static sr_error_t *sweep_temporary(const walk_t *walk, const sr_folder_t *root, apr_pool_t *pool)
{
    apr_array_header_t *names;
    sr_folder_t *folder;

    SR_TRY(sr_folder_below(&folder, root, SR_DOCUMENTS_TEMPORARY, pool));
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

    SR_TRY(sr_folder_open(&root, walk->documents->root, pool));
    if (!root) return NULL;
    apr_pool_create(&each, pool);
    SR_TRY(sr_folder_list(&names, root, pool));
    for (int i = 0; i < names->nelts; i++) {
        const char *const ab = APR_ARRAY_IDX(names, i, const char *);

        if (!sr_folder_is_pair(ab)) continue;
        SR_TRY(sweep_pair(walk, root, ab, each));
        apr_pool_clear(each);
    }
    SR_TRY(sweep_temporary(walk, root, each));
    apr_pool_destroy(each);
    sr_folder_close(root);
    return NULL;
}

sr_error_t *sr_documents_gc(sr_documents_gc_t *result, sr_documents_t *documents, sr_documents_used_t used, void *baton,
                            bool dry_run, apr_pool_t *pool)
{
    const walk_t walk = {result, documents, used, baton, dry_run};

    *result = (sr_documents_gc_t){0};
    return sweep_all(&walk, pool);
}
