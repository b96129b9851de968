/* SPDX-License-Identifier: Apache-2.0 */
/* existing.c: the existing signature fields in the report of a document. The report comes from a helper that has
 * parsed untrusted bytes, so every value is checked before it is used. */
#include "report/existing.h"

#include <string.h>

#define FARTHEST 1e9 /* the limit of coordinates in area.c */

static const struct {
    const char *name, *sentence;
} rows[SR_EXISTING_COUNT] = {
#define SR_EXISTING(id, name, sentence) [SR_EXISTING_##id] = {name, sentence},
#include "report/existing.def"
#undef SR_EXISTING
};

const char *sr_existing_sentence(sr_existing_fault_t fault)
{
    return rows[fault].sentence;
}

static bool take_fault(sr_existing_fault_t *fault, const json_t *value)
{
    const char *name = json_string_value(value);
    *fault = SR_EXISTING_EMPTY;
    if (!value) return true;
    for (int i = SR_EXISTING_EMPTY + 1; name && i < SR_EXISTING_COUNT; i++)
        if (!strcmp(rows[i].name, name)) *fault = (sr_existing_fault_t)i;
    return *fault != SR_EXISTING_EMPTY;
}

/* Reads the page and the rectangle of a field that can be signed. */
static bool existing_take_place(sr_existing_t *field, const json_t *value, int pages)
{
    const json_t *page = json_object_get(value, "page"), *rect = json_object_get(value, "rect");
    if (!json_is_integer(page) || json_integer_value(page) < 0 || json_integer_value(page) >= pages) return false;
    field->page = (int)json_integer_value(page);
    if (json_array_size(rect) != 4) return false;
    for (size_t i = 0; i < 4; i++) {
        const json_t *side = json_array_get(rect, i);
        field->rect[i] = json_number_value(side);
        if (!json_is_number(side) || !(field->rect[i] >= -FARTHEST && field->rect[i] <= FARTHEST)) return false;
    }
    return field->rect[0] < field->rect[2] && field->rect[1] < field->rect[3];
}

static bool existing_take_field(sr_existing_t *field, const json_t *value, int pages, apr_pool_t *pool)
{
    const json_t *seed = json_object_get(value, "seed");
    const char *name = sr_json_string(value, "name");
    if (!name || !*name || strlen(name) > SR_EXISTING_MAX_NAME) return false;
    if (!take_fault(&field->fault, json_object_get(value, "fault"))) return false;
    field->name = apr_pstrdup(pool, name);
    field->seed = json_is_true(seed);
    if (seed && !field->seed) return false;
    if (field->fault) return json_object_size(value) == 2;
    return json_object_size(value) == (field->seed ? 4 : 3) && existing_take_place(field, value, pages);
}

bool sr_existing_parse(const apr_array_header_t **fields, const json_t *list, int pages, apr_pool_t *pool)
{
    const size_t count = json_array_size(list);
    apr_array_header_t *taken = apr_array_make(pool, (int)count, sizeof(sr_existing_t));
    *fields = taken;
    if (!list) return true;
    if (!json_is_array(list) || count > SR_EXISTING_MAX) return false;
    for (size_t i = 0; i < count; i++) {
        sr_existing_t *field = apr_array_push(taken);
        *field = (sr_existing_t){0};
        if (!existing_take_field(field, json_array_get(list, i), pages, pool)) return false;
    }
    return true;
}

const sr_existing_t *sr_existing_find(const apr_array_header_t *fields, const char *name)
{
    for (int i = 0; i < fields->nelts; i++) {
        const sr_existing_t *field = &APR_ARRAY_IDX(fields, i, sr_existing_t);
        if (!strcmp(field->name, name)) return field;
    }
    return NULL;
}

json_t *sr_existing_json(const sr_existing_t *field)
{
    json_t *json = json_object(), *rect = json_array();
    json_object_set_new(json, "name", json_string(field->name));
    if (field->fault) {
        json_decref(rect);
        json_object_set_new(json, "fault", json_string(rows[field->fault].name));
        return json;
    }
    for (int i = 0; i < 4; i++) json_array_append_new(rect, json_real(field->rect[i]));
    json_object_set_new(json, "page", json_integer(field->page));
    json_object_set_new(json, "rect", rect);
    if (field->seed) json_object_set_new(json, "seed", json_true());
    return json;
}
