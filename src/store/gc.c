/* gc.c: takes away documents that no row of the database names: those of refused requests, of crashes between disk
 * and database, and of deleted submissions. It locks one folder at a time, and only where there is something to take,
 * so that uploads hardly wait. */
#include "store/documents.h"

#include <apr_file_info.h>
#include <errno.h>
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

static bool is_hex(const char *name, apr_size_t length)
{
    return strspn(name, "0123456789abcdef") >= length;
}

sr_error_t *sr_documents_list(apr_array_header_t **names, const char *path, apr_pool_t *pool)
{
    apr_finfo_t entry;
    apr_dir_t *folder;
    apr_status_t status = apr_dir_open(&folder, path, pool);

    *names = apr_array_make(pool, 16, sizeof(const char *));
    if (APR_STATUS_IS_ENOENT(status) || APR_STATUS_IS_ENOTDIR(status)) return NULL;
    while (status == APR_SUCCESS && (status = apr_dir_read(&entry, APR_FINFO_NAME, folder)) == APR_SUCCESS)
        if (entry.name[0] != '.') APR_ARRAY_PUSH(*names, const char *) = apr_pstrdup(pool, entry.name);
    if (APR_STATUS_IS_ENOENT(status)) { /* the end */
        apr_dir_close(folder);
        return NULL;
    }
    errno = APR_TO_OS_ERROR(status);
    return sr_documents_trouble(pool, "reading the folder", path);
}

/* --- one document */

static apr_off_t size_of(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 ? status.st_size : 0;
}

/* The reports of a document, of all owners, and then itself. */
static sr_error_t *list_files(apr_array_header_t **paths, sr_documents_t *documents, const char *sha256,
                              apr_pool_t *pool)
{
    const char *const path = sr_documents_path(documents, sha256, pool);
    const char *const folder = apr_pstrndup(pool, path, (apr_size_t)(strrchr(path, '/') - path));
    apr_array_header_t *names;
    int i;

    *paths = apr_array_make(pool, 4, sizeof(const char *));
    SR_TRY(sr_documents_list(&names, folder, pool));
    for (i = 0; i < names->nelts; i++) {
        const char *const name = APR_ARRAY_IDX(names, i, const char *);

        if (strncmp(name, sha256, SR_SHA256_HEX_LENGTH) == 0 && sr_documents_is_report(name + SR_SHA256_HEX_LENGTH))
            APR_ARRAY_PUSH(*paths, const char *) = apr_pstrcat(pool, folder, "/", name, NULL);
    }
    APR_ARRAY_PUSH(*paths, const char *) = path;
    return NULL;
}

/* The reports go first: a document without one is not known, so a crash in between loses nothing. Folders that are
 * empty then go too; with the exclusive lock nobody is about to put something in. */
static sr_error_t *take_away(sr_documents_gc_t *result, sr_documents_t *documents, const char *sha256, bool dry_run,
                             apr_pool_t *pool)
{
    apr_array_header_t *paths;
    int i;

    SR_TRY(list_files(&paths, documents, sha256, pool));
    for (i = 0; i < paths->nelts; i++) {
        const char *const path = APR_ARRAY_IDX(paths, i, const char *);
        const apr_off_t size = size_of(path);

        if (!dry_run && unlink(path) != 0) {
            if (errno == ENOENT) continue;
            return sr_documents_trouble(pool, "removing", path);
        }
        result->freed += size;
    }
    result->deleted++;
    if (dry_run) return NULL;
    (void)rmdir(apr_psprintf(pool, "%s/%.2s/%.2s", documents->root, sha256, sha256 + 2));
    (void)rmdir(apr_psprintf(pool, "%s/%.2s", documents->root, sha256));
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
    int i;

    for (i = 0; i < digests->nelts; i++)
        if (strcmp(APR_ARRAY_IDX(digests, i, const char *), sha256) == 0) return true;
    return false;
}

