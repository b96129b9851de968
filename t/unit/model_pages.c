/* SPDX-License-Identifier: Apache-2.0 */
/* model_pages.c: tests of src/model/pages.c. */
#include "model/model.h"
#include "tap.h"

static apr_pool_t *pool;

#define REST ",\"signatures\":0,\"normalise\":false}"
#define ONE "{\"version\":5,\"pages\":1,\"runs\":[[1,0,0,612,792,0]]"
#define DIGITS "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define KNOWN ONE ",\"signatures\":0,\"normalise\":false,"

/* What httpd adds to a stored report, and no helper may say. */
static const char *const added[] = {
    KNOWN "\"prepared\":[0]}",
    KNOWN "\"prepared\":[]}",
    KNOWN "\"normalised\":{\"sha256\":\"" DIGITS "\",\"size\":1}}",
};

static const char *const refused[] = {
    "",
    "[]",
    "{}",
    "{\"version\":5}",
    "{\"version\":0,\"pages\":1,\"runs\":[[1,0,0,612,792,0]]" REST,
    "{\"version\":1,\"pages\":1,\"runs\":[[1,0,0,612,792,0]]" REST,
    "{\"version\":\"2\",\"pages\":1,\"runs\":[[1,0,0,612,792,0]]" REST,
    "{\"version\":5,\"pages\":2,\"runs\":[[1,0,0,612,792,0]]" REST,
    "{\"version\":5,\"pages\":1,\"runs\":[[2,0,0,612,792,0]]" REST,
    "{\"version\":5,\"pages\":0,\"runs\":[]" REST,
    "{\"version\":5,\"pages\":1,\"runs\":{}" REST,
    "{\"version\":5,\"pages\":1,\"runs\":[1,0,0,612,792,0]" REST,
    "{\"version\":5,\"pages\":1,\"runs\":[[1,0,0,612,792]]" REST,
    "{\"version\":5,\"pages\":1,\"runs\":[[1,0,0,612,792,0,0]]" REST,
    "{\"version\":5,\"pages\":1,\"runs\":[[1.0,0,0,612,792,0]]" REST,
    "{\"version\":5,\"pages\":1.0,\"runs\":[[1,0,0,612,792,0]]" REST,
    "{\"version\":5,\"pages\":0,\"runs\":[[1,0,0,612,792,0],[-1,0,0,612,792,0]]" REST,
    "{\"version\":5,\"pages\":0,\"runs\":[[0,0,0,612,792,0]]" REST,
    "{\"version\":5,\"pages\":1,\"runs\":[[4294967297,0,0,612,792,0]]" REST,
    "{\"version\":5,\"pages\":1,\"runs\":[[2147483647,0,0,612,792,0],[2147483647,0,0,612,792,0],[3,0,0,1,1,0]]" REST,
    "{\"version\":5,\"pages\":1,\"runs\":[[1,0,0,\"612\",792,0]]" REST,
    "{\"version\":5,\"pages\":1,\"runs\":[[1,612,0,0,792,0]]" REST,
    "{\"version\":5,\"pages\":1,\"runs\":[[1,0,0,612,0,0]]" REST,
    "{\"version\":5,\"pages\":1,\"runs\":[[1,0,0,612,792,45]]" REST,
    "{\"version\":5,\"pages\":1,\"runs\":[[1,0,0,612,792,360]]" REST,
    "{\"version\":5,\"pages\":1,\"runs\":[[1,0,0,612,792,-90]]" REST,
    "{\"version\":5,\"pages\":1,\"runs\":[[1,0,0,612,792,90.0]]" REST,
    KNOWN "\"prepare\":[0]}",
    KNOWN "\"x\":null}",
    "{\"version\":5,\"pages\":20001,\"runs\":[[20000,0,0,612,792,0],[1,0,0,1,1,0]]" REST,
    "{\"version\":5,\"pages\":20001,\"runs\":[[20001,0,0,612,792,0]]" REST,
    "{\"version\":5,\"pages\":1,\"runs\":[[1,0,0,14401,792,0]]" REST,
    "{\"version\":5,\"pages\":1,\"runs\":[[1,0,-9000,612,9000,0]]" REST,
    ONE "}",
    ONE ",\"signatures\":0}",
    ONE ",\"normalise\":false}",
    ONE ",\"signatures\":-1,\"normalise\":false}",
    ONE ",\"signatures\":0,\"normalise\":0}",
    KNOWN "\"prepared\":0}",
    KNOWN "\"prepared\":[1]}",
    KNOWN "\"prepared\":[-1]}",
    KNOWN "\"prepared\":[0.0]}",
    KNOWN "\"prepared\":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"
          "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}",
    KNOWN "\"normalised\":\"" DIGITS "\"}",
    KNOWN "\"normalised\":{\"sha256\":\"" DIGITS "\"}}",
    KNOWN "\"normalised\":{\"sha256\":\"" DIGITS "\",\"size\":0}}",
    KNOWN "\"normalised\":{\"sha256\":\"" DIGITS "\",\"size\":\"1\"}}",
    KNOWN "\"normalised\":{\"sha256\":\"" DIGITS "0\",\"size\":1}}",
    KNOWN "\"fields\":{}}",
    KNOWN "\"fields\":[1]}",
    KNOWN "\"fields\":[{\"name\":\"a\"}]}",
    KNOWN "\"fields\":[{\"name\":\"a\",\"page\":0}]}",
    KNOWN "\"fields\":[{\"name\":\"a\",\"page\":1,\"rect\":[0,0,1,1]}]}",
    KNOWN "\"fields\":[{\"name\":\"a\",\"page\":-1,\"rect\":[0,0,1,1]}]}",
    KNOWN "\"fields\":[{\"name\":\"a\",\"page\":0,\"rect\":[0,0,1]}]}",
    KNOWN "\"fields\":[{\"name\":\"a\",\"page\":0,\"rect\":[0,0,0,1]}]}",
    KNOWN "\"fields\":[{\"name\":\"a\",\"page\":0,\"rect\":[0,1,1,0]}]}",
    KNOWN "\"fields\":[{\"name\":\"a\",\"page\":0,\"rect\":[0,0,1,\"1\"]}]}",
    KNOWN "\"fields\":[{\"name\":\"a\",\"page\":0,\"rect\":[0,0,1,2e9]}]}",
    KNOWN "\"fields\":[{\"name\":\"\",\"page\":0,\"rect\":[0,0,1,1]}]}",
    KNOWN "\"fields\":[{\"name\":5,\"page\":0,\"rect\":[0,0,1,1]}]}",
    KNOWN "\"fields\":[{\"name\":\"a\",\"page\":0,\"rect\":[0,0,1,1],\"seed\":false}]}",
    KNOWN "\"fields\":[{\"name\":\"a\",\"page\":0,\"rect\":[0,0,1,1],\"x\":true}]}",
    KNOWN "\"fields\":[{\"name\":\"a\",\"fault\":\"\"}]}",
    KNOWN "\"fields\":[{\"name\":\"a\",\"fault\":\"other\"}]}",
    KNOWN "\"fields\":[{\"name\":\"a\",\"fault\":\"signed\",\"page\":0}]}",
    KNOWN
    "\"normalised\":{\"sha256\":\"../../../../../../etc/passwd/0123456789abcdef0123456789abcdef0123\",\"size\":1}}",
};

