/* SPDX-License-Identifier: Apache-2.0 */
/* bundle.c: a ZIP whose large contents are the stored blobs themselves. All contents are read once, because the ZIP has
 * their checksums, and then httpd sends files: a slow client occupies neither memory nor a thread, and an error is
 * reported before the response has begun. Everything between the large blobs is in the spool, a file without a name. */
#include "service/documents/bundle_part.h"
#include "model/file_name.h"
#include "service/documents/zip.h"

#include <apr_portable.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define PIECE ((apr_size_t)64 << 10)
#define APART_MIN ((apr_off_t)1 << 20) /* smaller blobs are copied to the spool */
#define APART_MOST 64                  /* blobs that are sent from their own files, because each takes a descriptor */

typedef struct bundler_t {
    sr_bundle_t *bundle;
    sr_blobs_t *blobs;
    sr_blob_writer_t *spool;
    sr_zip_t *zip;
    sr_sha256_t *tag;
    char *buffer;
    int apart; /* the number of blobs that are sent from their own files */
    apr_pool_t *result_pool, *scratch_pool;
} bundler_t;

static sr_error_t *bundle_spool(void *baton, const void *data, apr_size_t length)
{
    bundler_t *bundler = baton;
    apr_array_header_t *pieces = bundler->bundle->pieces;
    sr_bundle_piece_t *last = pieces->nelts ? &APR_ARRAY_IDX(pieces, pieces->nelts - 1, sr_bundle_piece_t) : NULL;
    SR_TRY(sr_blobs_write(bundler->spool, data, length));
    if (!last || last->file) {
        last = apr_array_push(pieces);
        *last = (sr_bundle_piece_t){.at = bundler->bundle->spooled};
    }
    last->length += (apr_off_t)length;
    bundler->bundle->spooled += (apr_off_t)length;
    return NULL;
}

static sr_error_t *bundle_unreadable(const bundler_t *bundler, const char *cause)
{
    return sr_error_because(
        sr_error(bundler->result_pool, SR_EUNAVAILABLE, "The document cannot be read now, try again later"),
        bundler->result_pool, "%s", cause);
}

static sr_error_t *bundle_read(bundler_t *bundler, const sr_blob_t *blob, bool apart)
{
    int descriptor;
    apr_os_file_get(&descriptor, blob->file);
    for (apr_off_t at = 0; at < blob->size;) {
        const apr_off_t left = blob->size - at, wanted = left < (apr_off_t)PIECE ? left : (apr_off_t)PIECE;
        const apr_ssize_t got = sr_descriptor_read(descriptor, bundler->buffer, (apr_size_t)wanted, at);
        if (got <= 0) return bundle_unreadable(bundler, "a blob is shorter than it was");
        SR_TRY(sr_zip_write(bundler->zip, bundler->buffer, (apr_size_t)got, apart));
        at += got;
    }
    return NULL;
}

/* Adds the content of a blob, and its size to *size. */
static sr_error_t *bundle_add_blob(bundler_t *bundler, const char *key, apr_off_t *size)
{
    apr_pool_t *pool; /* has the descriptor */
    sr_blob_t blob;
    apr_pool_create(&pool, bundler->result_pool);
    sr_error_t *error = sr_blobs_open(&blob, bundler->blobs, key, pool);
    if (error) return sr_error_from(bundle_unreadable(bundler, key), error);
    const bool apart = blob.size >= APART_MIN && bundler->apart < APART_MOST;
    SR_TRY(bundle_read(bundler, &blob, apart));
    *size += blob.size;
    if (apart) {
        APR_ARRAY_PUSH(bundler->bundle->pieces, sr_bundle_piece_t) = (sr_bundle_piece_t){blob.file, 0, blob.size};
        sr_sha256_update(bundler->tag, key, strlen(key));
        bundler->apart++;
    } else apr_pool_destroy(pool);
    return NULL;
}

