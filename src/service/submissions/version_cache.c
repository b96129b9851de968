/* SPDX-License-Identifier: Apache-2.0 */
/* version_cache.c: the version cache of a process stores for 40 ms which version of a document is current, so that a
 * page that is requested without a version needs no query. An entry ends earlier if a process of this machine
 * commits a signature of the document. This is detected by counters in memory that all processes share. Signing does
 * not use the cache. */
#include "service/private.h"

#include <apr_atomic.h>
#include <stdlib.h>
#include <string.h>

#define LIFETIME apr_time_from_msec(40) /* what was cancelled on another host is shown for so long at most */
#define COUNTERS 4096                   /* one for each value of three hexadecimal digits */

typedef struct standing_t {
    char version[SR_SHA256_HEX_LENGTH], owner[SR_ACCESS_OWNER_LENGTH];
    apr_time_t until;
    apr_uint32_t count;
} standing_t;

static apr_uint32_t own[COUNTERS]; /* used by programs without shared memory */
static apr_uint32_t *counters = own;

apr_size_t sr_version_cache_size(void)
{
    return sizeof own;
}

void sr_version_cache_use(void *block)
{
    counters = block;
}

sr_version_cache_t *sr_version_cache_create(apr_pool_t *pool)
{
    return sr_bounded_cache_create(sizeof(standing_t), pool);
}

/* Documents may share a counter. Then their entries end together. */
static apr_uint32_t *counter_of(const char *document)
{
    return &counters[strtol((char[]){document[0], document[1], document[2], '\0'}, NULL, 16)];
}

apr_uint32_t sr_version_cache_count(const char *document)
{
    return apr_atomic_read32(counter_of(document));
}

void sr_version_cache_changed(const char *document)
{
    apr_atomic_inc32(counter_of(document));
}

bool sr_version_cache_has(sr_version_cache_t *cache, const char *digest, const char *document, apr_time_t now,
                          char *version, char *owner)
{
    standing_t known;
    if (!sr_bounded_cache_get(cache, digest, &known) || known.count != sr_version_cache_count(document)) return false;
    if (now >= known.until || known.until > now + LIFETIME) return false; /* or the clock was set back */
    memcpy(version, known.version, sizeof known.version);
    memcpy(owner, known.owner, sizeof known.owner);
    version[SR_SHA256_HEX_LENGTH] = owner[SR_ACCESS_OWNER_LENGTH] = '\0';
    return true;
}

void sr_version_cache_add(sr_version_cache_t *cache, const char *digest, apr_uint32_t count, apr_time_t now,
                          const char *version, const char *owner)
{
    standing_t known = {.until = now + LIFETIME, .count = count};
    memcpy(known.version, version, sizeof known.version);
    memcpy(known.owner, owner, sizeof known.owner);
    sr_bounded_cache_put(cache, digest, &known);
}
