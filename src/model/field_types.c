/* SPDX-License-Identifier: Apache-2.0 */
/* field_types.c: the types of fields, and the members that a field of each type has beside the contract's. A new type
 * is a row of TYPES, a new member a row of MEMBERS. */
#include <string.h>

#include "model/model.h"

#define LENGTH 200 /* of a text without maxLength */
#define MAX_OPTIONS 100
#define MAX_OPTION 200
#define MAX_GROUP 100
#define SMALLEST 6
#define LARGEST 72

enum {
    VALUE,
    READ_ONLY,
    REQUIRED,
    LENGTH_MOST,
    MULTILINE,
    FORMAT,
    SIZE,
    ALIGN,
    GROUP,
    OPTIONS,
    LABELS,
    COMB,
    COLOR,
    BUTTONS,
    MEMBER_COUNT
};
#define BIT(member) (1u << (member))
#define OF_FORM (BIT(LABELS) | BIT(COMB) | BIT(COLOR) | BIT(BUTTONS) | BIT(LENGTH_MOST)) /* what adopt.c sets */
#define ENTERED (BIT(VALUE) | BIT(READ_ONLY) | BIT(REQUIRED))
#define LETTERS (BIT(SIZE) | BIT(ALIGN))

static const sr_field_type_t TYPES[] = {
    {"signature", SR_WIDGET_SIGNATURE, SR_FILLER_SEAL, 0, false, false},
    {"initials", SR_WIDGET_SIGNATURE, SR_FILLER_SEAL, 0, true, true},
    {"text", SR_WIDGET_TEXT, SR_FILLER_PERSON, ENTERED | LETTERS | BIT(LENGTH_MOST) | BIT(MULTILINE) | BIT(FORMAT),
     false, true},
    {"date", SR_WIDGET_TEXT, SR_FILLER_SERVICE, LETTERS, false, true},
    {"checkbox", SR_WIDGET_CHECKBOX, SR_FILLER_PERSON, ENTERED | BIT(GROUP), false, false},
    {"choice", SR_WIDGET_CHOICE, SR_FILLER_PERSON, ENTERED | LETTERS | BIT(OPTIONS), false, false},
};

const sr_field_type_t *sr_field_type(const char *name)
{
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
        if (!strcmp(TYPES[i].name, name)) return &TYPES[i];
    return NULL;
}

/* --- members: each function returns false if the value is not one that the rule of its row describes */

static bool take_flag(bool *flag, const json_t *value)
{
    *flag = json_is_true(value);
    return json_is_boolean(value);
}

static bool take_read_only(sr_entry_t *entry, const json_t *value)
{
    return take_flag(&entry->read_only, value);
}

static bool take_required(sr_entry_t *entry, const json_t *value)
{
    return take_flag(&entry->required, value);
}

static bool take_multiline(sr_entry_t *entry, const json_t *value)
{
    return take_flag(&entry->multiline, value);
}

static bool take_value(sr_entry_t *entry, const json_t *value)
{
    entry->value = value;
    return json_is_string(value) || json_is_boolean(value);
}

static bool take_max_length(sr_entry_t *entry, const json_t *value)
{
    const json_int_t length = json_integer_value(value);
    entry->max_length = length > 0 && length <= SR_ENTRY_LENGTH_MAX ? (int)length : 0;
    return entry->max_length > 0;
}

/* Returns the position of a text in a list, or -1. */
static int field_types_find(const char *const *names, const json_t *value)
{
    const char *text = json_string_value(value);
    for (int i = 0; text && names[i]; i++)
        if (!strcmp(names[i], text)) return i;
    return -1;
}

static bool take_format(sr_entry_t *entry, const json_t *value)
{
    static const char *const names[] = {"integer", "decimal", "email", "date", NULL};
    const int found = field_types_find(names, value);
    entry->format = found < 0 ? NULL : names[found];
    return found >= 0;
}

static bool take_size(sr_entry_t *entry, const json_t *value)
{
    entry->size = json_number_value(value);
    return json_is_number(value) && entry->size >= SMALLEST && entry->size <= LARGEST;
}

static bool take_align(sr_entry_t *entry, const json_t *value)
{
    static const char *const names[] = {"start", "center", "end", "left", "right", NULL};
    const int found = field_types_find(names, value);
    entry->align = found < 0 ? SR_ALIGN_START : (sr_align_t)found;
    return found >= 0;
}

static bool take_group(sr_entry_t *entry, const json_t *value)
{
    entry->group = json_string_value(value);
    return entry->group && !sr_text_is_blank(entry->group);
}

static bool take_options(sr_entry_t *entry, const json_t *value)
{
    const size_t count = json_array_size(value);
    json_t *seen = json_object();
    bool valid = count >= 2 && count <= MAX_OPTIONS;
    for (size_t i = 0; valid && i < count; i++) {
        const char *text = json_string_value(json_array_get(value, i));
        valid = text && !sr_text_is_blank(text);
        if (valid) json_object_set_new(seen, text, json_true());
    }
    valid = valid && json_object_size(seen) == count;
    json_decref(seen);
    entry->options = value;
    return valid;
}

static bool take_labels(sr_entry_t *entry, const json_t *value)
{
    entry->labels = value;
    return json_array_size(value) == json_array_size(entry->options);
}

