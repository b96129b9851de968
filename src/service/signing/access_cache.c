/* SPDX-License-Identifier: Apache-2.0 */
/* access_cache.c: the access cache of a process stores which signer may see which version of which document, so that
 * a cached page is served without a query. Every change that ends a link raises the submission's access_epoch. An
 * entry has the epoch of the time when it was made. It is current for 40 ms, unless a process of this machine
 * commits a change of the document before (version_cache.c counts these). After that it is valid only if the database
 * still has this epoch. Each entry also has the owner, which is part of the names of cached pages. */
#include "service/private.h"

#include <string.h>

#define LIFETIME apr_time_from_msec(40) /* what was cancelled on another host is shown for so long at most */

typedef struct entry_t {
    sr_access_t access;
    apr_time_t until;
    apr_uint32_t count;
} entry_t;

sr_access_cache_t *sr_access_cache_create(apr_pool_t *pool)
{
    return sr_bounded_cache_create(sizeof(entry_t), pool);
}

bool sr_access_cache_get(sr_access_cache_t *cache, sr_access_t *access, bool *current, const char *digest,
                         const char *document, apr_time_t now)
{
    entry_t entry;
    if (!sr_bounded_cache_get(cache, digest, &entry)) return false;
    *access = entry.access;
    *current = entry.count == sr_version_cache_count(document) && now < entry.until && entry.until <= now + LIFETIME;
    return true;
}

void sr_access_cache_put(sr_access_cache_t *cache, const char *digest, const sr_access_t *access, apr_uint32_t count,
                         apr_time_t now)
{
    entry_t entry;
    memset(&entry, 0, sizeof entry); /* because the padding is copied too */
    entry.access = *access;
    entry.until = now + LIFETIME;
    entry.count = count;
    sr_bounded_cache_put(cache, digest, &entry);
}
