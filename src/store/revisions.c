/* SPDX-License-Identifier: Apache-2.0 */
/* revisions.c: a document that grows. What each signer appended is a file of its own, by its content like every other;
 * the document as it stands is these files one after the other. */
#include "store/documents.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

sr_error_t *sr_documents_commit(const char **sha256, sr_documents_t *documents, const void *data, apr_size_t length,
                                apr_pool_t *pool)
{
    sr_temporary_t *file;
    sr_error_t *error;

    *sha256 = sr_sha256_hex(data, length, pool);
    SR_TRY(sr_temporary_open(&file, documents, pool));
    error = sr_temporary_write(file, data, length);
    if (!error) error = sr_temporary_sync(file);
    if (!error) error = sr_documents_publish(documents, file, *sha256, false, pool);
    sr_temporary_drop(file);
    return error;
}

/* --- one after the other */

#define PIECE ((apr_size_t)64 << 10)
#define MOST_IN_MEMORY ((apr_off_t)4 << 20) /* bytes; what is larger is joined on the disk */

typedef struct joint_t {
    sr_documents_t *documents;
    sr_sha256_t *digest;
    sr_temporary_t *file; /* NULL: there is one file, which is read alone; or it goes to memory */
    int memory;           /* descriptor of a file in memory, or -1 */
    apr_off_t size;
    char *piece;
    apr_pool_t *pool;
} joint_t;

static joint_t joint_of(sr_documents_t *documents, apr_pool_t *pool)
{
    return (joint_t){documents, sr_sha256_begin(pool), NULL, -1, 0, apr_palloc(pool, PIECE), pool};
}

/* *reader cannot write: it may be given away. */
static sr_error_t *open_memory(int *memory, int *reader, apr_pool_t *pool)
{
    *memory = memfd_create("sigreq-document", MFD_CLOEXEC);
    if (*memory < 0) return sr_documents_trouble(pool, "making a file in", "memory");
    sr_descriptor_own(*memory, pool);
    *reader = open(apr_psprintf(pool, "/proc/self/fd/%d", *memory), O_RDONLY | O_CLOEXEC);
    if (*reader < 0) return sr_documents_trouble(pool, "reopening a file in", "memory");
    sr_descriptor_own(*reader, pool);
    return NULL;
}

static sr_error_t *write_memory(int memory, apr_off_t at, const char *bytes, apr_size_t length, apr_pool_t *pool)
{
    while (length > 0) {
        const ssize_t written = pwrite(memory, bytes, length, at);

        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return sr_documents_trouble(pool, "writing to", "memory");
        at += written;
        bytes += written;
        length -= (apr_size_t)written;
    }
    return NULL;
}

static sr_error_t *add_piece(joint_t *joint, apr_size_t length)
{
    const apr_off_t at = joint->size;

    sr_sha256_update(joint->digest, joint->piece, length);
    joint->size += (apr_off_t)length;
    if (joint->memory >= 0) return write_memory(joint->memory, at, joint->piece, length, joint->pool);
    return joint->file ? sr_temporary_write(joint->file, joint->piece, length) : NULL;
}

/* Read, not mapped: to unmap is slow where many threads share the memory. */
static sr_error_t *add_descriptor(joint_t *joint, int descriptor, const char *path)
{
    for (apr_off_t at = 0;;) {
        const apr_ssize_t got = sr_descriptor_read(descriptor, joint->piece, PIECE, at);

        if (got < 0) return sr_documents_trouble(joint->pool, "reading", path);
        if (got == 0) return NULL;
        SR_TRY(add_piece(joint, (apr_size_t)got));
        at += got;
    }
}

/* Adds the files; *descriptor is the last one's when nothing is written, else -1. */
static sr_error_t *add_files(int *descriptor, joint_t *joint, const apr_array_header_t *files)
{
    const bool writes = joint->file || joint->memory >= 0;

    *descriptor = -1;
    for (int i = 0; i < files->nelts; i++) {
        const char *const sha256 = APR_ARRAY_IDX(files, i, const char *);
        const char *const path = sr_documents_path(joint->documents, sha256, joint->pool);
        const int opened = open(path, O_RDONLY | O_CLOEXEC);
        sr_error_t *error;

        if (opened < 0) return sr_documents_trouble(joint->pool, "opening", path);
        error = add_descriptor(joint, opened, path);
        if (writes || error) close(opened);
        else *descriptor = opened;
        SR_TRY(error);
    }
    return NULL;
}

static sr_error_t *measure(apr_off_t *size, sr_documents_t *documents, const apr_array_header_t *files,
                           apr_pool_t *pool)
{
    *size = 0;
    for (int i = 0; i < files->nelts; i++) {
        const char *const path = sr_documents_path(documents, APR_ARRAY_IDX(files, i, const char *), pool);
        struct stat status;

        if (stat(path, &status) != 0) return sr_documents_trouble(pool, "looking at", path);
        *size += status.st_size;
    }
    return NULL;
}

