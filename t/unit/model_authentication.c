/* SPDX-License-Identifier: Apache-2.0 */
/* model_authentication.c: tests of src/model/authentication.c: what callers may send, codes, locks, what is stored and
 * what is shown. */
#include "model/model.h"
#include "tap.h"

#include <apr_general.h>

#define NOW APR_INT64_C(1790000000000000)
#define MINUTE apr_time_from_sec(60)
#define HOUR apr_time_from_sec(3600)

static apr_pool_t *pool;

static sr_authentication_t *made(const char *json)
{
    sr_authentication_t *authentication;
    const char *fault = sr_authentication_read(
        &authentication, sr_json_own(json_loads(json, JSON_DECODE_ANY, NULL), pool), "a@x.org", pool);
    if (fault) printf("# %s: %s\n", json, fault);
    return authentication;
}

#define METHOD "An authentication method must be code, email, hook, caller or httpd"
#define WHEN "An authentication when must be open or sign"
#define CODE "An authentication code must have 4 to 32 printable characters"
#define TO                                                                                                             \
    "An authentication to must be a telephone number such as +4915112345678, or another address of 3 to 100 "          \
    "characters without spaces"
#define USER "An authentication user must have 1 to 254 printable characters"
#define EMAIL "An email to which mail can be sent must be provided for authentication by email"
#define SIXTEEN "0123456789abcdef"

static const struct {
    const char *json, *email, *fault; /* NULL: none */
} readings[] = {
    {"null", NULL, NULL},
    {"true", NULL, "An authentication must be an object"},
    {"\"code\"", NULL, "An authentication must be an object"},
    {"[]", NULL, "An authentication must be an object"},
    {"{}", NULL, METHOD},
    {"{\"method\":null}", NULL, METHOD},
    {"{\"method\":\"CODE\",\"code\":\"1234\"}", NULL, METHOD},
    {"{\"method\":\"caller\"}", NULL, NULL},
    {"{\"method\":\"caller\",\"when\":null}", NULL, NULL},
    {"{\"method\":\"caller\",\"when\":\"sign\"}", NULL, NULL},
    {"{\"method\":\"caller\",\"when\":\"\"}", NULL, WHEN},
    {"{\"method\":\"caller\",\"when\":1}", NULL, WHEN},
    {"{\"method\":\"caller\",\"how\":\"x\"}", NULL, "An authentication of method caller has no member how"},
    {"{\"method\":\"code\"}", NULL, "An authentication code must be provided"},
    {"{\"method\":\"code\",\"code\":1234}", NULL, "An authentication code must be provided"},
    {"{\"method\":\"code\",\"code\":\"123\"}", NULL, CODE},
    {"{\"method\":\"code\",\"code\":\"1234\"}", NULL, NULL},
    {"{\"method\":\"code\",\"code\":\" - - - - \"}", NULL, CODE},
    {"{\"method\":\"code\",\"code\":\"1 2-3\"}", NULL, CODE},
    {"{\"method\":\"code\",\"code\":\"1 2-3 4\"}", NULL, NULL},
    {"{\"method\":\"code\",\"code\":\"äöüß\"}", NULL, NULL},
    {"{\"method\":\"code\",\"code\":\"" SIXTEEN SIXTEEN "\"}", NULL, NULL},
    {"{\"method\":\"code\",\"code\":\"" SIXTEEN SIXTEEN "0\"}", NULL, CODE},
    {"{\"method\":\"code\",\"code\":\"1234\\n5\"}", NULL, CODE},
    {"{\"method\":\"code\",\"code\":\"1234\",\"to\":\"x\"}", NULL, "An authentication of method code has no member to"},
    {"{\"method\":\"email\"}", "ann@example.org", NULL},
    {"{\"method\":\"email\"}", NULL, EMAIL},
    {"{\"method\":\"email\"}", "ann@-x.org", EMAIL},
    {"{\"method\":\"email\",\"to\":\"b@x.org\"}", "a@x.org", "An authentication of method email has no member to"},
    {"{\"method\":\"hook\"}", NULL, "An authentication to must be provided"},
    {"{\"method\":\"hook\",\"to\":\"+491511234567\"}", NULL, NULL},
    {"{\"method\":\"hook\",\"to\":\"+1234567\"}", NULL, NULL},
    {"{\"method\":\"hook\",\"to\":\"+123456\"}", NULL, TO},
    {"{\"method\":\"hook\",\"to\":\"+123456789012345\"}", NULL, NULL},
    {"{\"method\":\"hook\",\"to\":\"+1234567890123456\"}", NULL, TO},
    {"{\"method\":\"hook\",\"to\":\"+49 151 1234567\"}", NULL, TO},
    {"{\"method\":\"hook\",\"to\":\"+49151x234567\"}", NULL, TO},
    {"{\"method\":\"hook\",\"to\":\"+\"}", NULL, TO},
    {"{\"method\":\"hook\",\"to\":\"ab\"}", NULL, TO},
    {"{\"method\":\"hook\",\"to\":\"@ann:x.org\"}", NULL, NULL},
    {"{\"method\":\"hook\",\"to\":\"a b\"}", NULL, TO},
    {"{\"method\":\"httpd\"}", NULL, "An authentication user must be provided"},
    {"{\"method\":\"httpd\",\"user\":\" \"}", NULL, USER},
    {"{\"method\":\"httpd\",\"user\":\"CN=Ann Lee,O=X\"}", NULL, NULL},
};

