/* pages.c: reads the report of a PDF's pages that sigreq-pdfd makes. It comes from another program or from a file,
 * so every number is checked before anything is computed from it. */
#include "model/model.h"

#include <limits.h>
#include <string.h>

#define RUN_LENGTH 6 /* count x0 y0 x1 y1 rotate */

static bool take_count(const json_t *value, int least, int *count)
{
    const json_int_t number = json_integer_value(value);

    if (!json_is_integer(value) || number < least || number > INT_MAX) return false;
    *count = (int)number;
    return true;
}

static bool take_run(const json_t *value, sr_page_run_t *run)
{
    double *const box = run->page.box;
    size_t i;

    if (!json_is_array(value) || json_array_size(value) != RUN_LENGTH) return false;
    if (!take_count(json_array_get(value, 0), 1, &run->count)) return false;
    for (i = 0; i < 4; i++) {
        const json_t *number = json_array_get(value, 1 + i);

        if (!json_is_number(number)) return false;
        box[i] = json_number_value(number);
    }
    if (!(box[0] < box[2]) || !(box[1] < box[3])) return false;
    if (!take_count(json_array_get(value, 5), 0, &run->page.rotate)) return false;
    return run->page.rotate % 90 == 0 && run->page.rotate < 360;
}

static sr_error_t *refuse(apr_pool_t *pool, const char *cause)
{
    return sr_error_because(sr_error(pool, SR_EINTERNAL, "Internal error"), pool, "report of pages: %s", cause);
}

sr_error_t *sr_pages_parse(sr_pages_t **pages, const char *report, apr_pool_t *pool)
{
    apr_array_header_t *runs;
    sr_error_t *error;
    json_t *value, *list;
    apr_int64_t sum = 0;
    size_t i;
    int version;

    *pages = NULL;
    error = sr_json_parse(&value, report, strlen(report), pool);
    if (error) return refuse(pool, error->message);
    if (!take_count(json_object_get(value, "version"), 0, &version) || version != SR_PAGES_VERSION)
        return refuse(pool, "not of this version");

    *pages = apr_pcalloc(pool, sizeof **pages);
    list = json_object_get(value, "runs");
    runs = apr_array_make(pool, (int)json_array_size(list), sizeof(sr_page_run_t));
    for (i = 0; i < json_array_size(list); i++) {
        sr_page_run_t *run = apr_array_push(runs);

        if (!take_run(json_array_get(list, i), run)) return refuse(pool, "a run is malformed");
        sum += run->count;
    }
    if (!take_count(json_object_get(value, "pages"), 1, &(*pages)->count) || sum != (*pages)->count)
        return refuse(pool, "the runs do not add up to the pages");
    (*pages)->runs = runs;
    (*pages)->report = apr_pstrdup(pool, report);
    return NULL;
}

const sr_page_t *sr_pages_at(const sr_pages_t *pages, int index)
{
    int i;

    if (index < 0) return NULL;
    for (i = 0; i < pages->runs->nelts; i++) {
        const sr_page_run_t *run = &APR_ARRAY_IDX(pages->runs, i, sr_page_run_t);

        if (index < run->count) return &run->page;
        index -= run->count;
    }
    return NULL;
}
