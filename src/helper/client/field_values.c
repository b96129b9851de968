/* SPDX-License-Identifier: Apache-2.0 */
/* field_values.c: has a worker that has read no document draw the values of fields. Their content is ASCII, because
 * text is drawn as outlines. */
#include "helper/client/worker.h"

#include <string.h>

typedef struct response_t {
    apr_array_header_t *drawn;
    sr_pdf_output_t *output;
    int count;
} response_t;

static json_t *field_values_json(const apr_array_header_t *values, apr_pool_t *pool)
{
    static const char *const aligns[] = {"start", "center", "end"};
    json_t *list = json_array();
    for (int i = 0; i < values->nelts; i++) {
        const sr_pdf_value_t *value = &APR_ARRAY_IDX(values, i, sr_pdf_value_t);
        json_t *json =
            json_pack("{s:f,s:f,s:f,s:b,s:b,s:s}", "width", value->width, "height", value->height, "size", value->size,
                      "multiline", value->multiline, "ticked", value->ticked, "align", aligns[value->align]);
        if (value->text) json_object_set_new(json, "text", json_string(value->text));
        json_array_append_new(list, json);
    }
    return json_pack("{s:s,s:o}", "op", SR_PDF_OP_VALUES, "values", list);
}

static bool field_values_is_content(const char *content)
{
    while ((*content >= ' ' && *content <= '~') || *content == '\n') content++;
    return !*content;
}

static bool field_values_read_one(sr_pdf_drawn_value_t *drawn, const json_t *json, apr_pool_t *pool)
{
    const char *content = sr_json_string(json, "content"), *reason = sr_json_string(json, "reason");
    const json_t *size = json_object_get(json, "size");
    *drawn = (sr_pdf_drawn_value_t){.reason = reason ? apr_pstrdup(pool, reason) : NULL};
    if (reason) return json_object_size(json) == 1 && sr_pdf_is_plain(reason);
    drawn->content = content ? apr_pstrdup(pool, content) : NULL;
    drawn->size = json_number_value(size);
    return content && field_values_is_content(content) && json_is_number(size) && drawn->size >= 0
           && json_object_size(json) == 2;
}

static bool field_values_read(void *result, const json_t *json, apr_pool_t *pool)
{
    response_t *response = result;
    if (!json_object_get(json, "length")) return false;
    json_t *list;
    if (!sr_pdf_output_json(&list, response->output, pool)) return false;
    if (json_array_size(list) != (size_t)response->count) return false;
    apr_array_clear(response->drawn);
    for (int i = 0; i < response->count; i++)
        if (!field_values_read_one(apr_array_push(response->drawn), json_array_get(list, (size_t)i), pool))
            return false;
    return true;
}

sr_error_t *sr_pdf_values(const apr_array_header_t **drawn, sr_pdf_pool_t *workers, const apr_array_header_t *values,
                          apr_pool_t *pool)
{
    bool failed = false;
    response_t response = {apr_array_make(pool, values->nelts, sizeof(sr_pdf_drawn_value_t)),
                           apr_palloc(pool, sizeof *response.output), values->nelts};
    const json_t *request = sr_json_own(field_values_json(values, pool), pool);
    const sr_pdf_request_t asked = {.op = SR_PDF_OP_VALUES,
                                    .text = sr_json_text(request, pool),
                                    .descriptor = -1,
                                    .output = response.output,
                                    .room = SR_PDF_MAX_VALUES,
                                    .read = field_values_read,
                                    .result = &response};
    *response.output = (sr_pdf_output_t){.descriptor = -1};
    SR_TRY(sr_pdf_put(&failed, workers, &asked, pool));
    if (failed) return sr_pdf_unavailable(pool, "the values of fields could not be drawn within the limits");
    *drawn = response.drawn;
    return NULL;
}
