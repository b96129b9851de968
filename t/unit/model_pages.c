/* SPDX-License-Identifier: Apache-2.0 */
/* model_pages.c: tests of src/model/page_report.c. */
#include "model/model.h"
#include "tap.h"

static apr_pool_t *pool;

#define REST ",\"signatures\":0,\"normalise\":false}"
#define ONE "{\"version\":5,\"pages\":1,\"runs\":[[1,0,0,612,792,0]]"
#define DIGITS "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define KNOWN ONE ",\"signatures\":0,\"normalise\":false,"

/* Members that httpd adds to a stored report, and that a helper must not send. */
static const char *const added[] = {
    KNOWN "\"prepared\":[0]}",
    KNOWN "\"prepared\":[]}",
    KNOWN "\"rewritten\":{\"sha256\":\"" DIGITS "\",\"size\":1}}",
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
    KNOWN "\"rewritten\":\"" DIGITS "\"}",
    KNOWN "\"normalised\":\"" DIGITS "\"}",
    KNOWN "\"rewritten\":{\"sha256\":\"" DIGITS "\"}}",
    KNOWN "\"rewritten\":{\"sha256\":\"" DIGITS "\",\"size\":0}}",
    KNOWN "\"rewritten\":{\"sha256\":\"" DIGITS "\",\"size\":\"1\"}}",
    KNOWN "\"rewritten\":{\"sha256\":\"" DIGITS "0\",\"size\":1}}",
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
    "\"rewritten\":{\"sha256\":\"../../../../../../etc/passwd/0123456789abcdef0123456789abcdef0123\",\"size\":1}}",
};

/* A report is written as text and parsed again, with the members that httpd adds. */
static void test_known(void)
{
    static const char text[] = "{\"version\":5,\"pages\":99,\"runs\":[[99,-0.25,0,595.276,841.89,0]],\"signatures\":3,"
                               "\"normalise\":true}";
    const sr_pages_t *more;
    sr_pages_t *pages, *again;
    const char *written;
    int i;
    if (!ok(!sr_pages_parse(&pages, text, pool), "the report of a new document is parsed")) return;
    ok(pages->signatures == 3 && pages->normalise,
       "it has the number of signatures, and whether the document must be rewritten");
    ok(!sr_pages_is_prepared(pages, 0) && !pages->rewritten_sha256,
       "no page is prepared, and there is no rewritten document");
    is_str(sr_pages_write(pages, pool), text, "it is written unchanged");

    more = sr_pages_prepared(sr_pages_prepared(pages, 98, pool), 3, pool);
    ok(sr_pages_is_prepared(more, 98) && sr_pages_is_prepared(more, 3) && !sr_pages_is_prepared(more, 0),
       "prepared pages are added");
    ok(!sr_pages_is_prepared(pages, 3), "they are added to a copy");
    ok(sr_pages_prepared(more, 3, pool) == more, "a prepared page is not added twice");
    more = sr_pages_rewritten(more, DIGITS, 5000000000, pool);
    written = sr_pages_write(more, pool);
    is_str(written,
           "{\"version\":5,\"pages\":99,\"runs\":[[99,-0.25,0,595.276,841.89,0]],\"signatures\":3,\"normalise\":true,"
           "\"prepared\":[98,3],\"rewritten\":{\"sha256\":\"" DIGITS "\",\"size\":5000000000}}",
           "the written report has the prepared pages and the rewritten document");
    if (!ok(!sr_pages_parse_stored(&again, written, pool), "the written report is parsed")) return;
    ok(sr_pages_is_prepared(again, 98) && sr_pages_is_prepared(again, 3) && again->prepared_count == 2,
       "the parsed report has the prepared pages");
    is_str(again->rewritten_sha256, DIGITS, "the parsed report has the rewritten document");
    is_num((double)again->rewritten_size, 5e9, "the size of the rewritten document may exceed 32 bits");
    is_str(sr_pages_write(again, pool), written, "the parsed report is written unchanged");
    char *old = apr_pstrdup(pool, text);
    old[strlen(old) - 1] = '\0';
    old = apr_pstrcat(pool, old, ",\"prepared\":[98,3],\"normalised\":{\"sha256\":\"" DIGITS "\",\"size\":5000000000}}",
                      NULL);
    ok(!sr_pages_parse_stored(&again, old, pool), "a report with the former name of the rewritten document is parsed");
    is_str(sr_pages_write(again, pool), written, "it is written with the present name");
    is_str(sr_pages_write(sr_pages_prepared(again, 7, pool), pool),
           apr_pstrcat(pool, apr_pstrndup(pool, written, (apr_size_t)(strstr(written, ",3]") - written)), ",3,7]",
                       strstr(written, ",3]") + 3, NULL),
           "it is written with another page");

    for (more = pages, i = 0; i < 99; i++) more = sr_pages_prepared(more, i, pool);
    is_int(more->prepared_count, SR_PAGES_MAX_PREPARED, "the number of prepared pages is limited");
    ok(!sr_pages_parse_stored(&again, sr_pages_write(more, pool), pool)
           && again->prepared_count == SR_PAGES_MAX_PREPARED && sr_pages_is_prepared(again, 63)
           && !sr_pages_is_prepared(again, 64),
       "the maximal number of prepared pages can be parsed");
}

