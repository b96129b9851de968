/* SPDX-License-Identifier: Apache-2.0 */
/* entries.c: the values that are filled into the fields of a signer: which are accepted, and what is missing. A value
 * is a string, true or false, never a number, so that zeros at the beginning and decimal commas stay. */
#include <apr_hash.h>
#include <string.h>

#include "model/model.h"

/* --- one value */

static bool entries_refuse(sr_entry_fault_t *fault, const char *code, const char *message)
{
    fault->code = code;
    fault->message = message;
    return false;
}

static bool is_digits(const char *text)
{
    return *text && strspn(text, "0123456789") == strlen(text);
}

static bool is_integer(const char *text)
{
    return is_digits(text + (*text == '-'));
}

static bool is_decimal(const char *text)
{
    text += *text == '-';
    const size_t whole = strspn(text, "0123456789");
    return whole && (!text[whole] || (strchr(".,", text[whole]) && is_digits(text + whole + 1)));
}

/* The function that reads dates also reads times, which have more characters. */
static bool is_day(const char *text)
{
    apr_time_t when;
    return strlen(text) == sizeof "2026-11-22" - 1 && sr_time_parse(&when, text);
}

static const struct {
    const char *name, *rule;
    bool (*is)(const char *text);
} FORMATS[] = {{"integer", "must be a whole number, such as 42", is_integer},
               {"decimal", "must be a number, such as 42.50", is_decimal},
               {"email", "must be an email address", sr_text_is_email},
               {"date", "must be a day, such as 2026-11-22", is_day}};

static bool has_format(sr_entry_fault_t *fault, const char *format, const char *text)
{
    for (size_t i = 0; i < sizeof FORMATS / sizeof *FORMATS; i++)
        if (!strcmp(FORMATS[i].name, format) && !FORMATS[i].is(text))
            return entries_refuse(fault, "format", FORMATS[i].rule);
    return true;
}

static bool is_option(const json_t *options, const char *text)
{
    for (size_t i = 0; i < json_array_size(options); i++)
        if (!strcmp(json_string_value(json_array_get(options, i)), text)) return true;
    return false;
}

/* Returns the text with spaces instead of the line ends that a field of several lines may have. */
static const char *without_lines(const sr_entry_t *entry, const char *text, apr_pool_t *pool)
{
    char *copy = apr_pstrdup(pool, text);
    for (char *at = copy; entry->multiline && *at; at++)
        if (*at == '\n') *at = ' ';
    return copy;
}

bool sr_entry_accepts(sr_entry_fault_t *fault, const sr_field_type_t *type, const sr_entry_t *entry,
                      const json_t *value, apr_pool_t *pool)
{
    const char *text = json_string_value(value);
    if (type->widget == SR_WIDGET_CHECKBOX)
        return json_is_boolean(value) || entries_refuse(fault, "type", "must be true or false");
    if (!text) return entries_refuse(fault, "type", "must be a string");
    if (type->filler == SR_FILLER_SERVICE) return true;
    const char *wrong = sr_text_fault(without_lines(entry, text, pool), (apr_size_t)entry->max_length, pool);
    if (wrong) return entries_refuse(fault, "length", wrong);
    if (!*text) return true;
    if (entry->options && !is_option(entry->options, text))
        return entries_refuse(fault, "option", "must be one of the options");
    return !entry->format || has_format(fault, entry->format, text);
}

const char *sr_entry_text(const sr_entry_t *entry)
{
    if (json_is_boolean(entry->value)) return NULL;
    if (entry->shown) return entry->shown;
    return entry->value ? json_string_value(entry->value) : "";
}

const char *sr_entry_label(const sr_entry_t *entry)
{
    const char *text = sr_entry_text(entry);
    for (size_t i = 0; text && i < json_array_size(entry->labels); i++)
        if (!strcmp(text, json_string_value(json_array_get(entry->options, i))))
            return json_string_value(json_array_get(entry->labels, i));
    return text;
}

void sr_entry_set_day(sr_entry_t *entry, const char *day, const char *day_text, apr_pool_t *pool)
{
    entry->value = sr_json_own(json_string(day), pool);
    entry->shown = sr_text_length(day_text) <= (apr_size_t)entry->max_length ? day_text : NULL;
}

