/* model_pages.c: tests of src/model/pages.c. */
#include "model/model.h"
#include "tap.h"

static apr_pool_t *pool;

static const char *const refused[] = {
    "",
    "[]",
    "{}",
    "{\"version\":1}",
    "{\"version\":0,\"pages\":1,\"runs\":[[1,0,0,612,792,0]]}",
    "{\"version\":2,\"pages\":1,\"runs\":[[1,0,0,612,792,0]]}",
    "{\"version\":\"1\",\"pages\":1,\"runs\":[[1,0,0,612,792,0]]}",
    "{\"version\":1,\"pages\":2,\"runs\":[[1,0,0,612,792,0]]}",
    "{\"version\":1,\"pages\":1,\"runs\":[[2,0,0,612,792,0]]}",
    "{\"version\":1,\"pages\":0,\"runs\":[]}",
    "{\"version\":1,\"pages\":1,\"runs\":{}}",
    "{\"version\":1,\"pages\":1,\"runs\":[1,0,0,612,792,0]}",
    "{\"version\":1,\"pages\":1,\"runs\":[[1,0,0,612,792]]}",
    "{\"version\":1,\"pages\":1,\"runs\":[[1,0,0,612,792,0,0]]}",
    "{\"version\":1,\"pages\":1,\"runs\":[[1.0,0,0,612,792,0]]}",
    "{\"version\":1,\"pages\":1.0,\"runs\":[[1,0,0,612,792,0]]}",
    "{\"version\":1,\"pages\":0,\"runs\":[[1,0,0,612,792,0],[-1,0,0,612,792,0]]}",
    "{\"version\":1,\"pages\":0,\"runs\":[[0,0,0,612,792,0]]}",
    "{\"version\":1,\"pages\":1,\"runs\":[[4294967297,0,0,612,792,0]]}",
    "{\"version\":1,\"pages\":1,\"runs\":[[2147483647,0,0,612,792,0],[2147483647,0,0,612,792,0],[3,0,0,1,1,0]]}",
    "{\"version\":1,\"pages\":1,\"runs\":[[1,0,0,\"612\",792,0]]}",
    "{\"version\":1,\"pages\":1,\"runs\":[[1,612,0,0,792,0]]}",
    "{\"version\":1,\"pages\":1,\"runs\":[[1,0,0,612,0,0]]}",
    "{\"version\":1,\"pages\":1,\"runs\":[[1,0,0,612,792,45]]}",
    "{\"version\":1,\"pages\":1,\"runs\":[[1,0,0,612,792,360]]}",
    "{\"version\":1,\"pages\":1,\"runs\":[[1,0,0,612,792,-90]]}",
    "{\"version\":1,\"pages\":1,\"runs\":[[1,0,0,612,792,90.0]]}",
};

int main(void)
{
    static const char report[] = "{\"version\":1,\"pages\":12,\"runs\":[[10,0,0,612,792,0],[1,-10.5,20,100,300.25,270],"
                                 "[1,0,0,1,1,90]],\"signatures\":0,\"normalise\":false}";
    const sr_page_t *page;
    sr_pages_t *pages;
    apr_size_t i;

    apr_initialize();
    apr_pool_create(&pool, NULL);

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
    }
    apr_pool_destroy(pool);
    apr_terminate();
    return done();
}
