/* SPDX-License-Identifier: Apache-2.0 */
/* adopt.c: fields with values in form fields that a document has already. The form decides on their place, lines and
 * options, limits their length, and has a value if none was sent. */
#include "model/model.h"

#include <string.h>

static const struct {
    const char *type, *noun; /* the type in the form (sr_pdf_inspect) */
} FORM_FIELDS[] = {[SR_WIDGET_SIGNATURE] = {"signature", "signature field"},
                   [SR_WIDGET_TEXT] = {"text", "text field"},
                   [SR_WIDGET_CHECKBOX] = {"checkbox", "check box"},
                   [SR_WIDGET_CHOICE] = {"choice", "choice field"}};

const char *sr_field_noun(const sr_field_t *field)
{
    return FORM_FIELDS[field->sent ? field->type->widget : SR_WIDGET_SIGNATURE].noun;
}

/* Returns the first field with this name and type, or NULL. *count is the number of fields with the name. */
static const json_t *adopt_find(int *count, const json_t *form, const char *name, const char *type)
{
    const json_t *found = NULL;
    *count = 0;
    for (size_t i = 0; i < json_array_size(form); i++) {
        const json_t *field = json_array_get(form, i);
        if (strcmp(sr_json_string(field, "field"), name) != 0) continue;
        ++*count;
        if (!found && !strcmp(sr_json_string(field, "type"), type)) found = field;
    }
    return found;
}

/* Returns why a form field cannot be filled in, or NULL. */
static const char *adopt_refusal(const json_t *found, int count)
{
    const json_t *places = json_object_get(found, "places");
    if (json_object_get(json_array_get(places, 0), "option"))
        return "is a group of radio buttons, which cannot be filled in";
    if (json_is_true(json_object_get(found, "multiple"))) return "permits several choices, which cannot be filled in";
    if (json_is_true(json_object_get(found, "readOnly"))) return sr_existing_sentence(SR_EXISTING_READ_ONLY);
    if (count > 1) return sr_existing_sentence(SR_EXISTING_TWICE);
    return json_array_size(places) == 1 ? NULL : sr_existing_sentence(SR_EXISTING_PLACES);
}

static void adopt_place(sr_field_t *field, const json_t *place, const sr_pages_t *pages)
{
    const int page = (int)json_integer_value(json_object_get(place, "page"));
    double rect[4];
    for (size_t i = 0; i < 4; i++) rect[i] = json_number_value(json_array_get(json_object_get(place, "rect"), i));
    field->area = sr_area_of(rect, page, sr_pages_at(pages, page));
}

/* Returns the options without those that are blank or repeated. An optional choice may be empty. New reference. */
static json_t *adopt_options(const json_t *options)
{
    json_t *list = json_array(), *seen = json_object();
    for (size_t i = 0; i < json_array_size(options); i++) {
        const char *text = json_string_value(json_array_get(options, i));
        if (sr_text_is_blank(text) || json_object_get(seen, text)) continue;
        json_object_set_new(seen, text, json_true());
        json_array_append_new(list, json_string(text));
    }
    json_decref(seen);
    return list;
}

/* Replaces what was sent by what the form says. Returns the fault of what was sent, or NULL. */
static const char *adopt_members(json_t *members, const sr_field_t *field, const json_t *found)
{
    const json_t *sent = json_object_get(members, "maxLength"), *options = json_object_get(members, "options");
    const json_int_t most = json_integer_value(json_object_get(found, "maxLength"));
    if (most && most < SR_ENTRY_LENGTH_MAX && (!sent || (json_is_integer(sent) && json_integer_value(sent) > most)))
        json_object_set_new(members, "maxLength", json_integer(most));
    if (field->type->widget == SR_WIDGET_TEXT)
        json_object_set(members, "multiline", json_object_get(found, "multiline"));
    if (field->type->widget != SR_WIDGET_CHOICE) return NULL;
    json_t *own = adopt_options(json_object_get(found, "options"));
    const bool same = !options || json_is_null(options) || json_equal(options, own);
    json_object_set_new(members, "options", own);
    return same ? NULL : "options must be those of the form field";
}

/* Returns the value that the form has, or NULL. */
static json_t *adopt_value(const sr_field_t *field, const json_t *found)
{
    json_t *value = json_object_get(found, "value");
    const json_t *sent = json_object_get(field->sent, "value");
    if ((sent && !json_is_null(sent)) || field->type->filler == SR_FILLER_SERVICE) return NULL;
    return json_is_true(value) || json_string_length(value) ? value : NULL;
}

/* A value of the form that the field may not have is left out. */
static const char *adopt_entry(sr_field_t *field, const json_t *found, apr_pool_t *pool)
{
    json_t *members = sr_json_own(json_copy((json_t *)field->sent), pool), *value = adopt_value(field, found);
    const char *fault = adopt_members(members, field, found);
    if (fault) return fault;
    if (field->type->filler == SR_FILLER_SERVICE) json_object_del(members, "value");
    if (value) {
        json_object_set(members, "value", value);
        if (!sr_entry_read(&field->entry, field->type, members, pool)) return NULL;
        json_object_del(members, "value");
    }
    return sr_entry_read(&field->entry, field->type, members, pool);
}

sr_error_t *sr_field_adopt(const char **fault, sr_field_t *field, const sr_document_t *document, apr_pool_t *pool)
{
    int count;
    const json_t *found = adopt_find(&count, document->form, field->existing, FORM_FIELDS[field->type->widget].type);
    const char *name = sr_text_printable(field->existing, pool), *shown = sr_text_printable(document->name, pool);
    if (!found) return sr_error(pool, SR_EBADREQUEST, "Document %s has no %s %s", shown, sr_field_noun(field), name);
    const char *refusal = adopt_refusal(found, count);
    if (refusal)
        return sr_error(pool, SR_EBADREQUEST, "Document %s: %s %s %s", shown, sr_field_noun(field), name, refusal);
    adopt_place(field, json_array_get(json_object_get(found, "places"), 0), document->pages);
    *fault = adopt_entry(field, found, pool);
    return NULL;
}
