/* SPDX-License-Identifier: Apache-2.0 */
/* service_version_cache.c: tests of src/service/submissions/version_cache.c: what stands is known for 40 ms, and not
 * after a signature. */
#include "service/private.h"
#include "tap.h"

#include <apr_general.h>
#include <string.h>

#define DOCUMENT "0a1b2c3d-0000-4000-8000-000000000000"
#define OTHER "fa1b2c3d-0000-4000-8000-000000000000"
#define NOW apr_time_from_sec(1800000000)

static apr_pool_t *pool;
static sr_version_cache_t *cache;

static const char *digest_of(const char *text)
{
    return sr_sha256_hex(text, strlen(text), pool);
}

/* The version and owner that are known, or "". */
static const char *known(const char *who, const char *document, apr_time_t now)
{
    char version[SR_SHA256_HEX_LENGTH + 1], owner[SR_ACCESS_OWNER_LENGTH + 1];
    if (!sr_version_cache_has(cache, digest_of(who), document, now, version, owner)) return "";
    return apr_psprintf(pool, "%.8s %s", version, owner);
}

static void add(const char *who, const char *document, const char *version)
{
    sr_version_cache_add(cache, digest_of(who), sr_version_cache_count(document), NOW, digest_of(version),
                         "0123456789abcdef");
}

static void test_one(void)
{
    const char *first = apr_psprintf(pool, "%.8s 0123456789abcdef", digest_of("first"));
    const char *second = apr_psprintf(pool, "%.8s 0123456789abcdef", digest_of("second"));
    is_str(known("ann", DOCUMENT, NOW), "", "nothing is known at first");
    add("ann", DOCUMENT, "first");
    is_str(known("ann", DOCUMENT, NOW), first, "then what was added");
    is_str(known("bob", DOCUMENT, NOW), "", "and nothing of others");
    is_str(known("ann", DOCUMENT, NOW + 39999), first, "for 40 ms");
    is_str(known("ann", DOCUMENT, NOW + 1000000), "", "and no longer");
    is_str(known("ann", DOCUMENT, NOW - 2), "", "also if the clock is set back");
    sr_version_cache_changed(OTHER);
    is_str(known("ann", DOCUMENT, NOW), first, "a signature of another document changes nothing");
    sr_version_cache_changed(DOCUMENT);
    is_str(known("ann", DOCUMENT, NOW), "", "one of this document does");
    add("ann", DOCUMENT, "second");
    is_str(known("ann", DOCUMENT, NOW), second, "then another version is stored");
}

/* A version that was read before a commit must not be stored after it. */
static void test_race(void)
{
    const apr_uint32_t count = sr_version_cache_count(DOCUMENT);
    sr_version_cache_changed(DOCUMENT);
    sr_version_cache_add(cache, digest_of("late"), count, NOW, digest_of("first"), "0123456789abcdef");
    is_str(known("late", DOCUMENT, NOW), "", "what was read before a commit is not known after it");
}

static void test_many(void)
{
    int found = 0;
    for (int i = 0; i < 20000; i++) add(apr_itoa(pool, i), DOCUMENT, apr_itoa(pool, i));
    for (int i = 0; i < 20000; i++)
        found += !strncmp(known(apr_itoa(pool, i), DOCUMENT, NOW), digest_of(apr_itoa(pool, i)), 8);
    ok(found > 1500 && found <= 2048, "the newest of many are known, and none as another: %d", found);
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    cache = sr_version_cache_create(pool);
    test_one();
    test_race();
    test_many();
    return done();
}
