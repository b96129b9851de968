/* SPDX-License-Identifier: Apache-2.0 */
/* joined.c: a document of several blobs. Each signature appends a revision, which is a blob of its own. The document
 * is the concatenation of its upload and its revisions. */
#include "blobs/private.h"

#include <apr_portable.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE ((apr_size_t)64 << 10)
#define MOST_IN_MEMORY ((apr_off_t)4 << 20) /* bytes; larger documents are joined on the disk */

typedef struct joint_t {
    sr_blobs_t *blobs;
    sr_sha256_t *digest;
    sr_temporary_t *file; /* NULL if a single blob is read directly, or if the document is in memory */
    int memory;           /* descriptor of a file in memory, or -1 */
    apr_off_t size;
    char *piece;
    apr_pool_t *pool;
} joint_t;

static joint_t joint_of(sr_blobs_t *blobs, apr_pool_t *pool)
{
    return (joint_t){blobs, sr_sha256_begin(pool), NULL, -1, 0, apr_palloc(pool, PIECE), pool};
}

/* *reader is read-only, because it is sent to helpers. */
static sr_error_t *open_memory(int *memory, int *reader, apr_pool_t *pool)
{
    *memory = memfd_create("sigreq-document", MFD_CLOEXEC);
    if (*memory < 0) return sr_blobs_trouble(pool, "making a file in", "memory");
    sr_descriptor_own(*memory, pool);
    *reader = open(apr_psprintf(pool, "/proc/self/fd/%d", *memory), O_RDONLY | O_CLOEXEC);
    if (*reader < 0) return sr_blobs_trouble(pool, "reopening a file in", "memory");
    sr_descriptor_own(*reader, pool);
    return NULL;
}

static sr_error_t *write_memory(int memory, apr_off_t at, const char *bytes, apr_size_t length, apr_pool_t *pool)
{
    while (length > 0) {
        const ssize_t written = pwrite(memory, bytes, length, at);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return sr_blobs_trouble(pool, "writing to", "memory");
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

/* The file is read and not mapped, because munmap is slow in a process of many threads. */
static sr_error_t *add_descriptor(joint_t *joint, int descriptor, const char *path)
{
    for (apr_off_t at = 0;;) {
        const apr_ssize_t got = sr_descriptor_read(descriptor, joint->piece, PIECE, at);
        if (got < 0) return sr_blobs_trouble(joint->pool, "reading", path);
        if (got == 0) return NULL;
        SR_TRY(add_piece(joint, (apr_size_t)got));
        at += got;
    }
}

/* Adds the blobs. *descriptor is that of the last blob if nothing is written, else -1. */
static sr_error_t *add_blobs(int *descriptor, joint_t *joint, const apr_array_header_t *keys)
{
    const bool writes = joint->file || joint->memory >= 0;
    *descriptor = -1;
    for (int i = 0; i < keys->nelts; i++) {
        const char *key = APR_ARRAY_IDX(keys, i, const char *);
        apr_os_file_t opened;
        sr_blob_t blob;
        SR_TRY(sr_blobs_open(&blob, joint->blobs, key, joint->pool));
        apr_os_file_get(&opened, blob.file);
        sr_error_t *error = add_descriptor(joint, opened, key);
        if (writes || error) apr_file_close(blob.file);
        else *descriptor = opened;
        SR_TRY(error);
    }
    return NULL;
}

static sr_error_t *joined_measure(apr_off_t *size, sr_blobs_t *blobs, const apr_array_header_t *keys, apr_pool_t *pool)
{
    *size = 0;
    for (int i = 0; i < keys->nelts; i++) {
        sr_blob_t blob;
        SR_TRY(sr_blobs_open(&blob, blobs, APR_ARRAY_IDX(keys, i, const char *), pool));
        *size += blob.size;
        apr_file_close(blob.file);
    }
    return NULL;
}

static void joined_hash(sr_joined_t *joined, const joint_t *joint)
{
    joined->digest = joint->digest;
    joined->sha256 = sr_sha256_end_hex(sr_sha256_copy(joint->digest, joint->pool), joint->pool);
}

static sr_error_t *join_in_file(sr_joined_t *joined, sr_blobs_t *blobs, const apr_array_header_t *keys, bool extended,
                                apr_pool_t *pool)
{
    joint_t joint = joint_of(blobs, pool);
    if (keys->nelts != 1 || extended) SR_TRY(sr_temporary_open(&joint.file, blobs->root, pool));
    SR_TRY(add_blobs(&joined->descriptor, &joint, keys));
    joined->memory = -1;
    joined->file = extended ? joint.file : NULL;
    joined->size = joint.size;
    joined_hash(joined, &joint);
    if (!joint.file) return NULL;
    SR_TRY(sr_temporary_reopen(&joined->descriptor, joint.file));
    sr_descriptor_own(joined->descriptor, pool);
    if (!extended) sr_temporary_drop(joint.file);
    return NULL;
}

sr_error_t *sr_blobs_join_in_memory(sr_joined_t *joined, sr_blobs_t *blobs, const apr_array_header_t *keys,
                                    apr_pool_t *pool)
{
    joint_t joint = joint_of(blobs, pool);
    int reader = -1, ignored;
    SR_TRY(open_memory(&joint.memory, &reader, pool));
    SR_TRY(add_blobs(&ignored, &joint, keys));
    *joined = (sr_joined_t){.descriptor = reader, .memory = joint.memory, .size = joint.size};
    joined_hash(joined, &joint);
    return NULL;
}

sr_error_t *sr_blobs_join(sr_joined_t *joined, sr_blobs_t *blobs, const apr_array_header_t *keys, bool extended,
                          apr_pool_t *pool)
{
    apr_off_t size;
    SR_TRY(joined_measure(&size, blobs, keys, pool));
    if (size <= MOST_IN_MEMORY && !sr_blobs_join_in_memory(joined, blobs, keys, pool)) return NULL;
    return join_in_file(joined, blobs, keys, extended, pool);
}

sr_error_t *sr_blobs_extend(sr_joined_t *joined, const void *tail, apr_size_t length, apr_pool_t *pool)
{
    sr_assert(joined->memory >= 0 || joined->file); /* it was joined with `extended` */
    if (joined->file) SR_TRY(sr_temporary_write(joined->file, tail, length));
    else SR_TRY(write_memory(joined->memory, joined->size, tail, length, pool));
    sr_sha256_update(joined->digest, tail, length);
    joined->size += (apr_off_t)length;
    return NULL;
}
