/* SPDX-License-Identifier: Apache-2.0 */
/* writer.c: an upload while it is received, and how it is stored. Small uploads stay in memory, and are written to
 * the disk only if they must be stored. */
#include "blobs/private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MEMORY_MOST 262144
#define HEAD_MOST 4096
#define PIECE ((apr_size_t)64 << 10)

struct sr_blob_writer_t {
    sr_blobs_t *blobs;
    apr_pool_t *pool;
    sr_sha256_t *digest;
    apr_off_t size;
    char head[HEAD_MOST];
    char *memory;         /* the whole content while `file` is NULL; by malloc, because pools free nothing early */
    sr_temporary_t *file; /* the whole content if it has more than MEMORY_MOST bytes */
    int descriptor;       /* read-only, or -1 */
    const char *key;      /* the key under which the content was stored, or NULL */
    sr_error_t *broken;   /* the error of a write that failed, or NULL */
    bool spare;           /* sr_blobs_spare */
};

static apr_status_t writer_drop(void *writer)
{
    sr_blobs_drop(writer);
    return APR_SUCCESS;
}

sr_error_t *sr_blobs_begin(sr_blob_writer_t **writer, sr_blobs_t *blobs, apr_pool_t *pool)
{
    sr_blob_writer_t *made = apr_pcalloc(pool, sizeof *made);
    made->blobs = blobs;
    made->pool = pool;
    made->digest = sr_sha256_begin(pool);
    made->descriptor = -1;
    apr_pool_cleanup_register(pool, made, writer_drop, apr_pool_cleanup_null);
    *writer = made;
    return NULL;
}

void sr_blobs_drop(sr_blob_writer_t *writer)
{
    if (writer->descriptor >= 0) close(writer->descriptor);
    if (writer->file) sr_temporary_drop(writer->file);
    free(writer->memory);
    writer->descriptor = -1;
    writer->memory = NULL;
}

/* --- writing */

/* Returns true if this number of bytes fits into the memory, which is allocated at the first call. All of it is
 * allocated at once: memory that is never written costs nothing, and growing it would copy the content. */
static bool writer_fits(sr_blob_writer_t *writer, apr_size_t length)
{
    if (length > MEMORY_MOST) return false;
    if (!writer->memory) writer->memory = malloc(MEMORY_MOST);
    return writer->memory != NULL; /* if there is no memory, the content goes to the disk */
}

static sr_error_t *move_to_file(sr_blob_writer_t *writer)
{
    sr_temporary_t *file;
    SR_TRY(sr_temporary_open(&file, writer->blobs->root, writer->pool));
    SR_TRY(sr_temporary_write(file, writer->memory, (apr_size_t)writer->size));
    writer->file = file;
    free(writer->memory);
    writer->memory = NULL;
    return NULL;
}

static sr_error_t *writer_store(sr_blob_writer_t *writer, const void *data, apr_size_t length)
{
    if (!writer->file && writer_fits(writer, (apr_size_t)writer->size + length)) {
        memcpy(writer->memory + writer->size, data, length);
        return NULL;
    }
    if (!writer->file) SR_TRY(move_to_file(writer));
    return sr_temporary_write(writer->file, data, length);
}

sr_error_t *sr_blobs_write(sr_blob_writer_t *writer, const void *data, apr_size_t length)
{
    const apr_size_t size = (apr_size_t)writer->size;
    if (!length) return NULL;
    writer->broken = writer_store(writer, data, length);
    if (writer->broken) return writer->broken;
    if (size < HEAD_MOST) memcpy(writer->head + size, data, length < HEAD_MOST - size ? length : HEAD_MOST - size);
    sr_sha256_update(writer->digest, data, length);
    writer->size += (apr_off_t)length;
    return NULL;
}

sr_error_t *sr_blobs_end(sr_blob_writer_t *writer, const char **sha256, apr_off_t *size)
{
    if (writer->broken) return writer->broken;
    *sha256 = sr_sha256_end_hex(writer->digest, writer->pool);
    *size = writer->size;
    return NULL;
}