/* Pages, and what is found out of them later: by the text form and back. */
static void test_known(void)
{
    static const char text[] = "{\"version\":5,\"pages\":99,\"runs\":[[99,-0.25,0,595.276,841.89,0]],\"signatures\":3,"
                               "\"normalise\":true}";
    const sr_pages_t *more;
    sr_pages_t *pages, *again;
    const char *written;
    int i;

    if (!ok(!sr_pages_parse(&pages, text, pool), "a report of a new document")) return;
    ok(pages->signatures == 3 && pages->normalise, "tells of signatures, and of what has to be done");
    ok(!sr_pages_is_prepared(pages, 0) && !pages->rewritten_sha256, "and nothing is known besides");
    is_str(sr_pages_write(pages, pool), text, "so it is written as it was");

    more = sr_pages_prepared(sr_pages_prepared(pages, 98, pool), 3, pool);
    ok(sr_pages_is_prepared(more, 98) && sr_pages_is_prepared(more, 3) && !sr_pages_is_prepared(more, 0),
       "pages that were prepared");
    ok(!sr_pages_is_prepared(pages, 3), "are added to a copy");
    ok(sr_pages_prepared(more, 3, pool) == more, "and none twice");
    more = sr_pages_rewritten(more, DIGITS, 5000000000, pool);
    written = sr_pages_write(more, pool);
    is_str(written,
           "{\"version\":5,\"pages\":99,\"runs\":[[99,-0.25,0,595.276,841.89,0]],\"signatures\":3,\"normalise\":true,"
           "\"prepared\":[98,3],\"normalised\":{\"sha256\":\"" DIGITS "\",\"size\":5000000000}}",
           "the report says it");
    if (!ok(!sr_pages_parse_stored(&again, written, pool), "and is read again")) return;
    ok(sr_pages_is_prepared(again, 98) && sr_pages_is_prepared(again, 3) && again->prepared_count == 2,
       "with its pages");
    is_str(again->rewritten_sha256, DIGITS, "and what was rewritten");
    is_num((double)again->rewritten_size, 5e9, "of any size");
    is_str(sr_pages_write(again, pool), written, "and written as it was");
    is_str(sr_pages_write(sr_pages_prepared(again, 7, pool), pool),
           apr_pstrcat(pool, apr_pstrndup(pool, written, (apr_size_t)(strstr(written, ",3]") - written)), ",3,7]",
                       strstr(written, ",3]") + 3, NULL),
           "or with one page more");

    for (more = pages, i = 0; i < 99; i++) more = sr_pages_prepared(more, i, pool);
    is_int(more->prepared_count, SR_PAGES_MAX_PREPARED, "only so many pages are remembered");
    ok(!sr_pages_parse_stored(&again, sr_pages_write(more, pool), pool)
           && again->prepared_count == SR_PAGES_MAX_PREPARED && sr_pages_is_prepared(again, 63)
           && !sr_pages_is_prepared(again, 64),
       "which are read again too");
}