/* Existing signature fields of a document. */
static void test_existing(void)
{
    static const char text[] = KNOWN "\"fields\":[{\"name\":\"party.a\",\"page\":0,\"rect\":[-1.5,0,10,20.25],"
                                     "\"seed\":true},{\"name\":\"b\",\"fault\":\"hidden\"}]}";
    sr_pages_t *pages;
    if (!ok(!sr_pages_parse(&pages, text, pool), "a report with existing fields is parsed")) return;
    const sr_existing_t *field = sr_existing_find(pages->existing, "party.a");
    const sr_existing_t *hidden = sr_existing_find(pages->existing, "b");
    ok(field && !field->fault && field->seed && field->rect[0] == -1.5 && field->rect[3] == 20.25, "an empty field");
    ok(hidden && hidden->fault == SR_EXISTING_HIDDEN && !hidden->seed, "a field that cannot be signed");
    ok(!sr_existing_find(pages->existing, "party"), "a part of a field's name is not found");
    is_str(sr_pages_write(pages, pool), text, "the report is written unchanged");
    if (sr_pages_parse(&pages, KNOWN "\"warnings\":[]}", pool)) ok(false, "a report without fields is read");
    ok(!sr_existing_find(pages->existing, "b"), "no field is found in a report without fields");
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
        ok(sr_pages_at(pages, 0) && sr_pages_at(pages, 0) == sr_pages_at(pages, 9),
           "pages of a run share their description");
        is_num(sr_pages_at(pages, 9)->box[3], 792, "the last page of a run");
        page = sr_pages_at(pages, 10);
        ok(page && page->rotate == 270, "the next run");
        is_num(page->box[0], -10.5, "boxes may be negative");
        is_num(page->box[3], 300.25, "boxes may have fractions");
        is_int(sr_pages_at(pages, 11)->rotate, 90, "the last page");
        ok(!sr_pages_at(pages, 12), "there is no page after the last one");
        ok(!sr_pages_at(pages, -1), "there is no page before the first one");
        ok(!sr_pages_at(pages, 2147483647), "there is no page with a huge number");
    }
    for (i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        sr_error_t *error = sr_pages_parse(&pages, refused[i], pool);
        ok(error && error->code == SR_EINTERNAL && error->cause, "refused: %s", refused[i]);
        ok(sr_pages_parse_stored(&pages, refused[i], pool) != NULL, "the same is refused in a stored report");
    }
    for (i = 0; i < sizeof added / sizeof added[0]; i++) {
        ok(sr_pages_parse(&pages, added[i], pool) != NULL, "refused in a report of a helper: %s", added[i]);
        ok(!sr_pages_parse_stored(&pages, added[i], pool), "accepted in a stored report");
    }
    ok(!sr_pages_parse(&pages, "{\"version\":5,\"pages\":20000,\"runs\":[[20000,-9e9,0,-8999985600,14400,0]]" REST,
                       pool),
       "the maximal number of pages of the maximal size is accepted");
    test_known();
    apr_pool_destroy(pool);
    apr_terminate();
    return done();
}
