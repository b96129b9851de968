/* SPDX-License-Identifier: Apache-2.0 */
/* lock.c: file locks in the folder of blobs. A lock is a byte-range lock of a file, which ends with its process. */
#include "blobs/private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct sr_file_lock_t {
    int descriptor; /* -1 after the release */
};

void sr_file_lock_release(sr_file_lock_t *lock)
{
    struct flock unlock = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    if (lock->descriptor < 0) return;
    fcntl(lock->descriptor, F_OFD_SETLK, &unlock); /* a process that was just forked has it, too */
    close(lock->descriptor);
    lock->descriptor = -1;
}

static apr_status_t lock_end(void *lock)
{
    sr_file_lock_release(lock);
    return APR_SUCCESS;
}

/* Opens the file. If root makes it, it gets the owner and group of the folder, so that httpd can use it. */
static int open_lock_file(const sr_blobs_t *blobs, const char *path)
{
    int descriptor = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    struct stat folder;
    if (descriptor >= 0 || errno != ENOENT) return descriptor;
    descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (descriptor < 0 && errno == EEXIST) return open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor >= 0 && geteuid() == 0 && stat(blobs->root, &folder) == 0) {
        if (fchown(descriptor, folder.st_uid, folder.st_gid) != 0) return descriptor;
        (void)fchmod(descriptor, folder.st_mode & S_IWGRP ? 0660 : 0600);
    }
    return descriptor;
}

/* The kernel's wait for a lock (F_OFD_SETLKW) has no time limit, so the lock is tried repeatedly. */
#define SHORTEST_PAUSE 500 /* microseconds */
#define LONGEST_PAUSE 8000

/* Locks one byte of a file that is never written. The lock belongs to the open descriptor (F_OFD_SETLK), so threads
 * exclude each other like processes, and the lock of a dead process ends. Two keys that have the same byte wait for
 * each other, which is harmless. */
sr_error_t *sr_file_lock_take(sr_file_lock_t **lock, sr_blobs_t *blobs, const char *key, apr_time_t until,
                              apr_pool_t *pool)
{
    const char *path = apr_pstrcat(pool, blobs->root, "/.turns", NULL);
    sr_file_lock_t *made = apr_pcalloc(pool, sizeof *made);
    struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    const char *hash = sr_sha256_hex(key, strlen(key), pool);
    range.l_start = (off_t)(apr_strtoi64(apr_pstrndup(pool, hash, 15), NULL, 16));
    made->descriptor = open_lock_file(blobs, path);
    if (made->descriptor < 0) return sr_blobs_trouble(pool, "opening", path);
    apr_pool_cleanup_register(pool, made, lock_end, apr_pool_cleanup_null);
    for (apr_interval_time_t pause = SHORTEST_PAUSE; fcntl(made->descriptor, F_OFD_SETLK, &range) != 0;) {
        if (errno != EAGAIN && errno != EACCES && errno != EINTR) return sr_blobs_trouble(pool, "locking", path);
        if (sr_time_steady() >= until) {
            sr_file_lock_release(made);
            return sr_error_because(
                sr_error(pool, SR_EUNAVAILABLE, "Another request is being processed here, try again in a moment"), pool,
                "the wait for a lock was too long");
        }
        apr_sleep(pause);
        if (pause < LONGEST_PAUSE) pause *= 2;
    }
    *lock = made;
    return NULL;
}
