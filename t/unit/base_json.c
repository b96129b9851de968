/* SPDX-License-Identifier: Apache-2.0 */
/* base_json.c: tests of src/base/json.c: what is refused, the messages of errors, and JSONTestSuite (in the
 * folder SIGREQ_CORPUS). */
#include "base/base.h"
#include "tap.h"

#include <apr_file_info.h>
#include <apr_file_io.h>

static apr_pool_t *pool;

static const struct {
    const char *text, *message, *why;
} refused[] = {
    {"", "unexpected token near end of file at line 1 column 0", "an empty text"},
    {"[1,\n 2,\n x]", "invalid token near 'x' at line 3 column 2", "a bare word, with its line and column"},
    {"[\"a\" \"b\"]", "']' expected near '\"b\"' at line 1 column 8", "a missing comma"},
    {"{\"a\":1,\"a\":2}", "duplicate object key near '\"a\"' at line 1 column 10", "a duplicate key"},
    {"[1e400]", "real number overflow near '1e400' at line 1 column 6", "a number that is too large for a double"},
    {"[9223372036854775808]", "too big integer near '9223372036854775808' at line 1 column 20", "a big integer"},
    {"[NaN]", "invalid token near 'NaN' at line 1 column 4", "NaN"},
    {"[1] x", "end of file expected near 'x' at line 1 column 5", "text after the value"},
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
        is_str(error->message, refused[i].message, "the message of the error");
    }
}

static const char *repeat(const char *text, int count)
{
    const apr_size_t length = strlen(text);
    char *out = apr_pcalloc(pool, length * (apr_size_t)count + 1);
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
    is_str(error ? error->message : NULL, "NUL is not allowed at line 1 column 2", "a raw NUL after the value");
}

static void test_depth(void)
{
    sr_error_t *error;
    ok(!parse(apr_pstrcat(pool, repeat("[", 64), repeat("]", 64), NULL)), "64 arrays deep is read");
    ok(!parse(apr_pstrcat(pool, repeat("{\"a\":", 64), "1", repeat("}", 64), NULL)), "64 objects deep is read");
    error = parse(apr_pstrcat(pool, repeat("[", 65), repeat("]", 65), NULL));
    is_str(error ? error->message : NULL, "nested more than 64 deep at line 1 column 65", "65 arrays deep is refused");
    error = parse(apr_pstrcat(pool, "[\"\xC3\xA9\",\n", repeat("{\"a\":[", 32), NULL));
    is_str(error ? error->message : NULL, "nested more than 64 deep at line 2 column 192",
           "arrays and objects that are not closed are counted, too");
    error = parse(repeat("[", 1000000));
    is_str(error ? error->message : NULL, "nested more than 64 deep at line 1 column 65",
           "a million brackets are refused");
    ok(!parse(apr_pstrcat(pool, "[\"", repeat("[{", 100), "\"]", NULL)), "brackets in strings do not count");
    ok(!parse(apr_pstrcat(pool, "[\"\\\"", repeat("[", 100), "\\\\\"]", NULL)),
       "brackets after an escaped quote in a string do not count");
    ok(parse(apr_pstrcat(pool, "[\"\\\\\",", repeat("[", 64), NULL)) != NULL,
       "a quote after an escaped backslash ends the string");
    ok(!parse(apr_pstrcat(pool, "[", repeat("[[]],", 100), "1]", NULL)), "closed brackets do not count");
}

/* Parses a text by the tolerant function. Returns the value as text, or NULL if it is refused. */
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
           "integers out of range become the nearest integers");
    is_str(tolerated(apr_psprintf(pool, "[1%0400d]", 0)), "[null]",
           "an integer that is too large for a double becomes null");
    is_str(tolerated("[1e308,1e-999,9223372036854775807,-9223372036854775808,1e400]"),
           "[1e308,0.0,9223372036854775807,-9223372036854775808,null]", "other numbers do not change");
    is_str(tolerated("[\"1e400\",\"\\\"1e400\",\"\\\\\",1e400]"), "[\"1e400\",\"\\\"1e400\",\"\\\\\",null]",
           "numbers in strings do not change");
    is_str(tolerated("1e400"), "null", "a number out of range may be the whole value");
    is_str(tolerated("[1e400x]"), NULL, "malformed text is refused");
    is_str(tolerated("[01e400]"), NULL, "a leading zero is refused");
    is_str(tolerated("[.1e400]"), NULL, "a leading point is refused");
    is_str(tolerated("[1e400,\"\\"), NULL, "a truncated string is refused");
    is_str(tolerated("[1e400,-"), NULL, "a sign without digits is refused");
    is_str(tolerated("[1,2"), NULL, "malformed text without such numbers is refused");
    ok(tolerated(apr_pstrcat(pool, "[\"[,{\"", repeat(",1", 49), "]", NULL)) != NULL, "50 values are accepted");
    is_str(tolerated(apr_pstrcat(pool, "[1", repeat(",1", 50), "]", NULL)), NULL, "and no more");
    is_str(tolerated(apr_pstrcat(pool, "[", repeat("[],", 25), "1e400]", NULL)), NULL, "empty arrays count as values");
}

