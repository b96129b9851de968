/* SPDX-License-Identifier: Apache-2.0 */
/* adopt.c: fields with values in form fields that a document has already. The form decides on their place, lines and
 * options, limits their length, and has a value if none was sent. */
#include "model/model.h"

#include <math.h>
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

/* Returns true if a choice is a group of radio buttons, whose options are those of its places. */
static bool adopt_is_group(const json_t *found)
{
    const json_t *places = json_object_get(found, "places"), *options = json_object_get(found, "options");
    for (size_t i = 0; i < json_array_size(places); i++)
        if (sr_json_string(json_array_get(places, i), "option")) return true;
    return options && !json_array_size(options) && json_array_size(places) > 1;
}

/* Returns the name of the appearance of a button. */
static const char *adopt_state(const json_t *place)
{
    const char *state = sr_json_string(place, "state");
    return state ? state : sr_json_string(place, "option");
}

/* Each button needs a value and an appearance of its own. */
static const char *adopt_group_refusal(const json_t *places)
{
    for (size_t i = 0; i < json_array_size(places); i++) {
        const json_t *place = json_array_get(places, i);
        const char *option = sr_json_string(place, "option");
        if (!option || sr_text_is_blank(option)) return "has a button without a value";
        for (size_t k = 0; k < i; k++) {
            const json_t *other = json_array_get(places, k);
            if (!strcmp(option, sr_json_string(other, "option")) || !strcmp(adopt_state(place), adopt_state(other)))
                return "has two buttons for one value";
        }
    }
    return NULL;
}

#define DAY_LENGTH 10

/* Returns why a form field cannot be filled in, or NULL. */
static const char *adopt_refusal(const sr_field_t *field, const json_t *found, int count)
{
    const json_t *places = json_object_get(found, "places"), *most = json_object_get(found, "maxLength");
    if (field->type->filler == SR_FILLER_SERVICE && most && json_integer_value(most) < DAY_LENGTH)
        return "has no room for a date of " APR_STRINGIFY(DAY_LENGTH) " characters";
    if (json_is_true(json_object_get(found, "multiple"))) return "permits several choices, which cannot be filled in";
    if (json_is_true(json_object_get(found, "readOnly"))) return sr_existing_sentence(SR_EXISTING_READ_ONLY);
    if (count > 1) return sr_existing_sentence(SR_EXISTING_TWICE);
    if (adopt_is_group(found)) return adopt_group_refusal(places);
    return json_array_size(places) == 1 ? NULL : sr_existing_sentence(SR_EXISTING_PLACES);
}

static sr_area_t adopt_area(const json_t *place, const sr_page_t *page)
{
    double rect[4];
    for (size_t i = 0; i < 4; i++) rect[i] = json_number_value(json_array_get(json_object_get(place, "rect"), i));
    return sr_area_of(rect, (int)json_integer_value(json_object_get(place, "page")), page);
}

#define LONGEST_LABEL 200

/* Returns the options without those that are blank or repeated. An optional choice may be empty. *labels is what the
 * form shows for them, or NULL if it shows them. New references. */
static json_t *adopt_options(json_t **labels, const json_t *found, apr_pool_t *pool)
{
    const json_t *options = json_object_get(found, "options"), *shown = json_object_get(found, "labels");
    json_t *list = json_array(), *seen = json_object();
    *labels = json_array();
    for (size_t i = 0; i < json_array_size(options); i++) {
        const char *text = json_string_value(json_array_get(options, i));
        const char *label = json_string_value(json_array_get(shown, i));
        if (sr_text_is_blank(text) || json_object_get(seen, text)) continue;
        if (!label || sr_text_is_blank(label) || sr_text_fault(label, LONGEST_LABEL, pool)) label = text;
        json_object_set_new(seen, text, json_true());
        json_array_append_new(list, json_string(text));
        json_array_append_new(*labels, json_string(label));
    }
    json_decref(seen);
    if (json_equal(list, *labels)) {
        json_decref(*labels);
        *labels = NULL;
    }
    return list;
}

/* Sets a member that only the form has. */
static void adopt_own(json_t *members, const char *key, json_t *value)
{
    if (value) json_object_set(members, key, value);
    else json_object_del(members, key);
}

