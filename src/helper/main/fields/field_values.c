/* SPDX-License-Identifier: Apache-2.0 */
/* field_values.c: the operation "values": how fields with these values look, as content for a PDF or, with
 * "json":true, as drawings for the signing page. It reads no document, so that a worker which has read none can say
 * what another worker must write. */
#include "helper/entry.h"
#include "helper/main/draw/drawing.h"

#include <string.h>

#define MAX_VALUES 1000
#define MAX_CELLS 4000

static bool field_values_read(sr_pdfd_value_t *value, const json_t *json, bool as_json)
{
    static const char *const aligns[] = {"start", "center", "end", "left", "right"};
    const char *align = sr_json_string(json, "align");
    *value = (sr_pdfd_value_t){.text = sr_json_string(json, "text"),
                               .ticked = json_is_true(json_object_get(json, "ticked")),
                               .width = json_number_value(json_object_get(json, "width")),
                               .height = json_number_value(json_object_get(json, "height")),
                               .size = json_number_value(json_object_get(json, "size")),
                               .multiline = json_is_true(json_object_get(json, "multiline")),
                               .comb = (int)json_integer_value(json_object_get(json, "comb")),
                               .color = sr_json_string(json, "color"),
                               .as_json = as_json};
    for (int i = 0; align && i < 5; i++)
        if (!strcmp(align, aligns[i])) value->align = i;
    if (value->color && (*value->color != '#' || !sr_text_is_hex(value->color + 1, 6))) return false;
    if (value->comb < 0 || value->comb > MAX_CELLS) return false;
    return value->width > 0 && value->width <= 14400 && value->height > 0 && value->height <= 14400 && value->size >= 0
           && value->size <= 1000;
}

/* Adds the content of a value to all of them. */
static json_t *field_values_draw(sr_pdfd_buffer_t *all, const sr_pdfd_value_t *value, apr_pool_t *pool)
{
    sr_pdfd_buffer_t *out = sr_pdfd_buffer(pool), *packed = sr_pdfd_buffer(pool);
    const apr_size_t before = all->size;
    double size;
    const char *reason = sr_pdfd_value_put(out, &size, value, pool);
    if (reason) return json_pack("{s:s}", "reason", reason);
    if (value->as_json) {
        sr_pdfd_put(all, out->data, out->size);
    } else {
        const bool smaller = sr_pdfd_pack(packed, out->data, out->size);
        const sr_pdfd_buffer_t *put = smaller ? packed : out;
        sr_pdfd_put_text(all, sr_pdf_content_text(&(sr_pdf_content_t){smaller, put->data, put->size}, pool));
    }
    return json_pack("{s:I,s:f}", "length", (json_int_t)(all->size - before), "size", size);
}

json_t *sr_pdfd_values(const sr_pdfd_request_t *request, apr_pool_t *pool)
{
    const json_t *values = json_object_get(request->text, "values");
    const bool as_json = json_is_true(json_object_get(request->text, "json"));
    json_t *list = sr_json_own(json_array(), pool);
    sr_pdfd_buffer_t *all = sr_pdfd_buffer(pool);
    apr_pool_t *scratch;
    if (json_array_size(values) > MAX_VALUES) return NULL;
    sr_pdfd_put_text(all, ""); /* it has data even if no value can be shown */
    apr_pool_create(&scratch, pool);
    for (size_t i = 0; i < json_array_size(values); i++) {
        sr_pdfd_value_t value;
        if (!field_values_read(&value, json_array_get(values, i), as_json)) return NULL;
        json_array_append_new(list, field_values_draw(all, &value, scratch));
        apr_pool_clear(scratch);
    }
    json_t *response = sr_pdfd_result(request, all->data, all->size);
    json_object_set(response, "values", list);
    return response;
}
