/* SPDX-License-Identifier: Apache-2.0 */
/* cache.c: a folder of files that can be made again: images and texts of pages. The name of a file contains a digest
 * of its source, so no file is ever wrong. Nothing is synced, and no error of the cache makes a request fail: a file
 * that is not found is made again. */
#include "blobs/private.h"

#include <apr_portable.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define TOUCH_AFTER apr_time_from_sec(24 * 3600) /* so that reading a file rarely writes */
#define TEMPORARY_LIFETIME apr_time_from_sec(3600)
#define KEY_MAX 128
#define ATTEMPTS 100 /* to link a file although other processes remove its folder */

/* Every file ends with this mark, which is not part of its content. Files are not synced, so after a power failure a
 * file may have its name and only a part of its bytes. */
static const char mark[] = "\nwhole.\n";
#define MARK_LENGTH ((apr_off_t)sizeof mark - 1)

/* <root>/ab/cd/<key> */
static const char *cache_path_of(const char *root, const char *key, apr_pool_t *pool)
{
    return apr_psprintf(pool, "%s/%.2s/%.2s/%s", root, key, key + 2, key);
}

static bool is_whole(int descriptor, apr_off_t size)
{
    char found[MARK_LENGTH];
    return size >= MARK_LENGTH && pread(descriptor, found, sizeof found, size - MARK_LENGTH) == MARK_LENGTH
           && memcmp(found, mark, sizeof found) == 0;
}

bool sr_cache_get(sr_cached_t *cached, const char *root, const char *key, apr_pool_t *pool)
{
    const apr_int32_t flags = APR_FOPEN_READ | APR_FOPEN_BINARY | APR_FOPEN_SENDFILE_ENABLED;
    const char *path = cache_path_of(root, key, pool);
    apr_os_file_t descriptor;
    struct stat status;
    if (apr_file_open(&cached->file, path, flags, APR_OS_DEFAULT, pool)) return false;
    apr_os_file_get(&descriptor, cached->file);
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) || !is_whole(descriptor, status.st_size)) {
        apr_file_close(cached->file);
        (void)unlink(path);
        return false;
    }
    cached->size = status.st_size - MARK_LENGTH;
    cached->made = apr_time_from_sec(status.st_mtime);
    /* the modification time is also the time of the last use, because file systems need not store access times */
    if (sr_time_now() - cached->made > TOUCH_AFTER) (void)futimens(descriptor, NULL);
    return true;
}

static sr_error_t *cache_make_folder(const char *path, apr_pool_t *pool)
{
    if (mkdir(path, 0700) == 0 || errno == EEXIST) return NULL;
    return sr_blobs_trouble(pool, "making the folder", path);
}

static sr_error_t *cache_link_file(sr_temporary_t *file, const char *root, const char *key, apr_pool_t *pool)
{
    sr_error_t *error = NULL;
    bool existed;
    /* another process may remove the empty folder in between. This is frequent while the cache is too large */
    for (int attempt = 0; attempt == 0 || (error && attempt < ATTEMPTS); attempt++) {
        error = cache_make_folder(apr_psprintf(pool, "%s/%.2s", root, key), pool);
        if (!error) error = cache_make_folder(apr_psprintf(pool, "%s/%.2s/%.2s", root, key, key + 2), pool);
        if (!error) error = sr_temporary_link(&existed, file, cache_path_of(root, key, pool));
    }
    return error;
}

sr_error_t *sr_cache_put(const char *root, const char *key, const void *data, apr_size_t length, apr_pool_t *pool)
{
    sr_temporary_t *file;
    sr_error_t *error;
    SR_TRY(cache_make_folder(root, pool));
    SR_TRY(sr_temporary_open(&file, root, pool));
    error = sr_temporary_write(file, data, length);
    if (!error) error = sr_temporary_write(file, mark, sizeof mark - 1);
    if (!error) error = cache_link_file(file, root, key, pool);
    sr_temporary_drop(file);
    return error;
}

sr_error_t *sr_cache_copy(const char *root, const char *key, int descriptor, apr_off_t size, apr_pool_t *pool)
{
    sr_error_t *error;
    void *data = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (data == MAP_FAILED) return sr_blobs_trouble(pool, "reading what belongs into", root);
    error = sr_cache_put(root, key, data, (apr_size_t)size, pool);
    munmap(data, (size_t)size);
    return error;
}

void sr_cache_remove(const char *root, const char *key, apr_pool_t *pool)
{
    (void)unlink(cache_path_of(root, key, pool));
}

static sr_error_t *cache_forget(const char *root, const char *begin, apr_pool_t *pool)
{
    sr_folder_t *top, *ab = NULL, *cd = NULL;
    apr_array_header_t *names;
    bool deleted;
    SR_TRY(sr_folder_open(&top, root, pool));
    if (top) SR_TRY(sr_folder_below(&ab, top, apr_pstrndup(pool, begin, 2), pool));
    if (ab) SR_TRY(sr_folder_below(&cd, ab, apr_pstrndup(pool, begin + 2, 2), pool));
    if (!cd) return NULL;
    SR_TRY(sr_folder_list(&names, cd, pool));
    for (int i = 0; i < names->nelts; i++) {
        const char *name = APR_ARRAY_IDX(names, i, const char *);
        if (!strncmp(name, begin, strlen(begin))) SR_TRY(sr_folder_delete(&deleted, cd, name, pool));
    }
    return NULL;
}

sr_error_t *sr_cache_forget(const char *root, const char *begin, apr_pool_t *pool)
{
    apr_pool_t *own; /* of the open folders */
    apr_pool_create(&own, pool);
    sr_error_t *error = sr_error_copy(cache_forget(root, begin, own), pool);
    apr_pool_destroy(own);
    return error;
}

