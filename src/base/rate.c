/* SPDX-License-Identifier: Apache-2.0 */
/* rate.c: rate limits. One number is stored for each key: the time at which its whole limit is available again (GCRA,
 * the "virtual scheduling" of ITU-T I.371). The numbers are in a table of fixed size that processes may share. The
 * table is changed only by atomic operations, so a process that is killed leaves nothing locked.
 *
 * A key belongs to one set of 8 entries. A new key replaces the entry of its set whose limit is available again
 * first. An entry whose limit is available again has no information, so a count is lost early only if more than 8
 * keys of one set are limited at the same time. A secret hash selects the set, so nobody can choose keys that fall
 * into the set of another key. */
#include "base/base.h"

#include <apr_atomic.h>
#include <apr_siphash.h>
#include <string.h>
#include <sys/random.h>

enum { SETS = 8192, WAYS = 8 };

typedef struct entry_t {
    apr_uint64_t key;   /* 0: free */
    apr_uint64_t until; /* in microseconds (sr_time_steady) */
} entry_t;

typedef struct table_t {
    unsigned char secret[APR_SIPHASH_KSIZE];
    apr_uint64_t has_secret;
    entry_t entries[SETS][WAYS];
} table_t;

static table_t own, *table = &own;

apr_size_t sr_rate_size(void)
{
    return sizeof own;
}

void sr_rate_use(void *block)
{
    table = block;
    if (table->has_secret) return;
    table->has_secret = getrandom(table->secret, sizeof table->secret, 0) == sizeof table->secret;
}

apr_uint64_t sr_rate_key(const char *kind, const void *data, apr_size_t length, const sr_rate_t *rate)
{
    unsigned char name[APR_SIPHASH_KSIZE] = {0};
    for (int i = 0; i < APR_SIPHASH_KSIZE; i++) name[i] = table->secret[i];
    for (int i = 0; kind[i]; i++) name[i % APR_SIPHASH_KSIZE] ^= (unsigned char)(kind[i] + i);
    if (rate) { /* another limit is counted separately */
        const apr_uint64_t numbers = ((apr_uint64_t)rate->times << 40) ^ (apr_uint64_t)rate->period;
        for (int i = 0; i < 8; i++) name[8 + i] ^= (unsigned char)(numbers >> 8 * i);
    }
    const apr_uint64_t key = apr_siphash24(data, length, name);
    return key ? key : 1;
}

static entry_t *rate_find(apr_uint64_t key)
{
    entry_t *set = table->entries[key % SETS];
    for (int i = 0; i < WAYS; i++)
        if (apr_atomic_read64(&set[i].key) == key) return &set[i];
    return NULL;
}

static entry_t *find_or_make(apr_uint64_t key, apr_time_t now)
{
    entry_t *entry = rate_find(key), *set = table->entries[key % SETS];
    if (entry) return entry;
    entry = set;
    for (int i = 1; i < WAYS; i++)
        if (apr_atomic_read64(&set[i].until) < apr_atomic_read64(&entry->until)) entry = &set[i];
    /* Two threads may each make an entry for the same key. What is counted in the second entry is lost, which is
     * harmless. */
    if (apr_atomic_read64(&entry->until) > (apr_uint64_t)now) apr_atomic_set64(&entry->until, 0);
    apr_atomic_set64(&entry->key, key);
    return entry;
}

/* Returns the time at which the whole limit is available, not before `now`. A time too far in the future was written
 * before the clock was set back, and is ignored. */
static apr_time_t whole_at(apr_uint64_t until, apr_interval_time_t longest, apr_time_t now)
{
    const apr_time_t at = (apr_time_t)until;
    return at < now || at > now + longest ? now : at;
}

static void rate_describe(sr_rate_state_t *state, const sr_rate_t *rate, apr_uint32_t count, apr_time_t whole,
                          apr_time_t now, bool allowed)
{
    const apr_interval_time_t each = rate->period / rate->times, used = whole - now;
    if (!state) return;
    state->left = used < rate->period ? (apr_uint32_t)((rate->period - used) / each) : 0;
    state->whole = used;
    state->wait = allowed ? 0 : used + each * count - rate->period;
}