static sr_error_t *bundle_add(bundler_t *bundler, const sr_bundle_part_t *part)
{
    const apr_size_t length = part->text ? strlen(part->text) : 0;
    apr_off_t size = (apr_off_t)length;
    SR_TRY(sr_zip_entry(bundler->zip, part->path, part->when, part->text ? size : part->size));
    if (part->text) return sr_zip_write(bundler->zip, part->text, length, false);
    for (int i = 0; i < part->keys->nelts; i++)
        SR_TRY(bundle_add_blob(bundler, APR_ARRAY_IDX(part->keys, i, const char *), &size));
    return size == part->size ? NULL : bundle_unreadable(bundler, "the blobs of a document do not have its size");
}

/* Opens the spool for reading, and frees its memory. */
static sr_error_t *bundle_reopen(bundler_t *bundler)
{
    int descriptor;
    SR_TRY(sr_blobs_descriptor(bundler->spool, &descriptor));
    int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (own < 0) return bundle_unreadable(bundler, "no descriptor is free");
    sr_descriptor_own(own, bundler->result_pool);
    apr_os_file_put(&bundler->bundle->spool, &own, APR_FOPEN_READ | APR_FOPEN_BINARY | APR_FOPEN_SENDFILE_ENABLED,
                    bundler->result_pool);
    sr_blobs_drop(bundler->spool);
    return NULL;
}

sr_error_t *sr_bundle_make(const sr_service_t *service, sr_bundle_t *bundle, const char *name,
                           const apr_array_header_t *parts, apr_pool_t *result_pool, apr_pool_t *scratch_pool)
{
    bundler_t bundler = {.bundle = bundle, .result_pool = result_pool, .scratch_pool = scratch_pool};
    const char *sha256;
    apr_off_t size;
    *bundle = (sr_bundle_t){.name = sr_file_name(name, ".zip", NULL, result_pool),
                            .pieces = apr_array_make(result_pool, 8, sizeof(sr_bundle_piece_t))};
    bundler.buffer = apr_palloc(scratch_pool, PIECE);
    bundler.tag = sr_sha256_begin(scratch_pool);
    SR_TRY(sr_service_documents(&bundler.blobs, service, scratch_pool));
    SR_TRY(sr_blobs_begin(&bundler.spool, bundler.blobs, scratch_pool));
    SR_TRY(sr_zip_begin(&bundler.zip, bundle_spool, &bundler, scratch_pool));
    for (int i = 0; i < parts->nelts; i++) SR_TRY(bundle_add(&bundler, &APR_ARRAY_IDX(parts, i, sr_bundle_part_t)));
    SR_TRY(sr_zip_end(bundler.zip));
    SR_TRY(sr_blobs_end(bundler.spool, &sha256, &size));
    sr_sha256_update(bundler.tag, sha256, strlen(sha256));
    bundle->etag = sr_sha256_end_hex(bundler.tag, result_pool);
    return bundle_reopen(&bundler);
}

/* The pieces of the spool share one bucket, because httpd may take a file away from the bucket that it is in. */
apr_bucket_brigade *sr_bundle_brigade(const sr_bundle_t *bundle, apr_bucket_alloc_t *allocator, apr_pool_t *pool)
{
    apr_bucket_brigade *brigade = apr_brigade_create(pool, allocator);
    apr_bucket *spool = apr_bucket_file_create(bundle->spool, 0, (apr_size_t)bundle->spooled, pool, allocator);
    for (int i = 0; i < bundle->pieces->nelts; i++) {
        const sr_bundle_piece_t *piece = &APR_ARRAY_IDX(bundle->pieces, i, sr_bundle_piece_t);
        apr_bucket *copy;
        if (piece->file) {
            apr_brigade_insert_file(brigade, piece->file, piece->at, piece->length, pool);
            continue;
        }
        apr_bucket_copy(spool, &copy);
        copy->start = piece->at;
        copy->length = (apr_size_t)piece->length;
        APR_BRIGADE_INSERT_TAIL(brigade, copy);
    }
    apr_bucket_destroy(spool);
    return brigade;
}
