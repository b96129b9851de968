/* seen.c: which signer may see which version of which document, as far as this process has found out. What was allowed
 * once stays allowed: a version of a document never changes, and a link does not end. So a page whose picture is in the
 * cache is served without asking the database. Only digests are kept, in a table of fixed size: the oldest of a set
 * make room. */
#include "service/service.h"

#include <apr_thread_mutex.h>
#include <string.h>

#define SETS 512 /* so many at 4 entries of 64 bytes: 128 KiB */
#define WAYS 4

typedef struct set_t {
    char digests[WAYS][SR_SHA256_HEX_LENGTH]; /* the newest first */
} set_t;

struct sr_seen_t {
    apr_thread_mutex_t *mutex;
    set_t sets[SETS];
};

sr_seen_t *sr_seen_create(apr_pool_t *pool)
{
    sr_seen_t *seen = apr_pcalloc(pool, sizeof *seen);

    return apr_thread_mutex_create(&seen->mutex, APR_THREAD_MUTEX_DEFAULT, pool) ? NULL : seen;
}

static set_t *set_of(sr_seen_t *seen, const char *digest)
{
    return &seen->sets[strtol((char[]){digest[0], digest[1], digest[2], '\0'}, NULL, 16) % SETS];
}

static bool has(const set_t *set, const char *digest)
{
    for (int i = 0; i < WAYS; i++)
        if (!memcmp(set->digests[i], digest, sizeof set->digests[i])) return true;
    return false;
}

bool sr_seen_has(sr_seen_t *seen, const char *digest)
{
    if (!seen) return false;
    apr_thread_mutex_lock(seen->mutex);
    const bool found = has(set_of(seen, digest), digest);
    apr_thread_mutex_unlock(seen->mutex);
    return found;
}

void sr_seen_add(sr_seen_t *seen, const char *digest)
{
    if (!seen) return;
    apr_thread_mutex_lock(seen->mutex);
    set_t *set = set_of(seen, digest);
    if (!has(set, digest)) {
        for (int i = WAYS - 1; i > 0; i--) memcpy(set->digests[i], set->digests[i - 1], sizeof set->digests[i]);
        memcpy(set->digests[0], digest, sizeof set->digests[0]);
    }
    apr_thread_mutex_unlock(seen->mutex);
}
