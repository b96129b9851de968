/* SPDX-License-Identifier: Apache-2.0 */
/* base_json.c: tests of src/base/json.c: our strictness, the wording of errors, and JSONTestSuite
 * (../shared/corpus, or where SIGREQ_CORPUS says). */
#include "base/base.h"
#include "tap.h"

#include <apr_file_info.h>
#include <apr_file_io.h>

static apr_pool_t *pool;

static const struct {
    const char *text, *message, *why;
} refused[] = {
    {"", "unexpected token near end of file at line 1 column 0", "nothing"},
    {"[1,\n 2,\n x]", "invalid token near 'x' at line 3 column 2", "a bare word, with its line and column"},
    {"[\"a\" \"b\"]", "']' expected near '\"b\"' at line 1 column 8", "a forgotten comma"},
    {"{\"a\":1,\"a\":2}", "duplicate object key near '\"a\"' at line 1 column 10", "a duplicate key"},
    {"[1e400]", "real number overflow near '1e400' at line 1 column 6", "a number beyond double"},
    {"[9223372036854775808]", "too big integer near '9223372036854775808' at line 1 column 20", "a big integer"},
    {"[NaN]", "invalid token near 'NaN' at line 1 column 4", "NaN"},
    {"[1] x", "end of file expected near 'x' at line 1 column 5", "something after the value"},
    {"[\x02]", "invalid token near '\xEF\xBF\xBD' at line 1 column 2", "a control character, not echoed"},
    {"[\"\\u0000\"]", "\\u0000 is not allowed at line 1 column 9", "an escaped NUL"},
    {"[\"\\ud800\"]", "invalid Unicode '\\uD800' near '\"\\ud800\"' at line 1 column 9", "a lone surrogate"},
    {"[\"\xFF\"]", "unable to decode byte 0xff near '\"' at line 1 column 2", "invalid UTF-8"},
};

static void test_refused(void)
{
    apr_size_t i;

    for (i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        json_t *value;
        sr_error_t *error = sr_json_parse(&value, refused[i].text, strlen(refused[i].text), pool);

        if (!ok(error && error->code == SR_EBADREQUEST && !value, "refused: %s", refused[i].why)) continue;
        is_str(error->message, refused[i].message, "its message");
    }
}

static const char *repeat(const char *text, int count)
{
    const apr_size_t length = strlen(text);
    char *const out = apr_pcalloc(pool, length * (apr_size_t)count + 1);
    int i;

    for (i = 0; i < count; i++) memcpy(out + length * (apr_size_t)i, text, length);
    return out;
}

static sr_error_t *parse(const char *text)
{
    json_t *value;
    return sr_json_parse(&value, text, strlen(text), pool);
}

static void test_raw_nul(void)
{
    static const char text[] = "[1,\n\0 2]";
    json_t *value;
    sr_error_t *error = sr_json_parse(&value, text, sizeof text - 1, pool);

    is_str(error ? error->message : NULL, "NUL is not allowed at line 2 column 1", "a raw NUL between values");
    error = sr_json_parse(&value, "1", 2, pool);
    is_str(error ? error->message : NULL, "NUL is not allowed at line 1 column 2", "or behind them");
}

static void test_depth(void)
{
    sr_error_t *error;

    ok(!parse(apr_pstrcat(pool, repeat("[", 64), repeat("]", 64), NULL)), "64 arrays deep is read");
    ok(!parse(apr_pstrcat(pool, repeat("{\"a\":", 64), "1", repeat("}", 64), NULL)), "64 objects deep is read");
    error = parse(apr_pstrcat(pool, repeat("[", 65), repeat("]", 65), NULL));
    is_str(error ? error->message : NULL, "nested more than 64 deep at line 1 column 65", "65 deep is refused");
    error = parse(apr_pstrcat(pool, "[\"\xC3\xA9\",\n", repeat("{\"a\":[", 32), NULL));
    is_str(error ? error->message : NULL, "nested more than 64 deep at line 2 column 192", "mixed and unclosed too");
    error = parse(repeat("[", 1000000));
    is_str(error ? error->message : NULL, "nested more than 64 deep at line 1 column 65", "a million brackets too");
    ok(!parse(apr_pstrcat(pool, "[\"", repeat("[{", 100), "\"]", NULL)), "brackets in strings do not count");
    ok(!parse(apr_pstrcat(pool, "[\"\\\"", repeat("[", 100), "\\\\\"]", NULL)), "nor after an escaped quote");
    ok(parse(apr_pstrcat(pool, "[\"\\\\\",", repeat("[", 64), NULL)) != NULL, "an escaped backslash ends no string");
    ok(!parse(apr_pstrcat(pool, "[", repeat("[[]],", 100), "1]", NULL)), "closed ones do not count");
}

