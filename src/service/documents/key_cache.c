/* SPDX-License-Identifier: Apache-2.0 */
/* key_cache.c: the key cache of a process stores under which keys contents were found, so that a creation with a
 * document that was uploaded before does not query the key. An entry may be old: a collection may have removed the
 * blob, on any host. So its file must exist, and the transaction that refers to the content compares the key with the
 * row of "blob", which it locks (the member "found" in store.h). Each owner has their own entries, so that the time
 * of a response does not tell that others have uploaded the document. */
#include "service/private.h"

#include <string.h>

#define KEY_MOST 95 /* more than a SHA-256, a dot and 16 digits */

typedef struct entry_t {
    char key[KEY_MOST + 1]; /* "" if the entry was removed */
} entry_t;

sr_key_cache_t *sr_key_cache_create(apr_pool_t *pool)
{
    return sr_bounded_cache_create(sizeof(entry_t), pool);
}

const char *sr_key_cache_digest(const char *folder, const char *owner, const char *sha256, apr_pool_t *pool)
{
    const char *text = apr_pstrcat(pool, folder, " ", owner, " ", sha256, NULL);
    return sr_sha256_hex(text, strlen(text), pool);
}

const char *sr_key_cache_get(sr_key_cache_t *cache, const char *digest, apr_pool_t *pool)
{
    entry_t entry;
    return sr_bounded_cache_get(cache, digest, &entry) && *entry.key ? apr_pstrdup(pool, entry.key) : NULL;
}

void sr_key_cache_put(sr_key_cache_t *cache, const char *digest, const char *key)
{
    entry_t entry = {""};
    if (key && strlen(key) <= KEY_MOST) memcpy(entry.key, key, strlen(key));
    sr_bounded_cache_put(cache, digest, &entry);
}