static sr_error_t *join_in_file(sr_joined_t *joined, sr_documents_t *documents, const apr_array_header_t *files,
                                const void *tail, apr_size_t tail_length, apr_pool_t *pool)
{
    joint_t joint = joint_of(documents, pool);
    int descriptor;

    if (files->nelts > 1 || tail_length) SR_TRY(sr_temporary_open(&joint.file, documents, pool));
    SR_TRY(add_files(&descriptor, &joint, files));
    *joined = (sr_joined_t){
        .memory = -1, .size = joint.size + (apr_off_t)tail_length, .sha256 = sr_sha256_end_hex(joint.digest, pool)};
    if (joint.file) {
        SR_TRY(sr_temporary_write(joint.file, tail, tail_length));
        SR_TRY(sr_temporary_reopen(&descriptor, joint.file));
        sr_temporary_drop(joint.file);
    }
    sr_descriptor_own(descriptor, pool);
    joined->descriptor = descriptor;
    return NULL;
}

sr_error_t *sr_documents_join_in_memory(sr_joined_t *joined, sr_documents_t *documents, const apr_array_header_t *files,
                                        apr_pool_t *pool)
{
    joint_t joint = joint_of(documents, pool);
    int reader = -1, ignored;

    SR_TRY(open_memory(&joint.memory, &reader, pool));
    SR_TRY(add_files(&ignored, &joint, files));
    *joined = (sr_joined_t){reader, joint.memory, joint.size, sr_sha256_end_hex(joint.digest, pool)};
    return NULL;
}

sr_error_t *sr_documents_join(sr_joined_t *joined, sr_documents_t *documents, const apr_array_header_t *files,
                              apr_pool_t *pool)
{
    apr_off_t size;

    SR_TRY(measure(&size, documents, files, pool));
    if (size <= MOST_IN_MEMORY && !sr_documents_join_in_memory(joined, documents, files, pool)) return NULL;
    return join_in_file(joined, documents, files, NULL, 0, pool);
}

sr_error_t *sr_documents_extend(sr_joined_t *joined, sr_documents_t *documents, const apr_array_header_t *files,
                                const void *tail, apr_size_t length, apr_pool_t *pool)
{
    if (joined->memory < 0) return join_in_file(joined, documents, files, tail, length, pool);
    SR_TRY(write_memory(joined->memory, joined->size, tail, length, pool));
    joined->size += (apr_off_t)length;
    return NULL;
}

/* --- turns */

struct sr_submission_lock_t {
    int descriptor; /* -1 once it is over */
};

void sr_submission_lock_release(sr_submission_lock_t *turn)
{
    struct flock unlock = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    if (turn->descriptor < 0) return;
    fcntl(turn->descriptor, F_OFD_SETLK, &unlock); /* a process that was just forked has the descriptor too */
    close(turn->descriptor);
    turn->descriptor = -1;
}

static apr_status_t end_turn(void *turn)
{
    sr_submission_lock_release(turn);
    return APR_SUCCESS;
}

/* What root makes can be used by those who can write to the folder. */
static int open_lock_file(const sr_documents_t *documents, const char *path)
{
    int descriptor = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    struct stat folder;

    if (descriptor >= 0 || errno != ENOENT) return descriptor;
    descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (descriptor < 0 && errno == EEXIST) return open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor >= 0 && geteuid() == 0 && stat(documents->root, &folder) == 0) {
        if (fchown(descriptor, folder.st_uid, folder.st_gid) != 0) return descriptor;
        (void)fchmod(descriptor, folder.st_mode & S_IWGRP ? 0660 : 0600);
    }
    return descriptor;
}

/* The kernel's own wait for a lock has no deadline, so it is asked again and again. */
#define SHORTEST_PAUSE 500 /* microseconds */
#define LONGEST_PAUSE 8000

/* A byte of a file that is never written: locks of the descriptor's own (F_OFD_SETLK), so that threads exclude each
 * other as processes do, and a process that dies lets go. Two keys that meet at one byte only wait for each other. */
sr_error_t *sr_submission_lock_take(sr_submission_lock_t **turn, sr_documents_t *documents, const char *key,
                                    apr_time_t until, apr_pool_t *pool)
{
    const char *const path = apr_pstrcat(pool, documents->root, "/.turns", NULL);
    sr_submission_lock_t *const made = apr_pcalloc(pool, sizeof *made);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    const char *const hash = sr_sha256_hex(key, strlen(key), pool);

    lock.l_start = (off_t)(apr_strtoi64(apr_pstrndup(pool, hash, 15), NULL, 16));
    made->descriptor = open_lock_file(documents, path);
    if (made->descriptor < 0) return sr_documents_trouble(pool, "opening", path);
    apr_pool_cleanup_register(pool, made, end_turn, apr_pool_cleanup_null);
    for (apr_interval_time_t pause = SHORTEST_PAUSE; fcntl(made->descriptor, F_OFD_SETLK, &lock) != 0;) {
        if (errno != EAGAIN && errno != EACCES && errno != EINTR) return sr_documents_trouble(pool, "locking", path);
        if (apr_time_now() >= until) {
            sr_submission_lock_release(made);
            return sr_error_because(sr_error(pool, SR_EUNAVAILABLE, "Others are at work here, try again in a moment"),
                                    pool, "the wait for a turn was too long");
        }
        apr_sleep(pause);
        if (pause < LONGEST_PAUSE) pause *= 2;
    }
    *turn = made;
    return NULL;
}
