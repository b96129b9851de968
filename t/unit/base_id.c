/* SPDX-License-Identifier: Apache-2.0 */
/* base_id.c: tests of src/base/id.c. */
#include "base/base.h"
#include "tap.h"

#include <apr_hash.h>

static apr_pool_t *pool;

static void test_uuid(void)
{
    apr_hash_t *seen = apr_hash_make(pool);
    bool formed = true;
    int i;

    for (i = 0; i < 10000; i++) {
        const char *uuid = sr_uuid_make(pool);
        formed = formed && sr_uuid_valid(uuid) && uuid[14] == '4' && strchr("89ab", uuid[19])
                 && strspn(uuid, "0123456789abcdef-") == SR_UUID_LENGTH;
        apr_hash_set(seen, uuid, APR_HASH_KEY_STRING, uuid);
    }
    ok(formed, "each UUID is lower case, of version 4 and variant 10");
    is_int(apr_hash_count(seen), 10000, "no UUID comes twice");

    ok(sr_uuid_valid("0F8FAD5B-D9CB-469F-A165-70867728950E"), "upper case is valid");
    ok(!sr_uuid_valid(""), "nothing is not");
    ok(!sr_uuid_valid("0f8fad5b-d9cb-469f-a165-70867728950"), "too short is not");
    ok(!sr_uuid_valid("0f8fad5b-d9cb-469f-a165-70867728950e0"), "too long is not");
    ok(!sr_uuid_valid("0f8fad5b-d9cb-469f-a165-70867728950g"), "g is not");
    ok(!sr_uuid_valid("0f8fad5bd9cb-469f-a165-70867728950e-"), "a misplaced hyphen is not");
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
