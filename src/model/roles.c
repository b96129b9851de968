/* SPDX-License-Identifier: Apache-2.0 */
/* roles.c: the fields of a signer in a creation from a template. The template has the fields of its n-th signer as they
 * are stored, and the creation has values for them, by their names. They are checked like fields that are sent. */
#include "model/model.h"

#include <string.h>

static bool takes_value(const json_t *field)
{
    const char *name = sr_json_string(field, "type");
    const sr_field_type_t *type = name ? sr_field_type(name) : NULL;
    return type && sr_field_type_has(type, "value");
}

/* Returns the place that an anchor has led to. The document is the same, so its text is not searched again. */
static json_t *area_found(const json_t *stored)
{
    json_t *area = json_copy(json_object_get(stored, "percent"));
    json_object_set(area, "page", json_object_get(stored, "page"));
    json_object_set_new(area, "unit", json_string("percent"));
    return area;
}

/* Returns a stored field as a creation sends it. New reference. */
static json_t *field_as_sent(const json_t *stored)
{
    json_t *field = json_copy((json_t *)stored);
    if (json_object_get(json_object_get(stored, "area"), "anchor")
        && json_is_object(json_object_get(stored, "percent")))
        json_object_set_new(field, "area", area_found(stored));
    json_object_del(field, "page");
    json_object_del(field, "percent");
    json_object_del(field, "rect");
    if (!takes_value(field)) json_object_del(field, "value");
    return field;
}

/* Returns why no field took the value of that name. */
static const char *roles_fault(const json_t *fields, const char *name, apr_pool_t *pool)
{
    const char *shown = sr_remark_name(name, pool);
    for (size_t i = 0; i < json_array_size(fields); i++) {
        const json_t *field = json_array_get(fields, i);
        if (!strcmp(sr_json_string(field, "name"), name))
            return apr_psprintf(pool, "values: field %s is of type %s and takes no value", shown,
                                sr_json_string(field, "type"));
    }
    return apr_psprintf(pool, "values: the template has no field %s of this signer", shown);
}

/* Gives each value to all fields of its name that take one. */
static const char *roles_fill(const json_t *fields, const json_t *values, apr_pool_t *pool)
{
    json_t *taken = sr_json_own(json_object(), pool), *value;
    const char *key;
    for (size_t i = 0; i < json_array_size(fields); i++) {
        json_t *field = json_array_get(fields, i);
        const char *name = sr_json_string(field, "name");
        value = json_object_get(values, name);
        if (!value || !takes_value(field)) continue;
        json_object_set(field, "value", value);
        json_object_set_new(taken, name, json_true());
    }
    json_object_foreach ((json_t *)values, key, value)
        if (!json_object_get(taken, key)) return roles_fault(fields, key, pool);
    return NULL;
}

const char *sr_role_fields(const json_t **list, const json_t *roles, int number, const json_t *signer, apr_pool_t *pool)
{
    const json_t *values = sr_json_given(signer, "values");
    *list = sr_json_given(signer, "fields");
    if (!roles) return values ? "values can be sent only with a template" : NULL;
    if (*list) return "fields cannot be sent with a template";
    if (values && !json_is_object(values)) return "values must be an object";
    const json_t *role = json_array_get(roles, (size_t)number - 1);
    json_t *fields = sr_json_own(json_array(), pool);
    for (size_t i = 0; i < json_array_size(role); i++)
        json_array_append_new(fields, field_as_sent(json_array_get(role, i)));
    *list = fields;
    return roles_fill(fields, values, pool);
}

json_t *sr_template_json(const sr_template_facts_t *facts)
{
    json_t *object = json_object();
    json_object_set_new(object, "uuid", json_string(facts->uuid));
    json_object_set_new(object, "name", json_string(facts->name));
    json_object_set_new(object, "createdAt", sr_time_json(facts->created_at));
    json_object_set_new(object, "lastUsedAt", facts->used_at ? sr_time_json(facts->used_at) : json_null());
    json_object_set_new(object, "signerCount", json_integer(facts->signers));
    json_object_set_new(object, "documentCount", json_integer(facts->documents));
    return object;
}

void sr_template_add_content(json_t *object, const apr_array_header_t *documents, const json_t *roles)
{
    json_t *files = json_array(), *list = json_array();
    for (int i = 0; i < documents->nelts; i++) {
        const sr_document_state_t *document = &APR_ARRAY_IDX(documents, i, sr_document_state_t);
        json_array_append_new(files, json_pack("{s:s,s:i,s:I,s:s}", "name", document->name, "pages", document->pages,
                                               "size", (json_int_t)document->size, "sha256", document->sha256));
    }
    for (size_t i = 0; i < json_array_size(roles); i++)
        json_array_append_new(list, json_pack("{s:O}", "fields", json_array_get(roles, i)));
    json_object_set_new(object, "documents", files);
    json_object_set_new(object, "roles", list);
}