bool sr_rate_take(sr_rate_state_t *state, apr_uint64_t key, const sr_rate_t *rate, apr_time_t now)
{
    return sr_rate_take_some(state, key, rate, 1, now);
}

bool sr_rate_take_some(sr_rate_state_t *state, apr_uint64_t key, const sr_rate_t *rate, apr_uint32_t count,
                       apr_time_t now)
{
    if (!rate->times) return true;
    entry_t *entry = find_or_make(key, now);
    for (;;) {
        const apr_uint64_t before = apr_atomic_read64(&entry->until);
        const apr_time_t whole = whole_at(before, rate->period, now);
        const apr_time_t after = whole + rate->period / rate->times * count;
        const bool allowed = after <= now + rate->period;
        if (allowed && apr_atomic_cas64(&entry->until, (apr_uint64_t)after, before) != before) continue;
        rate_describe(state, rate, count, allowed ? after : whole, now, allowed);
        return allowed;
    }
}

bool sr_rate_has(sr_rate_state_t *state, apr_uint64_t key, const sr_rate_t *rate, apr_time_t now)
{
    entry_t *entry = rate->times ? rate_find(key) : NULL;
    if (!entry) return true;
    const apr_time_t whole = whole_at(apr_atomic_read64(&entry->until), rate->period, now);
    const bool allowed = whole + rate->period / rate->times <= now + rate->period;
    rate_describe(state, rate, 1, whole, now, allowed);
    return allowed;
}

void sr_rate_give_back(apr_uint64_t key, const sr_rate_t *rate, apr_uint32_t count, apr_time_t now)
{
    entry_t *entry = rate->times ? rate_find(key) : NULL;
    if (!entry) return;
    for (;;) {
        const apr_uint64_t before = apr_atomic_read64(&entry->until);
        const apr_time_t after = whole_at(before, rate->period, now) - rate->period / rate->times * count;
        const apr_uint64_t until = after > now ? (apr_uint64_t)after : 0;
        if (apr_atomic_cas64(&entry->until, until, before) == before) return;
    }
}

void sr_rate_remember(apr_uint64_t key, apr_interval_time_t period, apr_time_t now)
{
    entry_t *entry = find_or_make(key, now);
    const apr_uint64_t until = apr_atomic_read64(&entry->until);
    /* written only from time to time, so that a key used by many threads stays in their CPU caches */
    if (whole_at(until, period, now) - now < period - period / 16)
        apr_atomic_set64(&entry->until, (apr_uint64_t)(now + period));
}

bool sr_rate_remembers(apr_uint64_t key, apr_interval_time_t period, apr_time_t now)
{
    entry_t *entry = rate_find(key);
    return entry && whole_at(apr_atomic_read64(&entry->until), period, now) > now;
}

void sr_rate_forget(apr_uint64_t key)
{
    entry_t *entry = rate_find(key);
    if (entry) apr_atomic_set64(&entry->until, 0);
}

bool sr_rate_parse(sr_rate_t *rate, const char *text)
{
    static const struct {
        const char *name;
        apr_interval_time_t period;
    } units[] = {{"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}};
    apr_uint32_t times = 0;
    int digits = 0;
    for (; *text >= '0' && *text <= '9'; text++, digits++) times = times * 10 + (apr_uint32_t)(*text - '0');
    if (digits < 1 || digits > 6 || !times || *text++ != '/') return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(text, units[i].name) != 0) continue;
        *rate = (sr_rate_t){times, apr_time_from_sec(units[i].period)};
        return true;
    }
    return false;
}

const char *sr_rate_text(const sr_rate_t *rate, apr_pool_t *pool)
{
    const apr_time_t seconds = apr_time_sec(rate->period);
    const char *unit = seconds == 1 ? "second" : seconds == 60 ? "minute" : seconds == 3600 ? "hour" : "day";
    return apr_psprintf(pool, "%u per %s", rate->times, unit);
}
