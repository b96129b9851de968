/* SPDX-License-Identifier: Apache-2.0 */
/* proof_cache.c: the sets of proofs in the memory of a process. A set that is in use stays until its last user has
 * ended, also after a newer one has replaced it. */
#include "authorities/proof_private.h"

#include <apr_hash.h>
#include <apr_thread_mutex.h>
#include <string.h>
#include <sys/stat.h>

#define ENTRIES_MOST 65536 /* more than chains of own seals and of authorities */
#define LIST_AFTER apr_time_from_sec(1)
#define ASK_AFTER apr_time_from_sec(3600)

typedef struct set_t {
    apr_pool_t *pool;
    const sr_proofs_t *proofs;
    int users; /* the entry is one of them */
    sr_proof_cache_t *cache;
} set_t;

typedef struct entry_t {
    struct stat file; /* of the set; st_ino 0: none was read */
    set_t *set;
} entry_t;

struct sr_proof_cache_t {
    const char *folder;
    apr_pool_t *pool;
    apr_thread_mutex_t *mutex;
    apr_hash_t *entries;        /* SHA-256 → entry_t */
    apr_hash_t *names;          /* name → apr_time_t, see sr_proof_cache_is_time */
    apr_pool_t *listed;         /* the pool of `wanted` */
    apr_array_header_t *wanted; /* const char *: SHA-256 of the chains that somebody has asked for */
    apr_time_t listed_at;
    struct timespec changed; /* the folder, before it was listed */
};

static void set_leave(set_t *set)
{
    if (set && !--set->users) apr_pool_destroy(set->pool);
}

static apr_status_t user_end(void *data)
{
    set_t *set = data;
    sr_proof_cache_t *cache = set->cache;
    apr_thread_mutex_lock(cache->mutex);
    set_leave(set);
    apr_thread_mutex_unlock(cache->mutex);
    return APR_SUCCESS;
}

static apr_status_t cache_end(void *data)
{
    sr_proof_cache_t *cache = data;
    for (apr_hash_index_t *at = apr_hash_first(NULL, cache->entries); at; at = apr_hash_next(at)) {
        entry_t *entry = apr_hash_this_val(at);
        set_leave(entry->set);
        entry->set = NULL;
    }
    return APR_SUCCESS;
}

sr_proof_cache_t *sr_proof_cache_create(const char *folder, apr_pool_t *pool)
{
    sr_proof_cache_t *cache = apr_pcalloc(pool, sizeof *cache);
    *cache = (sr_proof_cache_t){.folder = apr_pstrdup(pool, folder),
                                .pool = pool,
                                .entries = apr_hash_make(pool),
                                .names = apr_hash_make(pool)};
    apr_pool_create(&cache->listed, pool);
    if (apr_thread_mutex_create(&cache->mutex, APR_THREAD_MUTEX_DEFAULT, pool)) return NULL;
    apr_pool_cleanup_register(pool, cache, cache_end, apr_pool_cleanup_null);
    return cache;
}

const char *sr_proof_cache_folder(const sr_proof_cache_t *cache)
{
    return cache->folder;
}

/* Returns NULL if the set cannot be read. Its pool has no parent, because any thread may destroy it. */
static set_t *set_load(sr_proof_cache_t *cache, const char *sha256)
{
    apr_pool_t *pool = sr_pool_alone();
    if (!pool) return NULL;
    set_t *set = apr_pcalloc(pool, sizeof *set);
    *set = (set_t){pool, sr_proof_set_read(cache->folder, sha256, pool), 1, cache};
    if (set->proofs) return set;
    apr_pool_destroy(pool);
    return NULL;
}

static bool proof_cache_is_same(const struct stat *one, const struct stat *other)
{
    return one->st_ino == other->st_ino && one->st_size == other->st_size
           && one->st_mtim.tv_sec == other->st_mtim.tv_sec && one->st_mtim.tv_nsec == other->st_mtim.tv_nsec;
}

/* If the new set cannot be read, the old one stays, and the next caller tries again. */
static void entry_refresh(entry_t *entry, sr_proof_cache_t *cache, const char *sha256, apr_pool_t *pool)
{
    struct stat file;
    if (stat(apr_pstrcat(pool, cache->folder, "/", sha256, ".json", NULL), &file) != 0) return;
    if (entry->set && proof_cache_is_same(&entry->file, &file)) return;
    set_t *set = set_load(cache, sha256);
    if (!set) return;
    set_leave(entry->set);
    entry->set = set;
    entry->file = file;
}

