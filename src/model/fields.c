/* SPDX-License-Identifier: Apache-2.0 */
/* fields.c: the fields of a signer as JSON. The API shows the same JSON that the database stores. */
#include "model/model.h"

#include <math.h>
#include <string.h>

/* --- numbers: at most four decimals (a hundredth of a printer's dot), and no ".0" */

json_t *sr_area_number(double value)
{
    const double rounded = round(value * 1e4) / 1e4 + 0.0; /* + 0.0: no "-0" */
    if (rounded == trunc(rounded) && fabs(rounded) < 1e15) return json_integer((json_int_t)rounded);
    return json_real(rounded);
}

json_t *sr_area_rect(const double rect[4])
{
    json_t *list = json_array();
    for (int i = 0; i < 4; i++) json_array_append_new(list, sr_area_number(rect[i]));
    return list;
}

/* --- fields of a signer: as they are shown, so they are stored */

static const char *const keys[] = {"x", "y", "w", "h"};

json_t *sr_area_percent(const double percent[4])
{
    json_t *object = json_object();
    for (int i = 0; i < 4; i++) json_object_set_new(object, keys[i], sr_area_number(percent[i]));
    return object;
}

/* Returns the area as it was sent, so that a client can send it again. The origin of points is always added. */
static json_t *area_json(const sr_field_t *field)
{
    if (json_is_object(json_object_get(field->area_sent, "anchor"))) return sr_anchor_echo(field->area_sent);
    if (field->existing) return json_pack("{s:s}", "field", field->existing);
    const bool top_left = field->area.origin == SR_ORIGIN_TOP_LEFT;
    const double values[] = {field->area.x, field->area.y, field->area.w, field->area.h};
    json_t *object = json_object();
    for (int i = 0; i < 4; i++) {
        json_t *sent = json_object_get(field->area_sent, keys[i]);
        json_object_set_new(object, keys[i], sent ? json_incref(sent) : sr_area_number(values[i]));
    }
    json_object_set_new(object, "page", json_integer(field->area.page));
    if (field->area.from_end) json_object_set_new(object, "pageFrom", json_string("end"));
    if (field->area.percent) json_object_set_new(object, "unit", json_string("percent"));
    else json_object_set_new(object, "origin", json_string(top_left ? "top-left" : "user-space"));
    return object;
}

static json_t *fields_field_json(const sr_field_t *field)
{
    json_t *object = json_object();
    json_object_set_new(object, "name", json_string(field->name));
    json_object_set_new(object, "type", json_string(field->type->name));
    json_object_set_new(object, "document", json_string(field->document));
    json_object_set_new(object, "page", json_integer(field->placement.page));
    json_object_set_new(object, "area", area_json(field));
    json_object_set_new(object, "percent", sr_area_percent(field->placement.percent));
    json_object_set_new(object, "rect", sr_area_rect(field->placement.rect));
    if (field->caption) json_object_set_new(object, "caption", json_string(field->caption));
    if (field->entry) sr_entry_write(object, field->entry);
    return object;
}

json_t *sr_signer_fields_json(const sr_signer_t *signer)
{
    json_t *list = json_array();
    for (int i = 0; i < signer->fields->nelts; i++)
        json_array_append_new(list, fields_field_json(&APR_ARRAY_IDX(signer->fields, i, sr_field_t)));
    return list;
}

static bool fields_read_field(sr_field_t *field, const json_t *row, apr_pool_t *pool)
{
    const char *type = sr_json_string(row, "type");
    const json_t *area = json_object_get(row, "area"), *rect = json_object_get(row, "rect");
    const char *origin = sr_json_string(area, "origin");
    const bool percent = json_object_get(area, "unit") != NULL;
    double *values[] = {&field->area.x, &field->area.y, &field->area.w, &field->area.h};
    *field = (sr_field_t){.type = type ? sr_field_type(type) : NULL,
                          .name = sr_json_string(row, "name"),
                          .document = sr_json_string(row, "document"),
                          .existing = sr_json_string(area, "field"),
                          .area_sent = area,
                          .caption = sr_json_string(row, "caption")};
    field->placement.page = (int)json_integer_value(json_object_get(row, "page"));
    field->area.page = (int)json_integer_value(json_object_get(area, "page"));
    field->area.from_end = json_object_get(area, "pageFrom") != NULL;
    field->area.percent = percent;
    field->area.origin = percent || (origin && !strcmp(origin, "top-left")) ? SR_ORIGIN_TOP_LEFT : SR_ORIGIN_USER_SPACE;
    for (size_t i = 0; i < 4; i++) {
        *values[i] = json_number_value(json_object_get(area, keys[i]));
        field->placement.percent[i] = json_number_value(json_object_get(json_object_get(row, "percent"), keys[i]));
        field->placement.rect[i] = json_number_value(json_array_get(rect, i));
    }
    if (json_object_get(area, "anchor")) field->area = sr_area_of_placement(&field->placement);
    if (!field->type || !field->name || !field->document || json_array_size(rect) != 4) return false;
    return field->type->filler == SR_FILLER_SEAL || !sr_entry_read(&field->entry, field->type, row, pool);
}

sr_error_t *sr_signer_fields_parse(sr_signer_t *signer, const json_t *fields, apr_pool_t *pool)
{
    apr_array_header_t *list = apr_array_make(pool, (int)json_array_size(fields), sizeof(sr_field_t));
    signer->fields = list;
    for (size_t i = 0; i < json_array_size(fields); i++)
        if (!fields_read_field(apr_array_push(list), json_array_get(fields, i), pool))
            return sr_error_because(sr_error(pool, SR_EINTERNAL, "Internal error"), pool, "a stored field");
    return NULL;
}
