/* SPDX-License-Identifier: Apache-2.0 */
/* model_token.c: tests of src/model/token.c. */
#include "model/model.h"
#include "tap.h"

static const sr_token_t full = {.uuid = "T",
                                .name = "ci",
                                .environment = SR_PRODUCTION,
                                .user_uuid = "U",
                                .user = {"Cy", "Owner", "cy@x.org"},
                                .organization_uuid = "O",
                                .organization_name = "Org",
                                .sent_webhook_url = "http://a",
                                .completed_webhook_url = "http://c",
                                .parent = "P",
                                .created_at = APR_TIME_C(1795198163123456),
                                .expires_at = APR_TIME_C(1795198164000000)};

static void test_made(apr_pool_t *pool)
{
    const char *test = sr_token_make(false, pool), *live = sr_token_make(true, pool);
    apr_size_t i, caught = 0, length = strlen(test);
    ok(strncmp(test, "sigreq_test_", 12) == 0, "a token of the test environment has its prefix");
    ok(strncmp(live, "sigreq_live_", 12) == 0, "a token of production has its prefix");
    is_int(length, 12 + 30 + 6, "the length of a token");
    ok(sr_token_well_formed(test) && sr_token_well_formed(live), "both are well formed");
    ok(strcmp(test + 12, sr_token_make(false, pool) + 12) != 0, "two tokens differ");

    for (i = 0; i < length; i++) {
        char *wrong = apr_pstrdup(pool, test);
        wrong[i] = wrong[i] == 'x' ? 'y' : 'x';
        caught += sr_token_well_formed(wrong) ? 0 : 1;
    }
    is_int(caught, length, "every mistyped letter is detected");
    ok(!sr_token_well_formed(""), "an empty text is not a token");
    ok(!sr_token_well_formed(apr_pstrcat(pool, test, "0", NULL)), "a token with another letter is not a token");
    ok(!sr_token_well_formed("sigreq_test_"), "a prefix alone is not a token");
    ok(!sr_token_well_formed(apr_pstrcat(pool, "sigreq_live_", test + 12, NULL)),
       "a token with the prefix of the other environment is not a token");
    /* The CRC-32 of the first 42 characters is 0x9F3BBF4E by zlib. The form must never change, because tokens are in
     * use. */
    ok(sr_token_well_formed("sigreq_test_0000000000000000000000000000002unJLq"),
       "a token with a checksum of another program is well formed");
}

int main(void)
{
    static const char view[] =
        "\"environment\":\"production\",\"user\":{\"uuid\":\"U\",\"firstname\":\"Cy\",\"lastname\":\"Owner\","
        "\"email\":\"cy@x.org\"},\"organization\":{\"uuid\":\"O\",\"name\":\"Org\"},\"sentWebhookUrl\":\"http://a\","
        "\"signedWebhookUrl\":null,\"completedWebhookUrl\":\"http://c\",\"createdAt\":\"2026-11-20T18:09:23.123Z\","
        "\"expiresAt\":\"2026-11-20T18:09:24.000Z\",\"revokedAt\":null,\"parent\":\"P\"}";
    apr_pool_t *pool;

    apr_initialize();
    apr_pool_create(&pool, NULL);
    is_str(sr_environment_name(SR_TEST), "test", "the name of the test environment");
    is_str(sr_environment_name(SR_PRODUCTION), "production", "the name of production");

    sr_environment_t environment = SR_TEST;
    ok(sr_environment_parse(&environment, "production") && environment == SR_PRODUCTION, "production is parsed");
    ok(sr_environment_parse(&environment, "test") && environment == SR_TEST, "test is parsed");
    ok(!sr_environment_parse(&environment, "live"), "other names are refused");
    is_str(sr_json_text(sr_json_own(sr_token_representation(&full, NULL), pool), pool),
           apr_pstrcat(pool, "{\"uuid\":\"T\",\"name\":\"ci\",", view, NULL),
           "the representation of a token without its secret");
    is_str(sr_json_text(sr_json_own(sr_token_representation(&full, "s3"), pool), pool),
           apr_pstrcat(pool, "{\"uuid\":\"T\",\"name\":\"ci\",\"token\":\"s3\",", view, NULL),
           "the representation of a token with its secret");
    test_made(pool);
    apr_pool_destroy(pool);
    apr_terminate();
    return done();
}
