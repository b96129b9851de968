/* SPDX-License-Identifier: Apache-2.0 */
/* private.h: shared by the files of src/blobs/. Outside this folder only tests include it. */
#ifndef SR_BLOBS_PRIVATE_H
#define SR_BLOBS_PRIVATE_H

#include "blobs/blobs.h"

#include <sys/stat.h>

typedef struct sr_temporary_t sr_temporary_t;

/* A complete local file, and the key under which it is stored. */
typedef struct sr_kept_t {
    sr_temporary_t *file;
    const char *key;
    bool spare; /* the content is stored under another key */
} sr_kept_t;

/* A kind of storage. The function sr_blobs_<name> of blobs.h calls the member <name>, and its comment is the contract
 * of both. `keep` stores complete local files durably under their keys. It may be called again with the same files and
 * keys. */
typedef struct sr_blobs_provider_t {
    const char *name;
    sr_error_t *(*keep)(sr_blobs_t *blobs, const sr_kept_t *files, int count, apr_pool_t *pool);
    sr_error_t *(*open)(sr_blob_t *blob, sr_blobs_t *blobs, const char *key, apr_pool_t *pool);
    sr_error_t *(*exists)(bool *there, sr_blobs_t *blobs, const char *key, apr_pool_t *pool);
    sr_error_t *(*list)(sr_blobs_t *blobs, sr_blobs_each_t each, void *baton, apr_pool_t *pool);
    sr_error_t *(*remove)(bool *removed, apr_off_t *size, sr_blobs_t *blobs, const char *key, apr_pool_t *pool);
    sr_error_t *(*measure)(bool *there, apr_off_t *size, sr_blobs_t *blobs, const char *key, apr_pool_t *pool);
    sr_error_t *(*quarantine_has)(bool *there, sr_blobs_t *blobs, const char *key, apr_pool_t *pool);
    sr_error_t *(*quarantine_expire)(sr_blobs_gc_t *result, sr_blobs_t *blobs, apr_interval_time_t lifetime,
                                     bool dry_run, apr_pool_t *pool);
    /* Reads and writes the text of the file .database that all hosts share. *text is NULL if there is none. Both are
     * NULL if that is the file in the local folder. */
    sr_error_t *(*note_read)(const char **text, sr_blobs_t *blobs, apr_pool_t *pool);
    sr_error_t *(*note_write)(sr_blobs_t *blobs, const char *text, apr_pool_t *pool);
} sr_blobs_provider_t;
extern const sr_blobs_provider_t sr_blobs_fs, sr_blobs_s3;

struct sr_blobs_t {
    const sr_blobs_provider_t *provider;
    const char *root;    /* the local folder; no slash at the end */
    sr_bucket_t *bucket; /* of the provider "s3" */
    bool remote;         /* does not use the local cache */
    sr_blobs_t *also;    /* the place where missing blobs are read; or NULL */
    const char *owner;   /* the owner of the reports that are read and written; NULL: no reports */
};

/* The folder, in the root, of temporary files that need a name. */
#define SR_BLOBS_TEMPORARY "tmp"
/* The folder, in the root of a bucket, of the cache. */
#define SR_BLOBS_OBJECTS "objects"
/* The folder, in the root, of removed blobs. */
#define SR_BLOBS_QUARANTINE "quarantine"

/* Makes an SR_EUNAVAILABLE whose cause has the text of errno: "linking /…/ab/…: No space left on device". */
sr_error_t *sr_blobs_trouble(apr_pool_t *pool, const char *doing, const char *path);
/* <root>/ab/<name>, where a blob or a report is stored. */
const char *sr_blobs_path(const sr_blobs_t *blobs, const char *name, apr_pool_t *pool);
/* <root>/ab/cd/<name>, where earlier versions have stored it. */
const char *sr_blobs_former_path(const sr_blobs_t *blobs, const char *name, apr_pool_t *pool);
/* cached.c: <root>/objects/ab/cd/<key>.blob, where the cache of a bucket has a blob. */
const char *sr_blobs_cached_path(const sr_blobs_t *blobs, const char *key, apr_pool_t *pool);
/* The path of the owner's report of a document, whether it exists or not. There must be an owner. */
const char *sr_reports_path(const sr_blobs_t *blobs, const char *sha256, apr_pool_t *pool);
/* True if the rest of a name, after the SHA-256, is that of a report: an optional "." and owner, and ".json". */
bool sr_reports_is_name(const char *rest);
/* True if a name is that of a blob: a SHA-256, and optionally a dot and a rest that is not that of a report. */
bool sr_blobs_is_key(const char *name);

/* ---------------------------------------------------------------------------------------------- temporary.c
 * A file that has no name until it is complete. It is deleted with its pool and with the process, unless it was
 * linked.
 */
