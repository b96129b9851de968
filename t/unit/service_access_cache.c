/* SPDX-License-Identifier: Apache-2.0 */
/* service_seen.c: tests of src/service/access_cache.c: what was put in is found, nothing else ever is, the oldest make
 * room, and threads may do all this at once. */
#include "service/private.h"
#include "tap.h"

#include <apr_general.h>
#include <apr_thread_proc.h>
#include <string.h>

#define MANY 20000

static apr_pool_t *pool;
static sr_access_cache_t *seen;

static const char *digest_of(int number, apr_pool_t *scratch)
{
    return sr_sha256_hex(&number, sizeof number, scratch);
}

/* The owner is the end of the digest, so that each is another. */
static void add(sr_access_cache_t *table, const char *digest)
{
    sr_access_cache_add(table, digest, digest + SR_SHA256_HEX_LENGTH - SR_SEEN_OWNER_LENGTH);
}

/* Whether it is there, with its own owner. */
static bool has(const char *digest)
{
    char owner[SR_SEEN_OWNER_LENGTH + 1];
    return sr_access_cache_has(seen, digest, owner)
           && strcmp(owner, digest + SR_SHA256_HEX_LENGTH - SR_SEEN_OWNER_LENGTH) == 0;
}

static int count(int from, int until)
{
    int found = 0;
    apr_pool_t *scratch;

    apr_pool_create(&scratch, pool);
    for (int i = from; i < until; i++) found += has(digest_of(i, scratch));
    apr_pool_destroy(scratch);
    return found;
}

/* Each thread adds its own, and asks for what nobody ever adds. */
static void *APR_THREAD_FUNC work(apr_thread_t *thread, void *number)
{
    apr_pool_t *scratch;
    int *wrong = number;
    const int base = *wrong;

    apr_pool_create(&scratch, apr_thread_pool_get(thread));
    *wrong = 0;
    for (int i = 0; i < MANY; i++) {
        add(seen, digest_of(base + i % 100, scratch));
        *wrong += has(digest_of(-1 - base - i, scratch));
        apr_pool_clear(scratch);
    }
    return NULL;
}

static void test_threads(void)
{
    apr_thread_t *threads[4];
    int numbers[4], wrong = 0;
    apr_status_t ignored;

    for (int i = 0; i < 4; i++) {
        numbers[i] = 1000000 * (i + 1);
        if (apr_thread_create(&threads[i], NULL, work, &numbers[i], pool)) abort();
    }
    for (int i = 0; i < 4; i++) {
        apr_thread_join(&ignored, threads[i]);
        wrong += numbers[i];
    }
    is_int(wrong, 0, "four threads at once: nothing is found that was not put in");
    int kept = 0;
    for (int i = 0; i < 4; i++) kept += count(1000000 * (i + 1), 1000000 * (i + 1) + 100);
    ok(kept > 380, "and what was is there (%d of 400)", kept);
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    seen = sr_access_cache_create(pool);
    ok(seen && count(0, MANY) == 0, "nothing is there");
    for (int i = 0; i < 500; i++) add(seen, digest_of(i, pool));
    ok(count(0, 500) > 490, "nearly all of 500 are kept");
    is_int(count(500, MANY), 0, "and nothing else");
    for (int i = 500; i < MANY; i++) add(seen, digest_of(i, pool));
    is_int(count(MANY - 1, MANY), 1, "the newest of many is kept");
    is_int(count(0, MANY), 2048, "the table is full, and no larger");
    ok(count(0, 5000) == 0, "the oldest made room");
    for (int i = 0; i < 100; i++) add(seen, digest_of(MANY - 1, pool));
    is_int(count(0, MANY), 2048, "adding the same again pushes nobody out");
    test_threads();
    add(NULL, digest_of(0, pool));
    ok(!sr_access_cache_has(NULL, digest_of(0, pool), (char[SR_SEEN_OWNER_LENGTH + 1]){0}),
       "without a table nothing is kept");
    apr_pool_destroy(pool);
    apr_terminate();
    return done();
}