static entry_t *entry_of(sr_proof_cache_t *cache, const char *sha256)
{
    entry_t *entry = apr_hash_get(cache->entries, sha256, APR_HASH_KEY_STRING);
    if (entry || apr_hash_count(cache->entries) >= ENTRIES_MOST) return entry;
    entry = apr_pcalloc(cache->pool, sizeof *entry);
    apr_hash_set(cache->entries, apr_pstrdup(cache->pool, sha256), APR_HASH_KEY_STRING, entry);
    return entry;
}

const sr_proofs_t *sr_proof_cache_get(sr_proof_cache_t *cache, const char *sha256, apr_pool_t *pool)
{
    sr_proofs_t *proofs = NULL;
    apr_thread_mutex_lock(cache->mutex);
    entry_t *entry = entry_of(cache, sha256);
    if (entry) entry_refresh(entry, cache, sha256, pool);
    if (entry && entry->set) {
        entry->set->users++;
        apr_pool_cleanup_register(pool, entry->set, user_end, apr_pool_cleanup_null);
        proofs = apr_pmemdup(pool, entry->set->proofs, sizeof *proofs);
    }
    apr_thread_mutex_unlock(cache->mutex);
    if (proofs && !proofs->missing && proofs->until && proofs->until < sr_time_now())
        proofs->missing = apr_pstrcat(pool, "a proof has ended at ", sr_time_format(proofs->until, pool), NULL);
    return proofs;
}

/* Reads the list again if the folder has changed, or after a second. A list from before a signature would lack the
 * authority of its timestamp. */
static void refresh_wanted(sr_proof_cache_t *cache)
{
    const apr_time_t now = sr_time_steady();
    struct stat folder = {0};
    (void)stat(cache->folder, &folder);
    const bool same =
        folder.st_mtim.tv_sec == cache->changed.tv_sec && folder.st_mtim.tv_nsec == cache->changed.tv_nsec;
    if (cache->wanted && same && now - cache->listed_at <= LIST_AFTER) return;
    apr_pool_clear(cache->listed);
    cache->wanted = sr_proof_wanted(cache->folder, false, cache->listed);
    cache->listed_at = now;
    cache->changed = folder.st_mtim;
}

/* Returns a copy of the list. */
static apr_array_header_t *list_wanted(sr_proof_cache_t *cache, apr_pool_t *pool)
{
    apr_array_header_t *copy = apr_array_make(pool, 4, sizeof(const char *));
    apr_thread_mutex_lock(cache->mutex);
    refresh_wanted(cache);
    for (int i = 0; i < cache->wanted->nelts; i++)
        APR_ARRAY_PUSH(copy, const char *) =
            apr_pstrmemdup(pool, APR_ARRAY_IDX(cache->wanted, i, const char *), SR_SHA256_HEX_LENGTH);
    apr_thread_mutex_unlock(cache->mutex);
    return copy;
}

const sr_proofs_t *sr_proof_cache_all(sr_proof_cache_t *cache, const char *sha256, apr_pool_t *pool)
{
    const sr_proofs_t *own = sr_proof_cache_get(cache, sha256, pool);
    sr_proofs_t *all = own ? apr_pcalloc(pool, sizeof *all) : NULL;
    if (!all) return NULL;
    sr_proofs_join(all, own, pool);
    const apr_array_header_t *wanted = list_wanted(cache, pool);
    for (int i = 0; i < wanted->nelts; i++) {
        const sr_proofs_t *more = sr_proof_cache_get(cache, APR_ARRAY_IDX(wanted, i, const char *), pool);
        if (more) sr_proofs_join(all, more, pool);
        else if (!all->missing) all->missing = "the proofs of a timestamp authority are not collected yet";
        all->revoked = own->revoked; /* one of a timestamp authority is no revocation of the seal */
        if (more && more->revoked && !all->missing) all->missing = more->revoked;
    }
    return all;
}

bool sr_proof_cache_is_time(sr_proof_cache_t *cache, const char *name)
{
    const apr_time_t now = sr_time_steady();
    apr_thread_mutex_lock(cache->mutex);
    apr_time_t *last = apr_hash_get(cache->names, name, APR_HASH_KEY_STRING);
    const bool due = last ? now - *last > ASK_AFTER : apr_hash_count(cache->names) < ENTRIES_MOST;
    if (due && !last) {
        last = apr_palloc(cache->pool, sizeof *last);
        apr_hash_set(cache->names, apr_pstrdup(cache->pool, name), APR_HASH_KEY_STRING, last);
    }
    if (due) *last = now;
    apr_thread_mutex_unlock(cache->mutex);
    return due;
}
