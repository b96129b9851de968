/* SPDX-License-Identifier: Apache-2.0 */
/* field_values.c: has a worker that has read no document draw the values of fields, for a PDF or for the signing page.
 * Their content is ASCII, because text is drawn as outlines. */
#include "helper/client/preview.h"
#include "helper/client/worker.h"

#include <string.h>

typedef struct response_t {
    apr_array_header_t *drawn;
    sr_pdf_output_t *output;
    int count;
    bool as_json;
} response_t;

static json_t *field_values_json(const apr_array_header_t *values, bool as_json)
{
    static const char *const aligns[] = {"start", "center", "end", "left", "right"};
    json_t *list = json_array();
    for (int i = 0; i < values->nelts; i++) {
        const sr_pdf_value_t *value = &APR_ARRAY_IDX(values, i, sr_pdf_value_t);
        json_t *json =
            json_pack("{s:f,s:f,s:s}", "width", value->width, "height", value->height, "align", aligns[value->align]);
        if (value->size > 0) json_object_set_new(json, "size", json_real(value->size));
        if (value->multiline) json_object_set_new(json, "multiline", json_true());
        if (value->ticked) json_object_set_new(json, "ticked", json_true());
        if (value->comb) json_object_set_new(json, "comb", json_integer(value->comb));
        if (value->color) json_object_set_new(json, "color", json_string(value->color));
        if (value->text) json_object_set_new(json, "text", json_string(value->text));
        json_array_append_new(list, json);
    }
    return json_pack("{s:s,s:b,s:o}", "op", SR_PDF_OP_VALUES, "json", as_json, "values", list);
}

static bool field_values_are_parts(const json_t *parts)
{
    for (size_t i = 0; i < json_array_size(parts); i++) {
        const json_t *part = json_array_get(parts, i), *box = json_object_get(part, "box");
        for (size_t k = 0; k < 4; k++)
            if (!json_is_number(json_array_get(box, k))) return false;
        if (json_array_size(box) != 4 || json_object_size(part) != 2
            || !sr_pdf_has_paths(json_object_get(part, "drawing")))
            return false;
    }
    return json_is_array(parts);
}

/* *left are the contents from this one on. */
static bool field_values_read_one(sr_pdf_drawn_value_t *drawn, const char **left, const json_t *json, bool as_json,
                                  apr_pool_t *pool)
{
    const char *reason = sr_json_string(json, "reason"), *content = *left;
    const json_t *size = json_object_get(json, "size"), *length = json_object_get(json, "length");
    json_t *parts = NULL;
    *drawn = (sr_pdf_drawn_value_t){.reason = reason ? apr_pstrdup(pool, reason) : NULL};
    if (reason) return json_object_size(json) == 1 && sr_pdf_is_plain(reason);
    const json_int_t count = json_integer_value(length);
    drawn->size = json_number_value(size);
    if (!json_is_number(size) || drawn->size < 0 || json_object_size(json) != 2) return false;
    if (count < 1 || strnlen(content, (size_t)count) < (size_t)count) return false;
    *left += count;
    if (as_json && sr_json_parse(&parts, content, (apr_size_t)count, pool)) return false;
    drawn->parts = parts;
    drawn->content = as_json ? NULL : apr_pstrmemdup(pool, content, (apr_size_t)count);
    return as_json ? field_values_are_parts(parts) : sr_pdf_content_read(&(sr_pdf_content_t){0}, drawn->content, pool);
}

static bool field_values_read(void *result, const json_t *json, apr_pool_t *pool)
{
    response_t *response = result;
    const json_t *list = json_object_get(json, "values");
    if (!json_object_get(json, "length") || json_array_size(list) != (size_t)response->count) return false;
    const char *left = sr_pdf_output_text(response->output, pool);
    apr_array_clear(response->drawn);
    for (int i = 0; left && i < response->count; i++)
        if (!field_values_read_one(apr_array_push(response->drawn), &left, json_array_get(list, (size_t)i),
                                   response->as_json, pool))
            return false;
    return left && !*left;
}

static sr_error_t *field_values_ask(const apr_array_header_t **drawn, sr_pdf_pool_t *workers,
                                    const apr_array_header_t *values, bool as_json, apr_pool_t *pool)
{
    bool failed = false;
    response_t response = {apr_array_make(pool, values->nelts, sizeof(sr_pdf_drawn_value_t)),
                           apr_palloc(pool, sizeof *response.output), values->nelts, as_json};
    const json_t *request = sr_json_own(field_values_json(values, as_json), pool);
    const sr_pdf_request_t asked = {.op = SR_PDF_OP_VALUES,
                                    .class = as_json ? SR_PDF_SHOW : SR_PDF_WORK,
                                    .text = sr_json_text(request, pool),
                                    .descriptor = -1,
                                    .output = response.output,
                                    .room = as_json ? SR_PDF_MAX_PREVIEW : SR_PDF_MAX_VALUES,
                                    .read = field_values_read,
                                    .result = &response};
    *response.output = (sr_pdf_output_t){.descriptor = -1};
    SR_TRY(sr_pdf_put(&failed, workers, &asked, pool));
    if (failed) return sr_pdf_unavailable(pool, "the values of fields could not be drawn within the limits");
    *drawn = response.drawn;
    return NULL;
}

sr_error_t *sr_pdf_values(const apr_array_header_t **drawn, sr_pdf_pool_t *workers, const apr_array_header_t *values,
                          apr_pool_t *pool)
{
    return field_values_ask(drawn, workers, values, false, pool);
}

sr_error_t *sr_pdf_values_shown(const apr_array_header_t **drawn, sr_pdf_pool_t *workers,
                                const apr_array_header_t *values, apr_pool_t *pool)
{
    return field_values_ask(drawn, workers, values, true, pool);
}
