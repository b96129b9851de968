/* SPDX-License-Identifier: Apache-2.0 */
/* s3.c: the provider "s3": a blob is the object <prefix>ab/<key> of a bucket, which never changes. Everything is read
 * from local files: <root>/objects/ab/cd/<key>.blob is a cache. A blob is fetched into a file without a name, and gets
 * its name when its SHA-256 is right. Files of the cache are not synced. So each process reads the whole of a file and
 * compares its SHA-256 before it uses it for the first time, and again after the file has changed. */
#include "blobs/private.h"

#include <apr_thread_mutex.h>

#include <apr_portable.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "metrics/metrics.h"

#define VERIFIED 4096
#define PIECE ((apr_size_t)64 << 10)
#define TOUCH_AFTER 86400L /* seconds, so that reading a file rarely writes */
#define NOTE ".database"
#define NOTE_MOST 200         /* bytes of its text that are read */
#define NOTE_OBJECT_MOST 4096 /* a larger object is an error */
#define QUARANTINE "quarantine/"

/* A file of the cache whose content was compared. Every change of a file changes its ctime. */
typedef struct verified_t {
    dev_t device;
    ino_t inode;
    apr_off_t size;
    struct timespec changed;
} verified_t;

struct sr_bucket_t {
    sr_s3_t *s3;
    const char *name, *folder, *objects;
    apr_off_t limit;
    apr_thread_mutex_t *mutex; /* of `verified` */
    verified_t verified[VERIFIED];
};

static sr_error_t *s3_make_folder(const char *path, apr_pool_t *pool)
{
    if (mkdir(path, 0700) == 0 || errno == EEXIST) return NULL;
    return sr_blobs_trouble(pool, "making the folder", path);
}

sr_error_t *sr_bucket_create(sr_bucket_t **bucket, const sr_s3_options_t *options, const char *folder, apr_off_t limit,
                             apr_pool_t *pool)
{
    sr_bucket_t *made = *bucket = apr_pcalloc(pool, sizeof *made);
    SR_TRY(sr_s3_create(&made->s3, options, pool));
    made->name = sr_s3_name(made->s3, pool);
    made->folder = folder;
    made->objects = apr_pstrcat(pool, folder, "/" SR_BLOBS_OBJECTS, NULL);
    made->limit = limit;
    const apr_status_t status = apr_thread_mutex_create(&made->mutex, APR_THREAD_MUTEX_DEFAULT, pool);
    if (status) return sr_error(pool, SR_EINTERNAL, "no mutex: %pm", &status);
    SR_TRY(s3_make_folder(folder, pool));
    return s3_make_folder(made->objects, pool);
}

const char *sr_bucket_name(const sr_bucket_t *bucket)
{
    return bucket->name;
}

const char *sr_bucket_folder(const sr_bucket_t *bucket)
{
    return bucket->folder;
}

sr_error_t *sr_blobs_bucket(sr_blobs_t **blobs, sr_bucket_t *bucket, bool remote, apr_pool_t *pool)
{
    sr_blobs_t *made = *blobs = apr_pcalloc(pool, sizeof *made);
    (void)mkdir(bucket->folder, 0700); /* if it was removed under way */
    (void)mkdir(bucket->objects, 0700);
    *made = (sr_blobs_t){.provider = &sr_blobs_s3, .root = bucket->folder, .bucket = bucket, .remote = remote};
    return NULL;
}

static const char *s3_object_of(const char *key, apr_pool_t *pool)
{
    return apr_psprintf(pool, "%.2s/%s", key, key);
}

static const char *sha256_of(const char *key, apr_pool_t *pool)
{
    return apr_pstrndup(pool, key, SR_SHA256_HEX_LENGTH);
}

/* --- which files of the cache were compared */

static verified_t identity_of(const struct stat *status)
{
    verified_t identity;
    memset(&identity, 0, sizeof identity); /* compared as bytes */
    identity.device = status->st_dev;
    identity.inode = status->st_ino;
    identity.size = status->st_size;
    identity.changed = status->st_ctim;
    return identity;
}

static bool is_verified(sr_bucket_t *bucket, const struct stat *status)
{
    const verified_t identity = identity_of(status);
    apr_thread_mutex_lock(bucket->mutex);
    const bool found = memcmp(&bucket->verified[identity.inode % VERIFIED], &identity, sizeof identity) == 0;
    apr_thread_mutex_unlock(bucket->mutex);
    return found;
}