static void test_values(void)
{
    static const char text[] = "{\"s\":\"\xC3\xA9\",\"n\":null,\"i\":7,\"r\":0.3}";
    json_t *value, *object;
    apr_pool_t *inner;
    ok(!parse("1") && !parse("\"x\"") && !parse("null"), "a text may consist of any kind of value");
    ok(!sr_json_parse_bounded(&value, "[{},{}]", 7, 4, pool), "four values are accepted");
    const sr_error_t *error = sr_json_parse_bounded(&value, "[{},{}]", 7, 3, pool);
    is_str(error ? error->message : NULL, "more than 3 values", "and no more");
    apr_pool_create(&inner, pool);
    ok(!sr_json_parse(&value, apr_pstrcat(pool, text, "x", NULL), sizeof text - 1, inner),
       "only `length` bytes are parsed");
    is_str(sr_json_string(value, "s"), "\xC3\xA9", "sr_json_string returns the string");
    is_str(sr_json_string(value, "n"), NULL, "sr_json_string returns NULL for null");
    is_str(sr_json_string(value, "i"), NULL, "sr_json_string returns NULL for a number");
    is_str(sr_json_string(value, "absent"), NULL, "sr_json_string returns NULL for an absent member");
    is_str(sr_json_string(NULL, "s"), NULL, "sr_json_string returns NULL without an object");
    is_str(sr_json_text(value, pool), text, "the text of a value is compact, with short numbers");
    json_incref(value);
    is_int(value->refcount, 2, "the pool holds one reference");
    apr_pool_destroy(inner);
    is_int(value->refcount, 1, "the pool releases its reference");
    json_decref(value);

    object = sr_json_own(json_object(), pool);
    json_object_set_new(object, "a", sr_json_string_or_null("x"));
    json_object_set_new(object, "b", sr_json_string_or_null(NULL));
    is_str(sr_json_text(object, pool), "{\"a\":\"x\",\"b\":null}", "string or null");
    is_str(sr_json_text(json_true(), pool), "true", "the text of a value that is no object or array");
}

/* --- no memory */

static int allocations, failing = -1;

static void *allocate(size_t size)
{
    return allocations++ == failing ? NULL : malloc(size);
}

/* If an allocation fails, the error is not the client's, and a value that is returned is complete. */
static void test_memory(void)
{
    static const char text[] = "{\"a key longer than a buffer's first size\":[1,2.5,true,null,"
                               "\"a longer text \\u00e9\"],"
                               "\"b\":{\"c\":-12345678901234567,\"d\":[[],{}]},\"\xC3\xA9\":\"x\"}";
    int blamed = 0, wrong = 0, without = 0, count;
    json_t *whole, *value;
    ok(!sr_json_parse(&whole, text, sizeof text - 1, pool), "the text is read if there is memory");
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
    ok(without > 10 && count < 10000, "%d of %d times an allocation failed", without, count);
    is_int(blamed, 0, "the error never says that the text is wrong");
    is_int(wrong, 0, "no value is incomplete");
}

static void test_read(void)
{
    json_t *value;
    sr_error_t *error = sr_json_read(&value, "[1", pool);

    ok(!sr_json_read(&value, "[1]", pool), "sr_json_read parses stored JSON");
    ok(error && error->code == SR_EINTERNAL && !strcmp(error->message, "Internal error"),
       "an error in stored JSON is internal");
    ok(error && strstr(error->cause, "line 1 column 2"), "the cause says what is wrong: %s", error ? error->cause : "");
}

/* --- JSONTestSuite */

/* Valid by the standard, but refused by our rules. The message must name the rule. */
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
    return true; /* i_: may be accepted or refused */
}

static void test_suite(const char *folder)
{
    int count = 0, wrong = 0;
    apr_finfo_t info;
    apr_dir_t *dir;
    if (apr_dir_open(&dir, folder, pool) != APR_SUCCESS) {
        ok(false, "JSONTestSuite is in the folder SIGREQ_CORPUS (%s)", folder);
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
    is_int(wrong, 0, "each file is accepted or refused as the standard requires");
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
    if (corpus) test_suite(apr_pstrcat(pool, corpus, "/json/JSONTestSuite", NULL));
    else skip("no JSONTestSuite (set SIGREQ_CORPUS)");
    apr_pool_destroy(pool);
    apr_terminate();
    return done();
}
