/* SPDX-License-Identifier: Apache-2.0 */
/* private.h: what the files of src/blobs/ share. Nobody outside this folder includes it, but tests. */
#ifndef SR_BLOBS_PRIVATE_H
#define SR_BLOBS_PRIVATE_H

#include "blobs/blobs.h"

#include <sys/stat.h>

typedef struct sr_temporary_t sr_temporary_t;

/* One kind of storage. Every function is called by the function of blobs.h with the same name, whose comment says what
 * it does. `keep` makes a whole local file durable under a key; it may be called again with the same file and key. */
typedef struct sr_blobs_provider_t {
    const char *name;
    sr_error_t *(*keep)(sr_blobs_t *blobs, sr_temporary_t *file, const char *key, apr_pool_t *pool);
    sr_error_t *(*open)(sr_blob_t *blob, sr_blobs_t *blobs, const char *key, apr_pool_t *pool);
    sr_error_t *(*exists)(bool *there, sr_blobs_t *blobs, const char *key, apr_pool_t *pool);
    sr_error_t *(*list)(sr_blobs_t *blobs, sr_blobs_each_t each, void *baton, apr_pool_t *pool);
    sr_error_t *(*remove)(bool *removed, apr_off_t *size, sr_blobs_t *blobs, const char *key, apr_pool_t *pool);
} sr_blobs_provider_t;
extern const sr_blobs_provider_t sr_blobs_fs;

struct sr_blobs_t {
    const sr_blobs_provider_t *provider;
    const char *root;  /* the local folder; no slash at the end */
    const char *owner; /* whose reports are read and written, or NULL: none */
};

/* Where temporary files are that must have a name, in the root. */
#define SR_BLOBS_TEMPORARY "tmp"
/* Where removed blobs are for some time, in the root. */
#define SR_BLOBS_QUARANTINE "quarantine"

/* SR_EUNAVAILABLE, with errno in its cause: "linking /…/ab/cd/…: No space left on device". */
sr_error_t *sr_blobs_trouble(apr_pool_t *pool, const char *doing, const char *path);
/* <root>/ab/cd/<name> */
const char *sr_blobs_path(sr_blobs_t *blobs, const char *name, apr_pool_t *pool);
/* The path of the owner's report of a document, which may be absent. There must be an owner. */
const char *sr_reports_path(sr_blobs_t *blobs, const char *sha256, apr_pool_t *pool);
/* The rest of the name of a report, after the SHA-256: "." and an owner, or nothing, and ".json". */
bool sr_reports_is_name(const char *rest);
/* Whether a name is that of a blob: a SHA-256, and after a dot anything but a report. */
bool sr_blobs_is_key(const char *name);

/* ---------------------------------------------------------------------------------------------- temporary.c
 * A file that has no name until it is whole. It vanishes with its pool and with the process, unless it was linked.
 */
sr_error_t *sr_temporary_open(sr_temporary_t **temporary, const char *root, apr_pool_t *pool);
sr_error_t *sr_temporary_write(sr_temporary_t *temporary, const void *data, apr_size_t length);
/* Its content is on the disk when this returns. */
sr_error_t *sr_temporary_sync(sr_temporary_t *temporary);
/* Another descriptor, at offset 0 and unable to write; it is the caller's to close. */
sr_error_t *sr_temporary_reopen(int *descriptor, sr_temporary_t *temporary);
/* Gives it its name, in a folder that is there. When a file has that name already, *existed is true. */
sr_error_t *sr_temporary_link(bool *existed, sr_temporary_t *temporary, const char *path);
/* The same, in the place of whatever has that name: who opens it finds the one or the other, whole. */
sr_error_t *sr_temporary_replace(sr_temporary_t *temporary, const char *path);
/* Lets go of it at once. May be called again. */
void sr_temporary_drop(sr_temporary_t *temporary);

/* ------------------------------------------------------------------------------------------------ publish.c */
/* Gives a synced file its place; when this returns it is there for good, with all folders above it. */
sr_error_t *sr_blobs_publish(sr_blobs_t *blobs, sr_temporary_t *file, const char *key, apr_pool_t *pool);
/* Makes <root>/ab/cd, the folder of this name, if it is missing. */
sr_error_t *sr_blobs_make_folder(sr_blobs_t *blobs, const char *name, apr_pool_t *pool);
/* Makes what was linked in the root durable. */
sr_error_t *sr_blobs_sync_root(sr_blobs_t *blobs, apr_pool_t *pool);

/* ----------------------------------------------------------------------------------------------------- gc.c */
/* Moves a blob's file to the quarantine. *removed is false, and *size 0, if there is none. */
sr_error_t *sr_quarantine_put(bool *removed, apr_off_t *size, sr_blobs_t *blobs, const char *key, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------- cache.c cache_size.c
 * How much of the cache is how old: `sizes` by the number of an age.
 */
#define SR_CACHE_AGES 512
typedef struct sr_cache_ages_t {
    apr_off_t sizes[SR_CACHE_AGES], total;
} sr_cache_ages_t;
sr_error_t *sr_cache_measure(sr_cache_ages_t *ages, const char *root, apr_time_t now, apr_pool_t *pool);
/* The least age, in seconds, that has this number; and back. */
apr_int64_t sr_cache_age_of(int number);
int sr_cache_age_number(apr_int64_t seconds);

/* ------------------------------------------------------------------------------------------------- folder.c */
typedef struct sr_folder_t {
    int descriptor;   /* -1 once closed */
    const char *path; /* for messages */
    apr_pool_t *pool;
} sr_folder_t;
/* Opens a folder, which is closed with the pool or by sr_folder_close. *folder is NULL if there is none. Only the first
 * one may be a link: the administrator named it. */
sr_error_t *sr_folder_open(sr_folder_t **folder, const char *path, apr_pool_t *pool);
sr_error_t *sr_folder_below(sr_folder_t **folder, const sr_folder_t *parent, const char *name, apr_pool_t *pool);
void sr_folder_close(sr_folder_t *folder);
/* The names in it (const char *), without those that begin with a dot. */
sr_error_t *sr_folder_list(apr_array_header_t **names, const sr_folder_t *folder, apr_pool_t *pool);
/* False unless it is a regular file. */
bool sr_folder_find(struct stat *status, const sr_folder_t *folder, const char *name);
/* Makes the folder `name` if it is missing. */
sr_error_t *sr_folder_make(const sr_folder_t *parent, const char *name, apr_pool_t *pool);
/* Moves a file to another folder, where its time of change is now. *moved is false if there is no such file. */
sr_error_t *sr_folder_move(bool *moved, const sr_folder_t *from, const sr_folder_t *to, const char *name,
                           apr_pool_t *pool);
/* *deleted is false if somebody else was faster. */
sr_error_t *sr_folder_delete(bool *deleted, const sr_folder_t *folder, const char *name, apr_pool_t *pool);
/* Removes the folder `name` if it is empty. */
void sr_folder_delete_empty(const sr_folder_t *parent, const char *name);
/* Whether a name begins with so many hexadecimal digits, and whether it is two of them. */
bool sr_folder_is_hex(const char *name, apr_size_t length);
bool sr_folder_is_pair(const char *name);

#endif
