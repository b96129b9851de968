/* SPDX-License-Identifier: Apache-2.0 */
/* seen.c: which signer may see which version of which document, as far as this process has found out. What was allowed
 * once stays allowed: a version of a document never changes, and a link does not end. So a page whose picture is in the
 * cache is served without asking the database. With each goes whose pages they are, which the name of a cached page
 * begins with. */
#include "service/private.h"

sr_access_cache_t *sr_access_cache_create(apr_pool_t *pool)
{
    return sr_recent_create(SR_SEEN_OWNER_LENGTH, pool);
}

bool sr_access_cache_has(sr_access_cache_t *seen, const char *digest, char *owner)
{
    const bool found = sr_recent_get(seen, digest, owner);
    if (seen) owner[SR_SEEN_OWNER_LENGTH] = '\0';
    return found;
}

void sr_access_cache_add(sr_access_cache_t *seen, const char *digest, const char *owner)
{
    sr_recent_put(seen, digest, owner);
}
