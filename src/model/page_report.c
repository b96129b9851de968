/* SPDX-License-Identifier: Apache-2.0 */
/* page_report.c: reads the report of a PDF's pages. sigreq-pdfd makes it, and a hostile document may have taken over
 * that process. So a report may have only the expected members, and every number is checked before it is used. Members
 * that httpd adds are accepted only in stored reports. */
#include "model/model.h"

#include <limits.h>
#include <string.h>

#define RUN_LENGTH 6     /* count x0 y0 x1 y1 rotate */
#define MAX_SIDE 14400.0 /* points; src/helper/main/read/boxes.c refuses larger pages */

static const char *const of_helper[] = {"version",   "pages",    "runs",   "signatures",
                                        "normalise", "warnings", "fields", NULL};
/* "normalised" is the name of "rewritten" in reports that were stored before 0.1.0. */
static const char *const of_httpd[] = {"prepared", "rewritten", "normalised", NULL};

static bool page_report_is_listed(const char *name, const char *const *names)
{
    while (*names && strcmp(*names, name) != 0) names++;
    return *names != NULL;
}

static bool has_only_known(const json_t *report, bool stored)
{
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *)report, name, value) {
        if (page_report_is_listed(name, of_helper)) continue;
        if (!stored || !page_report_is_listed(name, of_httpd)) return false;
    }
    return true;
}

static bool take_count(const json_t *value, int least, int most, int *count)
{
    const json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < least || number > most) return false;
    *count = (int)number;
    return true;
}

static bool take_run(const json_t *value, sr_list_run_t *run)
{
    double *box = run->page.box;
    size_t i;
    if (!json_is_array(value) || json_array_size(value) != RUN_LENGTH) return false;
    if (!take_count(json_array_get(value, 0), 1, SR_PAGES_MAX, &run->count)) return false;
    for (i = 0; i < 4; i++) {
        const json_t *number = json_array_get(value, 1 + i);
        if (!json_is_number(number)) return false;
        box[i] = json_number_value(number);
    }
    for (i = 0; i < 2; i++)
        if (!(box[i] < box[2 + i]) || !(box[2 + i] - box[i] <= MAX_SIDE)) return false;
    if (!take_count(json_array_get(value, 5), 0, 270, &run->page.rotate)) return false;
    return run->page.rotate % 90 == 0;
}

/* Reads "prepared", if there is such a member. */
static bool take_prepared(sr_pages_t *pages, const json_t *list)
{
    int i, page;
    if (!list) return true;
    if (!json_is_array(list) || json_array_size(list) > SR_PAGES_MAX_PREPARED) return false;
    for (i = 0; i < (int)json_array_size(list); i++) {
        if (!take_count(json_array_get(list, (size_t)i), 0, pages->count - 1, &page)) return false;
        pages->prepared[pages->prepared_count++] = page;
    }
    return true;
}

static bool take_rewritten(sr_pages_t *pages, const json_t *object, apr_pool_t *pool)
{
    const char *sha256 = sr_json_string(object, "sha256");
    const json_t *size = json_object_get(object, "size");
    if (!object) return true;
    if (!sha256 || !sr_text_is_hex(sha256, SR_SHA256_HEX_LENGTH)) return false;
    if (!json_is_integer(size) || json_integer_value(size) < 1) return false;
    pages->rewritten_sha256 = apr_pstrdup(pool, sha256);
    pages->rewritten_size = (apr_off_t)json_integer_value(size);
    return true;
}

static bool take_rest(sr_pages_t *pages, const json_t *value, apr_pool_t *pool)
{
    const json_t *normalise = json_object_get(value, "normalise");
    const json_t *rewritten = json_object_get(value, "rewritten");
    if (!take_count(json_object_get(value, "signatures"), 0, INT_MAX, &pages->signatures)) return false;
    if (!json_is_boolean(normalise)) return false;
    pages->normalise = json_is_true(normalise);
    if (!sr_warnings_parse(&pages->warnings, json_object_get(value, "warnings"))) return false;
    if (!sr_existing_parse(&pages->existing, json_object_get(value, "fields"), pages->count, pool)) return false;
    return take_prepared(pages, json_object_get(value, "prepared"))
           && take_rewritten(pages, rewritten ? rewritten : json_object_get(value, "normalised"), pool);
}

static sr_error_t *page_report_refuse(apr_pool_t *pool, const char *cause)
{
    return sr_error_because(sr_error(pool, SR_EINTERNAL, "Internal error"), pool, "report of pages: %s", cause);
}

