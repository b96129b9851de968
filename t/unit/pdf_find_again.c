/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_find_again.c: a worker of the real sigreq-pdfd remembers where texts are by the SHA-256 of the document. To show
 * what it remembers, the tests send other bytes under the same SHA-256. Workers of other scopes do not remember it. */
#include "pdf_show.h"

#define MINE "mine", "aa"
#define MANY 700 /* texts, whose places are too many to be remembered */

static apr_pool_t *root;
static sr_pdf_pool_t *workers;

static json_t *texts_of(const char *text, int count, apr_pool_t *pool)
{
    json_t *texts = sr_json_own(json_array(), pool);
    for (int i = 0; i < count; i++)
        json_array_append_new(texts, json_pack("{s:s+}", "text", text, i ? apr_itoa(pool, i) : ""));
    return texts;
}

/* Looks for a text that is drawn at `x`, with other texts. Returns where it is found, rounded. */
static int find(int x, const char *scope, const char *sha256, int count, int most)
{
    apr_pool_t *pool;
    json_t *found;
    apr_pool_create(&pool, root);
    const char *content = apr_psprintf(pool, "BT /F 12 Tf %d 50 Td (word) Tj ET", x);
    const int fd = show_document(SHOW_BOX, content, NULL, pool);
    sr_pdf_pool_t *own = sr_pdf_pool_for_request(workers, scope, 0, pool);
    if (sr_pdf_find(&found, own, fd, sha256, 1, texts_of("word", count, pool), most, pool) || !found) abort();
    close(fd);
    const json_t *places = json_object_get(json_array_get(json_object_get(found, "texts"), 0), "places");
    const double at = json_number_value(json_array_get(json_array_get(places, 0), 1));
    apr_pool_destroy(pool);
    return (int)(at + 0.5);
}

static void test_key(void)
{
    is_int(find(10, MINE, 1, 9), 10, "the place of a text");
    is_int(find(20, MINE, 1, 9), 10, "an equal request has an equal response");
    is_int(find(20, "mine", "bb", 1, 9), 20, "another document is read");
    is_int(find(30, MINE, 2, 9), 30, "so it is for other texts");
    is_int(find(40, MINE, 1, 8), 40, "and for another number of places");
    is_int(find(50, "other", "aa", 1, 9), 50, "another scope does not remember the document");
    is_int(find(60, NULL, "aa", 1, 9), 60, "and neither does a request without a scope");
    is_int(find(70, MINE, 1, 9), 10, "the worker still remembers the first request");
}

static void test_bounds(void)
{
    is_int(find(80, "mine", "cc", 1, 9), 80, "the fifth result");
    is_int(find(90, MINE, 1, 9), 90, "takes the place of the first");
    is_int(find(10, MINE, MANY, 9), 10, "a long result");
    is_int(find(20, MINE, MANY, 9), 20, "is not remembered");
    is_int(find(30, MINE, 1, 9), 90, "and takes no place");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&root, NULL);
    const sr_pdf_options_t options = {
        .program = help_program(), .workers = 1, .keep = true, .timeout = 5000 * HELP_MS, .notice = help_notice};
    if (sr_pdf_pool_create(&workers, &options, root)) abort();
    test_key();
    test_bounds();
    apr_pool_destroy(root);
    return done();
}
