/* SPDX-License-Identifier: Apache-2.0 */
/* blobs.h: stored contents that never change: uploaded documents, the revisions that signatures append, and
 * certificates of completion. A content is stored under a key, which begins with the SHA-256 of the content. The caller
 * chooses the key.
 *
 * Sections: blobs.c · fs.c · s3.c · cached.c · writer.c · joined.c · reports.c · binding.c · gc.c · lock.c · cache.c
 *
 * A kind of storage is a provider (sr_blobs_provider_t in private.h), a table of functions that store, open, list and
 * remove blobs. "fs" stores them as files in a folder, "s3" as objects in a bucket. Every provider also needs a local
 * folder, for unnamed files and reports. Callers always read local files.
 */
#ifndef SR_BLOBS_BLOBS_H
#define SR_BLOBS_BLOBS_H

#include <apr_buckets.h>
#include <apr_file_io.h>

#include "base/base.h"
#include "blobs/s3/s3.h"

/* ------------------------------------------------------------------------------------------------- blobs.c
 * The storage of blobs. `root` is a folder of this machine. The provider "fs" stores a blob as the file
 * <root>/ab/<key>.
 */
typedef struct sr_blobs_t sr_blobs_t;

/* Opens a folder that exists, for the provider "fs". Errors: SR_EUNAVAILABLE. */
sr_error_t *sr_blobs_folder(sr_blobs_t **blobs, const char *root, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------------- s3.c
 * A bucket of an S3-compatible object store, and the local folder of this host for it. A blob is the object
 * <prefix>ab/<key>, the name that it has in a folder. What was stored or fetched is also in <folder>/objects, as a
 * cache: files that are used least recently are deleted if it exceeds `limit` bytes. A process makes a bucket once,
 * after a fork and before its threads start.
 */
typedef struct sr_bucket_t sr_bucket_t;
/* Makes the folder, but none above it. Errors: SR_EUNAVAILABLE. */
sr_error_t *sr_bucket_create(sr_bucket_t **bucket, const sr_s3_options_t *options, const char *folder, apr_off_t limit,
                             apr_pool_t *pool);
/* "s3://bucket/prefix", and the local folder */
const char *sr_bucket_name(const sr_bucket_t *bucket);
const char *sr_bucket_folder(const sr_bucket_t *bucket);
/* Opens a bucket. `remote`: the cache is not used, so that what is read is what the bucket has. */
sr_error_t *sr_blobs_bucket(sr_blobs_t **blobs, sr_bucket_t *bucket, bool remote, apr_pool_t *pool);

/* Where blobs are: a folder, or a bucket and its local folder. */
typedef struct sr_place_t {
    const char *root;
    sr_bucket_t *bucket; /* or NULL */
} sr_place_t;
/* Where blobs are stored, and while they are moved from one place to another, where they are also read from. */
typedef struct sr_storage_t {
    sr_place_t main, also; /* also.root NULL: nowhere */
} sr_storage_t;
/* Opens a place. */
sr_error_t *sr_blobs_place(sr_blobs_t **blobs, const sr_place_t *place, apr_pool_t *pool);
/* While blobs are moved from one place to another: those that `blobs` does not have are read from `also`. Blobs are
 * stored in `blobs` alone, but they are listed and removed in both. */
sr_error_t *sr_blobs_read_also(sr_blobs_t *blobs, const sr_place_t *also, apr_pool_t *pool);

/* A stored blob as a local, read-only file at offset 0. It is closed with the pool. */
typedef struct sr_blob_t {
    apr_file_t *file;
    apr_off_t size;
} sr_blob_t;
/* Errors: SR_EUNAVAILABLE, also if no blob has this key. */
sr_error_t *sr_blobs_open(sr_blob_t *blob, sr_blobs_t *blobs, const char *key, apr_pool_t *pool);
/* The same, but sets only the descriptor. */
sr_error_t *sr_blobs_reader(int *descriptor, sr_blobs_t *blobs, const char *key, apr_pool_t *pool);
/* Adds a blob to the end of a brigade. The buckets are files, so httpd can use sendfile(). */
void sr_blob_append(apr_bucket_brigade *brigade, const sr_blob_t *blob, apr_pool_t *pool);
/* Returns true if blobs are in a bucket, which is slow to ask. */
bool sr_blobs_is_bucket(const sr_blobs_t *blobs);
sr_error_t *sr_blobs_exists(bool *there, sr_blobs_t *blobs, const char *key, apr_pool_t *pool);

/* The same without the cache of a bucket, and with the size of the blob. */
sr_error_t *sr_blobs_measure(bool *there, apr_off_t *size, sr_blobs_t *blobs, const char *key, apr_pool_t *pool);

/* Calls `each` for every stored blob, in no particular order. An error of `each` ends the walk and is returned. The
 * pool of `each` is cleared after each call. */
typedef sr_error_t *(*sr_blobs_each_t)(void *baton, const char *key, apr_off_t size, apr_pool_t *pool);
sr_error_t *sr_blobs_list(sr_blobs_t *blobs, sr_blobs_each_t each, void *baton, apr_pool_t *pool);
/* cached.c: the same for the blobs in the cache on this host. There are none without a bucket. */
sr_error_t *sr_blobs_list_cached(sr_blobs_t *blobs, sr_blobs_each_t each, void *baton, apr_pool_t *pool);
/* Deletes a blob from the cache. */
void sr_blobs_uncache(sr_blobs_t *blobs, const char *key, apr_pool_t *pool);
/* Moves a blob to the quarantine. *removed is false, and *size 0, if no blob has this key. */
sr_error_t *sr_blobs_remove(bool *removed, apr_off_t *size, sr_blobs_t *blobs, const char *key, apr_pool_t *pool);
/* Checks that blobs can be stored: writes and syncs an unnamed file, and asks the bucket. Errors: SR_EUNAVAILABLE. */
sr_error_t *sr_blobs_probe(sr_blobs_t *blobs, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------- writer.c
 * A blob that is being written. It is in memory while it is small, and then in an unnamed file (O_TMPFILE), which
 * the kernel removes if the process dies. If the file system has no unnamed files, it is in <root>/tmp and is
 * unlinked with the pool.
 */
typedef struct sr_blob_writer_t sr_blob_writer_t;
sr_error_t *sr_blobs_begin(sr_blob_writer_t **writer, sr_blobs_t *blobs, apr_pool_t *pool);
sr_error_t *sr_blobs_write(sr_blob_writer_t *writer, const void *data, apr_size_t length);
/* Ends the content. Sets its SHA-256 (in the writer's pool) and its size in bytes. Returns the error of a write that
 * failed. */
sr_error_t *sr_blobs_end(sr_blob_writer_t *writer, const char **sha256, apr_off_t *size);
/* The first bytes of the content, at most 4,096, to detect its type. */
void sr_blobs_head(const sr_blob_writer_t *writer, const char **head, apr_size_t *length);
/* A read-only descriptor of the content at offset 0, for the PDF helper. The writer owns it. */
sr_error_t *sr_blobs_descriptor(sr_blob_writer_t *writer, int *descriptor);
/* `spare`: the content is stored under another key, and the transaction that needs it fails if it is not. So nobody
 * reads what sr_blobs_commit stores, and a bucket is not asked whether it has kept it. */
void sr_blobs_spare(sr_blob_writer_t *writer, bool spare);
/* Stores the content durably under this key, with its report (or NULL). May be repeated with the same key or another
 * one. */
sr_error_t *sr_blobs_commit(sr_blob_writer_t *writer, const char *key, const char *report);
/* Closes the file and frees the memory now instead of with the pool. */
void sr_blobs_drop(sr_blob_writer_t *writer);
/* A content, and the key under which it is stored. */
typedef struct sr_blob_part_t {
    const char *key;
    const void *data;
    apr_size_t length;
} sr_blob_part_t;
/* Stores several contents durably. This waits for the disk less often than storing them one after the other. */
sr_error_t *sr_blobs_put_all(sr_blobs_t *blobs, const sr_blob_part_t *parts, int count, apr_pool_t *pool);
/* Stores one content durably under this key. */
sr_error_t *sr_blobs_put(sr_blobs_t *blobs, const char *key, const void *data, apr_size_t length, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------- joined.c
 * A document: the concatenation of blobs (const char *, their keys). A document of up to 4 MiB is in memory. A
 * larger one of several blobs is a temporary file. A larger one of a single blob is read directly, unless it will be
 * extended.
 */
typedef struct sr_joined_t {
    int descriptor;     /* read-only, at offset 0; closed with the pool */
    apr_off_t size;     /* of all */
    const char *sha256; /* of the blobs as they were read, to compare it with the expected one */
    /* The digest of all bytes, also of those that sr_blobs_extend has added, so that they need not be read again. */
    sr_sha256_t *digest;
    int memory;                  /* private: the same file for writing, or -1 */
    struct sr_temporary_t *file; /* private: the same, or NULL */
} sr_joined_t;
/* `extended`: true if sr_blobs_extend will be called. Errors: SR_EUNAVAILABLE. */
sr_error_t *sr_blobs_join(sr_joined_t *joined, sr_blobs_t *blobs, const apr_array_header_t *keys, bool extended,
                          apr_pool_t *pool);
/* The same, always in memory, for reading a document when the disk is full. It can be extended. */
sr_error_t *sr_blobs_join_in_memory(sr_joined_t *joined, sr_blobs_t *blobs, const apr_array_header_t *keys,
                                    apr_pool_t *pool);
/* Appends bytes, which are not stored as a blob. The descriptor reads them, too. */
sr_error_t *sr_blobs_extend(sr_joined_t *joined, const void *tail, apr_size_t length, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------- reports.c
 * The result of a probe, as text: <root>/ab/<sha256>.<owner>.json. An owner is a digest of organisation and
 * environment, so no report tells what others have uploaded, and a wrong report that a hostile document has caused
 * affects only its owner. A report only saves work: it is not synced, and it may be lost.
 */
/* Sets the owner whose reports are read and written (sr_owner_of). Without an owner there are no reports. */
void sr_blobs_own(sr_blobs_t *blobs, const char *owner);
/* *report is NULL if the owner has no report of this document. */
sr_error_t *sr_reports_read(const char **report, sr_blobs_t *blobs, const char *sha256, apr_pool_t *pool);
/* Replaces the report atomically. The system begins to write it to the disk. */
sr_error_t *sr_reports_write(sr_blobs_t *blobs, const char *sha256, const char *report, apr_pool_t *pool);
/* Deletes the owner's report of a document, if there is one. */
void sr_reports_remove(sr_blobs_t *blobs, const char *sha256, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------- binding.c
 * The file .database of a folder has two uuids: that of the database that the folder belongs to, and the folder's
 * own one.
 */
/* Reads both uuids. They are NULL if the folder does not belong to a database yet. Errors: SR_EUNAVAILABLE, also if
 * the file does not contain two uuids. */
sr_error_t *sr_blobs_binding(const char **database, const char **folder, sr_blobs_t *blobs, apr_pool_t *pool);
/* Writes the uuid of the database, durably. If the file has one, it stays, or (`replace`) is replaced. The folder
 * keeps its own uuid. */
sr_error_t *sr_blobs_bind(sr_blobs_t *blobs, const char *uuid, bool replace, apr_pool_t *pool);
/* Writes both uuids, durably, to a folder that does not belong to a database yet. Errors: SR_EUNAVAILABLE if it has
 * others. */
sr_error_t *sr_blobs_bind_as(sr_blobs_t *blobs, const char *database, const char *folder, apr_pool_t *pool);
/* Reads both uuids again where all hosts find them. A bucket has them as the object .database; the local file is a copy
 * of it, which sr_blobs_binding reads. */
sr_error_t *sr_blobs_binding_refresh(sr_blobs_t *blobs, apr_pool_t *pool);
/* Compares the database, and writes its uuid if the folder does not belong to a database yet. Errors:
 * SR_EUNAVAILABLE if the folder belongs to another database; the cause says what to do. */
sr_error_t *sr_blobs_check(sr_blobs_t *blobs, const char *uuid, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------- lock.c
 * A lock for each key, for all threads and processes of this machine. sr_file_lock_take waits until `until`
 * (sr_time_steady) and then returns SR_EUNAVAILABLE. The lock ends with the pool, with the process, or by
 * sr_file_lock_release.
 */
typedef struct sr_file_lock_t sr_file_lock_t;
sr_error_t *sr_file_lock_take(sr_file_lock_t **lock, sr_blobs_t *blobs, const char *key, apr_time_t until,
                              apr_pool_t *pool);
void sr_file_lock_release(sr_file_lock_t *lock);

/* ------------------------------------------------------------------------------------------------- gc.c
 * What `sigreqctl gc` deletes besides blobs (sr_blobs_remove). The database decides which blobs may be removed
 * (store/pgsql/blobs.sql).
 */
typedef struct sr_blobs_gc_t {
    apr_size_t deleted;
    apr_off_t freed; /* bytes */
} sr_blobs_gc_t;
/* Deletes the files of the quarantine that were removed at least `lifetime` ago. With `dry_run` it only counts. */
sr_error_t *sr_quarantine_expire(sr_blobs_gc_t *result, sr_blobs_t *blobs, apr_interval_time_t lifetime, bool dry_run,
                                 apr_pool_t *pool);
/* *there is true if the quarantine has this blob. */
sr_error_t *sr_quarantine_has(bool *there, sr_blobs_t *blobs, const char *key, apr_pool_t *pool);
/* Deletes temporary files that are older than an hour. Killed processes leave them. */
sr_error_t *sr_temporary_expire(sr_blobs_gc_t *result, sr_blobs_t *blobs, bool dry_run, apr_pool_t *pool);
/* Deletes the reports that all owners have of a document. */
sr_error_t *sr_reports_forget(sr_blobs_t *blobs, const char *sha256, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ cache.c
 * A cache of files that can be made again: <root>/ab/cd/<key>. A key is a digest (64 hexadecimal digits) of what the
 * file is made from, a dot, and then lower-case letters, digits and at least one more dot: "<sha256>.0.800.png". A
 * file is found only if it is complete. Files are not synced. If the folder cannot be written, nothing is cached,
 * and everything else works.
 */
typedef struct sr_cached_t {
    apr_file_t *file; /* closed with the pool */
    apr_off_t size;
    apr_time_t made; /* or a later time at which it was found, exact to a day */
} sr_cached_t;
/* Returns false if there is no such file. */
bool sr_cache_get(sr_cached_t *cached, const char *root, const char *key, apr_pool_t *pool);
/* Makes `root`, too, but no folder above it. A file that exists is kept. Errors: SR_EUNAVAILABLE. */
sr_error_t *sr_cache_put(const char *root, const char *key, const void *data, apr_size_t length, apr_pool_t *pool);
/* The same with the content of a file, which is read from its beginning. */
sr_error_t *sr_cache_copy(const char *root, const char *key, int descriptor, apr_off_t size, apr_pool_t *pool);
void sr_cache_remove(const char *root, const char *key, apr_pool_t *pool);
/* Removes all files whose keys begin with `begin`, a SHA-256 and more. */
sr_error_t *sr_cache_forget(const char *root, const char *begin, apr_pool_t *pool);
/* True if a file of this size should be cached: it has at most 4 MiB, and a tenth of the disk is free. */
bool sr_cache_has_room(const char *root, apr_off_t size);
/* Must be called after sr_cache_put. Adds to the size of the cache, and deletes the oldest files if it exceeds
 * `limit` bytes. *total is the size now (-1: not known); or NULL. */
sr_error_t *sr_cache_count(apr_off_t *total, const char *root, apr_off_t size, apr_off_t limit, apr_pool_t *pool);

typedef struct sr_cache_gc_t {
    apr_size_t kept, deleted;
    apr_off_t freed; /* bytes */
} sr_cache_gc_t;
/* Deletes the files that were not used since `before`. With `dry_run` it only counts. httpd may run at the same
 * time. */
sr_error_t *sr_cache_gc(sr_cache_gc_t *result, const char *root, apr_time_t before, bool dry_run, apr_pool_t *pool);

#endif
