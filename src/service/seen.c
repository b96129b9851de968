/* seen.c: which signer may see which version of which document, as far as this process has found out. What was allowed
 * once stays allowed: a version of a document never changes, and a link does not end. So a page whose picture is in the
 * cache is served without asking the database. Only digests are kept, in a table of fixed size: the oldest of a set
 * make room. With each goes whose pages they are, which the name of a cached page begins with. */
#include "service/service.h"

#include <apr_thread_mutex.h>
#include <string.h>

#define SETS 512 /* so many at 4 entries of 80 bytes: 160 KiB */
#define WAYS 4

typedef struct entry_t {
    char digest[SR_SHA256_HEX_LENGTH], owner[SR_SEEN_OWNER_LENGTH];
} entry_t;
typedef struct set_t {
    entry_t entries[WAYS]; /* the newest first */
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

static const entry_t *find(const set_t *set, const char *digest)
{
    for (int i = 0; i < WAYS; i++)
        if (!memcmp(set->entries[i].digest, digest, sizeof set->entries[i].digest)) return &set->entries[i];
    return NULL;
}

bool sr_seen_has(sr_seen_t *seen, const char *digest, char *owner)
{
    if (!seen) return false;
    apr_thread_mutex_lock(seen->mutex);
    const entry_t *entry = find(set_of(seen, digest), digest);
    if (entry) memcpy(owner, entry->owner, sizeof entry->owner);
    apr_thread_mutex_unlock(seen->mutex);
    owner[SR_SEEN_OWNER_LENGTH] = '\0';
    return entry;
}

void sr_seen_add(sr_seen_t *seen, const char *digest, const char *owner)
{
    if (!seen) return;
    apr_thread_mutex_lock(seen->mutex);
    set_t *set = set_of(seen, digest);
    if (!find(set, digest)) {
        memmove(set->entries + 1, set->entries, sizeof *set->entries * (WAYS - 1));
        memcpy(set->entries[0].digest, digest, sizeof set->entries[0].digest);
        memcpy(set->entries[0].owner, owner, sizeof set->entries[0].owner);
    }
    apr_thread_mutex_unlock(seen->mutex);
}
