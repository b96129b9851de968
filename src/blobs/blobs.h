/* SPDX-License-Identifier: Apache-2.0 */
/* blobs.h: contents that never change: documents, what signers append to them, certificates of completion. A content is
 * stored under a key, which the caller chooses; the key begins with the SHA-256 of the content.
 *
 * Sections: blobs.c · fs.c · writer.c · joined.c · reports.c · binding.c · gc.c · lock.c · cache.c
 *
 * sr_blobs_provider_t (private.h) is a table of functions: how one kind of storage keeps, opens and removes blobs.
 * There is one provider, "fs": files in a folder. Whichever provider it is, there is a local folder for files without a
 * name. Everything that a caller reads is a local file.
 */
#ifndef SR_BLOBS_H
#define SR_BLOBS_H

#include <apr_buckets.h>
#include <apr_file_io.h>

#include "base/base.h"

/* ------------------------------------------------------------------------------------------------- blobs.c
 * Where blobs are. `root` is a folder of this machine; provider "fs" keeps a blob in <root>/ab/cd/<key>.
 */
typedef struct sr_blobs_t sr_blobs_t;

/* Opens (it does not make) the folder, for the provider "fs". Errors: SR_EUNAVAILABLE. */
sr_error_t *sr_blobs_folder(sr_blobs_t **blobs, const char *root, apr_pool_t *pool);

/* A stored blob as a local file, at offset 0, which cannot be written. It is closed with the pool. */
typedef struct sr_blob_t {
    apr_file_t *file;
    apr_off_t size;
} sr_blob_t;
/* Errors: SR_EUNAVAILABLE, also if there is no such blob. */
sr_error_t *sr_blobs_open(sr_blob_t *blob, sr_blobs_t *blobs, const char *key, apr_pool_t *pool);
/* The descriptor of sr_blobs_open alone. */
sr_error_t *sr_blobs_reader(int *descriptor, sr_blobs_t *blobs, const char *key, apr_pool_t *pool);
/* Adds a blob to the end of a brigade. The buckets are files, so httpd can use sendfile(). */
void sr_blob_append(apr_bucket_brigade *brigade, const sr_blob_t *blob, apr_pool_t *pool);
sr_error_t *sr_blobs_exists(bool *there, sr_blobs_t *blobs, const char *key, apr_pool_t *pool);

/* Calls `each` for every stored blob, in no order that can be relied on. An error of it ends the walk. Its pool is
 * cleared after each call. */