static const char *take_runs(sr_pages_t *pages, const json_t *report, apr_pool_t *pool)
{
    const json_t *list = json_object_get(report, "runs");
    apr_array_header_t *runs;
    apr_int64_t sum = 0;
    size_t i;
    if (!json_is_array(list) || json_array_size(list) > SR_PAGES_MAX) return "the runs are none, or too many";
    runs = apr_array_make(pool, (int)json_array_size(list), sizeof(sr_list_run_t));
    for (i = 0; i < json_array_size(list); i++) {
        sr_list_run_t *run = apr_array_push(runs);
        if (!take_run(json_array_get(list, i), run)) return "a run is malformed";
        sum += run->count;
    }
    if (!take_count(json_object_get(report, "pages"), 1, SR_PAGES_MAX, &pages->count) || sum != pages->count)
        return "the runs do not add up to the pages";
    pages->runs = runs;
    return NULL;
}

static sr_error_t *read_report(sr_pages_t **pages, const char *report, bool stored, apr_pool_t *pool)
{
    const char *reason;
    sr_error_t *error;
    json_t *value;
    int version;
    *pages = NULL;
    error = sr_json_parse(&value, report, strlen(report), pool);
    if (error) return page_report_refuse(pool, error->message);
    if (!take_count(json_object_get(value, "version"), 0, INT_MAX, &version) || version != SR_PAGES_VERSION)
        return page_report_refuse(pool, "not of this version");
    if (!has_only_known(value, stored)) return page_report_refuse(pool, "it has a member that it may not have");

    *pages = apr_pcalloc(pool, sizeof **pages);
    reason = take_runs(*pages, value, pool);
    if (reason) return page_report_refuse(pool, reason);
    if (!take_rest(*pages, value, pool)) return page_report_refuse(pool, "what is known besides is malformed");
    (*pages)->report = apr_pstrdup(pool, report);
    return NULL;
}

sr_error_t *sr_pages_parse(sr_pages_t **pages, const char *report, apr_pool_t *pool)
{
    return read_report(pages, report, false, pool);
}

sr_error_t *sr_pages_parse_stored(sr_pages_t **pages, const char *report, apr_pool_t *pool)
{
    return read_report(pages, report, true, pool);
}

const sr_page_t *sr_pages_at(const sr_pages_t *pages, int index)
{
    int i;
    if (index < 0) return NULL;
    for (i = 0; i < pages->runs->nelts; i++) {
        const sr_list_run_t *run = &APR_ARRAY_IDX(pages->runs, i, sr_list_run_t);
        if (index < run->count) return &run->page;
        index -= run->count;
    }
    return NULL;
}

/* --- what is found out later */

bool sr_pages_is_prepared(const sr_pages_t *pages, int index)
{
    int i;
    for (i = 0; i < pages->prepared_count; i++)
        if (pages->prepared[i] == index) return true;
    return false;
}

const sr_pages_t *sr_pages_prepared(const sr_pages_t *pages, int index, apr_pool_t *pool)
{
    sr_pages_t *more;
    if (pages->prepared_count == SR_PAGES_MAX_PREPARED || sr_pages_is_prepared(pages, index)) return pages;
    more = apr_pmemdup(pool, pages, sizeof *pages);
    more->prepared[more->prepared_count++] = index;
    return more;
}

const sr_pages_t *sr_pages_rewritten(const sr_pages_t *pages, const char *sha256, apr_off_t size, apr_pool_t *pool)
{
    sr_pages_t *more = apr_pmemdup(pool, pages, sizeof *pages);
    more->rewritten_sha256 = sha256;
    more->rewritten_size = size;
    return more;
}

const char *sr_pages_write(const sr_pages_t *pages, apr_pool_t *pool)
{
    json_t *value, *prepared;
    int i;
    if (sr_json_parse(&value, pages->report, strlen(pages->report), pool))
        return pages->report; /* it was parsed before */
    if (pages->prepared_count) {
        prepared = json_array();
        for (i = 0; i < pages->prepared_count; i++) json_array_append_new(prepared, json_integer(pages->prepared[i]));
        json_object_set_new(value, "prepared", prepared);
    }
    json_object_del(value, "normalised");
    if (pages->rewritten_sha256)
        json_object_set_new(
            value, "rewritten",
            json_pack("{s:s,s:I}", "sha256", pages->rewritten_sha256, "size", (json_int_t)pages->rewritten_size));
    return sr_json_text(value, pool);
}
