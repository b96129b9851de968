/* SPDX-License-Identifier: Apache-2.0 */
/* base_slow_hash.c: tests of src/base/slow_hash.c: hashes of short secrets. */
#include "base/base.h"
#include "tap.h"

#include <apr_general.h>
#include <pthread.h>
#include <time.h>

#define THREADS 4

static apr_pool_t *pool;

/* By scrypt of Python: hashlib.scrypt(b"471100", salt=b"0123456789abcdef0123456789abcdef", n=16384, r=8, p=1,
 * dklen=32) */
#define SALT "0123456789abcdef0123456789abcdef"
#define DIGEST "d6c2083d76c70632374b1e6485ba74f855aa832e94286f7c14dfc5e827c976c2"

static void *match(void *baton)
{
    apr_pool_t *own;
    apr_pool_create(&own, NULL);
    const bool matches = sr_slow_hash_matches(baton, "471100", own) && !sr_slow_hash_matches(baton, "471101", own);
    apr_pool_destroy(own);
    return matches ? baton : NULL;
}

static void test_threads(void)
{
    pthread_t threads[THREADS];
    void *hash = (void *)sr_slow_hash("471100", pool);
    int matching = 0;
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, match, hash);
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        matching += result == hash;
    }
    is_int(matching, THREADS, "several threads");
}

static double seconds(const char *hash)
{
    struct timespec before, after;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    sr_slow_hash_matches(hash, "471100", pool);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    return (double)(after.tv_sec - before.tv_sec) + 1e-9 * (double)(after.tv_nsec - before.tv_nsec);
}

/* The least of several measurements, because other programs disturb a single one. */
static double least(const char *hash)
{
    double best = seconds(hash);
    for (int i = 0; i < 9; i++) {
        const double next = seconds(hash);
        if (next < best) best = next;
    }
    return best;
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    const char *hash = sr_slow_hash("471100", pool), *other = sr_slow_hash("471100", pool);
    is_str(sr_slow_derive("471100", SALT, pool), DIGEST, "the digest of another implementation");
    ok(sr_slow_hash_matches("scrypt$14$" SALT "$" DIGEST, "471100", pool), "a hash with it");
    ok(!strncmp(hash, "scrypt$14$", 10) && strlen(hash) == 10 + 32 + 1 + 64, "the form of a hash");
    ok(strcmp(hash, other) != 0, "each hash has its own salt");
    ok(sr_slow_hash_matches(hash, "471100", pool) && sr_slow_hash_matches(other, "471100", pool), "the right text");
    ok(sr_slow_hash_matches(sr_slow_hash("", pool), "", pool), "an empty text");
    ok(!sr_slow_hash_matches(hash, "471101", pool), "a wrong text");
    ok(!sr_slow_hash_matches(hash, "4711001", pool), "a longer text");
    ok(!sr_slow_hash_matches(hash, "", pool), "no text");

    char *spoilt = apr_pstrdup(pool, hash);
    spoilt[strlen(spoilt) - 1] ^= 1;
    ok(!sr_slow_hash_matches(spoilt, "471100", pool), "another last digit");
    ok(!sr_slow_hash_matches(apr_pstrndup(pool, hash, strlen(hash) - 1), "471100", pool), "a shorter hash");
    ok(!sr_slow_hash_matches(apr_pstrcat(pool, hash, "0", NULL), "471100", pool), "a longer hash");
    ok(!sr_slow_hash_matches(apr_pstrcat(pool, "scrypt$13$", hash + 10, NULL), "471100", pool), "another cost");
    ok(!sr_slow_hash_matches("", "471100", pool) && !sr_slow_hash_matches(NULL, "471100", pool), "no hash");
    ok(!sr_slow_hash_matches(NULL, "", pool), "no hash and no text");

    const double with = least(hash), without = least(NULL);
    ok(with > 0.005, "it takes a while: %.1f ms", 1000 * with);
    ok(without > 0.7 * with && without < 1.4 * with, "without a hash it takes as long: %.1f ms", 1000 * without);
    test_threads();
    apr_pool_destroy(pool);
    apr_terminate();
    return done();
}
