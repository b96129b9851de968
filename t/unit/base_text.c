/* SPDX-License-Identifier: Apache-2.0 */
/* base_text.c: tests of src/base/text.c, accept.c and descriptor.c. */
#include "base/base.h"
#include "tap.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static apr_pool_t *pool;

static const char *const good_utf8[] = {"",
                                        "ab",
                                        "\xC2\x80",
                                        "\xDF\xBF",
                                        "\xE0\xA0\x80",
                                        "\xED\x9F\xBF",
                                        "\xEE\x80\x80",
                                        "\xEF\xBF\xBF",
                                        "\xF0\x90\x80\x80",
                                        "\xF4\x8F\xBF\xBF"};
static const char *const bad_utf8[] = {"\x80",
                                       "\xBF",
                                       "\xC0\x80",
                                       "\xC1\xBF",
                                       "\xC3",
                                       "\xC3(",
                                       "\xE0\x9F\xBF",
                                       "\xED\xA0\x80",
                                       "\xED\xBF\xBF",
                                       "\xF0\x8F\xBF\xBF",
                                       "\xF4\x90\x80\x80",
                                       "\xE2\x82",
                                       "\xF5\x80\x80\x80",
                                       "\xFF",
                                       "a\xFE/",
                                       "\xF0\x9F\x98"};

static void test_utf8(void)
{
    apr_size_t i, right = 0;
    for (i = 0; i < sizeof good_utf8 / sizeof good_utf8[0]; i++)
        right += sr_text_is_utf8(good_utf8[i], strlen(good_utf8[i])) ? 1 : 0;
    is_int(right, sizeof good_utf8 / sizeof good_utf8[0], "valid UTF-8 is accepted");
    for (i = 0, right = 0; i < sizeof bad_utf8 / sizeof bad_utf8[0]; i++)
        right += sr_text_is_utf8(bad_utf8[i], strlen(bad_utf8[i])) ? 0 : 1;
    is_int(right, sizeof bad_utf8 / sizeof bad_utf8[0], "invalid UTF-8 is refused");
    ok(!sr_text_is_utf8("a\0b", 3), "a text with NUL is refused");
    ok(!sr_text_is_utf8("\xE2\x82\xAC", 2), "a character that the length cuts off is refused");
}

static void test_next(void)
{
    const char *text = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xFF\xE2\x82";
    static const uint32_t want[] = {'a', 0xE9, 0x20AC, 0x1F600, 0xFFFD, 0xFFFD, 0xFFFD, 0, 0};
    apr_size_t i, right = 0;
    for (i = 0; i < sizeof want / sizeof want[0]; i++) right += sr_text_next(&text) == want[i] ? 1 : 0;
    is_int(right, sizeof want / sizeof want[0], "each character is returned in turn, and then the end");
    is_int(sr_text_length("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"), 4, "length counts characters");
    is_int(sr_text_length(""), 0, "an empty text has length 0");
}

static void test_blank(void)
{
    ok(sr_text_is_blank(""), "an empty text is blank");
    ok(sr_text_is_blank(" \t\r\n"), "ASCII white space is blank");
    ok(sr_text_is_blank("\xC2\xA0\xE2\x80\x83\xE3\x80\x80\xE2\x80\xA8"), "Unicode spaces are blank");
    ok(sr_text_is_blank("\xE2\x80\x8B\xEF\xBB\xBF\xC2\xAD"), "characters without width are blank");
    ok(!sr_text_is_blank("  x "), "a letter is not blank");
    ok(!sr_text_is_blank("\xE2\x80\x8B"
                         "0"),
       "a digit is not blank");
    ok(!sr_text_is_blank("\xF0\x9F\x98\x80"), "an emoji is not blank");
}