static void test_reading(void)
{
    for (size_t i = 0; i < sizeof readings / sizeof *readings; i++) {
        sr_authentication_t *authentication;
        json_t *value = sr_json_own(json_loads(readings[i].json, JSON_DECODE_ANY, NULL), pool);
        const char *fault = sr_authentication_read(&authentication, value, readings[i].email, pool);
        is_str(fault, readings[i].fault, "%s", readings[i].json);
        ok((authentication != NULL) == (!fault && !json_is_null(value)), "and it has a result if there is no fault");
    }
    char *user = apr_palloc(pool, 300);
    for (int length = 254; length <= 255; length++) {
        sr_authentication_t *authentication;
        memset(user, 'u', (size_t)length);
        user[length] = '\0';
        json_t *value = sr_json_own(json_pack("{s:s,s:s}", "method", "httpd", "user", user), pool);
        is_str(sr_authentication_read(&authentication, value, NULL, pool), length == 254 ? NULL : USER, "%d characters",
               length);
    }
}

static void test_codes(void)
{
    static const char *const same[] = {"4711-KX",
                                       "4711KX",
                                       "4711kx",
                                       " 4711 k x ",
                                       "4-7-1-1-k-x",
                                       "4711\xE2\x80\x90kx",
                                       "4711\xE2\x80\x91kx",
                                       "4711\xE2\x80\x92kx",
                                       "4711\xE2\x80\x93kx",
                                       "4711\xE2\x80\x94kx",
                                       "4711\xE2\x80\x95kx",
                                       "4711\xE2\x88\x92kx",
                                       "4711\xC2\xA0kx",
                                       "4711\xC2\xADkx",
                                       "4711\xE2\x80\xAFkx"};
    static const char *const others[] = {"4711_kx", "4711.kx", "4711\xE2\x80\x8Fkx", "4711\xE2\x80\x96kx", "4711\tkx"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        is_str(sr_code_folded(same[i], pool), "4711kx", "%s", same[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ok(strcmp(sr_code_folded(others[i], pool), "4711kx") != 0, "%s is another code", others[i]);
    is_str(sr_code_folded("\xC3\x84\xC3\x96", pool), "\xC3\xA4\xC3\xB6", "letters of other alphabets");
    is_str(sr_code_folded("", pool), "", "an empty text");
    int digits[10] = {0}, different = 0;
    const char *before = "";
    for (int i = 0; i < 1000; i++) {
        const char *code = sr_code_make(pool);
        if (strlen(code) != 6 || strspn(code, "0123456789") != 6) ok(false, "six digits: %s", code);
        for (const char *c = code; *c; c++) digits[*c - '0']++;
        different += strcmp(code, before) != 0;
        before = code;
    }
    int least = digits[0];
    for (int i = 1; i < 10; i++)
        if (digits[i] < least) least = digits[i];
    ok(least > 400, "each digit is one of ten of random codes (%d of 6000)", least); /* 600, spread 23 */
    ok(different > 990, "codes differ");
}

static void wrong(sr_authentication_t *authentication, int times, apr_time_t now)
{
    for (int i = 0; i < times; i++) sr_authentication_fail(authentication, now);
}

static const char *view(const sr_authentication_t *authentication)
{
    return sr_json_text(sr_json_own(sr_authentication_view(authentication), pool), pool);
}

#define PENDING "{\"method\":\"code\",\"when\":\"open\",\"state\":\"pending\",\"passedAt\":null}"

static void test_locks(void)
{
    sr_authentication_t *a = made("{\"method\":\"code\",\"code\":\"4711\"}");
    apr_time_t now = NOW;
    is_str(view(a), PENDING, "nothing has happened");
    wrong(a, 4, now);
    ok(!sr_authentication_is_locked(a, now), "four wrong codes lock nothing");
    is_str(sr_authentication_expected(a, now), "4711", "and the code is expected");
    is_str(view(a), PENDING, "and nothing is shown");
    wrong(a, 1, now);
    ok(sr_authentication_is_locked(a, now), "the fifth one locks it");
    is_str(sr_authentication_expected(a, now), NULL, "and no code is expected");
    is_str(view(a),
           "{\"method\":\"code\",\"when\":\"open\",\"state\":\"locked\",\"passedAt\":null,"
           "\"lockedUntil\":\"2026-09-21T15:13:20.000Z\"}",
           "which is shown");
    ok(sr_authentication_is_locked(a, now + HOUR - 1), "for an hour");
    ok(!sr_authentication_is_locked(a, now + HOUR), "and no longer");
    for (int lock = 2; lock <= 5; lock++) {
        now += HOUR;
        wrong(a, 4, now);
        ok(!sr_authentication_is_locked(a, now), "lock %d: four wrong codes", lock);
        wrong(a, 1, now);
        ok(sr_authentication_is_locked(a, now), "lock %d: five", lock);
    }
    ok(sr_authentication_is_locked(a, now + 1000 * HOUR), "the fifth lock does not end by itself");
    is_str(view(a),
           "{\"method\":\"code\",\"when\":\"open\",\"state\":\"locked\",\"passedAt\":null,\"lockedUntil\":null}",
           "which is shown");
    ok(sr_authentication_unlock(a), "it is unlocked");
    ok(!sr_authentication_unlock(a), "once");
    is_str(view(a), PENDING, "which is shown");
    wrong(a, 5, now);
    ok(!sr_authentication_is_locked(a, now + HOUR), "the next lock is the first one again");

    now += HOUR;
    wrong(a, 4, now);
    sr_authentication_pass(a, now);
    is_str(view(a),
           "{\"method\":\"code\",\"when\":\"open\",\"state\":\"passed\",\"passedAt\":\"2026-09-21T19:13:20.000Z\"}",
           "a right code is shown");
    wrong(a, 4, now);
    ok(!sr_authentication_is_locked(a, now), "and ends the counting");
    wrong(a, 1, now);
    ok(strstr(view(a), "\"state\":\"locked\",\"passedAt\":\"2026-09-21T19:13:20.000Z\""),
       "one who has passed is locked");
    sr_authentication_unlock(a);
    ok(strstr(view(a), "\"state\":\"passed\""), "and has passed after that");
}

static void test_sending(void)
{
    sr_authentication_t *a = made("{\"method\":\"email\"}");
    is_str(sr_authentication_expected(a, NOW), NULL, "no code was sent");
    sr_authentication_send(a, "h0", NOW);
    is_str(sr_authentication_expected(a, NOW), "h0", "one was sent");
    is_str(sr_authentication_expected(a, NOW + 10 * MINUTE - 1), "h0", "and is expected for ten minutes");
    is_str(sr_authentication_expected(a, NOW + 10 * MINUTE), NULL, "and no longer");
    for (int i = 1; i < SR_AUTH_SENDINGS; i++) {
        ok(sr_authentication_may_send(a, NOW + i * MINUTE), "code %d may be sent", i + 1);
        sr_authentication_send(a, apr_psprintf(pool, "h%d", i), NOW + i * MINUTE);
    }
    is_str(sr_authentication_expected(a, NOW + 5 * MINUTE), "h4", "the last one is expected, alone");
    ok(!sr_authentication_may_send(a, NOW + HOUR - 1), "no sixth one within an hour");
    ok(sr_authentication_may_send(a, NOW + HOUR), "but after it");
    sr_authentication_send(a, "h5", NOW + HOUR);
    ok(!sr_authentication_may_send(a, NOW + HOUR + MINUTE - 1), "the next one an hour after the second one");
    wrong(a, 5, NOW + HOUR);
    is_str(sr_authentication_expected(a, NOW + HOUR), NULL, "a lock ends the code");
    ok(!sr_authentication_may_send(a, NOW + 2 * HOUR - 1), "and none is sent while it is locked");
    ok(sr_authentication_may_send(a, NOW + 3 * HOUR), "but after it");
    is_str(sr_authentication_expected(a, NOW + 3 * HOUR), NULL, "the code of before does not come back");
    sr_authentication_send(a, "h6", NOW + 3 * HOUR);
    sr_authentication_pass(a, NOW + 3 * HOUR);
    is_str(sr_authentication_expected(a, NOW + 3 * HOUR), NULL, "a right code is right once");
}

static void test_tickets(void)
{
    sr_authentication_t *a = made("{\"method\":\"caller\"}");
    const json_t *words = sr_json_own(json_pack("{s:s}", "how", "x"), pool);
    ok(!sr_authentication_admits(a, NULL, NOW) && !sr_authentication_admits(a, "t1", NOW), "there is no URL");
    sr_authentication_admit(a, "t1", words, NOW);
    ok(sr_authentication_admits(a, "t1", NOW + 5 * MINUTE - 1), "it works for five minutes");
    ok(!sr_authentication_admits(a, "t1", NOW + 5 * MINUTE), "and no longer");
    ok(!sr_authentication_admits(a, "t2", NOW) && !sr_authentication_admits(a, NULL, NOW), "no other one does");
    sr_authentication_admit(a, "t2", words, NOW);
    ok(!sr_authentication_admits(a, "t1", NOW) && sr_authentication_admits(a, "t2", NOW), "the next one ends it");
    sr_authentication_pass(a, NOW);
    ok(!sr_authentication_admits(a, "t2", NOW) && !a->words, "it works once");
    sr_authentication_admit(a, "t3", words, NOW);
    a->method = SR_AUTH_CODE;
    ok(!sr_authentication_admits(a, "t3", NOW), "it is for no other method");
}

static void test_stored(void)
{
    sr_authentication_t *a = made("{\"method\":\"hook\",\"to\":\"+491511234567\",\"when\":\"sign\"}"), *again;
    json_t *first = sr_authentication_json(a, pool);
    is_str(sr_json_text(first, pool), "{\"method\":\"hook\",\"on_sign\":true,\"to\":\"+491511234567\",\"sent\":[]}",
           "nothing more than needed is stored");
    sr_authentication_send(a, "h1", NOW);
    sr_authentication_pass(a, NOW + 1);
    sr_authentication_send(a, "h2", NOW + 2);
    wrong(a, 7, NOW + 3);
    a->ticket = "t";
    a->ticket_until = NOW + 4;
    a->words = sr_json_own(json_pack("{s:s}", "how", "x"), pool);
    json_t *stored = sr_authentication_json(a, pool);
    ok(!sr_authentication_parse(&again, stored, pool), "it is read again");
    is_str(sr_json_text(sr_authentication_json(again, pool), pool), sr_json_text(stored, pool), "and is the same");
    is_int(again->wrong, 2, "wrong codes since the lock");
    is_int(again->locks, 1, "locks");
    ok(again->sent[0] == NOW + 2 && again->sent[1] == NOW && !again->sent[2], "sendings, the newest first");
    ok(!sr_authentication_parse(&again, NULL, pool) && !again, "NULL is none");
    ok(!sr_authentication_parse(&again, sr_json_own(json_null(), pool), pool) && !again, "null is none");
    sr_error_t *error = sr_authentication_parse(&again, sr_json_own(json_pack("{s:s}", "method", "x"), pool), pool);
    ok(error && error->code == SR_EINTERNAL && !again, "an unknown method is an error");

    a = made("{\"method\":\"code\",\"code\":\"4711-KX\"}");
    sr_authentication_hide(a, pool);
    ok(sr_slow_hash_matches(a->code, "4711kx", pool), "a code is stored as the hash of its folded form");
    ok(!strstr(sr_json_text(sr_authentication_json(a, pool), pool), "4711"), "and not itself");
}

static void test_carrying(void)
{
    static const char *const asked = "authentication must be provided for the new signer, or null";
    sr_authentication_t *carried, *before = made("{\"method\":\"email\",\"when\":\"sign\"}");
    sr_authentication_send(before, "h", NOW);
    wrong(before, 5, NOW);
    sr_authentication_pass(before, NOW);
    is_str(sr_authentication_carry(&carried, before, "eve@x.org", pool), NULL, "a check by email is carried over");
    is_str(sr_json_text(sr_authentication_json(carried, pool), pool),
           "{\"method\":\"email\",\"on_sign\":true,\"sent\":[]}", "from its beginning");
    is_str(sr_authentication_carry(&carried, before, NULL, pool), EMAIL, "if there is an email");
    ok(!carried, "otherwise there is none");
    is_str(sr_authentication_carry(&carried, made("{\"method\":\"caller\"}"), NULL, pool), NULL,
           "and one by the caller");
    ok(carried && carried->method == SR_AUTH_CALLER && !carried->on_sign, "as it was");
    is_str(sr_authentication_carry(&carried, made("{\"method\":\"code\",\"code\":\"1234\"}"), "a@x.org", pool), asked,
           "a code is not");
    is_str(sr_authentication_carry(&carried, made("{\"method\":\"hook\",\"to\":\"@ann\"}"), "a@x.org", pool), asked,
           "nor is an address");
    is_str(sr_authentication_carry(&carried, made("{\"method\":\"httpd\",\"user\":\"ann\"}"), "a@x.org", pool), asked,
           "nor is a user");
    is_str(sr_authentication_carry(&carried, NULL, "a@x.org", pool), NULL, "no check is none");
    ok(!carried, "for the new signer");
}

static void test_masks(void)
{
    static const struct {
        const char *address, *mask;
    } rows[] = {
        {"ann@example.org", "a\xE2\x80\xA2\xE2\x80\xA2\xE2\x80\xA2@example.org"},
        {"a@example.org", "a\xE2\x80\xA2\xE2\x80\xA2\xE2\x80\xA2@example.org"},
        {"\xC3\xA4nn@example.org", "\xC3\xA4\xE2\x80\xA2\xE2\x80\xA2\xE2\x80\xA2@example.org"},
        {"+4915112345678", "\xE2\x80\xA2\xE2\x80\xA2\xE2\x80\xA2\xE2\x80\xA2 678"},
        {"+1234567", "\xE2\x80\xA2\xE2\x80\xA2\xE2\x80\xA2\xE2\x80\xA2 567"},
        {"threema-id", "\xE2\x80\xA2\xE2\x80\xA2\xE2\x80\xA2\xE2\x80\xA2 "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        is_str(sr_address_masked(rows[i].address, pool), rows[i].mask, "%s", rows[i].address);
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    test_reading();
    test_codes();
    test_locks();
    test_sending();
    test_tickets();
    test_stored();
    test_carrying();
    test_masks();
    apr_pool_destroy(pool);
    apr_terminate();
    return done();
}
