/* standing.c: which version of a document stands, as this process found out a moment ago: a page that is asked for
 * without a version is then served without a question to the database. What is known is forgotten when any process of
 * this machine has committed a signature of that document, by counters in memory that all share, and after a second,
 * because another host may have done so. Nothing is sealed by what is known here. */
#include "service/service.h"

#include <apr_atomic.h>
#include <apr_thread_mutex.h>
#include <stdlib.h>
#include <string.h>

#define LIFETIME apr_time_from_sec(1)
#define SETS 512 /* so many at 4 entries of 176 bytes: 350 KiB */
#define WAYS 4
#define COUNTERS 4096

typedef struct entry_t {
    char digest[SR_SHA256_HEX_LENGTH], version[SR_SHA256_HEX_LENGTH], owner[SR_SEEN_OWNER_LENGTH];
    apr_time_t until;
    apr_uint32_t count;
} entry_t;

struct sr_standing_t {
    apr_thread_mutex_t *mutex;
    entry_t sets[SETS][WAYS]; /* the newest first */
};

static apr_uint32_t own[COUNTERS]; /* for programs without shared memory */
static apr_uint32_t *counters = own;

apr_size_t sr_standing_size(void)
{
    return sizeof own;
}

void sr_standing_use(void *block)
{
    counters = block;
}

sr_standing_t *sr_standing_create(apr_pool_t *pool)
{
    sr_standing_t *standing = apr_pcalloc(pool, sizeof *standing);
    return apr_thread_mutex_create(&standing->mutex, APR_THREAD_MUTEX_DEFAULT, pool) ? NULL : standing;
}

static int number_of(const char *hexadecimal, int digits)
{
    char text[8] = "";
    return (int)strtol(strncpy(text, hexadecimal, (size_t)digits), NULL, 16);
}

/* Documents that share a counter are forgotten together. */
static apr_uint32_t *counter_of(const char *document)
{
    return &counters[number_of(document, 3) % COUNTERS];
}

apr_uint32_t sr_standing_count(const char *document)
{
    return apr_atomic_read32(counter_of(document));
}

void sr_standing_changed(const char *document)
{
    apr_atomic_inc32(counter_of(document));
}

static entry_t *find(sr_standing_t *standing, const char *digest)
{
    entry_t *set = standing->sets[number_of(digest, 3) % SETS];
    for (int i = 0; i < WAYS; i++)
        if (!memcmp(set[i].digest, digest, sizeof set[i].digest)) return &set[i];
    return NULL;
}

bool sr_standing_has(sr_standing_t *standing, const char *digest, const char *document, apr_time_t now, char *version,
                     char *owner)
{
    if (!standing) return false;
    apr_thread_mutex_lock(standing->mutex);
    const entry_t *entry = find(standing, digest);
    const bool holds = entry && entry->count == sr_standing_count(document) && now < entry->until
                       && entry->until <= now + LIFETIME; /* or the clock was set back */
    if (holds) {
        memcpy(version, entry->version, sizeof entry->version);
        memcpy(owner, entry->owner, sizeof entry->owner);
    }
    apr_thread_mutex_unlock(standing->mutex);
    version[SR_SHA256_HEX_LENGTH] = owner[SR_SEEN_OWNER_LENGTH] = '\0';
    return holds;
}

void sr_standing_add(sr_standing_t *standing, const char *digest, apr_uint32_t count, apr_time_t now,
                     const char *version, const char *owner)
{
    if (!standing) return;
    apr_thread_mutex_lock(standing->mutex);
    entry_t *set = standing->sets[number_of(digest, 3) % SETS], *entry = find(standing, digest);
    if (!entry) {
        memmove(set + 1, set, sizeof *set * (WAYS - 1));
        entry = set;
    }
    memcpy(entry->digest, digest, sizeof entry->digest);
    memcpy(entry->version, version, sizeof entry->version);
    memcpy(entry->owner, owner, sizeof entry->owner);
    entry->until = now + LIFETIME;
    entry->count = count;
    apr_thread_mutex_unlock(standing->mutex);
}