/* The digests of what lies in a folder, each once: documents, and reports that have lost theirs. */
static sr_error_t *list_digests(apr_array_header_t **digests, const walk_t *walk, const char *path, const char *prefix,
                                apr_pool_t *pool)
{
    apr_array_header_t *names;
    int i;

    *digests = apr_array_make(pool, 16, sizeof(const char *));
    SR_TRY(sr_documents_list(&names, path, pool));
    for (i = 0; i < names->nelts; i++) {
        const char *const name = APR_ARRAY_IDX(names, i, const char *);
        const char *const sha256 = apr_pstrndup(pool, name, SR_SHA256_HEX_LENGTH);
        const char *const rest = name + strlen(sha256);

        if (!is_hex(sha256, SR_SHA256_HEX_LENGTH) || strncmp(sha256, prefix, 4) != 0) continue; /* none of ours */
        if (*rest && !sr_documents_is_report(rest)) continue;
        if (*rest && access(sr_documents_path(walk->documents, sha256, pool), F_OK) == 0) continue;
        if (*rest && is_listed(*digests, sha256)) continue;
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

/* One folder of documents: <root>/ab/cd, with "abcd" as prefix of all in it. */
static sr_error_t *sweep(const walk_t *walk, const char *prefix, apr_pool_t *pool)
{
    const char *const path = apr_psprintf(pool, "%s/%.2s/%s", walk->documents->root, prefix, prefix + 2);
    apr_array_header_t *digests, *candidates;
    sr_documents_lock_t *lock;
    sr_error_t *error;

    SR_TRY(list_digests(&digests, walk, path, prefix, pool));
    SR_TRY(filter(&candidates, walk, digests, pool));
    walk->result->kept += (apr_size_t)(digests->nelts - candidates->nelts);
    if (!candidates->nelts) return NULL;
    SR_TRY(sr_documents_lock(&lock, walk->documents, true, pool));
    error = take_unused(walk, candidates, pool);
    sr_documents_unlock(lock);
    return error;
}

static sr_error_t *sweep_temporary(const walk_t *walk, apr_pool_t *pool)
{
    const char *const folder = apr_pstrcat(pool, walk->documents->root, "/" SR_DOCUMENTS_TEMPORARY, NULL);
    apr_array_header_t *names;
    int i;

    SR_TRY(sr_documents_list(&names, folder, pool));
    for (i = 0; i < names->nelts; i++) {
        const char *const path = apr_pstrcat(pool, folder, "/", APR_ARRAY_IDX(names, i, const char *), NULL);
        struct stat status;

        if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) continue;
        if (apr_time_from_sec(status.st_mtime) + TEMPORARY_LIFETIME > apr_time_now()) continue;
        if (!walk->dry_run && unlink(path) != 0) return sr_documents_trouble(pool, "removing", path);
        walk->result->temporary++;
        walk->result->freed += status.st_size;
    }
    return NULL;
}

static sr_error_t *sweep_all(const walk_t *walk, apr_pool_t *pool)
{
    apr_array_header_t *outer, *inner;
    apr_pool_t *each;
    int i, j;

    apr_pool_create(&each, pool); /* one folder's; an error in it lives as long as `pool` */
    SR_TRY(sr_documents_list(&outer, walk->documents->root, pool));
    for (i = 0; i < outer->nelts; i++) {
        const char *const ab = APR_ARRAY_IDX(outer, i, const char *);

        if (strlen(ab) != 2 || !is_hex(ab, 2)) continue;
        SR_TRY(sr_documents_list(&inner, apr_pstrcat(pool, walk->documents->root, "/", ab, NULL), pool));
        for (j = 0; j < inner->nelts; j++) {
            const char *const cd = APR_ARRAY_IDX(inner, j, const char *);

            if (strlen(cd) != 2 || !is_hex(cd, 2)) continue;
            SR_TRY(sweep(walk, apr_pstrcat(each, ab, cd, NULL), each));
            apr_pool_clear(each);
        }
    }
    SR_TRY(sweep_temporary(walk, each));
    apr_pool_destroy(each);
    return NULL;
}

sr_error_t *sr_documents_gc(sr_documents_gc_t *result, sr_documents_t *documents, sr_documents_used_t used, void *baton,
                            bool dry_run, apr_pool_t *pool)
{
    const walk_t walk = {result, documents, used, baton, dry_run};

    *result = (sr_documents_gc_t){0};
    return sweep_all(&walk, pool);
}