/* --- the fields of one signer */

static sr_field_t *entries_field(const sr_signer_t *signer, int index)
{
    return &APR_ARRAY_IDX(signer->fields, index, sr_field_t);
}

/* The check boxes of a group. */
typedef struct group_t {
    int ticked, number; /* the number of its first field */
    bool required;
} group_t;

static group_t *group_of(apr_hash_t *groups, const char *name, int number, apr_pool_t *pool)
{
    group_t *group = apr_hash_get(groups, name, APR_HASH_KEY_STRING);
    if (group) return group;
    group = apr_pcalloc(pool, sizeof *group);
    group->number = number;
    apr_hash_set(groups, name, APR_HASH_KEY_STRING, group);
    return group;
}

/* Returns the groups (group_t) of the check boxes by name. */
static apr_hash_t *entries_groups(const sr_signer_t *signer, apr_pool_t *pool)
{
    apr_hash_t *groups = apr_hash_make(pool);
    for (int i = 0; i < signer->fields->nelts; i++) {
        const sr_entry_t *entry = entries_field(signer, i)->entry;
        if (!entry || !entry->group) continue;
        group_t *group = group_of(groups, entry->group, i + 1, pool);
        group->ticked += json_is_true(entry->value);
        group->required |= entry->required && !entry->read_only;
    }
    return groups;
}

const char *sr_entries_fault(const sr_signer_t *signer, bool draft, apr_pool_t *pool)
{
    apr_hash_t *groups = entries_groups(signer, pool);
    bool signs = draft;
    for (int i = 0; i < signer->fields->nelts; i++) {
        const sr_field_type_t *type = entries_field(signer, i)->type;
        signs |= type->filler == SR_FILLER_SEAL && !type->initials;
    }
    if (!signs) return "Must have at least 1 field of type signature";
    for (apr_hash_index_t *at = apr_hash_first(pool, groups); at; at = apr_hash_next(at)) {
        const group_t *group = apr_hash_this_val(at);
        if (group->ticked > 1)
            return apr_psprintf(pool, "At most 1 check box of group %s can be ticked",
                                (const char *)apr_hash_this_key(at));
    }
    return NULL;
}

static void add_fault(apr_array_header_t *faults, int number, const char *code, const char *message)
{
    APR_ARRAY_PUSH(faults, sr_entry_fault_t) = (sr_entry_fault_t){number, code, message};
}

json_t *sr_entry_normal(json_t *value, apr_pool_t *pool)
{
    const char *text = json_string_value(value);
    if (!text || !strchr(text, '\r')) return value;
    char *copy = apr_palloc(pool, strlen(text) + 1), *out = copy;
    for (; *text; text++)
        if (*text != '\r' || text[1] != '\n') *out++ = *text;
    *out = '\0';
    return sr_json_own(json_string(copy), pool);
}

/* A value that the signer cannot change is never missing. */
static bool is_missing(const sr_entry_t *entry)
{
    const char *text = json_string_value(entry->value);
    if (!entry->required || entry->read_only || entry->group) return false;
    return text ? sr_text_is_blank(text) : !json_is_true(entry->value);
}

static void entries_fill_field(apr_array_header_t *faults, sr_field_t *field, int number, json_t *value,
                               apr_pool_t *pool)
{
    sr_entry_t *entry = field->entry;
    sr_entry_fault_t fault;
    if (value && !json_is_null(value) && !entry->read_only) {
        value = sr_entry_normal(value, pool);
        if (!sr_entry_accepts(&fault, field->type, entry, value, pool)) {
            add_fault(faults, number, fault.code, apr_psprintf(pool, "The value %s", fault.message));
            return;
        }
        entry->value = value;
    } else if (value && !json_is_null(value) && !json_equal(value, entry->value)) {
        add_fault(faults, number, "readOnly", "The value cannot be changed");
    }
    if (!entry->value && field->type->widget == SR_WIDGET_CHECKBOX) entry->value = sr_json_own(json_false(), pool);
    if (is_missing(entry)) add_fault(faults, number, "required", "The field must be filled in");
}

