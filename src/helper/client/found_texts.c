/* SPDX-License-Identifier: Apache-2.0 */
/* found_texts.c: finds texts on the pages of a document. The document may have taken over the worker, so every member
 * of the response is validated. A wrong place can only move a field of the caller who sent the document. */
#include "helper/client/worker.h"

#include <math.h>

#define FARTHEST 1e6 /* of a place, in points */

typedef struct find_t {
    json_t **found;
    const json_t *texts;
    sr_pdf_output_t *output;
    int pages;
    size_t most;
} find_t;

static bool found_is_place(const json_t *place, const json_t *text, int pages)
{
    const json_t *page = json_array_get(place, 0), *wanted = json_object_get(text, "page");
    if (json_array_size(place) != 5 || !json_is_integer(page)) return false;
    if (json_integer_value(page) < 0 || json_integer_value(page) >= pages) return false;
    if (wanted && json_integer_value(page) != json_integer_value(wanted)) return false;
    for (size_t i = 1; i < 5; i++) {
        const json_t *number = json_array_get(place, i);
        if (!json_is_number(number) || !(fabs(json_number_value(number)) <= FARTHEST)) return false;
    }
    return json_number_value(json_array_get(place, 3)) >= 0 && json_number_value(json_array_get(place, 4)) >= 0;
}

static bool found_is_result(const json_t *result, const json_t *text, const find_t *find)
{
    const json_t *count = json_object_get(result, "count"), *places = json_object_get(result, "places");
    const size_t listed = json_array_size(places);
    if (!json_is_integer(count) || !json_is_array(places) || listed > find->most) return false;
    const json_int_t number = json_integer_value(count);
    if (number < 0 || number > INT32_MAX || listed != ((size_t)number < find->most ? (size_t)number : find->most))
        return false;
    for (size_t i = 0; i < listed; i++)
        if (!found_is_place(json_array_get(places, i), text, find->pages)) return false;
    return true;
}

static bool found_read(void *result, const json_t *json, apr_pool_t *pool)
{
    const find_t *find = result;
    json_t *found;
    *find->found = NULL;
    if (!json_object_get(json, "length")) return sr_pdf_is_plain(sr_json_string(json, "refused"));
    if (!sr_pdf_output_json(&found, find->output, pool)) return false;
    const json_t *results = json_object_get(found, "texts");
    if (!json_is_boolean(json_object_get(found, "hasText")) || !json_is_boolean(json_object_get(found, "unreadable")))
        return false;
    if (!json_is_array(results) || json_array_size(results) != json_array_size(find->texts)) return false;
    for (size_t i = 0; i < json_array_size(results); i++)
        if (!found_is_result(json_array_get(results, i), json_array_get(find->texts, i), find)) return false;
    *find->found = found;
    return true;
}

sr_error_t *sr_pdf_find(json_t **found, sr_pdf_pool_t *workers, int descriptor, const char *sha256, int pages,
                        const json_t *texts, int most, apr_pool_t *pool)
{
    bool failed = false;
    find_t find = {found, texts, apr_palloc(pool, sizeof *find.output), pages, (size_t)most};
    const json_t *asked = sr_json_own(
        json_pack("{s:s,s:s,s:O,s:i}", "op", SR_PDF_OP_FIND, "document", sha256, "texts", texts, "most", most), pool);
    const sr_pdf_request_t request = {.op = SR_PDF_OP_FIND,
                                      .text = sr_json_text(asked, pool),
                                      .descriptor = descriptor,
                                      .output = find.output,
                                      .room = SR_PDF_MAX_FOUND,
                                      .read = found_read,
                                      .result = &find};
    *find.output = (sr_pdf_output_t){.descriptor = -1};
    SR_TRY(sr_pdf_put(&failed, workers, &request, pool));
    if (failed) *found = NULL;
    return NULL;
}
