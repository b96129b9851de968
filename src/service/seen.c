/* seen.c: which signer may see which version of which document, as far as this process has found out. What was allowed
 * once stays allowed: a version of a document never changes, and a link does not end. So a page whose picture is in the
 * cache is served without asking the database. Only digests are kept, in a table of fixed size: the oldest of a set
 * make room. */
#include "service/service.h"

#include <apr_thread_mutex.h>
#include <string.h>

#define SETS 512 /* so many at 4 entries of 64 bytes: 128 KiB */
#define WAYS 4

typedef char digest_t[SR_SHA256_HEX_LENGTH];

struct sr_seen_t {
    apr_thread_mutex_t *mutex;
    digest_t entries[SETS][WAYS];
};

sr_seen_t *sr_seen_create(apr_pool_t *pool)
{
    sr_seen_t *seen = apr_pcalloc(pool, sizeof *seen);

    return apr_thread_mutex_create(&seen->mutex, APR_THREAD_MUTEX_DEFAULT, pool) ? NULL : seen;
}

static digest_t *set_of(sr_seen_t *seen, const char *digest)
{
    return seen->entries[strtol((char[]){digest[0], digest[1], digest[2], '\0'}, NULL, 16) % SETS];
}

bool sr_seen_has(sr_seen_t *seen, const char *digest)
{
    bool found = false;

    if (!seen) return false;
    const digest_t *set = set_of(seen, digest);
    apr_thread_mutex_lock(seen->mutex);
    for (int i = 0; i < WAYS && !found; i++) found = !memcmp(set[i], digest, sizeof *set);
    apr_thread_mutex_unlock(seen->mutex);
    return found;
}

void sr_seen_add(sr_seen_t *seen, const char *digest)
{
    if (!seen || sr_seen_has(seen, digest)) return;
    digest_t *set = set_of(seen, digest);
    apr_thread_mutex_lock(seen->mutex);
    memmove(set + 1, set, (WAYS - 1) * sizeof *set);
    memcpy(set, digest, sizeof *set);
    apr_thread_mutex_unlock(seen->mutex);
}
