/* SPDX-License-Identifier: Apache-2.0 */
/* plain.c: the fields with values in the form that works without a script: grouped by page, in reading order. */
#include <string.h>

#include "web/web.h"

typedef struct plain_field_t {
    size_t document;
    json_int_t page;
    double y, x;
    const json_t *field;
} plain_field_t;

static int plain_compare_fields(const void *left, const void *right)
{
    const plain_field_t *a = left, *b = right;
    if (a->document != b->document) return a->document < b->document ? -1 : 1;
    if (a->page != b->page) return a->page < b->page ? -1 : 1;
    if (a->y != b->y) return a->y < b->y ? -1 : 1;
    return a->x < b->x ? -1 : a->x > b->x;
}

static bool plain_is_entered(const json_t *field)
{
    return json_object_get(field, "number") && !json_is_true(json_object_get(field, "readOnly"));
}

static size_t plain_document_of(const json_t *documents, const json_t *field)
{
    const char *uuid = sr_json_string(field, "document");
    size_t i = 0;
    while (uuid && i < json_array_size(documents)
           && strcmp(uuid, sr_json_string(json_array_get(documents, i), "uuid")) != 0)
        i++;
    return uuid ? i : json_array_size(documents);
}

/* Returns the fields that the signer fills in (plain_field_t), in reading order. */
static apr_array_header_t *plain_sorted_fields(const json_t *view, apr_pool_t *pool)
{
    const json_t *documents = json_object_get(view, "documents"), *fields = json_object_get(view, "fields");
    apr_array_header_t *sorted = apr_array_make(pool, 8, sizeof(plain_field_t));
    for (size_t i = 0; i < json_array_size(fields); i++) {
        const json_t *field = json_array_get(fields, i), *percent = json_object_get(field, "percent");
        const plain_field_t row = {
            plain_document_of(documents, field), json_integer_value(json_object_get(field, "page")),
            json_number_value(json_object_get(percent, "y")), json_number_value(json_object_get(percent, "x")), field};
        if (plain_is_entered(field) && row.document < json_array_size(documents))
            APR_ARRAY_PUSH(sorted, plain_field_t) = row;
    }
    qsort(sorted->elts, (size_t)sorted->nelts, sizeof(plain_field_t), plain_compare_fields);
    return sorted;
}

static const char *plain_message(const json_t *texts, const json_t *field, const char *code, apr_pool_t *pool)
{
    const json_t *script = json_object_get(texts, "script");
    const char *format = sr_json_string(field, "format");
    const char *text = sr_json_string(script, apr_pstrcat(pool, "fault.", code, NULL));
    if (!strcmp(code, "format") && format) text = sr_json_string(script, apr_pstrcat(pool, "fault.", format, NULL));
    return text ? text : sr_json_string(script, "rejected");
}

/* Adds what is wrong with the value of a field, in the language of the page. */
static void plain_add_fault(json_t *row, const json_t *field, const json_t *faults, const json_t *texts,
                            apr_pool_t *pool)
{
    json_object_set_new(row, "fault", json_null());
    for (size_t i = 0; i < json_array_size(faults); i++) {
        const json_t *fault = json_array_get(faults, i);
        const char *code = sr_json_string(fault, "code");
        if (json_equal(json_object_get(fault, "number"), json_object_get(field, "number")))
            json_object_set_new(row, "fault", json_string(plain_message(texts, field, code ? code : "", pool)));
    }
}

static json_t *plain_options(const json_t *field, const json_t *value)
{
    const json_t *options = json_object_get(field, "options"), *labels = json_object_get(field, "labels");
    json_t *list = json_array();
    for (size_t i = 0; i < json_array_size(options); i++)
        json_array_append_new(list, json_pack("{s:O,s:O,s:b}", "option", json_array_get(options, i), "label",
                                              json_array_get(labels ? labels : options, i), "selected",
                                              json_equal(json_array_get(options, i), value)));
    return list;
}

/* Returns the values of a field for the template. `control` has the kind of its input. */
static json_t *plain_row(const json_t *field, const json_t *entered)
{
    const char *type = sr_json_string(field, "type"), *format = sr_json_string(field, "format");
    const bool is_area = json_is_true(json_object_get(field, "multiline"));
    json_t *row = json_object(), *number = json_object_get(field, "number");
    char key[24];
    apr_snprintf(key, sizeof key, "%d", (int)json_integer_value(number));
    json_t *sent = json_object_get(entered, key), *value = sent ? sent : json_object_get(field, "value");
    const char *control = !strcmp(type, "checkbox") ? "box"
                          : !strcmp(type, "choice") ? "choice"
                          : is_area                 ? "area"
                                                    : "line";
    json_object_set(row, "number", number);
    json_object_set(row, "name", json_object_get(field, "name"));
    json_object_set_new(row, control, json_true());
    json_object_set_new(row, "input", json_string(format && strlen(format) < 6 ? format : "text")); /* date, email */
    json_object_set(row, "most", json_object_get(field, "maxLength"));
    json_object_set_new(row, "value", json_is_string(value) ? json_incref(value) : json_null());
    json_object_set_new(row, "checked", json_boolean(json_is_true(value)));
    json_object_set_new(row, "required", json_boolean(json_is_true(json_object_get(field, "required"))));
    json_object_set_new(row, "alone", json_boolean(!json_is_string(json_object_get(field, "group"))));
    json_object_set_new(row, "options", plain_options(field, value));
    return row;
}

/* Adds the initials, if the signer has fields for them. The default is what the service writes without them. */
static void plain_add_initials(json_t *view, const json_t *texts, apr_pool_t *pool)
{
    const json_t *fields = json_object_get(view, "fields"), *script = json_object_get(texts, "script");
    const json_t *signer = json_object_get(view, "signer");
    const char *letters =
        sr_person_initials(sr_json_string(signer, "firstname"), sr_json_string(signer, "lastname"), pool);
    for (size_t i = 0; i < json_array_size(fields); i++)
        if (!strcmp(sr_json_string(json_array_get(fields, i), "type"), "initials"))
            json_object_set_new(
                view, "initials",
                json_pack("{s:O,s:s}", "label", json_object_get(script, "initials.title"), "letters", letters));
}

void sr_web_add_entries(json_t *view, const sr_web_entered_t *entered, const json_t *texts, apr_pool_t *pool)
{
    const apr_array_header_t *fields = plain_sorted_fields(view, pool);
    const json_t *documents = json_object_get(view, "documents");
    json_t *groups = json_array(), *rows = NULL;
    for (int i = 0; i < fields->nelts; i++) {
        const plain_field_t *at = &APR_ARRAY_IDX(fields, i, plain_field_t), *last = i ? at - 1 : NULL;
        if (!last || last->document != at->document || last->page != at->page) {
            rows = json_array();
            json_array_append_new(groups, json_pack("{s:O,s:I,s:o}", "document",
                                                    json_object_get(json_array_get(documents, at->document), "name"),
                                                    "number", at->page + 1, "rows", rows));
        }
        json_t *row = plain_row(at->field, entered ? entered->values : NULL);
        plain_add_fault(row, at->field, entered ? entered->faults : NULL, texts, pool);
        json_array_append_new(rows, row);
    }
    json_object_set_new(view, "groups", groups);
    plain_add_initials(view, texts, pool);
    json_object_set_new(view, "entries", json_boolean(fields->nelts || json_object_get(view, "initials")));
    if (!entered || entered->refuses) return;
    json_object_set(view, "rejected", json_object_get(json_object_get(texts, "script"), "rejected"));
    if (entered->typed) json_object_set_new(view, "fullname", json_string(entered->typed));
}