/* What the tolerant form makes of a text; NULL when it refuses it. */
static const char *tolerated(const char *text)
{
    json_t *value;
    sr_error_t *error = sr_json_parse_tolerant(&value, text, strlen(text), 50, pool);
    return error ? NULL : sr_json_text(value, pool);
}

static void test_tolerant(void)
{
    is_str(tolerated("{\"a\":1e400,\"b\":-1.5E+999}"), "{\"a\":null,\"b\":null}", "numbers out of range become null");
    is_str(tolerated("[9223372036854775808,-9223372036854775809,-99999999999999999999999]"),
           "[9223372036854775807,-9223372036854775808,-9223372036854775808]",
           "integers that only a real can hold become the nearest");
    is_str(tolerated(apr_psprintf(pool, "[1%0400d]", 0)), "[null]", "one that no real can hold, too");
    is_str(tolerated("[1e308,1e-999,9223372036854775807,-9223372036854775808,1e400]"),
           "[1e308,0.0,9223372036854775807,-9223372036854775808,null]", "and no others do");
    is_str(tolerated("[\"1e400\",\"\\\"1e400\",\"\\\\\",1e400]"), "[\"1e400\",\"\\\"1e400\",\"\\\\\",null]",
           "nor in strings");
    is_str(tolerated("1e400"), "null", "it may be the whole value");
    is_str(tolerated("[1e400x]"), NULL, "what is malformed is still refused");
    is_str(tolerated("[01e400]"), NULL, "a leading zero too");
    is_str(tolerated("[.1e400]"), NULL, "and a leading point");
    is_str(tolerated("[1e400,\"\\"), NULL, "and a string cut off");
    is_str(tolerated("[1e400,-"), NULL, "and a lone sign");
    is_str(tolerated("[1,2"), NULL, "and what has no such number");
    ok(tolerated(apr_pstrcat(pool, "[\"[,{\"", repeat(",1", 49), "]", NULL)) != NULL, "50 values");
    is_str(tolerated(apr_pstrcat(pool, "[1", repeat(",1", 50), "]", NULL)), NULL, "and no more");
    is_str(tolerated(apr_pstrcat(pool, "[", repeat("[],", 25), "1e400]", NULL)), NULL, "whatever they are");
}

static void test_values(void)
{
    static const char text[] = "{\"s\":\"\xC3\xA9\",\"n\":null,\"i\":7,\"r\":0.3}";
    json_t *value, *object;
    apr_pool_t *inner;

    ok(!parse("1") && !parse("\"x\"") && !parse("null"), "any value may stand at the top");
    ok(!sr_json_parse_bounded(&value, "[{},{}]", 7, 4, pool), "four values");
    const sr_error_t *error = sr_json_parse_bounded(&value, "[{},{}]", 7, 3, pool);
    is_str(error ? error->message : NULL, "more than 3 values", "and no more");
    apr_pool_create(&inner, pool);
    ok(!sr_json_parse(&value, apr_pstrcat(pool, text, "x", NULL), sizeof text - 1, inner), "the length counts");
    is_str(sr_json_string(value, "s"), "\xC3\xA9", "a string");
    is_str(sr_json_string(value, "n"), NULL, "null is no string");
    is_str(sr_json_string(value, "i"), NULL, "a number is no string");
    is_str(sr_json_string(value, "absent"), NULL, "absent is no string");
    is_str(sr_json_string(NULL, "s"), NULL, "no object, no string");
    is_str(sr_json_text(value, pool), text, "compact text, short numbers");
    json_incref(value);
    is_int(value->refcount, 2, "the pool holds one reference");
    apr_pool_destroy(inner);
    is_int(value->refcount, 1, "and lets go of it");
    json_decref(value);

    object = sr_json_own(json_object(), pool);
    json_object_set_new(object, "a", sr_json_string_or_null("x"));
    json_object_set_new(object, "b", sr_json_string_or_null(NULL));
    is_str(sr_json_text(object, pool), "{\"a\":\"x\",\"b\":null}", "string or null");
    is_str(sr_json_text(json_true(), pool), "true", "text of a bare value");
}

/* --- no memory */

static int allocations, failing = -1;

static void *allocate(size_t size)
{
    return allocations++ == failing ? NULL : malloc(size);
}

