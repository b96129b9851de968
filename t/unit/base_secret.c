/* SPDX-License-Identifier: Apache-2.0 */
/* base_secret.c: tests of src/base/hide_links.c: signing links in request lines. */
#include "base/base.h"
#include "tap.h"

#include <unistd.h>

#define UUID "01234567-89ab-cdef-0123-456789abcdef"
#define OTHER "fedcba98-7654-3210-fedc-ba9876543210"

static apr_pool_t *pool;

static const struct {
    const char *text, *secret, *want, *name;
} occurrences[] = {
    {"GET /sign/" UUID " HTTP/1.1", UUID, "GET /sign/01234567... HTTP/1.1", "a link"},
    {"GET /sign/" UUID "/" UUID "?" UUID, UUID, "GET /sign/01234567.../01234567...?01234567...",
     "a link several times"},
    {"GET /sign/12345678... HTTP/1.1", "12345678...", "GET /sign/... HTTP/1.1",
     "a text that looks like a shortened link"},
    {"GET /sign/......... HTTP/1.1", ".........", "GET /sign/... HTTP/1.1", "nine dots"},
    {"GET /sign/.................... HTTP/1.1", "....................", "GET /sign/... HTTP/1.1", "twenty dots"},
    {"GET /sign/aaaaaaaa...?x=1", "aaaaaaaa...", "GET /sign/...?x=1", "a shortened link with a query"},
    {"aaaaaaaaaaaaaaaaaaaaaaaaaaaa", "aaaaaaaaa", ".........a", "a secret three times in sequence"},
    {"GET /sign/" UUID "x", UUID "x", "GET /sign/...", "a link with more characters: nothing of it is shown"},
    {"GET /sign/assets/page.js", "assets", "GET /sign/assets/page.js", "a text that is too short for a link"},
    {"GET / HTTP/1.1", UUID, "GET / HTTP/1.1", "a line without the secret"},
    {"", UUID, "", "an empty line"},
    {"/sign/", "", "/sign/", "an empty secret"},
};

static const struct {
    const char *text, *want, *name;
} prefixed[] = {
    {"GET /a/sign/" UUID " HTTP/1.1", "GET /a/sign/01234567... HTTP/1.1", "a link"},
    {"/sign/" UUID "~0123456789abcdef0123456789abcdef/pages/0.png x", "/sign/.../pages/0.png x", "a session"},
    {"/sign/" UUID "/sign/" OTHER "?/sign/" UUID "/x", "/sign/01234567.../sign/fedcba98...?/sign/01234567.../x",
     "three"},
    {"/sign/12345678... x", "/sign/... x", "a text that looks like a shortened link"},
    {"/sign/......... x", "/sign/... x", "nine dots"},
    {"/sign/assets/page.js", "/sign/assets/page.js", "a text that is too short for a link"},
    {"/sign/sign/" UUID " x", "/sign/sign/01234567... x", "prefixes that overlap"},
    {"/sign/%zz" UUID, "/sign/...", "a secret that is not a uuid"},
    {"GET / HTTP/1.1", "GET / HTTP/1.1", "a line without the prefix"},
    {"/sign/", "/sign/", "an empty secret after the prefix"},
};

static void test_tables(void)
{
    for (size_t i = 0; i < sizeof occurrences / sizeof *occurrences; i++)
        is_str(sr_secret_hide(occurrences[i].text, occurrences[i].secret, pool), occurrences[i].want, "%s",
               occurrences[i].name);
    for (size_t i = 0; i < sizeof prefixed / sizeof *prefixed; i++)
        is_str(sr_secret_hide_after(prefixed[i].text, "/sign/", pool), prefixed[i].want, "after a prefix: %s",
               prefixed[i].name);
    const char *line = "GET / HTTP/1.1";
    ok(sr_secret_hide(line, UUID, pool) == line && sr_secret_hide_after(line, "/sign/", pool) == line,
       "a line without secrets is returned itself");
}

/* Lines that consist of secrets and are much longer than httpd's limit. With quadratic time this would not end. */
static void test_long(void)
{
    enum { COUNT = 100000 };
    char *line = apr_palloc(pool, COUNT * 16 + 1);
    for (int i = 0; i < COUNT; i++) memcpy(line + 16 * i, "/sign/123456789.", 17);
    ok(strlen(sr_secret_hide_after(line, "/sign/", pool)) == COUNT * 9, "a long line of prefixes is shortened");
    ok(strlen(sr_secret_hide(line, "123456789.", pool)) == COUNT * 9, "a long line of secrets is shortened");
}

int main(void)
{
    alarm(60); /* a loop without an end would otherwise block the test */
    apr_initialize();
    apr_pool_create(&pool, NULL);
    test_tables();
    test_long();
    apr_terminate();
    return done();
}