/* The signature fields that a document has. */
static void test_existing(void)
{
    static const char text[] = KNOWN "\"fields\":[{\"name\":\"party.a\",\"page\":0,\"rect\":[-1.5,0,10,20.25],"
                                     "\"seed\":true},{\"name\":\"b\",\"fault\":\"hidden\"}]}";
    sr_pages_t *pages;
    if (!ok(!sr_pages_parse(&pages, text, pool), "a report with fields")) return;
    const sr_existing_t *field = sr_existing_find(pages->existing, "party.a");
    const sr_existing_t *hidden = sr_existing_find(pages->existing, "b");
    ok(field && !field->fault && field->seed && field->rect[0] == -1.5 && field->rect[3] == 20.25, "one that is empty");
    ok(hidden && hidden->fault == SR_EXISTING_HIDDEN && !hidden->seed, "one that cannot be signed");
    ok(!sr_existing_find(pages->existing, "party"), "a part of a name is none");
    is_str(sr_pages_write(pages, pool), text, "the report is written as it was");
    if (sr_pages_parse(&pages, KNOWN "\"warnings\":[]}", pool)) ok(false, "a report without fields is read");
    ok(!sr_existing_find(pages->existing, "b"), "no field in a report without");
}

int main(void)
{
    static const char report[] = "{\"version\":5,\"pages\":12,\"runs\":[[10,0,0,612,792,0],[1,-10.5,20,100,300.25,270],"
                                 "[1,0,0,1,1,90]],\"signatures\":0,\"normalise\":false}";
    const sr_page_t *page;
    sr_pages_t *pages;
    apr_size_t i;

    apr_initialize();
    apr_pool_create(&pool, NULL);
    test_existing();

    if (ok(!sr_pages_parse(&pages, report, pool), "a report is read")) {
        is_int(pages->count, 12, "its pages are counted");
        is_str(pages->report, report, "its text is kept");
        ok(sr_pages_at(pages, 0) && sr_pages_at(pages, 0) == sr_pages_at(pages, 9), "pages of a run are the same");
        is_num(sr_pages_at(pages, 9)->box[3], 792, "the last of a run");
        page = sr_pages_at(pages, 10);
        ok(page && page->rotate == 270, "the next run");
        is_num(page->box[0], -10.5, "boxes may be negative");
        is_num(page->box[3], 300.25, "and real");
        is_int(sr_pages_at(pages, 11)->rotate, 90, "the last page");
        ok(!sr_pages_at(pages, 12), "no page after it");
        ok(!sr_pages_at(pages, -1), "nor before the first");
        ok(!sr_pages_at(pages, 2147483647), "nor far beyond");
    }
    for (i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        sr_error_t *error = sr_pages_parse(&pages, refused[i], pool);
        ok(error && error->code == SR_EINTERNAL && error->cause, "refused: %s", refused[i]);
        ok(sr_pages_parse_stored(&pages, refused[i], pool) != NULL, "where it is stored, too");
    }
    for (i = 0; i < sizeof added / sizeof added[0]; i++) {
        ok(sr_pages_parse(&pages, added[i], pool) != NULL, "no helper may say: %s", added[i]);
        ok(!sr_pages_parse_stored(&pages, added[i], pool), "what httpd has stored may");
    }
    ok(!sr_pages_parse(&pages, "{\"version\":5,\"pages\":20000,\"runs\":[[20000,-9e9,0,-8999985600,14400,0]]" REST,
                       pool),
       "as many pages as can be, as large as can be, anywhere");
    test_known();
    apr_pool_destroy(pool);
    apr_terminate();
    return done();
}