static void note_verified(sr_bucket_t *bucket, const struct stat *status)
{
    const verified_t identity = identity_of(status);
    apr_thread_mutex_lock(bucket->mutex);
    memcpy(&bucket->verified[identity.inode % VERIFIED], &identity, sizeof identity);
    apr_thread_mutex_unlock(bucket->mutex);
}

static bool has_sha256(int descriptor, const char *sha256, apr_pool_t *pool)
{
    sr_sha256_t *digest = sr_sha256_begin(pool);
    char *piece = apr_palloc(pool, PIECE);
    apr_ssize_t got = 0;
    for (apr_off_t at = 0; (got = sr_descriptor_read(descriptor, piece, PIECE, at)) > 0; at += got)
        sr_sha256_update(digest, piece, (apr_size_t)got);
    return got == 0 && strcmp(sr_sha256_end_hex(digest, pool), sha256) == 0;
}

/* --- the cache */

static apr_status_t s3_open_file(sr_blob_t *blob, struct stat *status, const char *path, apr_pool_t *pool)
{
    const apr_int32_t flags = APR_FOPEN_READ | APR_FOPEN_BINARY | APR_FOPEN_SENDFILE_ENABLED;
    apr_os_file_t descriptor;
    const apr_status_t result = apr_file_open(&blob->file, path, flags, APR_OS_DEFAULT, pool);
    if (result) return result;
    apr_os_file_get(&descriptor, blob->file);
    if (fstat(descriptor, status) != 0) return errno;
    blob->size = status->st_size;
    return APR_SUCCESS;
}

/* Returns false if the cache does not have the blob. A file with another content is deleted. */
static bool open_cached(sr_blob_t *blob, sr_blobs_t *blobs, const char *key, apr_pool_t *pool)
{
    const char *path = sr_blobs_cached_path(blobs, key, pool);
    apr_os_file_t descriptor;
    struct stat status;
    if (blobs->remote || s3_open_file(blob, &status, path, pool)) return false;
    apr_os_file_get(&descriptor, blob->file);
    if (!is_verified(blobs->bucket, &status)) {
        if (!has_sha256(descriptor, sha256_of(key, pool), pool)) {
            apr_file_close(blob->file);
            (void)unlink(path);
            return false;
        }
        note_verified(blobs->bucket, &status);
    }
    /* the modification time is that of the last use, because file systems need not store access times */
    if (apr_time_sec(sr_time_now()) - status.st_mtime > TOUCH_AFTER) (void)futimens(descriptor, NULL);
    return true;
}

/* Links a file whose content is right. If that fails, the blob is not cached. The oldest files are deleted if the cache
 * has become too large. */
static void cache(sr_blobs_t *blobs, sr_temporary_t *file, const char *key, apr_off_t size, apr_pool_t *pool)
{
    const char *path = sr_blobs_cached_path(blobs, key, pool);
    struct stat status;
    bool existed;
    (void)mkdir(apr_psprintf(pool, "%s/%.2s", blobs->bucket->objects, key), 0700);
    (void)mkdir(apr_psprintf(pool, "%s/%.2s/%.2s", blobs->bucket->objects, key, key + 2), 0700);
    if (sr_temporary_link(&existed, file, path) || existed) return;
    if (fstat(sr_temporary_descriptor(file), &status) == 0) note_verified(blobs->bucket, &status);
    apr_off_t total = -1;
    (void)sr_cache_count(&total, blobs->bucket->objects, size, blobs->bucket->limit, pool);
    if (total >= 0) sr_metrics_set(SR_METRIC_CACHE_SIZE, 0, 0, (apr_uint64_t)total);
}

/* --- fetching */

static sr_error_t *open_descriptor(sr_blob_t *blob, int descriptor, apr_pool_t *pool)
{
    struct stat status;
    errno = s3_open_file(blob, &status, apr_psprintf(pool, "/proc/self/fd/%d", descriptor), pool);
    return errno ? sr_blobs_trouble(pool, "reopening", "a fetched object") : NULL;
}

/* For a disk that is full. */
static sr_error_t *fetch_into_memory(sr_blob_t *blob, sr_blobs_t *blobs, const char *key, apr_pool_t *pool)
{
    const int memory = memfd_create("sigreq-blob", MFD_CLOEXEC);
    apr_off_t size;
    if (memory < 0) return sr_blobs_trouble(pool, "making a file in", "memory");
    sr_error_t *error =
        sr_s3_get(&size, blobs->bucket->s3, s3_object_of(key, pool), sha256_of(key, pool), memory, pool);
    if (!error) error = open_descriptor(blob, memory, pool);
    close(memory);
    return error;
}

