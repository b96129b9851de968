/* SPDX-License-Identifier: Apache-2.0 */
/* bounded_cache.c: a bounded cache: a table of fixed size whose keys are digests. access_cache.c and version_cache.c
 * use it. A new entry replaces the oldest one of its set. */
#include "service/private.h"

#include <apr_thread_mutex.h>
#include <stdlib.h>
#include <string.h>

#define SETS 512
#define WAYS 4

struct sr_bounded_cache_t {
    apr_thread_mutex_t *mutex;
    apr_size_t value_size, entry_size;
    char *entries; /* SETS * WAYS entries, each a digest and a value; the newest of a set is first */
};

sr_bounded_cache_t *sr_bounded_cache_create(apr_size_t value_size, apr_pool_t *pool)
{
    sr_bounded_cache_t *cache = apr_pcalloc(pool, sizeof *cache);
    cache->value_size = value_size;
    cache->entry_size = SR_SHA256_HEX_LENGTH + value_size;
    cache->entries = apr_pcalloc(pool, (apr_size_t)SETS * WAYS * cache->entry_size);
    return apr_thread_mutex_create(&cache->mutex, APR_THREAD_MUTEX_DEFAULT, pool) ? NULL : cache;
}

static char *set_of(const sr_bounded_cache_t *cache, const char *digest)
{
    const long number = strtol((char[]){digest[0], digest[1], digest[2], '\0'}, NULL, 16);
    return cache->entries + number % SETS * WAYS * cache->entry_size;
}

static char *bounded_cache_find(const sr_bounded_cache_t *cache, const char *digest)
{
    char *entry = set_of(cache, digest);
    for (int i = 0; i < WAYS; i++, entry += cache->entry_size)
        if (!memcmp(entry, digest, SR_SHA256_HEX_LENGTH)) return entry;
    return NULL;
}

bool sr_bounded_cache_get(sr_bounded_cache_t *cache, const char *digest, void *value)
{
    if (!cache) return false;
    apr_thread_mutex_lock(cache->mutex);
    const char *entry = bounded_cache_find(cache, digest);
    if (entry) memcpy(value, entry + SR_SHA256_HEX_LENGTH, cache->value_size);
    apr_thread_mutex_unlock(cache->mutex);
    return entry;
}

void sr_bounded_cache_put(sr_bounded_cache_t *cache, const char *digest, const void *value)
{
    if (!cache) return;
    apr_thread_mutex_lock(cache->mutex);
    char *entry = bounded_cache_find(cache, digest);
    if (!entry) {
        entry = set_of(cache, digest);
        memmove(entry + cache->entry_size, entry, cache->entry_size * (WAYS - 1));
        memcpy(entry, digest, SR_SHA256_HEX_LENGTH);
    }
    memcpy(entry + SR_SHA256_HEX_LENGTH, value, cache->value_size);
    apr_thread_mutex_unlock(cache->mutex);
}
