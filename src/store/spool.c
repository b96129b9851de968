/* SPDX-License-Identifier: Apache-2.0 */
/* spool.c: an upload while it streams, and its way into the folder. Most uploads are small: they stay in memory, and
 * touch the disk only when they are new and wanted. */
#include "store/documents.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MEMORY_MOST 262144
#define HEAD_MOST 1024

struct sr_spool_t {
    sr_documents_t *documents;
    apr_pool_t *pool;
    sr_sha256_t *digest;
    const char *sha256; /* once ended */
    apr_off_t size;
    char head[HEAD_MOST];
    char *memory;         /* all of the content, while `file` is NULL; malloc'd, as pools give nothing back */
    sr_temporary_t *file; /* all of the content, once it is more than MEMORY_MOST */
    int descriptor;       /* for reading, or -1 */
    sr_error_t *broken;   /* of a write that failed: the content is not whole */
};

static apr_status_t drop(void *spool)
{
    sr_spool_drop(spool);
    return APR_SUCCESS;
}

sr_error_t *sr_spool_begin(sr_spool_t **spool, sr_documents_t *documents, apr_pool_t *pool)
{
    sr_spool_t *const made = apr_pcalloc(pool, sizeof *made);

    made->documents = documents;
    made->pool = pool;
    made->digest = sr_sha256_begin(pool);
    made->descriptor = -1;
    apr_pool_cleanup_register(pool, made, drop, apr_pool_cleanup_null);
    *spool = made;
    return NULL;
}

void sr_spool_drop(sr_spool_t *spool)
{
    if (spool->descriptor >= 0) close(spool->descriptor);
    if (spool->file) sr_temporary_drop(spool->file);
    free(spool->memory);
    spool->descriptor = -1;
    spool->memory = NULL;
}

/* --- writing */

/* Whether so many bytes in all have their place in memory. It is asked for at once: what is not written to costs
 * nothing, where growing would copy. */
static bool fits(sr_spool_t *spool, apr_size_t length)
{
    if (length > MEMORY_MOST) return false;
    if (!spool->memory) spool->memory = malloc(MEMORY_MOST);
    return spool->memory != NULL; /* the disk may have room where memory has none */
}

static sr_error_t *move_to_file(sr_spool_t *spool)
{
    sr_temporary_t *file;

    SR_TRY(sr_temporary_open(&file, spool->documents, spool->pool));
    SR_TRY(sr_temporary_write(file, spool->memory, (apr_size_t)spool->size));
    spool->file = file;
    free(spool->memory);
    spool->memory = NULL;
    return NULL;
}

static sr_error_t *store(sr_spool_t *spool, const void *data, apr_size_t length)
{
    if (!spool->file && fits(spool, (apr_size_t)spool->size + length)) {
        memcpy(spool->memory + spool->size, data, length);
        return NULL;
    }
    if (!spool->file) SR_TRY(move_to_file(spool));
    return sr_temporary_write(spool->file, data, length);
}

sr_error_t *sr_spool_write(sr_spool_t *spool, const void *data, apr_size_t length)
{
    const apr_size_t size = (apr_size_t)spool->size;

    if (!length) return NULL;
    spool->broken = store(spool, data, length);
    if (spool->broken) return spool->broken;
    if (size < HEAD_MOST) memcpy(spool->head + size, data, length < HEAD_MOST - size ? length : HEAD_MOST - size);
    sr_sha256_update(spool->digest, data, length);
    spool->size += (apr_off_t)length;
    return NULL;
}

sr_error_t *sr_spool_end(sr_spool_t *spool, const char **sha256, apr_off_t *size)
{
    if (spool->broken) return spool->broken;
    spool->sha256 = sr_sha256_end_hex(spool->digest, spool->pool);
    *sha256 = spool->sha256;
    *size = spool->size;
    return NULL;
}

/* --- reading */

