/* SPDX-License-Identifier: Apache-2.0 */
/* pdfd_field_names.c: tests of src/helper/main/fields/field_names.c: examples, and random names of which many begin
 * with others. */
#include "helper/main/pdfd.h"
#include "tap.h"

#include <apr_general.h>

static apr_pool_t *pool;

/* Gives names to entries, which want the listed ones. The document has a field "old". */
static const char *given(const char *const *wanted, int count, const char **got, apr_pool_t *work)
{
    sr_pdfd_names_t *names = sr_pdfd_names_make(work);
    const char *all = "";
    for (int i = 0; i < count; i++) sr_pdfd_names_want(names, wanted[i]);
    sr_pdfd_names_add(names, "old");
    for (int i = 0; i < count; i++) {
        got[i] = sr_pdfd_names_give(names, wanted[i]);
        all = apr_pstrcat(work, all, i ? " " : "", got[i], NULL);
    }
    return all;
}

static void test_examples(void)
{
    static const struct {
        const char *wanted[5], *given;
    } rows[] = {{{"rent", "day"}, "rent day"}, {{"rent", "rent", "rent_1"}, "rent_2 rent_3 rent_1"},
                {{"re", "rent"}, "re_1 rent"}, {{"old", "ol", "older"}, "old_1 ol_1 older"},
                {{"a_", "a"}, "a__1 a_1"},     {{"a_0", "a_00", "a"}, "a_0_1 a_00_1 a_1"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *got[5];
        int count = 0;
        while (count < 5 && rows[i].wanted[count]) count++;
        is_str(given(rows[i].wanted, count, got, pool), rows[i].given, "names for %s and others", rows[i].wanted[0]);
    }
}

#define SAME 1200

/* As many fields as a text on all pages of a long document makes. */
static void test_same(void)
{
    const char *wanted[SAME], *got[SAME];
    for (int i = 0; i < SAME; i++) wanted[i] = "n";
    given(wanted, SAME, got, pool);
    is_str(got[0], "n_1", "the first name");
    is_str(got[8], "n_9", "the last one with one digit");
    is_str(got[9], "n_010", "the next one");
    is_str(got[98], "n_099", "the last one with two digits");
    is_str(got[99], "n_00100", "the next one");
    is_str(got[SAME - 1], "n_0001200", "the last name");
}

/* Returns true if the name is the wanted one, or that with a number of at most nine digits. */
static bool is_of(const char *name, const char *wanted)
{
    const size_t length = strlen(wanted);
    if (strncmp(name, wanted, length) != 0) return false;
    const char *rest = name + length;
    return !*rest || (*rest == '_' && strlen(rest) <= 10 && strspn(rest + 1, "0123456789") == strlen(rest) - 1);
}

#define COUNT 60
#define ROUNDS 300

static void test_random(void)
{
    static const char letters[] = "ab_01";
    int apart = 0, own = 0;
    srandom(11);
    for (int round = 0; round < ROUNDS; round++) {
        const char *wanted[COUNT], *got[COUNT];
        apr_pool_t *work;
        apr_pool_create(&work, pool);
        for (int i = 0; i < COUNT; i++) {
            char name[5] = "";
            for (long k = random() % 4; k >= 0; k--) name[k] = letters[random() % 5];
            wanted[i] = apr_pstrdup(work, name);
        }
        given(wanted, COUNT, got, work);
        for (int i = 0; i < COUNT; i++) {
            own += is_of(got[i], wanted[i]) ? 1 : 0;
            for (int k = 0; k < COUNT; k++) apart += i == k || strncmp(got[k], got[i], strlen(got[i])) != 0 ? 1 : 0;
        }
        apr_pool_destroy(work);
    }
    is_int(own, COUNT * ROUNDS, "each name is the wanted one, or it and a number");
    is_int(apart, COUNT * COUNT * ROUNDS, "no name is the beginning of another");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    test_examples();
    test_same();
    test_random();
    apr_pool_destroy(pool);
    apr_terminate();
    return done();
}