static sr_error_t *s3_fetch(sr_blob_t *blob, sr_blobs_t *blobs, const char *key, apr_pool_t *pool)
{
    sr_temporary_t *file;
    apr_off_t size = 0;
    if (sr_temporary_open(&file, blobs->root, pool)) return fetch_into_memory(blob, blobs, key, pool);
    sr_error_t *error = sr_s3_get(&size, blobs->bucket->s3, s3_object_of(key, pool), sha256_of(key, pool),
                                  sr_temporary_descriptor(file), pool);
    if (!error) error = open_descriptor(blob, sr_temporary_descriptor(file), pool);
    if (!error && !blobs->remote) cache(blobs, file, key, size, pool);
    sr_temporary_drop(file);
    return error && size < 0 ? fetch_into_memory(blob, blobs, key, pool) : error;
}

static sr_error_t *s3_open(sr_blob_t *blob, sr_blobs_t *blobs, const char *key, apr_pool_t *pool)
{
    const bool cached = open_cached(blob, blobs, key, pool);
    if (!cached) SR_TRY(s3_fetch(blob, blobs, key, pool));
    const sr_cached_result_t result = cached ? SR_CACHED_HIT : SR_CACHED_MISS;
    sr_metrics_count(SR_METRIC_CACHE_READS, (int)result, 0, 1);
    sr_metrics_count(SR_METRIC_CACHE_BYTES, (int)result, 0, (apr_uint64_t)blob->size);
    return NULL;
}

/* --- storing */

static sr_error_t *keep_one(sr_blobs_t *blobs, const sr_kept_t *kept, apr_pool_t *pool)
{
    struct stat status;
    int descriptor;
    SR_TRY(sr_temporary_reopen(&descriptor, kept->file));
    sr_error_t *error = NULL;
    if (fstat(descriptor, &status) != 0) error = sr_blobs_trouble(pool, "looking at", "a file");
    if (!error)
        error = (kept->spare ? sr_s3_send : sr_s3_put)(blobs->bucket->s3, s3_object_of(kept->key, pool), descriptor,
                                                       status.st_size, sha256_of(kept->key, pool), pool);
    close(descriptor);
    SR_TRY(error);
    if (!blobs->remote) cache(blobs, kept->file, kept->key, status.st_size, pool);
    return NULL;
}

static sr_error_t *s3_keep(sr_blobs_t *blobs, const sr_kept_t *files, int count, apr_pool_t *pool)
{
    for (int i = 0; i < count; i++) SR_TRY(keep_one(blobs, &files[i], pool));
    return NULL;
}

static sr_error_t *s3_measure(bool *there, apr_off_t *size, sr_blobs_t *blobs, const char *key, apr_pool_t *pool)
{
    return sr_s3_head(there, size, blobs->bucket->s3, s3_object_of(key, pool), pool);
}

static sr_error_t *s3_exists(bool *there, sr_blobs_t *blobs, const char *key, apr_pool_t *pool)
{
    apr_off_t size;
    *there = !blobs->remote && access(sr_blobs_cached_path(blobs, key, pool), F_OK) == 0;
    return *there ? NULL : s3_measure(there, &size, blobs, key, pool);
}

/* --- all blobs */

typedef struct listing_t {
    sr_blobs_each_t each;
    void *baton;
} listing_t;

static sr_error_t *list_one(void *baton, const sr_s3_object_t *object, apr_pool_t *pool)
{
    const listing_t *listing = baton;
    const char *key = strlen(object->key) > 3 && object->key[2] == '/' ? object->key + 3 : "";
    if (!sr_blobs_is_key(key) || strncmp(object->key, key, 2) != 0) return NULL;
    return listing->each(listing->baton, key, object->size, pool);
}

static sr_error_t *s3_list(sr_blobs_t *blobs, sr_blobs_each_t each, void *baton, apr_pool_t *pool)
{
    listing_t listing = {each, baton};
    return sr_s3_list(blobs->bucket->s3, "", list_one, &listing, pool);
}

/* --- the quarantine: objects <prefix>quarantine/<key> */

static const char *quarantined(const char *key, apr_pool_t *pool)
{
    return apr_pstrcat(pool, QUARANTINE, key, NULL);
}