static void check_groups(apr_array_header_t *faults, const sr_signer_t *signer, apr_pool_t *pool)
{
    apr_hash_t *groups = entries_groups(signer, pool);
    for (apr_hash_index_t *at = apr_hash_first(pool, groups); at; at = apr_hash_next(at)) {
        const group_t *group = apr_hash_this_val(at);
        if (group->ticked > 1)
            add_fault(faults, group->number, "group", "At most one check box of the group can be ticked");
        if (!group->ticked && group->required)
            add_fault(faults, group->number, "required", "One check box of the group must be ticked");
    }
}

/* Each response that shows the submission repeats the values, as it repeats names. */
static void check_size(apr_array_header_t *faults, const sr_signer_t *signer, apr_pool_t *pool)
{
    apr_size_t size = 0;
    for (int i = 0; i < signer->fields->nelts; i++) {
        const sr_entry_t *entry = entries_field(signer, i)->entry;
        size += entry ? json_string_length(entry->value) : 0;
        if (size <= SR_SIGNERS_TEXTS_MAX) continue;
        add_fault(faults, i + 1, "length",
                  apr_psprintf(pool, "All values together must have at most %d bytes", SR_SIGNERS_TEXTS_MAX));
        return;
    }
}

/* Returns the entry of the field with this number, or NULL. */
static const sr_entry_t *entries_numbered(const sr_signer_t *signer, const char *text)
{
    int number;
    if (*text == '0' || !sr_text_number(&number, text) || number > signer->fields->nelts) return NULL;
    return entries_field(signer, number - 1)->entry;
}

void sr_entries_fill(apr_array_header_t **faults, sr_signer_t *signer, const json_t *values, const char *day,
                     const char *day_text, apr_pool_t *pool)
{
    const char *key;
    json_t *value;
    *faults = apr_array_make(pool, 4, sizeof(sr_entry_fault_t));
    json_object_foreach ((json_t *)values, key, value)
        if (!entries_numbered(signer, key)) add_fault(*faults, 0, "unknown", "There is no such field");
    for (int i = 0; i < signer->fields->nelts; i++) {
        sr_field_t *field = entries_field(signer, i);
        if (!field->entry) continue;
        if (field->type->filler == SR_FILLER_SERVICE) {
            sr_entry_set_day(field->entry, day, day_text, pool);
            continue;
        }
        value = json_object_get(values, apr_itoa(pool, i + 1));
        entries_fill_field(*faults, field, i + 1, value, pool);
    }
    check_groups(*faults, signer, pool);
    check_size(*faults, signer, pool);
}

sr_error_t *sr_entries_error(const apr_array_header_t *faults, apr_pool_t *pool)
{
    if (!faults->nelts) return NULL;
    json_t *list = sr_json_own(json_array(), pool);
    for (int i = 0; i < faults->nelts; i++) {
        const sr_entry_fault_t *fault = &APR_ARRAY_IDX(faults, i, sr_entry_fault_t);
        json_array_append_new(
            list, json_pack("{s:i,s:s,s:s}", "number", fault->number, "code", fault->code, "message", fault->message));
    }
    sr_error_t *error =
        sr_error(pool, SR_EBADREQUEST, "%s",
                 faults->nelts == 1 ? "A field is not filled in correctly" : "Some fields are not filled in correctly");
    error->fields = list;
    return error;
}

bool sr_entries_any(const sr_signer_t *signer)
{
    for (int i = 0; i < signer->fields->nelts; i++)
        if (entries_field(signer, i)->entry) return true;
    return false;
}

json_t *sr_entries_rows(const sr_signer_t *signer, const char *yes, const char *no, apr_pool_t *pool)
{
    json_t *rows = NULL;
    for (int i = 0; i < signer->fields->nelts; i++) {
        const sr_field_t *field = entries_field(signer, i);
        const json_t *value = field->entry ? field->entry->value : NULL;
        const char *shown = value && field->entry->labels ? sr_entry_label(field->entry) : json_string_value(value);
        const char *text = json_is_string(value) ? without_lines(field->entry, shown, pool)
                           : json_is_true(value) ? yes
                                                 : no;
        if (!value || !*text) continue;
        if (!rows) rows = json_array();
        json_t *row = json_pack("[s,s]", field->name, text);
        if (json_equal(row, json_array_get(rows, json_array_size(rows) - 1))) json_decref(row);
        else json_array_append_new(rows, row);
    }
    return rows;
}
