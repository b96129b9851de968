/* SPDX-License-Identifier: Apache-2.0 */
/* pages.c: the report of a document's pages, as a helper says it and as it is stored beside the document. What is
 * accepted of a helper names nothing that only httpd may add, is within the limits, and reads the same after it was
 * written. */
#include "fuzz.h"
#include "model/model.h"

static void check(const sr_pages_t *pages)
{
    int sum = 0;
    fuzz_must(pages->count >= 1 && pages->count <= SR_PAGES_MAX && pages->signatures >= 0);
    fuzz_must(pages->prepared_count >= 0 && pages->prepared_count <= SR_PAGES_MAX_PREPARED);
    for (int i = 0; i < pages->runs->nelts; i++) {
        const sr_list_run_t *run = &APR_ARRAY_IDX(pages->runs, i, sr_list_run_t);
        fuzz_must(run->count >= 1 && run->page.box[0] < run->page.box[2] && run->page.box[1] < run->page.box[3]);
        fuzz_must(run->page.rotate >= 0 && run->page.rotate < 360 && run->page.rotate % 90 == 0);
        sum += run->count;
    }
    fuzz_must(sum == pages->count && sr_pages_at(pages, 0) && sr_pages_at(pages, sum - 1));
    fuzz_must(!sr_pages_at(pages, sum) && !sr_pages_at(pages, -1));
}

/* What was written by httpd is read back, with what was added. */
static void check_written(const sr_pages_t *pages, apr_pool_t *pool)
{
    sr_pages_t *again;
    const sr_pages_t *more = sr_pages_prepared(pages, pages->count - 1, pool);
    fuzz_must(!sr_pages_parse_stored(&again, sr_pages_write(more, pool), pool));
    check(again);
    fuzz_must(again->count == pages->count && again->warnings == pages->warnings);
    fuzz_must(again->prepared_count == more->prepared_count && again->normalise == pages->normalise);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    apr_pool_t *pool = fuzz_pool();
    sr_pages_t *pages;
    if (text && !sr_pages_parse(&pages, text, pool)) {
        check(pages);
        fuzz_must(!pages->prepared_count && !pages->rewritten_sha256);
        check_written(pages, pool);
    }
    if (text && !sr_pages_parse_stored(&pages, text, pool)) {
        check(pages);
        check_written(pages, pool);
    }
    apr_pool_destroy(pool);
    free(text);
    return 0;
}