/* The object is deleted when its copy is there. A process that dies in between leaves both, and this is repeated. */
static sr_error_t *s3_remove(bool *removed, apr_off_t *size, sr_blobs_t *blobs, const char *key, apr_pool_t *pool)
{
    sr_s3_t *s3 = blobs->bucket->s3;
    const char *object = s3_object_of(key, pool), *copy = quarantined(key, pool);
    apr_off_t copied;
    bool there;
    sr_blobs_uncache(blobs, key, pool);
    SR_TRY(sr_s3_head(removed, size, s3, object, pool));
    if (!*removed) return NULL;
    SR_TRY(sr_s3_copy(s3, object, copy, pool));
    SR_TRY(sr_s3_head(&there, &copied, s3, copy, pool));
    if (there && copied == *size) return sr_s3_delete(s3, object, pool);
    return sr_error_because(
        sr_error(pool, SR_EUNAVAILABLE, "Documents cannot be stored at the moment, try again later"), pool,
        "%s%s was not copied to the quarantine", blobs->bucket->name, object);
}

static sr_error_t *s3_quarantine_has(bool *there, sr_blobs_t *blobs, const char *key, apr_pool_t *pool)
{
    apr_off_t size;
    return sr_s3_head(there, &size, blobs->bucket->s3, quarantined(key, pool), pool);
}

typedef struct expiry_t {
    sr_blobs_gc_t *result;
    sr_s3_t *s3;
    apr_time_t before;
    bool dry_run;
} expiry_t;

static sr_error_t *expire_one(void *baton, const sr_s3_object_t *object, apr_pool_t *pool)
{
    const expiry_t *expiry = baton;
    if (!sr_blobs_is_key(object->key + sizeof QUARANTINE - 1)) return NULL;
    if (!object->modified || object->modified > expiry->before) return NULL;
    if (!expiry->dry_run) SR_TRY(sr_s3_delete(expiry->s3, object->key, pool));
    expiry->result->deleted++;
    expiry->result->freed += object->size;
    return NULL;
}

static sr_error_t *s3_quarantine_expire(sr_blobs_gc_t *result, sr_blobs_t *blobs, apr_interval_time_t lifetime,
                                        bool dry_run, apr_pool_t *pool)
{
    /* servers round times, so without a lifetime no time is compared */
    expiry_t expiry = {result, blobs->bucket->s3, lifetime ? sr_time_now() - lifetime : APR_INT64_MAX, dry_run};

    *result = (sr_blobs_gc_t){0};
    return sr_s3_list(blobs->bucket->s3, QUARANTINE, expire_one, &expiry, pool);
}

/* --- the object .database */

static sr_error_t *s3_note_read(const char **text, sr_blobs_t *blobs, apr_pool_t *pool)
{
    const int memory = memfd_create("sigreq-note", MFD_CLOEXEC);
    char *bytes = apr_pcalloc(pool, NOTE_MOST + 1);
    apr_off_t size;
    bool there = false;
    *text = NULL;
    if (memory < 0) return sr_blobs_trouble(pool, "making a file in", "memory");
    sr_error_t *error = sr_s3_find(&there, &size, blobs->bucket->s3, NOTE, memory, NOTE_OBJECT_MOST, pool);
    if (!error && there && sr_descriptor_read(memory, bytes, NOTE_MOST, 0) < 0)
        error = sr_blobs_trouble(pool, "reading", "memory");
    close(memory);
    if (there) *text = bytes;
    return error;
}

static sr_error_t *s3_note_write(sr_blobs_t *blobs, const char *text, apr_pool_t *pool)
{
    const apr_size_t length = strlen(text);
    const int memory = memfd_create("sigreq-note", MFD_CLOEXEC);
    if (memory < 0) return sr_blobs_trouble(pool, "making a file in", "memory");
    sr_error_t *error =
        write(memory, text, length) == (ssize_t)length
            ? sr_s3_put(blobs->bucket->s3, NOTE, memory, (apr_off_t)length, sr_sha256_hex(text, length, pool), pool)
            : sr_blobs_trouble(pool, "writing to", "memory");
    close(memory);
    return error;
}

const sr_blobs_provider_t sr_blobs_s3 = {.name = "s3",
                                         .keep = s3_keep,
                                         .open = s3_open,
                                         .exists = s3_exists,
                                         .list = s3_list,
                                         .remove = s3_remove,
                                         .measure = s3_measure,
                                         .quarantine_has = s3_quarantine_has,
                                         .quarantine_expire = s3_quarantine_expire,
                                         .note_read = s3_note_read,
                                         .note_write = s3_note_write};
