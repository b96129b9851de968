/* SPDX-License-Identifier: Apache-2.0 */
/* base_id.c: tests of src/base/id.c. */
#include "base/base.h"
#include "tap.h"

#include <apr_hash.h>

static apr_pool_t *pool;

static void test_make(const char *(*make)(apr_pool_t *pool), const char *what)
{
    apr_hash_t *seen = apr_hash_make(pool);
    bool formed = true;
    for (int i = 0; i < 10000; i++) {
        const char *uuid = make(pool);
        formed = formed && sr_uuid_valid(uuid) && uuid[14] == '4' && strchr("89ab", uuid[19])
                 && strspn(uuid, "0123456789abcdef-") == SR_UUID_LENGTH;
        apr_hash_set(seen, uuid, APR_HASH_KEY_STRING, uuid);
    }
    ok(formed, "each %s has lower-case letters, version 4 and variant 10", what);
    is_int(apr_hash_count(seen), 10000, "10,000 of them are all different");
}

static void test_uuid(void)
{
    test_make(sr_uuid_make, "UUID");
    test_make(sr_uuid_make_public, "public UUID");
    ok(sr_uuid_valid("0F8FAD5B-D9CB-469F-A165-70867728950E"), "a UUID in upper case is valid");
    ok(!sr_uuid_valid(""), "an empty text is not a UUID");
    ok(!sr_uuid_valid("0f8fad5b-d9cb-469f-a165-70867728950"), "a text that is too short is not a UUID");
    ok(!sr_uuid_valid("0f8fad5b-d9cb-469f-a165-70867728950e0"), "a text that is too long is not a UUID");
    ok(!sr_uuid_valid("0f8fad5b-d9cb-469f-a165-70867728950g"), "a text with a g is not a UUID");
    ok(!sr_uuid_valid("0f8fad5bd9cb-469f-a165-70867728950e-"), "a text with a misplaced hyphen is not a UUID");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    test_uuid();
    apr_pool_destroy(pool);
    apr_terminate();
    return done();
}
