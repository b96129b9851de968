/* SPDX-License-Identifier: Apache-2.0 */
/* form_fields.c: lists the fields of a document's form. The document may have taken over the worker, so every member of
 * the response is validated. The texts are shown to the caller who sent the document. */
#include "helper/client/worker.h"

#include <math.h>
#include <string.h>

#define FARTHEST 1e9 /* of a corner, in points */

typedef struct response_t {
    json_t **fields;
    sr_pdf_output_t *output;
    int pages;
} response_t;

static bool form_fields_is_text(const json_t *value)
{
    return json_string_value(value) && json_string_length(value) == strlen(json_string_value(value))
           && json_string_length(value) <= SR_PDF_MAX_FIELD_TEXT;
}

static bool form_fields_is_type(const json_t *value)
{
    static const char *const types[] = {"text", "checkbox", "choice", "signature"};
    for (size_t i = 0; json_is_string(value) && i < sizeof types / sizeof *types; i++)
        if (!strcmp(json_string_value(value), types[i])) return true;
    return false;
}

static bool form_fields_is_flag(const json_t *value)
{
    return json_is_boolean(value);
}

static bool form_fields_is_length(const json_t *value)
{
    return json_is_integer(value) && json_integer_value(value) > 0;
}

static bool form_fields_is_value(const json_t *value)
{
    return json_is_boolean(value) || form_fields_is_text(value);
}

static bool form_fields_is_align(const json_t *value)
{
    const char *text = json_string_value(value);
    return text && (!strcmp(text, "center") || !strcmp(text, "right"));
}

static bool form_fields_is_size(const json_t *value)
{
    return json_is_number(value) && json_number_value(value) > 0 && json_number_value(value) <= 1000;
}

static bool form_fields_is_color(const json_t *value)
{
    const char *text = json_string_value(value);
    return text && *text == '#' && sr_text_is_hex(text + 1, 6);
}

static bool form_fields_is_options(const json_t *value)
{
    for (size_t i = 0; i < json_array_size(value); i++)
        if (!form_fields_is_text(json_array_get(value, i))) return false;
    return json_is_array(value) && json_array_size(value) <= SR_PDF_MAX_FIELDS;
}

static bool form_fields_is_place(const json_t *place, int pages)
{
    const json_t *page = json_object_get(place, "page"), *rect = json_object_get(place, "rect");
    const json_t *option = json_object_get(place, "option"), *state = json_object_get(place, "state");
    if (!json_is_integer(page) || json_integer_value(page) < 0 || json_integer_value(page) >= pages) return false;
    if (json_array_size(rect) != 4 || json_object_size(place) != 2u + (option != NULL) + (state != NULL)) return false;
    if (state && !(form_fields_is_text(state) && sr_pdf_is_state(json_string_value(state)))) return false;
    for (size_t i = 0; i < 4; i++) {
        const json_t *side = json_array_get(rect, i);
        if (!json_is_number(side) || !(fabs(json_number_value(side)) <= FARTHEST)) return false;
    }
    return !option || form_fields_is_text(option);
}

/* "places" has at least one element. It is checked apart, because pages are counted. */
static const struct {
    const char *key;
    bool (*is_valid)(const json_t *value);
    bool is_optional;
} MEMBERS[] = {
    {"field", form_fields_is_text, false},     {"type", form_fields_is_type, false},
    {"required", form_fields_is_flag, false},  {"readOnly", form_fields_is_flag, false},
    {"multiline", form_fields_is_flag, true},  {"maxLength", form_fields_is_length, true},
    {"options", form_fields_is_options, true}, {"multiple", form_fields_is_flag, true},
    {"value", form_fields_is_value, true},     {"signed", form_fields_is_flag, true},
    {"align", form_fields_is_align, true},     {"size", form_fields_is_size, true},
    {"color", form_fields_is_color, true},     {"comb", form_fields_is_length, true},
    {"labels", form_fields_is_options, true},
};

static bool form_fields_is_field(const json_t *field, int pages)
{
    const json_t *places = json_object_get(field, "places"), *labels = json_object_get(field, "labels");
    size_t found = 1;
    for (size_t i = 0; i < sizeof MEMBERS / sizeof *MEMBERS; i++) {
        const json_t *value = json_object_get(field, MEMBERS[i].key);
        if (value ? !MEMBERS[i].is_valid(value) : !MEMBERS[i].is_optional) return false;
        found += value != NULL;
    }
    for (size_t i = 0; i < json_array_size(places); i++)
        if (!form_fields_is_place(json_array_get(places, i), pages)) return false;
    if (labels && json_array_size(labels) != json_array_size(json_object_get(field, "options"))) return false;
    return json_array_size(places) > 0 && json_object_size(field) == found;
}

static bool form_fields_read(void *result, const json_t *json, apr_pool_t *pool)
{
    response_t *response = result;
    *response->fields = NULL;
    if (!json_object_get(json, "length")) return sr_pdf_is_plain(sr_json_string(json, "refused"));
    json_t *fields;
    if (!sr_pdf_output_json(&fields, response->output, pool) || !json_is_array(fields)) return false;
    if (json_array_size(fields) > SR_PDF_MAX_FIELDS) return false;
    for (size_t i = 0; i < json_array_size(fields); i++)
        if (!form_fields_is_field(json_array_get(fields, i), response->pages)) return false;
    *response->fields = fields;
    return true;
}

sr_error_t *sr_pdf_inspect(json_t **fields, sr_pdf_pool_t *workers, int descriptor, int pages, apr_pool_t *pool)
{
    bool failed = false;
    response_t response = {fields, apr_palloc(pool, sizeof *response.output), pages};
    const sr_pdf_request_t request = {.op = SR_PDF_OP_INSPECT,
                                      .descriptor = descriptor,
                                      .output = response.output,
                                      .room = SR_PDF_MAX_INSPECTION,
                                      .read = form_fields_read,
                                      .result = &response};
    *response.output = (sr_pdf_output_t){.descriptor = -1};
    SR_TRY(sr_pdf_put(&failed, workers, &request, pool));
    if (failed) *fields = NULL;
    return NULL;
}
