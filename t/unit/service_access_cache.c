/* SPDX-License-Identifier: Apache-2.0 */
/* service_access_cache.c: tests of src/service/signing/access_cache.c: what was put in is found, nothing else ever is,
 * the oldest make room, threads may do all this at once, and what is known is current for 40 ms, unless the document
 * changes. */
#include "service/private.h"
#include "tap.h"

#include <apr_general.h>
#include <apr_thread_proc.h>
#include <string.h>

#define MANY 20000
#define NOW ((apr_time_t)1790000000000000)
#define DOCUMENT "00000000-0000-4000-8000-000000000001"

static apr_pool_t *pool;
static sr_access_cache_t *cache;

static const char *digest_of(int number, apr_pool_t *scratch)
{
    return sr_sha256_hex(&number, sizeof number, scratch);
}

static const char *owner_in(const char *digest)
{
    return digest + SR_SHA256_HEX_LENGTH - SR_ACCESS_OWNER_LENGTH;
}

/* The owner is the end of the digest, so that each is another. */
static void add(sr_access_cache_t *table, const char *digest)
{
    sr_access_t access = {.epoch = 7};
    apr_cpystrn(access.owner, owner_in(digest), sizeof access.owner);
    sr_access_cache_put(table, digest, &access, sr_version_cache_count(DOCUMENT), NOW);
}

/* Whether it is there, with its own owner. */
static bool has(const char *digest)
{
    sr_access_t access;
    bool current;
    return sr_access_cache_get(cache, &access, &current, digest, DOCUMENT, NOW)
           && strcmp(access.owner, owner_in(digest)) == 0 && access.epoch == 7 && current;
}

static bool is_current(const char *digest, const char *document, apr_time_t now)
{
    sr_access_t access;
    bool current = false;
    ok(sr_access_cache_get(cache, &access, &current, digest, document, now) && access.epoch == 7, "it is known");
    return current;
}

static void test_current(void)
{
    static const char other[] = "ffffffff-0000-4000-8000-000000000001";
    const char *digest = digest_of(1, pool);
    add(cache, digest);
    ok(is_current(digest, DOCUMENT, NOW), "what was found out now is current");
    ok(is_current(digest, DOCUMENT, NOW + 39999), "for 40 ms");
    ok(!is_current(digest, DOCUMENT, NOW + APR_USEC_PER_SEC), "and not longer");
    ok(!is_current(digest, DOCUMENT, NOW - 1), "nor when the clock was set back");
    sr_version_cache_changed(other);
    ok(is_current(digest, DOCUMENT, NOW), "a change of another document changes nothing");
    const apr_uint32_t before = sr_version_cache_count(DOCUMENT);
    sr_version_cache_changed(DOCUMENT);
    ok(!is_current(digest, DOCUMENT, NOW), "a change of this one does");
    sr_access_cache_put(cache, digest, &(sr_access_t){.epoch = 7}, before, NOW);
    ok(!is_current(digest, DOCUMENT, NOW), "what was read before the change is not current");
    add(cache, digest);
    ok(is_current(digest, DOCUMENT, NOW), "what was read after it is");
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
        add(cache, digest_of(base + i % 100, scratch));
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
    cache = sr_access_cache_create(pool);
    ok(cache && count(0, MANY) == 0, "nothing is there");
    for (int i = 0; i < 500; i++) add(cache, digest_of(i, pool));
    ok(count(0, 500) > 490, "nearly all of 500 are kept");
    is_int(count(500, MANY), 0, "and nothing else");
    for (int i = 500; i < MANY; i++) add(cache, digest_of(i, pool));
    is_int(count(MANY - 1, MANY), 1, "the newest of many is kept");
    is_int(count(0, MANY), 2048, "the table is full, and no larger");
    ok(count(0, 5000) == 0, "the oldest made room");
    for (int i = 0; i < 100; i++) add(cache, digest_of(MANY - 1, pool));
    is_int(count(0, MANY), 2048, "adding the same again pushes nobody out");
    test_threads();
    test_current();
    add(NULL, digest_of(0, pool));
    sr_access_t access;
    bool current;
    ok(!sr_access_cache_get(NULL, &access, &current, digest_of(0, pool), DOCUMENT, NOW),
       "without a table nothing is kept");
    apr_pool_destroy(pool);
    apr_terminate();
    return done();
}
