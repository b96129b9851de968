/* SPDX-License-Identifier: Apache-2.0 */
/* field_values.c: the operation "values": how fields with these values look, as content for a PDF or, with
 * "json":true, as drawings for the signing page. It reads no document, so that a worker which has read none can say
 * what another worker must write. */
#include "helper/entry.h"
#include "helper/main/draw/drawing.h"

#include <string.h>

#define MAX_VALUES 1000

static bool field_values_read(sr_pdfd_value_t *value, const json_t *json, bool as_json)
{
    static const char *const aligns[] = {"start", "center", "end"};
    const char *align = sr_json_string(json, "align");
    *value = (sr_pdfd_value_t){.text = sr_json_string(json, "text"),
                               .ticked = json_is_true(json_object_get(json, "ticked")),
                               .width = json_number_value(json_object_get(json, "width")),
                               .height = json_number_value(json_object_get(json, "height")),
                               .size = json_number_value(json_object_get(json, "size")),
                               .multiline = json_is_true(json_object_get(json, "multiline")),
                               .as_json = as_json};
    for (int i = 0; align && i < 3; i++)
        if (!strcmp(align, aligns[i])) value->align = i;
    return value->width > 0 && value->width <= 14400 && value->height > 0 && value->height <= 14400 && value->size >= 0
           && value->size <= 1000;
}

static json_t *field_values_draw(const sr_pdfd_value_t *value, apr_pool_t *pool)
{
    sr_pdfd_buffer_t *out = sr_pdfd_buffer(pool);
    double size;
    const char *reason = sr_pdfd_value_put(out, &size, value, pool);
    if (reason) return json_pack("{s:s}", "reason", reason);
    const char *content = value->as_json ? apr_pstrmemdup(pool, (const char *)out->data, out->size)
                                         : sr_pdf_content_pack(out->data, out->size, pool);
    return json_pack("{s:s,s:f}", "content", content, "size", size);
}

json_t *sr_pdfd_values(const sr_pdfd_request_t *request, apr_pool_t *pool)
{
    const json_t *values = json_object_get(request->text, "values");
    const bool as_json = json_is_true(json_object_get(request->text, "json"));
    json_t *list = sr_json_own(json_array(), pool);
    apr_pool_t *scratch;
    if (json_array_size(values) > MAX_VALUES) return NULL;
    apr_pool_create(&scratch, pool);
    for (size_t i = 0; i < json_array_size(values); i++) {
        sr_pdfd_value_t value;
        if (!field_values_read(&value, json_array_get(values, i), as_json)) return NULL;
        json_array_append_new(list, field_values_draw(&value, scratch));
        apr_pool_clear(scratch);
    }
    const char *text = sr_json_text(list, pool);
    return sr_pdfd_result(request, text, strlen(text));
}