typedef sr_error_t *(*sr_blobs_each_t)(void *baton, const char *key, apr_off_t size, apr_pool_t *pool);
sr_error_t *sr_blobs_list(sr_blobs_t *blobs, sr_blobs_each_t each, void *baton, apr_pool_t *pool);
/* Removes a blob, which is in the quarantine then. *removed is false, and *size 0, if there was none. */
sr_error_t *sr_blobs_remove(bool *removed, apr_off_t *size, sr_blobs_t *blobs, const char *key, apr_pool_t *pool);
/* Whether something can be stored: a file without a name is written and synced. */
sr_error_t *sr_blobs_probe(sr_blobs_t *blobs, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------- writer.c
 * A blob while it is written: in memory while it is small, then in an unnamed file (O_TMPFILE) that the kernel
 * removes when the process dies; if the filesystem has none, in <root>/tmp, unlinked with the pool.
 */
typedef struct sr_blob_writer_t sr_blob_writer_t;
sr_error_t *sr_blobs_begin(sr_blob_writer_t **writer, sr_blobs_t *blobs, apr_pool_t *pool);
sr_error_t *sr_blobs_write(sr_blob_writer_t *writer, const void *data, apr_size_t length);
/* No more bytes come. Gives the content's SHA-256 (in the writer's pool) and size. Fails if a write failed. */
sr_error_t *sr_blobs_end(sr_blob_writer_t *writer, const char **sha256, apr_off_t *size);
/* The first bytes, at most 1,024 of them: for sniffing. */
void sr_blobs_head(const sr_blob_writer_t *writer, const char **head, apr_size_t *length);
/* A readable descriptor of the content at offset 0, owned by the writer: for the PDF helper. */
sr_error_t *sr_blobs_descriptor(sr_blob_writer_t *writer, int *descriptor);
/* Makes the content durable under this key, and its report (or NULL). May be repeated, with another key too. */
sr_error_t *sr_blobs_commit(sr_blob_writer_t *writer, const char *key, const char *report);
/* Closes the file and frees the memory at once; the pool does it otherwise. */
void sr_blobs_drop(sr_blob_writer_t *writer);
/* Makes some bytes durable under this key. */
sr_error_t *sr_blobs_put(sr_blobs_t *blobs, const char *key, const void *data, apr_size_t length, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------- joined.c
 * A document as it is now: blobs (const char *, their keys) one after the other. A small one is in memory, a large one
 * of several blobs is a temporary file, and what is one large blob is read where it is, unless it will be extended.
 */
typedef struct sr_joined_t {
    int descriptor;     /* to read, at offset 0; closed with the pool */
    apr_off_t size;     /* of all */
    const char *sha256; /* of the blobs, read again: to compare with what they should be */
    /* Of all, as it was read and written: with what sr_blobs_extend has added. So nobody has to read it again. */
    sr_sha256_t *digest;
    int memory;                  /* private: the same file, to write to, or -1 */
    struct sr_temporary_t *file; /* private: the same, or NULL */
} sr_joined_t;
/* `extended`: sr_blobs_extend will be called. */
sr_error_t *sr_blobs_join(sr_joined_t *joined, sr_blobs_t *blobs, const apr_array_header_t *keys, bool extended,
                          apr_pool_t *pool);
/* The same in memory, whatever its size, if there is no room on the disk: to be read, and then forgotten. It can be
 * extended. */
sr_error_t *sr_blobs_join_in_memory(sr_joined_t *joined, sr_blobs_t *blobs, const apr_array_header_t *keys,
                                    apr_pool_t *pool);
/* Adds bytes to the end of what was joined; they are not stored. The descriptor reads them too. */
sr_error_t *sr_blobs_extend(sr_joined_t *joined, const void *tail, apr_size_t length, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------- reports.c
 * What the helper has found in a document, as text: <root>/ab/cd/<sha256>.<owner>.json. An owner is an organisation in
 * one environment. Nobody learns from a report what another owner has uploaded, and what a hostile document makes a
 * helper say harms nobody but its owner. A report only saves work: it is not synced, and it may be lost.
 */
/* Whose reports are read and written (sr_owner_of). Before this is said there are none. */
void sr_blobs_own(sr_blobs_t *blobs, const char *owner);
/* *report is NULL if the owner has none. */
sr_error_t *sr_reports_read(const char **report, sr_blobs_t *blobs, const char *sha256, apr_pool_t *pool);
/* Replaces the report in one step. If two do it at once, the last one stays. With `lasting` it is on the disk once a
 * blob of this content is stored after it. */
sr_error_t *sr_reports_write(sr_blobs_t *blobs, const char *sha256, const char *report, bool lasting, apr_pool_t *pool);
/* Forgets what the owner knows of a document, if there is anything. */
void sr_reports_remove(sr_blobs_t *blobs, const char *sha256, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------- binding.c
 * The database that the blobs belong to, and which of its folders this is: both uuids are in the file .database.
 */
/* Both are NULL if the folder belongs to nobody yet. Errors: SR_EUNAVAILABLE, also for a file that does not hold two
 * uuids. */
sr_error_t *sr_blobs_binding(const char **database, const char **folder, sr_blobs_t *blobs, apr_pool_t *pool);
/* Names the database, durably. If there is a name, it stays, or (`replace`) is replaced. The folder keeps its uuid. */
sr_error_t *sr_blobs_bind(sr_blobs_t *blobs, const char *uuid, bool replace, apr_pool_t *pool);
/* Names this database if there is no name; SR_EUNAVAILABLE, with what to do in its cause, if there is another one. */
sr_error_t *sr_blobs_check(sr_blobs_t *blobs, const char *uuid, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------- lock.c
 * A lock for each key, over all threads and processes of this machine. Waits until `until`; after that it is
 * SR_EUNAVAILABLE. The lock ends with the pool, with the process, or by sr_file_lock_release.
 */
typedef struct sr_file_lock_t sr_file_lock_t;
sr_error_t *sr_file_lock_take(sr_file_lock_t **lock, sr_blobs_t *blobs, const char *key, apr_time_t until,
                              apr_pool_t *pool);
void sr_file_lock_release(sr_file_lock_t *lock);

/* ------------------------------------------------------------------------------------------------- gc.c
 * What a collection does besides sr_blobs_remove. The database says what may be removed (store/pgsql/blobs.sql).
 */
typedef struct sr_blobs_gc_t {
    apr_size_t deleted;
    apr_off_t freed; /* bytes */
} sr_blobs_gc_t;
/* Deletes what was removed so long ago. With `dry_run` it only counts. */
sr_error_t *sr_quarantine_expire(sr_blobs_gc_t *result, sr_blobs_t *blobs, apr_interval_time_t lifetime, bool dry_run,
                                 apr_pool_t *pool);
/* Whether the quarantine has this blob. */
bool sr_quarantine_has(sr_blobs_t *blobs, const char *key, apr_pool_t *pool);
/* Deletes files older than an hour that a killed process has left. */
sr_error_t *sr_temporary_expire(sr_blobs_gc_t *result, sr_blobs_t *blobs, bool dry_run, apr_pool_t *pool);
/* Deletes the reports of all owners. */
sr_error_t *sr_reports_forget(sr_blobs_t *blobs, const char *sha256, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ cache.c
 * Files that can be made again, by what they are made of: <root>/ab/cd/<key>. A key is a digest (64 hexadecimal
 * digits), a dot, and then lower-case letters, digits and at least one more dot: "<sha256>.0.800.png". A file is whole
 * or not there; it is not synced. Without a folder that can be written there is no cache, and nothing else is wrong.
 */
typedef struct sr_cached_t {
    apr_file_t *file; /* closed with the pool */
    apr_off_t size;
    apr_time_t made; /* or last found, when that was a day or more later */
} sr_cached_t;
/* False when there is none. */
bool sr_cache_get(sr_cached_t *cached, const char *root, const char *key, apr_pool_t *pool);
/* Makes the folder too, but none above it. A file that is there stays. Errors: SR_EUNAVAILABLE. */
sr_error_t *sr_cache_put(const char *root, const char *key, const void *data, apr_size_t length, apr_pool_t *pool);
/* The same from a file, which is read from its beginning. */
sr_error_t *sr_cache_copy(const char *root, const char *key, int descriptor, apr_off_t size, apr_pool_t *pool);
void sr_cache_remove(const char *root, const char *key, apr_pool_t *pool);
/* Whether a file of this size should be put: it has at most 4 MiB, and a tenth of the disk is free. */
bool sr_cache_has_room(const char *root, apr_off_t size);
/* After something was put: counts it, and deletes the oldest files if all have more than `limit` bytes. */
sr_error_t *sr_cache_count(const char *root, apr_off_t size, apr_off_t limit, apr_pool_t *pool);

typedef struct sr_cache_gc_t {
    apr_size_t kept, deleted;
    apr_off_t freed; /* bytes */
} sr_cache_gc_t;
/* Deletes what was not used since `before` (unless `dry_run`). httpd may run. */
sr_error_t *sr_cache_gc(sr_cache_gc_t *result, const char *root, apr_time_t before, bool dry_run, apr_pool_t *pool);

#endif