static bool take_comb(sr_entry_t *entry, const json_t *value)
{
    const json_int_t cells = json_integer_value(value);
    entry->comb = cells > 0 && cells <= SR_ENTRY_LENGTH_MAX ? (int)cells : 0;
    return entry->comb > 0;
}

static bool take_color(sr_entry_t *entry, const json_t *value)
{
    entry->color = json_string_value(value);
    return entry->color != NULL;
}

static bool take_buttons(sr_entry_t *entry, const json_t *value)
{
    entry->buttons = value;
    return json_array_size(value) == json_array_size(entry->options);
}

static const char *field_types_text_fault(const sr_entry_t *entry, apr_pool_t *pool)
{
    const char *fault = entry->group ? sr_text_fault(entry->group, MAX_GROUP, pool) : NULL;
    if (fault) return apr_pstrcat(pool, "group ", fault, NULL);
    for (size_t i = 0; !fault && i < json_array_size(entry->options); i++)
        fault = sr_text_fault(json_string_value(json_array_get(entry->options, i)), MAX_OPTION, pool);
    return fault ? apr_pstrcat(pool, "an option ", fault, NULL) : NULL;
}

#define FLAG_RULE "must be true or false"
#define FORM_RULE "must be that of the form field"

static const struct {
    const char *key, *rule;
    bool (*take)(sr_entry_t *entry, const json_t *value);
} MEMBERS[MEMBER_COUNT] = {
    [VALUE] = {"value", "must be a string, true or false", take_value},
    [READ_ONLY] = {"readOnly", FLAG_RULE, take_read_only},
    [REQUIRED] = {"required", FLAG_RULE, take_required},
    [LENGTH_MOST] = {"maxLength", "must be an integer from 1 to " APR_STRINGIFY(SR_ENTRY_LENGTH_MAX), take_max_length},
    [MULTILINE] = {"multiline", FLAG_RULE, take_multiline},
    [FORMAT] = {"format", "must be integer, decimal, email or date", take_format},
    [SIZE] = {"size", "must be a number from 6 to 72", take_size},
    [ALIGN] = {"align", "must be start, center, end, left or right", take_align},
    [GROUP] = {"group", "must be a text of at most 100 characters", take_group},
    [OPTIONS] = {"options", "must be 2 to 100 different texts of at most 200 characters", take_options},
    [LABELS] = {"labels", FORM_RULE, take_labels},
    [COMB] = {"comb", FORM_RULE, take_comb},
    [COLOR] = {"color", FORM_RULE, take_color},
    [BUTTONS] = {"buttons", FORM_RULE, take_buttons},
};

bool sr_field_type_has(const sr_field_type_t *type, const char *member)
{
    for (int i = 0; i < MEMBER_COUNT; i++)
        if (type->members & BIT(i) && !strcmp(MEMBERS[i].key, member)) return true;
    return false;
}

/* Values and options may have as many characters as the field permits, and at least those of the caller's value. */
static void set_length(sr_entry_t *entry)
{
    const char *value = json_string_value(entry->value);
    const apr_size_t length = value ? sr_text_length(value) : 0;
    if (entry->max_length) return;
    entry->max_length = length > LENGTH ? (int)(length < SR_ENTRY_LENGTH_MAX ? length : SR_ENTRY_LENGTH_MAX) : LENGTH;
}

const char *sr_entry_read(sr_entry_t **read, const sr_field_type_t *type, const json_t *field, apr_pool_t *pool)
{
    sr_entry_t *entry = apr_pcalloc(pool, sizeof *entry);
    sr_entry_fault_t fault;
    *read = entry;
    entry->sent = sr_json_own(json_object(), pool);
    entry->required = type->filler == SR_FILLER_PERSON && type->widget != SR_WIDGET_CHECKBOX;
    entry->read_only = type->filler == SR_FILLER_SERVICE;
    const bool in_form = json_object_get(json_object_get(field, "area"), "field") != NULL;
    const unsigned int members = type->members | (in_form ? OF_FORM : 0);
    for (int i = 0; i < MEMBER_COUNT; i++) {
        json_t *value = sr_entry_normal(json_object_get(field, MEMBERS[i].key), pool);
        const bool stored = i == VALUE && type->filler == SR_FILLER_SERVICE;
        if (!value || json_is_null(value) || (!stored && !(members & BIT(i)))) continue;
        if (!MEMBERS[i].take(entry, value)) return apr_psprintf(pool, "%s %s", MEMBERS[i].key, MEMBERS[i].rule);
        if (i != VALUE) json_object_set(entry->sent, MEMBERS[i].key, value);
    }
    set_length(entry);
    if (type->widget == SR_WIDGET_CHOICE && !entry->options)
        return apr_psprintf(pool, "options %s", MEMBERS[OPTIONS].rule);
    const char *text_fault = field_types_text_fault(entry, pool);
    if (text_fault) return text_fault;
    if (entry->value && !sr_entry_accepts(&fault, type, entry, entry->value, pool))
        return apr_psprintf(pool, "value %s", fault.message);
    if (entry->read_only && !entry->value && type->filler == SR_FILLER_PERSON) return "readOnly needs a value";
    return NULL;
}

void sr_entry_write(json_t *field, const sr_entry_t *entry)
{
    json_object_update(field, entry->sent);
    json_object_set_new(field, MEMBERS[VALUE].key, entry->value ? json_incref((json_t *)entry->value) : json_null());
}