/* --- collecting */

typedef struct walk_t {
    sr_cache_gc_t *result;
    apr_time_t before;
    bool dry_run;
    sr_cache_ages_t *ages; /* NULL, or the sums of the files by their age at the time `before` */
} walk_t;

static void count_age(sr_cache_ages_t *ages, const struct stat *status, apr_time_t now)
{
    const apr_off_t size = status->st_size < 4096 ? 4096 : status->st_size;
    ages->sizes[sr_cache_age_number(apr_time_sec(now) - status->st_mtime)] += size;
    ages->total += size;
}

/* True if a name is a key of the cache. Names of blobs and reports are not, so nothing is lost if the cache is by
 * mistake in the documents folder. */
static bool is_key(const char *name)
{
    const char *rest = name + SR_SHA256_HEX_LENGTH;
    if (strlen(name) > KEY_MAX || !sr_folder_is_hex(name, SR_SHA256_HEX_LENGTH)) return false;
    return rest[0] == '.' && strchr(rest + 1, '.') && !rest[strspn(rest, ".0123456789abcdefghijklmnopqrstuvwxyz")];
}

/* Deletes the files of one folder that are too old, if their names are those of the cache. */
static sr_error_t *sweep(const walk_t *walk, const sr_folder_t *folder, bool (*is_ours)(const char *name),
                         apr_time_t before, apr_pool_t *pool)
{
    apr_array_header_t *names;
    SR_TRY(sr_folder_list(&names, folder, pool));
    for (int i = 0; i < names->nelts; i++) {
        const char *name = APR_ARRAY_IDX(names, i, const char *);
        bool deleted = walk->dry_run;
        struct stat status;
        if (!is_ours(name) || !sr_folder_find(&status, folder, name)) continue;
        if (walk->ages) {
            count_age(walk->ages, &status, walk->before);
            continue;
        }
        if (apr_time_from_sec(status.st_mtime) > before) {
            walk->result->kept++;
            continue;
        }
        if (!walk->dry_run) SR_TRY(sr_folder_delete(&deleted, folder, name, pool));
        if (!deleted) continue;
        walk->result->deleted++;
        walk->result->freed += status.st_size;
    }
    return NULL;
}

/* Sweeps one folder, and removes it if it is empty. A process that is about to link a file in it makes the folder
 * again. */
static sr_error_t *sweep_below(const walk_t *walk, const sr_folder_t *parent, const char *name,
                               bool (*is_ours)(const char *name), apr_time_t before, apr_pool_t *pool)
{
    sr_folder_t *folder;
    SR_TRY(sr_folder_below(&folder, parent, name, pool));
    if (!folder) return NULL;
    SR_TRY(sweep(walk, folder, is_ours, before, pool));
    sr_folder_close(folder);
    if (!walk->dry_run) sr_folder_delete_empty(parent, name);
    return NULL;
}

/* Sweeps the folders in <root>/ab. */
static sr_error_t *sweep_pair(const walk_t *walk, const sr_folder_t *root, const char *ab, apr_pool_t *pool)
{
    apr_array_header_t *names;
    sr_folder_t *folder;
    SR_TRY(sr_folder_below(&folder, root, ab, pool));
    if (!folder) return NULL;
    SR_TRY(sr_folder_list(&names, folder, pool));
    for (int i = 0; i < names->nelts; i++) {
        const char *cd = APR_ARRAY_IDX(names, i, const char *);
        if (sr_folder_is_pair(cd)) SR_TRY(sweep_below(walk, folder, cd, is_key, walk->before, pool));
    }
    sr_folder_close(folder);
    if (!walk->dry_run) sr_folder_delete_empty(root, ab);
    return NULL;
}

/* Deletes temporary files that were never linked. */
static sr_error_t *sweep_temporary(const walk_t *walk, const sr_folder_t *folder, apr_pool_t *pool)
{
    const apr_time_t before = sr_time_now() - TEMPORARY_LIFETIME;
    sr_cache_gc_t ignored = {0};
    const walk_t aside = {&ignored, before, walk->dry_run, NULL};
    return sweep_below(&aside, folder, SR_BLOBS_TEMPORARY, sr_uuid_valid, before, pool);
}

static sr_error_t *sweep_all(const walk_t *walk, const char *root, apr_pool_t *pool)
{
    apr_array_header_t *names;
    sr_folder_t *folder;
    apr_pool_t *each;
    SR_TRY(sr_folder_open(&folder, root, pool));
    if (!folder) return NULL;
    apr_pool_create(&each, pool);
    SR_TRY(sr_folder_list(&names, folder, pool));
    for (int i = 0; i < names->nelts; i++) {
        const char *ab = APR_ARRAY_IDX(names, i, const char *);
        if (!sr_folder_is_pair(ab)) continue;
        SR_TRY(sweep_pair(walk, folder, ab, each));
        apr_pool_clear(each);
    }
    if (!walk->ages) SR_TRY(sweep_temporary(walk, folder, each));
    apr_pool_destroy(each);
    sr_folder_close(folder);
    return NULL;
}

sr_error_t *sr_cache_gc(sr_cache_gc_t *result, const char *root, apr_time_t before, bool dry_run, apr_pool_t *pool)
{
    const walk_t walk = {result, before, dry_run, NULL};
    *result = (sr_cache_gc_t){0};
    return sweep_all(&walk, root, pool);
}

sr_error_t *sr_cache_measure(sr_cache_ages_t *ages, const char *root, apr_time_t now, apr_pool_t *pool)
{
    sr_cache_gc_t ignored;
    const walk_t walk = {&ignored, now, true, ages};
    memset(ages, 0, sizeof *ages);
    return sweep_all(&walk, root, pool);
}
