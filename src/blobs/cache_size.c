/* SPDX-License-Identifier: Apache-2.0 */
/* cache_size.c: limits the size of the cache. Its file .size has the sum of the bytes that were added, for all
 * processes and hosts. If this exceeds the limit, one process walks through all files and deletes the oldest ones,
 * until four fifths of the limit are left. So there is one walk for each fifth of the limit that is added, and none
 * for a page that is found. The sum need not be exact, because a process may die before it adds to it. Each walk
 * corrects it. */
#include "blobs/private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define LARGEST_FILE ((apr_off_t)4 * 1024 * 1024)
#define BLOCK 4096 /* the least size of a file on the disk */

/* The bytes of .size that are locked by the process that changes the count, and by the one that walks. */
enum { LOCK_COUNT = 100, LOCK_WALK = 101 };

static bool cache_size_take(int descriptor, off_t at, bool wait)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
    int result;
    do result = fcntl(descriptor, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock);
    while (result != 0 && errno == EINTR);
    return result == 0;
}

static void cache_size_release(int descriptor, off_t at)
{
    struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
    (void)fcntl(descriptor, F_OFD_SETLK, &lock);
}

/* Returns the count, or -1 if there is none. */
static apr_off_t read_count(int descriptor)
{
    char text[32] = "", *end;
    if (pread(descriptor, text, sizeof text - 1, 0) <= 0) return -1;
    const apr_off_t count = strtoll(text, &end, 10);
    return *end == '\n' && count >= 0 ? count : -1;
}

static void write_count(int descriptor, apr_off_t count)
{
    char text[32];
    const int length = snprintf(text, sizeof text, "%020lld\n", (long long)count);
    const ssize_t ignored = pwrite(descriptor, text, (size_t)length, 0); /* the next walk corrects a failure */
    (void)ignored;
}

/* Adds to the count, which is unknown (-1) before the first walk. */
static apr_off_t cache_size_add(int descriptor, apr_off_t size)
{
    cache_size_take(descriptor, LOCK_COUNT, true);
    apr_off_t count = read_count(descriptor);
    if (count >= 0) write_count(descriptor, count += size);
    cache_size_release(descriptor, LOCK_COUNT);
    return count;
}

bool sr_cache_has_room(const char *root, apr_off_t size)
{
    struct statvfs disk;
    if (size > LARGEST_FILE) return false;
    if (statvfs(root, &disk) != 0) return true; /* the folder does not exist yet and will be made */
    return disk.f_bavail >= disk.f_blocks / 10 && (disk.f_files == 0 || disk.f_favail >= disk.f_files / 10);
}

/* Returns the least age of the files to delete, so that the others have at most `limit` bytes: 0 if all must be
 * deleted, -1 if none need. */
static apr_int64_t age_to_delete(const sr_cache_ages_t *ages, apr_off_t limit)
{
    apr_off_t left = ages->total;
    int i = SR_CACHE_AGES;
    while (i > 0 && left > limit) left -= ages->sizes[--i];
    return i == SR_CACHE_AGES ? -1 : sr_cache_age_of(i);
}

/* Files that are added during the walk are added to the count, even if the walk has counted them, too. */
static sr_error_t *delete_oldest(int descriptor, const char *root, apr_off_t limit, apr_pool_t *pool)
{
    const apr_off_t before = read_count(descriptor);
    const apr_time_t now = apr_time_from_sec(apr_time_sec(sr_time_now()));
    sr_cache_ages_t ages;
    sr_cache_gc_t done = {0};
    SR_TRY(sr_cache_measure(&ages, root, now, pool));
    const apr_int64_t age = ages.total > limit ? age_to_delete(&ages, limit / 5 * 4) : -1;
    if (age >= 0) SR_TRY(sr_cache_gc(&done, root, now - apr_time_from_sec(age), false, pool));
    cache_size_take(descriptor, LOCK_COUNT, true);
    const apr_off_t after = read_count(descriptor);
    write_count(descriptor, ages.total - done.freed + (before >= 0 && after > before ? after - before : 0));
    cache_size_release(descriptor, LOCK_COUNT);
    return NULL;
}

sr_error_t *sr_cache_count(apr_off_t *total, const char *root, apr_off_t size, apr_off_t limit, apr_pool_t *pool)
{
    const char *path = apr_pstrcat(pool, root, "/.size", NULL);
    const int descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    sr_error_t *error = NULL;
    if (descriptor < 0) return sr_blobs_trouble(pool, "opening", path);
    const apr_off_t count = cache_size_add(descriptor, size < BLOCK ? BLOCK : size);
    if ((count < 0 || count > limit) && cache_size_take(descriptor, LOCK_WALK, false)) {
        apr_pool_t *scratch;
        apr_pool_create(&scratch, pool);
        error = delete_oldest(descriptor, root, limit, scratch);
        error = sr_error_copy(error, pool);
        apr_pool_destroy(scratch);
        cache_size_release(descriptor, LOCK_WALK);
    }
    if (total) *total = read_count(descriptor);
    close(descriptor);
    return error;
}