/* --- reading */

void sr_blobs_head(const sr_blob_writer_t *writer, const char **head, apr_size_t *length)
{
    *head = writer->head;
    *length = writer->size < HEAD_MOST ? (apr_size_t)writer->size : HEAD_MOST;
}

/* Makes a sealed file in memory with the content, so that no reader can change it. Returns -1 if that is impossible. */
static int make_memory_file(const sr_blob_writer_t *writer)
{
    const int descriptor = memfd_create("sigreq", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    apr_size_t done = 0;
    if (descriptor < 0) return -1;
    while (done < (apr_size_t)writer->size) {
        const ssize_t written = write(descriptor, writer->memory + done, (apr_size_t)writer->size - done);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) break;
        done += (apr_size_t)written;
    }
    if (done == (apr_size_t)writer->size
        && fcntl(descriptor, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        return descriptor;
    close(descriptor);
    return -1;
}

/* The descriptor is read-only. A helper that a hostile document has taken over must not change the content, whose
 * digest is known already. */
sr_error_t *sr_blobs_descriptor(sr_blob_writer_t *writer, int *descriptor)
{
    if (writer->descriptor < 0 && !writer->file) {
        writer->descriptor = make_memory_file(writer);
        if (writer->descriptor < 0) SR_TRY(move_to_file(writer));
    }
    if (writer->descriptor < 0) SR_TRY(sr_temporary_reopen(&writer->descriptor, writer->file));
    if (lseek(writer->descriptor, 0, SEEK_SET) != 0) return sr_blobs_trouble(writer->pool, "rewinding", "a document");
    *descriptor = writer->descriptor;
    return NULL;
}

/* --- storing */

/* Replaces the file by a copy, for a second key. The file that was linked under the first key may have been removed,
 * and then it cannot be linked again. */
static sr_error_t *copy_file(sr_blob_writer_t *writer)
{
    sr_temporary_t *before = writer->file, *copy;
    char *piece = apr_palloc(writer->pool, PIECE);
    sr_error_t *error = NULL;
    int descriptor;
    SR_TRY(sr_temporary_open(&copy, writer->blobs->root, writer->pool));
    SR_TRY(sr_temporary_reopen(&descriptor, before));
    for (apr_off_t at = 0; !error && at < writer->size; at += PIECE) {
        const apr_ssize_t got = sr_descriptor_read(descriptor, piece, PIECE, at);
        error = got > 0 ? sr_temporary_write(copy, piece, (apr_size_t)got)
                        : sr_blobs_trouble(writer->pool, "reading", "a document");
    }
    close(descriptor);
    SR_TRY(error);
    writer->file = copy;
    sr_temporary_drop(before);
    return NULL;
}

void sr_blobs_spare(sr_blob_writer_t *writer, bool spare)
{
    writer->spare = spare;
}

/* Everything that needs space is done before a file gets its name, so a full disk leaves no incomplete files. */
sr_error_t *sr_blobs_commit(sr_blob_writer_t *writer, const char *key, const char *report)
{
    const char *sha256 = apr_pstrndup(writer->pool, key, SR_SHA256_HEX_LENGTH);
    if (writer->key && strcmp(writer->key, key) == 0) return NULL;
    if (!writer->file) SR_TRY(move_to_file(writer));
    if (writer->key) SR_TRY(copy_file(writer));
    if (report) SR_TRY(sr_blobs_make_folder(writer->blobs, key, writer->pool));
    if (report) SR_TRY(sr_reports_write(writer->blobs, sha256, report, writer->pool));
    const sr_kept_t kept = {writer->file, key, writer->spare};
    sr_error_t *error = writer->blobs->provider->keep(writer->blobs, &kept, 1, writer->pool);
    if (error && report) sr_reports_remove(writer->blobs, sha256, writer->pool);
    if (!error) writer->key = apr_pstrdup(writer->pool, key);
    return error;
}