/* Whichever allocation fails: it is never the client who is wrong, and what is read is right. */
static void test_memory(void)
{
    static const char text[] = "{\"a key longer than a buffer's first size\":[1,2.5,true,null,"
                               "\"a longer text \\u00e9\"],"
                               "\"b\":{\"c\":-12345678901234567,\"d\":[[],{}]},\"\xC3\xA9\":\"x\"}";
    int blamed = 0, wrong = 0, without = 0, count;
    json_t *whole, *value;

    ok(!sr_json_parse(&whole, text, sizeof text - 1, pool), "with memory it is read");
    json_set_alloc_funcs(allocate, free);
    sr_json_watch_memory();
    for (count = 0; count < 10000; count++) {
        allocations = 0;
        failing = count;
        sr_error_t *error = sr_json_parse(&value, text, sizeof text - 1, pool);
        failing = -1;
        if (allocations <= count) break; /* none failed */
        if (error && error->code == SR_EBADREQUEST && !blamed++) printf("# %d: %s\n", count, error->message);
        if (error && error->code == SR_EUNAVAILABLE) without++;
        if (!error && !json_equal(value, whole)) wrong++;
    }
    json_set_alloc_funcs(malloc, free);
    ok(without > 10 && count < 10000, "no memory: %d of %d times", without, count);
    is_int(blamed, 0, "it is never said to be the text");
    is_int(wrong, 0, "nothing is read wrongly");
}

static void test_read(void)
{
    json_t *value;
    sr_error_t *error = sr_json_read(&value, "[1", pool);

    ok(!sr_json_read(&value, "[1]", pool), "JSON of our own");
    ok(error && error->code == SR_EINTERNAL && !strcmp(error->message, "Internal error"), "is not the client's");
    ok(error && strstr(error->cause, "line 1 column 2"), "the log says what is wrong: %s", error ? error->cause : "");
}

/* --- JSONTestSuite */

/* Valid by the standard, and refused by a rule of ours: the message must name that rule. */
static const struct {
    const char *file, *message;
} stricter[] = {
    {"y_object_duplicated_key.json", "duplicate object key"},
    {"y_object_duplicated_key_and_value.json", "duplicate object key"},
    {"y_object_escaped_null_in_key.json", "\\u0000"},
    {"y_string_null_escape.json", "\\u0000"},
};

static const char *rule_against(const char *file)
{
    apr_size_t i;

    for (i = 0; i < sizeof stricter / sizeof stricter[0]; i++)
        if (strcmp(stricter[i].file, file) == 0) return stricter[i].message;
    return NULL;
}

static bool judged_right(const char *name, const sr_error_t *error)
{
    const char *rule = rule_against(name);

    if (error && error->code != SR_EBADREQUEST) return false;
    if (error && !sr_text_is_utf8(error->message, strlen(error->message))) return false;
    if (rule) return error && strstr(error->message, rule);
    if (strncmp(name, "y_", 2) == 0) return !error;
    if (strncmp(name, "n_", 2) == 0) return error != NULL;
    return true; /* i_: either, without a crash */
}

static void test_suite(const char *folder)
{
    int count = 0, wrong = 0;
    apr_finfo_t info;
    apr_dir_t *dir;

    if (apr_dir_open(&dir, folder, pool) != APR_SUCCESS) {
        if (getenv("SIGREQ_CORPUS")) ok(false, "JSONTestSuite is where SIGREQ_CORPUS says (%s)", folder);
        else skip(apr_psprintf(pool, "no JSONTestSuite at %s (set SIGREQ_CORPUS)", folder));
        return;
    }
    while (apr_dir_read(&info, APR_FINFO_NAME, dir) == APR_SUCCESS) {
        static char bytes[1024 * 1024];
        apr_size_t length = sizeof bytes;
        apr_file_t *file;
        sr_error_t *error;
        json_t *value;

        if (!strstr(info.name, ".json")) continue;
        if (apr_file_open(&file, apr_pstrcat(pool, folder, "/", info.name, NULL), APR_READ, 0, pool) != APR_SUCCESS
            || (apr_file_read_full(file, bytes, sizeof bytes, &length) != APR_EOF))
            continue;
        count++;
        error = sr_json_parse(&value, bytes, length, pool);
        if (judged_right(info.name, error)) continue;
        wrong++;
        printf("#   %s: %s\n", info.name, error ? error->message : "was read");
    }
    apr_dir_close(dir);
    ok(count >= 300, "JSONTestSuite has its files (%d)", count);
    is_int(wrong, 0, "each is read or refused as it must be");
}

int main(void)
{
    const char *corpus = getenv("SIGREQ_CORPUS");

    apr_initialize();
    apr_pool_create(&pool, NULL);
    test_refused();
    test_raw_nul();
    test_depth();
    test_tolerant();
    test_values();
    test_read();
    test_memory();
    test_suite(apr_pstrcat(pool, corpus ? corpus : "../shared/corpus", "/json/JSONTestSuite", NULL));
    apr_pool_destroy(pool);
    apr_terminate();
    return done();
}
