/* SPDX-License-Identifier: Apache-2.0 */
/* blobs_binding.c: tests of src/blobs/binding.c: the database that a folder of documents belongs to. */
#include "blobs/private.h"
#include "disk.h"

#define ONE "01234567-89ab-4def-8123-456789abcdef"
#define TWO "11234567-89ab-4def-8123-456789abcdef"

static const char *path_of(void)
{
    return apr_pstrcat(pool, root, "/.database", NULL);
}

static const char *bound(void)
{
    const char *uuid, *folder;
    return sr_blobs_binding(&uuid, &folder, documents, pool) ? "an error" : uuid;
}

static sr_error_t *check(const char *uuid)
{
    return sr_blobs_check(documents, uuid, pool);
}

static void test_first(void)
{
    sr_error_t *error;
    start_over();
    is_str(bound(), NULL, "a new folder belongs to no database");
    ok(!check(ONE), "the first database that checks the folder gets it");
    is_str(bound(), ONE, "its file has the database");
    ok(!check(ONE), "the same database is accepted again");
    ok(!check("01234567-89AB-4DEF-8123-456789ABCDEF"), "the uuid is accepted in upper case");
    error = check(TWO);
    ok(error && error->code == SR_EUNAVAILABLE && !strstr(error->message, root), "another database is refused");
    ok(error && strstr(error->cause, ONE) && strstr(error->cause, TWO) && strstr(error->cause, "documents adopt"),
       "the cause names both databases and says what to do");
    ok(!sr_blobs_bind(documents, TWO, false, pool), "sr_blobs_bind without `replace` succeeds");
    is_str(bound(), ONE, "and does not change the database");
    ok(!sr_blobs_bind(documents, TWO, true, pool), "adopted");
    is_str(bound(), TWO, "sr_blobs_bind with `replace` changes the database");
    ok(!check(TWO) && check(ONE), "the first database is refused then");
    is_int(count_files(), 1, "the folder has no other files");
}

/* The uuid of the folder. */
static void test_folder(void)
{
    const char *first, *second, *uuid;
    start_over();
    ok(!sr_blobs_binding(&uuid, &first, documents, pool) && !first, "a new folder has no uuid");
    ok(!check(ONE) && !sr_blobs_binding(&uuid, &first, documents, pool) && sr_uuid_valid(first),
       "until it belongs to a "
       "database");
    ok(!sr_blobs_bind(documents, TWO, true, pool) && !sr_blobs_binding(&uuid, &second, documents, pool),
       "another database adopts the folder");
    is_str(second, first, "the folder keeps its uuid");
    start_over();
    ok(!check(ONE) && !sr_blobs_binding(&uuid, &second, documents, pool) && strcmp(first, second) != 0,
       "another folder has another uuid");
}

static void test_odd(void)
{
    static const char *const texts[] = {"", "\n", "x", (ONE "x"), (" " ONE), "0123", ONE, (ONE "\n"), (ONE "\nx")};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        start_over();
        put_file(path_of(), texts[i]);
        const sr_error_t *error = check(ONE);
        ok(error && strstr(error->cause, "documents adopt"), "a file that holds '%s' is an error", texts[i]);
        ok(!sr_blobs_bind(documents, ONE, true, pool) && !check(ONE), "sr_blobs_bind repairs the file");
    }
    start_over();
    put_file(apr_pstrcat(pool, root, "/elsewhere", NULL), ONE);
    ok(symlink("elsewhere", path_of()) == 0 && check(ONE) != NULL, "a symbolic link instead of the file is an error");
}

/* Two databases at the same time: one of them gets the folder. */
static int check_one(void)
{
    return check(ONE) ? 1 : 0;
}

static int check_two(void)
{
    return check(TWO) ? 1 : 0;
}

static void test_race(void)
{
    int wrong = 0;
    for (int i = 0; i < 50; i++) {
        start_over();
        const pid_t one = start_child(check_one), two = start_child(check_two);
        if (wait_child(one) + wait_child(two) != 1) wrong++;
    }
    is_int(wrong, 0, "of two databases at the same time, one is refused");
}

int main(void)
{
    begin();
    test_first();
    test_folder();
    test_odd();
    test_race();
    end();
    return done();
}
