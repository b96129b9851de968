/* SPDX-License-Identifier: Apache-2.0 */
/* model_event.c: tests of src/model/event.c: the canonical form is RFC 8785's to the byte, the hash is of it, and the
 * chain holds together. */
#include "model/model.h"
#include "tap.h"

#include <apr_general.h>

static apr_pool_t *pool;

#define ANN "22222222-d9cb-469f-a165-70867728950e"
#define AT APR_TIME_C(1795198163123456)

static json_t *detail_of(const char *text)
{
    json_t *detail;

    if (sr_json_parse(&detail, text, strlen(text), pool)) abort();
    return detail;
}

/* The first event, with this detail. */
static sr_event_text_t event_with(const char *detail)
{
    sr_event_text_t text;
    const sr_event_t event = {"signed", AT, ANN, {.ip = "::1", .user_agent = "Agent/7"}, detail_of(detail)};

    sr_event_write(&text, &event, 1, NULL, pool);
    return text;
}

static void test_form(void)
{
    const sr_event_text_t text = event_with("{\"b\":2,\"a\":\"x\",\"B\":null,\"aa\":[1,{\"z\":0,\"y\":-7}]}");
    static const char before[] = "{\"at\":\"2026-11-20T18:09:23.123Z\",\"detail\":{\"B\":null,\"a\":\"x\",\"aa\":[1,{"
                                 "\"y\":-7,\"z\":0}],\"b\":2},"
                                 "\"event\":\"signed\",",
                      after[] = "\"ip\":\"::1\",\"number\":1,\"previousHash\":null,\"signer\":\"" ANN
                                "\",\"userAgent\":\"Agent/7\"}";

    is_str(text.hash, sr_sha256_hex(apr_pstrcat(pool, before, after, NULL), strlen(before) + strlen(after), pool),
           "the hash is of the members in order, without white space and without itself");
    is_str(text.body, apr_pstrcat(pool, before, "\"hash\":\"", text.hash, "\",", after, NULL),
           "the event is the same with its hash");
}

static void test_nobody(void)
{
    sr_event_text_t text;
    const sr_event_t event = {"completed", AT, NULL, {0}, detail_of("{}")};

    sr_event_write(&text, &event, 12, "abc", pool);
    ok(strstr(text.body, "\"ip\":null,\"number\":12,\"previousHash\":\"abc\",\"signer\":null,\"userAgent\":null}"),
       "who did nothing is null");
}

/* RFC 8785, 3.2.2.2: as ECMAScript writes strings. */
static void test_strings(void)
{
    static const struct {
        const char *sent, *written, *name;
    } cases[] = {
        {"\\u0000x", NULL, "NUL, which is never read"},
        {"\\u0001\\u000b\\u000e\\u001F\\u001f", "\\u0001\\u000b\\u000e\\u001f\\u001f", "other control characters"},
        {"\\u0008\\u0009\\u000A\\u000C\\u000D", "\\b\\t\\n\\f\\r", "control characters with a name"},
        {"\\\"\\\\\\/", "\\\"\\\\/", "quote, backslash and slash"},
        {"\\\\u001F\\\\\\u001F", "\\\\u001F\\\\\\u001f", "a backslash that escapes nothing but itself"},
        {"\x7f\\u007F\\u0080", "\x7f\x7f\xc2\x80", "what is no control character to JSON"},
        {"\\u20AC\\u2028\xe2\x82\xac", "\xe2\x82\xac\xe2\x80\xa8\xe2\x82\xac", "other scripts"},
        {"\\uD83D\\uDE00", "\xf0\x9f\x98\x80", "a character of four bytes"},
        {"e\\u0301", "e\xcc\x81", "nothing is normalised"},
    };
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const sent = apr_pstrcat(pool, "{\"t\":\"", cases[i].sent, "\"}", NULL);
        json_t *detail;

        if (!cases[i].written) {
            ok(sr_json_parse(&detail, sent, strlen(sent), pool) != NULL, "%s", cases[i].name);
            continue;
        }
        const char *const want = apr_pstrcat(pool, "\"detail\":{\"t\":\"", cases[i].written, "\"}", NULL);
        const sr_event_text_t text = event_with(sent);
        if (!ok(strstr(text.body, want) != NULL, "%s", cases[i].name)) printf("#   %s\n", text.body);
    }
}

static void test_numbers(void)
{
    const sr_event_text_t text = event_with("{\"n\":[0,-0,1,-1,9007199254740991,-9007199254740991]}");

    ok(strstr(text.body, "\"n\":[0,0,1,-1,9007199254740991,-9007199254740991]"), "whole numbers");
}

/* What a client does: takes the hash out, writes the rest in canonical form, and compares. */
static bool is_sound(const char *body, const char **hash)
{
    json_t *const event = detail_of(body);
    const char *text;

    *hash = apr_pstrdup(pool, sr_json_string(event, "hash"));
    json_object_del(event, "hash");
    char *const dumped = json_dumps(event, JSON_COMPACT | JSON_SORT_KEYS);
    text = sr_sha256_hex(dumped, strlen(dumped), pool);
    free(dumped);
    return !strcmp(text, *hash);
}

static void test_chain(void)
{
    const char *previous = NULL, *bodies[5], *hash;
    int i, linked = 0, sound = 0;

    for (i = 0; i < 5; i++) {
        const sr_event_t event = {i ? "opened" : "created", AT + i * 1000, ANN, {.ip = "::1"}, detail_of("{\"a\":1}")};
        sr_event_text_t text;

        sr_event_write(&text, &event, i + 1, previous, pool);
        bodies[i] = text.body;
        sound += is_sound(text.body, &hash);
        linked += previous ? !strcmp(sr_json_string(detail_of(text.body), "previousHash"), previous) : 1;
        previous = text.hash;
    }
    is_int(sound, 5, "each hash can be found again");
    is_int(linked, 5, "each names the one before it");

    char *const changed = apr_pstrdup(pool, bodies[2]);
    *strstr(changed, "::1") = '1';
    ok(!is_sound(changed, &hash), "a changed event is seen");
    ok(strcmp(sr_json_string(detail_of(bodies[3]), "previousHash"), sr_json_string(detail_of(bodies[1]), "hash")) != 0,
       "and so is one that is left out");
}

static void test_differences(void)
{
    const sr_event_t one = {"opened", AT, ANN, {.ip = "::1", .user_agent = "A"}, detail_of("{}")};
    sr_event_t others[] = {one, one, one, one, one, one};
    sr_event_text_t text, other;
    size_t i;

    others[0].kind = "signed";
    others[1].at += 1000;
    others[2].signer = NULL;
    others[3].client.ip = "::2";
    others[4].client.user_agent = "B";
    others[5].detail = detail_of("{\"a\":null}");
    sr_event_write(&text, &one, 1, NULL, pool);
    for (i = 0; i < sizeof others / sizeof *others; i++) {
        sr_event_write(&other, &others[i], 1, NULL, pool);
        ok(strcmp(text.hash, other.hash) != 0, "difference %d changes the hash", (int)i);
    }
    sr_event_write(&other, &one, 2, NULL, pool);
    ok(strcmp(text.hash, other.hash) != 0, "so does the number");
    sr_event_write(&other, &one, 1, "x", pool);
    ok(strcmp(text.hash, other.hash) != 0, "and the previous hash");
    sr_event_write(&other, &one, 1, NULL, pool);
    is_str(other.hash, text.hash, "the same event has the same");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    test_form();
    test_nobody();
    test_strings();
    test_numbers();
    test_chain();
    test_differences();
    apr_pool_destroy(pool);
    return done();
}