sr_error_t *sr_temporary_open(sr_temporary_t **temporary, const char *root, apr_pool_t *pool);
sr_error_t *sr_temporary_write(sr_temporary_t *temporary, const void *data, apr_size_t length);
/* Syncs the content. */
sr_error_t *sr_temporary_sync(sr_temporary_t *temporary);
/* The descriptor of the file, for writing. The file owns it. */
int sr_temporary_descriptor(const sr_temporary_t *temporary);
/* Lets the system begin to sync the content, so that sr_temporary_sync takes less time. Does not wait. */
void sr_temporary_begin_sync(sr_temporary_t *temporary);
/* Opens another descriptor, read-only and at offset 0. The caller closes it. */
sr_error_t *sr_temporary_reopen(int *descriptor, sr_temporary_t *temporary);
/* Links the file to its path. The folder must exist. *existed is true if a file has that path already. */
sr_error_t *sr_temporary_link(bool *existed, sr_temporary_t *temporary, const char *path);
/* The same, but atomically replaces a file that has that path: other processes find either the old file or the new
 * one. */
sr_error_t *sr_temporary_replace(sr_temporary_t *temporary, const char *path);
/* Closes and deletes the file, unless it was linked. May be called again. */
void sr_temporary_drop(sr_temporary_t *temporary);

/* ------------------------------------------------------------------------------------------------ commit.c */
/* Links files to the paths of their keys, and then syncs them and all folders above them. If that fails, the files have
 * no names. */
sr_error_t *sr_blobs_publish(sr_blobs_t *blobs, const sr_kept_t *files, int count, apr_pool_t *pool);
/* Makes <root>/ab, the folder of this name, if it is missing. */
sr_error_t *sr_blobs_make_folder(sr_blobs_t *blobs, const char *name, apr_pool_t *pool);
/* Syncs the root, so that links in it are durable. */
sr_error_t *sr_blobs_sync_root(sr_blobs_t *blobs, apr_pool_t *pool);

/* ----------------------------------------------------------------------------------------------------- gc.c */
/* Moves the file of a blob to the quarantine. *removed is false, and *size 0, if there is no file. */
sr_error_t *sr_quarantine_put(bool *removed, apr_off_t *size, sr_blobs_t *blobs, const char *key, apr_pool_t *pool);
/* The quarantine of the provider "fs". */
sr_error_t *sr_quarantine_find(bool *there, sr_blobs_t *blobs, const char *key, apr_pool_t *pool);
sr_error_t *sr_quarantine_delete_old(sr_blobs_gc_t *result, sr_blobs_t *blobs, apr_interval_time_t lifetime,
                                     bool dry_run, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------- cache.c cache_age.c
 * The bytes of the cache by age: `sizes` has a sum for each class of ages, of sr_cache_age_number.
 */
#define SR_CACHE_AGES 512
typedef struct sr_cache_ages_t {
    apr_off_t sizes[SR_CACHE_AGES], total;
} sr_cache_ages_t;
sr_error_t *sr_cache_measure(sr_cache_ages_t *ages, const char *root, apr_time_t now, apr_pool_t *pool);
/* sr_cache_age_of returns the least age, in seconds, of a class, and sr_cache_age_number the class of an age. */
apr_int64_t sr_cache_age_of(int number);
int sr_cache_age_number(apr_int64_t seconds);

/* ------------------------------------------------------------------------------------------------- walk.c */
typedef struct sr_folder_t {
    int descriptor;   /* -1 once closed */
    const char *path; /* for messages */
    apr_pool_t *pool;
} sr_folder_t;
/* Opens a folder, which is closed with the pool or by sr_folder_close. *folder is NULL if there is no such folder.
 * sr_folder_open follows a link, because the administrator chose the path; sr_folder_below does not. */
sr_error_t *sr_folder_open(sr_folder_t **folder, const char *path, apr_pool_t *pool);
sr_error_t *sr_folder_below(sr_folder_t **folder, const sr_folder_t *parent, const char *name, apr_pool_t *pool);
void sr_folder_close(sr_folder_t *folder);
/* Lists the names in a folder (const char *), without those that begin with a dot. */
sr_error_t *sr_folder_list(apr_array_header_t **names, const sr_folder_t *folder, apr_pool_t *pool);
/* Returns true if it is a regular file, and sets *status. */
bool sr_folder_find(struct stat *status, const sr_folder_t *folder, const char *name);
/* Makes the folder `name` if it is missing. */
sr_error_t *sr_folder_make(const sr_folder_t *parent, const char *name, apr_pool_t *pool);
/* Moves a file to another folder, and sets its modification time to now. *moved is false if there is no such file. */
sr_error_t *sr_folder_move(bool *moved, const sr_folder_t *from, const sr_folder_t *to, const char *name,
                           apr_pool_t *pool);
/* *deleted is false if there is no such file, for example because another process has deleted it. */
sr_error_t *sr_folder_delete(bool *deleted, const sr_folder_t *folder, const char *name, apr_pool_t *pool);
/* Removes the folder `name` if it is empty. */
void sr_folder_delete_empty(const sr_folder_t *parent, const char *name);
/* sr_folder_is_hex is true if a name begins with this number of hexadecimal digits, sr_folder_is_pair if it is
 * exactly two. */
bool sr_folder_is_hex(const char *name, apr_size_t length);
bool sr_folder_is_pair(const char *name);

#endif
