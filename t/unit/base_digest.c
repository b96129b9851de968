/* SPDX-License-Identifier: Apache-2.0 */
/* base_digest.c: tests of src/base/digest.c, with the examples of FIPS 180-2. */
#include "base/base.h"
#include "tap.h"

static void check(apr_pool_t *pool)
{
    static const char abc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    static const char empty[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    static const char million[] = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";
    sr_sha256_t *state;
    is_str(sr_sha256_hex("abc", 3, pool), abc, "the digest of a text at once");
    is_str(sr_sha256_hex("", 0, pool), empty, "the digest of an empty text");

    state = sr_sha256_begin(pool);
    is_str(sr_sha256_end_hex(state, pool), empty, "the digest of no parts");
    state = sr_sha256_begin(pool);
    sr_sha256_update(state, "a", 1);
    sr_sha256_update(state, "", 0);
    sr_sha256_update(state, "bc", 2);
    is_str(sr_sha256_end_hex(state, pool), abc, "the digest of three parts");
    state = sr_sha256_begin(pool);
    for (int i = 0; i < 100000; i++) sr_sha256_update(state, "aaaaaaaaaa", 10);
    is_str(sr_sha256_end_hex(state, pool), million, "the digest of a million letters");

    unsigned char hmac[32] = "key";
    sr_hmac_sha256(hmac, hmac, 3, "The quick brown fox jumps over the lazy dog", 43);
    is_str(sr_text_hex(hmac, sizeof hmac, pool), "f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8",
           "an HMAC, written over its key");
}

int main(void)
{
    apr_pool_t *pool;
    apr_initialize();
    apr_pool_create(&pool, NULL);
    check(pool);
    sr_sha256_prepare();
    check(pool);
    apr_pool_destroy(pool);
    apr_terminate();
    return done();
}
