/* SPDX-License-Identifier: Apache-2.0 */
/* page_keys.c: how the keys of pages in the cache begin. signing/show.c makes the pages, and submissions/erase.c
 * removes them. */
#include "service/private.h"

#include <string.h>

const char *sr_page_owner(const char *owner, apr_pool_t *pool)
{
    return apr_pstrndup(pool, sr_sha256_hex(owner, strlen(owner), pool), SR_ACCESS_OWNER_LENGTH);
}

const char *sr_service_pages_begin(const char *sha256, const char *owner, apr_pool_t *pool)
{
    return apr_pstrcat(pool, sha256, ".", sr_page_owner(owner, pool), ".", NULL);
}
