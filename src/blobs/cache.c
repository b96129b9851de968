/* SPDX-License-Identifier: Apache-2.0 */
/* cache.c: a folder of files that can be made again: what pages look like and say. Named by what they are made of, so
 * that none is ever wrong, only too old to be of use. Nothing is synced, and nothing that goes wrong here need stop
 * anybody: who finds no file makes it again. */
#include "blobs/private.h"

#include <apr_portable.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define TOUCH_AFTER apr_time_from_sec(24 * 3600) /* so that a hit hardly ever writes */
#define TEMPORARY_LIFETIME apr_time_from_sec(3600)
#define KEY_MAX 128
#define ATTEMPTS 100 /* to link a file while its folder is removed */

/* What every file ends with, behind its content: as nothing is synced, a machine that lost its power may have kept the
 * name and only the beginning. */
static const char mark[] = "\nwhole.\n";
#define MARK_LENGTH ((apr_off_t)sizeof mark - 1)

/* <root>/ab/cd/<key> */
static const char *path_of(const char *root, const char *key, apr_pool_t *pool)
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
    const char *const path = path_of(root, key, pool);
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
    /* its time of change says when it was last used: that of access need not be kept by the file system */
    if (apr_time_now() - cached->made > TOUCH_AFTER) (void)futimens(descriptor, NULL);
    return true;
}

static sr_error_t *make_folder(const char *path, apr_pool_t *pool)
{
    if (mkdir(path, 0700) == 0 || errno == EEXIST) return NULL;
    return sr_blobs_trouble(pool, "making the folder", path);
}

static sr_error_t *link_file(sr_temporary_t *file, const char *root, const char *key, apr_pool_t *pool)
{
    sr_error_t *error = NULL;
    bool existed;

    /* again if another process removes the folder, which is empty, in between: many do while the cache is too large */
    for (int attempt = 0; attempt == 0 || (error && attempt < ATTEMPTS); attempt++) {
        error = make_folder(apr_psprintf(pool, "%s/%.2s", root, key), pool);
        if (!error) error = make_folder(apr_psprintf(pool, "%s/%.2s/%.2s", root, key, key + 2), pool);
        if (!error) error = sr_temporary_link(&existed, file, path_of(root, key, pool));
    }
    return error;
}

sr_error_t *sr_cache_put(const char *root, const char *key, const void *data, apr_size_t length, apr_pool_t *pool)
{
    sr_temporary_t *file;
    sr_error_t *error;

    SR_TRY(make_folder(root, pool));
    SR_TRY(sr_temporary_open(&file, root, pool));
    error = sr_temporary_write(file, data, length);
    if (!error) error = sr_temporary_write(file, mark, sizeof mark - 1);
    if (!error) error = link_file(file, root, key, pool);
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
    (void)unlink(path_of(root, key, pool));
}

/* --- collecting */

typedef struct walk_t {
    sr_cache_gc_t *result;
    apr_time_t before;
    bool dry_run;
    sr_cache_ages_t *ages; /* NULL, or what is found, as it is at `before` */
} walk_t;

static void count_age(sr_cache_ages_t *ages, const struct stat *status, apr_time_t now)
{
    const apr_off_t size = status->st_size < 4096 ? 4096 : status->st_size;
    ages->sizes[sr_cache_age_number(apr_time_sec(now) - status->st_mtime)] += size;
    ages->total += size;
}

/* A digest, and behind a dot what was made of it. A document and its report are none: so even a cache that is the
 * folder of documents loses no document. */
static bool is_key(const char *name)
{
    const char *const rest = name + SR_SHA256_HEX_LENGTH;

    if (strlen(name) > KEY_MAX || !sr_folder_is_hex(name, SR_SHA256_HEX_LENGTH)) return false;
    return rest[0] == '.' && strchr(rest + 1, '.') && !rest[strspn(rest, ".0123456789abcdefghijklmnopqrstuvwxyz")];
}

/* Takes the files of one folder that are ours and too old. */
static sr_error_t *sweep(const walk_t *walk, const sr_folder_t *folder, bool (*is_ours)(const char *name),
                         apr_time_t before, apr_pool_t *pool)
{
    apr_array_header_t *names;

    SR_TRY(sr_folder_list(&names, folder, pool));
    for (int i = 0; i < names->nelts; i++) {
        const char *const name = APR_ARRAY_IDX(names, i, const char *);
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

/* One folder below another. When it is empty then, it goes too; who is about to use it makes the file once more. */
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

/* <root>/ab: the folders in it. */
static sr_error_t *sweep_pair(const walk_t *walk, const sr_folder_t *root, const char *ab, apr_pool_t *pool)
{
    apr_array_header_t *names;
    sr_folder_t *folder;

    SR_TRY(sr_folder_below(&folder, root, ab, pool));
    if (!folder) return NULL;
    SR_TRY(sr_folder_list(&names, folder, pool));
    for (int i = 0; i < names->nelts; i++) {
        const char *const cd = APR_ARRAY_IDX(names, i, const char *);
        if (sr_folder_is_pair(cd)) SR_TRY(sweep_below(walk, folder, cd, is_key, walk->before, pool));
    }
    sr_folder_close(folder);
    if (!walk->dry_run) sr_folder_delete_empty(root, ab);
    return NULL;
}

/* Files that had no name in the end. */
static sr_error_t *sweep_temporary(const walk_t *walk, const sr_folder_t *folder, apr_pool_t *pool)
{
    const apr_time_t before = apr_time_now() - TEMPORARY_LIFETIME;
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
        const char *const ab = APR_ARRAY_IDX(names, i, const char *);

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