static void adopt_length(json_t *members, const sr_field_t *field, const json_t *found)
{
    static const char key[] = "maxLength";
    const json_int_t most = json_integer_value(json_object_get(found, key));
    if (field->type->filler == SR_FILLER_SERVICE || field->type->widget != SR_WIDGET_TEXT)
        json_object_del(members, key);
    const json_t *sent = json_object_get(members, key);
    if (most && most <= SR_ENTRY_LENGTH_MAX && (!sent || (json_is_integer(sent) && json_integer_value(sent) > most)))
        json_object_set_new(members, key, json_integer(most));
}

#define SMALLEST_SIZE 6
#define LARGEST_SIZE 72

/* The letters have the size and the side of the form, if none are sent. A size that is higher than the field is no
 * size. */
static void adopt_letters(json_t *members, const sr_field_t *field, const json_t *found, const sr_page_t *page)
{
    const double size = json_number_value(json_object_get(found, "size"));
    const double height = page->rotate % 180 ? field->area.w : field->area.h;
    json_t *align = json_object_get(found, "align");
    if (size > 0 && size <= height && !sr_json_given(members, "size"))
        json_object_set_new(members, "size", json_real(fmin(fmax(size, SMALLEST_SIZE), LARGEST_SIZE)));
    if (align && !sr_json_given(members, "align")) json_object_set(members, "align", align);
    json_t *comb = json_object_get(found, "comb");
    adopt_own(members, "comb", json_integer_value(comb) <= SR_ENTRY_LENGTH_MAX ? comb : NULL);
    adopt_own(members, "color", json_object_get(found, "color"));
}

/* Returns the buttons of a group with their places on the displayed pages. New reference. */
static json_t *adopt_buttons(const json_t *found, const sr_pages_t *pages)
{
    const json_t *places = json_object_get(found, "places");
    json_t *buttons = json_array();
    for (size_t i = 0; i < json_array_size(places); i++) {
        json_t *place = json_array_get(places, i), *button = json_copy(place);
        sr_placement_t placement;
        const sr_page_t *page = sr_pages_at(pages, (int)json_integer_value(json_object_get(place, "page")));
        const sr_area_t area = adopt_area(place, page);
        sr_area_place(&placement, &area, page);
        json_object_set_new(button, "rect", sr_area_rect(placement.rect));
        json_object_set_new(button, "percent", sr_area_percent(placement.percent));
        json_array_append_new(buttons, button);
    }
    return buttons;
}

/* Replaces what was sent by what the form says. Returns the fault of what was sent, or NULL. */
static const char *adopt_members(json_t *members, const sr_field_t *field, const json_t *found, const sr_pages_t *pages,
                                 apr_pool_t *pool)
{
    const json_t *options = sr_json_given(members, "options");
    json_t *labels;
    adopt_length(members, field, found);
    adopt_letters(members, field, found, sr_pages_at(pages, field->area.page));
    json_object_del(members, "labels");
    json_object_del(members, "buttons");
    if (field->type->widget == SR_WIDGET_TEXT)
        json_object_set(members, "multiline", json_object_get(found, "multiline"));
    if (field->type->widget != SR_WIDGET_CHOICE) return NULL;
    json_t *own = adopt_options(&labels, found, pool);
    const bool same = !options || json_equal(options, own);
    json_object_set_new(members, "options", own);
    if (labels) json_object_set_new(members, "labels", labels);
    if (adopt_is_group(found)) json_object_set_new(members, "buttons", adopt_buttons(found, pages));
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
static const char *adopt_entry(sr_field_t *field, const json_t *found, const sr_pages_t *pages, apr_pool_t *pool)
{
    json_t *members = sr_json_own(json_copy((json_t *)field->sent), pool), *value = adopt_value(field, found);
    const char *fault = adopt_members(members, field, found, pages, pool);
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
    const char *refusal = adopt_refusal(field, found, count);
    if (refusal)
        return sr_error(pool, SR_EBADREQUEST, "Document %s: %s %s %s", shown, sr_field_noun(field), name, refusal);
    const json_t *place = json_array_get(json_object_get(found, "places"), 0);
    const int page = (int)json_integer_value(json_object_get(place, "page"));
    field->area = adopt_area(place, sr_pages_at(document->pages, page));
    *fault = adopt_entry(field, found, document->pages, pool);
    return NULL;
}