void sr_spool_head(const sr_spool_t *spool, const char **head, apr_size_t *length)
{
    *head = spool->head;
    *length = spool->size < HEAD_MOST ? (apr_size_t)spool->size : HEAD_MOST;
}

/* A file in memory, sealed: what reads it cannot change what others read. -1 where that cannot be had. */
static int make_memory_file(const sr_spool_t *spool)
{
    const int descriptor = memfd_create("sigreq", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    apr_size_t done = 0;

    if (descriptor < 0) return -1;
    while (done < (apr_size_t)spool->size) {
        const ssize_t written = write(descriptor, spool->memory + done, (apr_size_t)spool->size - done);

        if (written < 0 && errno == EINTR) continue;
        if (written < 0) break;
        done += (apr_size_t)written;
    }
    if (done == (apr_size_t)spool->size
        && fcntl(descriptor, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        return descriptor;
    close(descriptor);
    return -1;
}

/* What is given out cannot write: the helper reads hostile bytes, and the digest is of what was uploaded. */
sr_error_t *sr_spool_descriptor(sr_spool_t *spool, int *descriptor)
{
    if (spool->descriptor < 0 && !spool->file) {
        spool->descriptor = make_memory_file(spool);
        if (spool->descriptor < 0) SR_TRY(move_to_file(spool));
    }
    if (spool->descriptor < 0) SR_TRY(sr_temporary_reopen(&spool->descriptor, spool->file));
    if (lseek(spool->descriptor, 0, SEEK_SET) != 0) return sr_documents_trouble(spool->pool, "rewinding", "a document");
    *descriptor = spool->descriptor;
    return NULL;
}

/* --- keeping */

/* A report that is in the way is of another version, or damaged: a good one would have been found before. */
static sr_error_t *link_report(sr_temporary_t *file, const sr_spool_t *spool)
{
    const char *path;
    sr_pages_t *known;
    bool existed;

    if (!spool->documents->owner) return NULL;
    path = sr_documents_report_path(spool->documents, spool->sha256, spool->pool);
    SR_TRY(sr_temporary_link(&existed, file, path));
    if (!existed) return NULL;
    SR_TRY(sr_documents_pages(&known, spool->documents, spool->sha256, spool->pool));
    if (known) return NULL; /* somebody else was a moment faster */
    if (unlink(path) != 0 && errno != ENOENT) return sr_documents_trouble(spool->pool, "removing", path);
    return sr_temporary_link(&existed, file, path);
}

/* The document is durable before its report is linked. So one that sees the report may rely on both without syncing
 * anything, and a crash in between leaves a document that is not known yet. */
static sr_error_t *publish(sr_spool_t *spool, sr_temporary_t *report)
{
    SR_TRY(sr_documents_publish(spool->documents, spool->file, spool->sha256, true, spool->pool));
    SR_TRY(link_report(report, spool));
    return sr_documents_sync(spool->documents, spool->sha256, spool->pool);
}

sr_error_t *sr_spool_commit(sr_spool_t *spool, const char *report)
{
    sr_temporary_t *report_file;
    sr_error_t *error;
    sr_pages_t *known;
    bool there = false;

    SR_TRY(sr_documents_pages(&known, spool->documents, spool->sha256, spool->pool));
    if (known) SR_TRY(sr_documents_use(&there, spool->documents, spool->sha256, spool->pool));
    if (there) return NULL;
    /* whatever needs space comes before anything has a name: a full disk leaves nothing behind */
    if (!spool->file) SR_TRY(move_to_file(spool));
    SR_TRY(sr_temporary_sync(spool->file));
    SR_TRY(sr_temporary_open(&report_file, spool->documents, spool->pool));
    error = sr_temporary_write(report_file, report, strlen(report));
    if (!error) error = sr_temporary_sync(report_file);
    if (!error) error = publish(spool, report_file);
    sr_temporary_drop(report_file);
    return error;
}
