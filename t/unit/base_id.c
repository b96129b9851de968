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

static void test_token(void)
{
    const char *test = sr_token_make(false, pool), *live = sr_token_make(true, pool);
    apr_size_t i, caught = 0, length = strlen(test);

    ok(strncmp(test, "sigreq_test_", 12) == 0, "a test token says so");
    ok(strncmp(live, "sigreq_live_", 12) == 0, "a live token says so");
    is_int(length, 12 + 30 + 6, "its length");
    ok(sr_token_well_formed(test) && sr_token_well_formed(live), "both are well formed");
    ok(strcmp(test + 12, sr_token_make(false, pool) + 12) != 0, "two differ");

    for (i = 0; i < length; i++) {
        char *wrong = apr_pstrdup(pool, test);
        wrong[i] = wrong[i] == 'x' ? 'y' : 'x';
        caught += sr_token_well_formed(wrong) ? 0 : 1;
    }
    is_int(caught, length, "any one mistyped letter is caught");
    ok(!sr_token_well_formed(""), "nothing is no token");
    ok(!sr_token_well_formed(apr_pstrcat(pool, test, "0", NULL)), "nor is one with more behind it");
    ok(!sr_token_well_formed("sigreq_test_"), "nor a prefix alone");
    ok(!sr_token_well_formed(apr_pstrcat(pool, "sigreq_live_", test + 12, NULL)), "nor one of the other environment");
    /* CRC-32 of the first 42 characters is 0x9F3BBF4E by zlib: the form must not change under stored tokens. */
    ok(sr_token_well_formed("sigreq_test_0000000000000000000000000000002unJLq"), "a token made elsewhere is known");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    test_uuid();
    test_token();
    apr_pool_destroy(pool);
    apr_terminate();
    return done();
}