static void test_printable(void)
{
    const char *clean = "Ann\xC3\xA9 \xE2\x82\xAC \xEF\xBF\xBD";
    ok(sr_text_printable(clean, pool) == clean, "a printable text is returned itself");
    is_str(sr_text_printable("a\r\nb\x7F", pool),
           "a\xEF\xBF\xBD\xEF\xBF\xBD"
           "b\xEF\xBF\xBD",
           "ASCII controls");
    is_str(sr_text_printable("\xC2\x85\xE2\x80\xA9", pool), "\xEF\xBF\xBD\xEF\xBF\xBD", "C1 and line separators");
    is_str(sr_text_printable("\xFF\xE2\x82", pool), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD", "malformed bytes");
}

static void test_fold(void)
{
    is_str(sr_text_fold("ANN Lee 42", pool), "ann lee 42", "ASCII");
    is_str(sr_text_fold("\xC3\x89lo\xC3\xAFse \xC3\x98rsted", pool), "\xC3\xA9lo\xC3\xAFse \xC3\xB8rsted", "Latin");
    is_str(sr_text_fold("\xD0\x96\xD0\xAE", pool), "\xD0\xB6\xD1\x8E", "Cyrillic");
    is_str(sr_text_fold("\xCE\xA3\xCF\x82\xCF\x83", pool), "\xCF\x83\xCF\x83\xCF\x83",
           "the three sigmas are folded to one");
    is_str(sr_text_fold("\xC8\xBA", pool), "\xE2\xB1\xA5", "a lower-case letter that is longer than its upper case");
    is_str(sr_text_fold("\xE6\x9D\x8E\xF0\x9F\x98\x80", pool), "\xE6\x9D\x8E\xF0\x9F\x98\x80",
           "characters without case");
    is_str(sr_text_fold("", pool), "", "an empty text");
}

static void *fold_often(void *unused)
{
    apr_pool_t *own;
    apr_size_t i, right = 0;
    apr_pool_create_unmanaged_ex(&own, NULL, NULL);
    for (i = 0; i < 1000; i++) right += strcmp(sr_text_fold("\xC3\x89", own), "\xC3\xA9") == 0 ? 1 : 0;
    apr_pool_destroy(own);
    return right == 1000 ? NULL : own;
}

static void test_threads(void)
{
    pthread_t threads[4];
    bool right = true;
    void *result;
    int i;
    for (i = 0; i < 4; i++) pthread_create(&threads[i], NULL, fold_often, NULL);
    for (i = 0; i < 4; i++) {
        pthread_join(threads[i], &result);
        right = right && !result;
    }
    ok(right, "four threads fold at the same time");
}

static void test_undirected(void)
{
    is_str(sr_text_undirected("a\u202Eb\u2066c\u200F\u061C\u206Fd \u05D0", pool), "abcd \u05D0",
           "marks of direction are removed");
    is_str(sr_text_undirected("", pool), "", "an empty text stays empty");
    is_str(sr_text_undirected("\xFF", pool), "\uFFFD", "an invalid byte is replaced");
}

static void test_fault(void)
{
    static const struct {
        const char *text, *fault;
    } rows[] = {
        {"Ann\xC3\xA9", NULL},
        {"123456", NULL},
        {"", NULL},
        {"1234567", "must have at most 6 characters"},
        {"\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9", NULL},
        {"a\nb", "must not contain control characters"},
        {"\x7F", "must not contain control characters"},
        {"\xC2\x85", "must not contain control characters"},
        {"\xE2\x80\xA8", "must not contain control characters"},
        {"\xFF", "must be UTF-8 text"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *fault = sr_text_fault(rows[i].text, 6, pool);
        ok(fault && rows[i].fault ? !strcmp(fault, rows[i].fault) : fault == rows[i].fault, "name %d: %s", (int)i,
           fault ? fault : "good");
    }
}

static void test_email(void)
{
    static const char *const good[] = {"a@b.c", "a@.b.c", "\xC3\xA9@\xC3\xA9.de", "a@b..", "a\xC2\x85@b.c"};
    static const char *const bad[] = {"",
                                      "a",
                                      "@b.c",
                                      "a@b",
                                      "a@b.",
                                      "a@.c",
                                      "a@b@c.d",
                                      "a @b.c",
                                      "a@b.c ",
                                      "a\t@b.c",
                                      "a\xE3\x80\x80@b.c",
                                      "a\xEF\xBB\xBF@b.c"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) ok(sr_text_is_email(good[i]), "an address: %s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) ok(!sr_text_is_email(bad[i]), "no address: %s", bad[i]);
}

static void test_hex(void)
{
    ok(sr_text_is_hex("0123456789abcdef", 16), "lower-case hexadecimal");
    ok(!sr_text_is_hex("0123456789abcdef", 15) && !sr_text_is_hex("0123456789abcdef", 17), "refused: another length");
    ok(!sr_text_is_hex("AB", 2) && !sr_text_is_hex("0g", 2), "refused: other digits");
}

static void test_percent(void)
{
    static const struct {
        const char *text, *only, *decoded;
        bool good;
    } rows[] = {
        {"a%20b", NULL, "a b", true},
        {"%41%c3%A9", NULL, "A\xC3\xA9", true},
        {"", NULL, "", true},
        {"%", NULL, "%", false},
        {"a%4", NULL, "a%4", false},
        {"%zz%41", NULL, "%zzA", false},
        {"a%00b", NULL, "a%00b", false},
        {"%22%41", "\"", "\"%41", true},
        {"%2", "\"", "%2", false},
        {"%2541", NULL, "%41", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *text = apr_pstrdup(pool, rows[i].text);
        const bool good = sr_text_decode_percent(text, rows[i].only);
        ok(good == rows[i].good && !strcmp(text, rows[i].decoded), "%s is %s", rows[i].text, text);
    }
}

static void test_accept(void)
{
    static const struct {
        const char *header, *seen;
    } rows[] = {
        {"", ""},
        {"gzip", "gzip=1000 "},
        {"gzip;q=0.5, br , ,*;q=0", "gzip=500 br=1000 *=0 "},
        {"text/html;level=1; Q=0.25", "text/html=250 "},
        {"a;sq=0.1;q=1.0;q=0.2", "a=1000 "},
        {"a;q=2,b;q=-1,c;q=x,d;q=0.0004", "a=0 b=0 c=0 d=0 "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *rest = apr_pstrdup(pool, rows[i].header);
        const char *seen = "";
        sr_accept_t element;
        while (sr_accept_next(&element, &rest))
            seen = apr_psprintf(pool, "%s%s=%d ", seen, element.name, element.weight);
        is_str(seen, rows[i].seen, "%s", rows[i].header);
    }
    char *nothing = NULL;
    ok(!sr_accept_next(&(sr_accept_t){0}, &nothing), "an empty header has no elements");
}

static void test_file(void)
{
    char bytes[8] = "";
    FILE *file = tmpfile();
    if (!file || fputs("abcdef", file) < 0 || fflush(file)) abort();
    is_int(sr_descriptor_read(fileno(file), bytes, 3, 1), 3, "a part of a file");
    is_str(bytes, "bcd", "the part has the right bytes");
    is_int(sr_descriptor_read(fileno(file), bytes, 8, 4), 2, "a read ends at the end of the file");
    is_int(sr_descriptor_read(-1, bytes, 1, 0), -1, "reading an invalid descriptor fails");
    apr_pool_t *own;
    apr_pool_create(&own, pool);
    const int copy = dup(fileno(file));
    sr_descriptor_own(copy, own);
    apr_pool_destroy(own);
    ok(fcntl(copy, F_GETFD) == -1, "a descriptor is closed with its pool");
    fclose(file);
}

static void test_number(void)
{
    static const char *const others[] = {"", "1234567890", "99999999999999999999", "-1", "+1", " 1", "1 ", "0x1", "1a"};
    int number;
    ok(sr_text_number(&number, "0") && number == 0, "0");
    ok(sr_text_number(&number, "0042") && number == 42, "0042");
    ok(sr_text_number(&number, "999999999") && number == 999999999, "nine digits");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ok(!sr_text_number(&number, others[i]) && number == 0, "no number: %s", others[i]);
}

static void test_port(void)
{
    static const char *const ports[] = {"1", "80", "65535", "00080"};
    static const char *const others[] = {"", "0", "65536", "99999", "100000", "-1", "+1", " 80", "80 ", "0x50", "80a"};
    for (size_t i = 0; i < sizeof ports / sizeof *ports; i++) ok(sr_text_is_port(ports[i]), "port %s", ports[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ok(!sr_text_is_port(others[i]), "no port: %s", others[i]);
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    test_threads();
    test_utf8();
    test_next();
    test_blank();
    test_printable();
    test_fold();
    is_str(sr_text_hex("\x00\xAB\x0F", 3, pool), "00ab0f", "hexadecimal");
    is_str(sr_text_hex("", 0, pool), "", "hexadecimal of no bytes");
    test_undirected();
    test_fault();
    test_email();
    test_hex();
    test_percent();
    test_accept();
    test_file();
    test_number();
    test_port();
    apr_pool_destroy(pool);
    apr_terminate();
    return done();
}
