/* SPDX-License-Identifier: Apache-2.0 */
/* new_page.c: the page with the form of a new request. */
#include <string.h>

#include "desk/new.h"

#define MEGABYTE APR_INT64_C(1048576)

/* The options of inputs. Those of "locale" are the languages. */
static const struct {
    const char *input, *value, *text;
} options[] = {
    {"locale", "", "new.locale.any"},       {"check", "", "new.none"},
    {"check", "email", "new.check.email"},  {"check", "code", "new.check.code"},
    {"when", "sent", "new.when.sent"},      {"when", "completed", "new.when.completed"},
    {"reminders", "", "new.none"},          {"reminders", "P3D", "new.every.three"},
    {"reminders", "P7D", "new.every.week"},
};

typedef struct page_t {
    sr_desk_t *desk;
    const sr_desk_form_t *form;
    const sr_desk_fault_t *fault; /* or NULL */
    const char *today;            /* in the time zone of this server */
} page_t;

static void page_set_text(json_t *object, const char *key, const char *text)
{
    json_object_set_new(object, key, sr_json_string_or_null(text));
}

static void page_add_option(json_t *list, const char *value, const char *text, const char *chosen)
{
    json_array_append_new(
        list, json_pack("{s:s,s:s,s:b}", "value", value, "text", text, "chosen", chosen && !strcmp(chosen, value)));
}

static json_t *page_options(const page_t *page, const char *input, const char *chosen)
{
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (!strcmp(options[i].input, input))
            page_add_option(list, options[i].value, sr_desk_word(page->desk, options[i].text), chosen);
    for (int i = 0; !strcmp(input, "locale") && i < sr_language_count(); i++)
        page_add_option(list, sr_language(i)->tag, sr_language(i)->name, chosen);
    return list;
}

/* Returns the id of an input, or of a list. */
static const char *page_id(const char *list, const char *name, int row, apr_pool_t *pool)
{
    return list ? apr_psprintf(pool, "%s-%s-%d", list, name, row) : name;
}

/* Adds the message if it is about this input. */
static void page_add_fault(json_t *object, const page_t *page, const sr_desk_input_t *input, int row)
{
    const sr_desk_fault_t *fault = page->fault;
    apr_pool_t *pool = page->desk->http->pool;
    const bool here = fault && fault->input && fault->row == row && !strcmp(fault->input, input->name)
                      && (!row || !strcmp(fault->list, input->list));
    const char *id = sr_json_string(object, "id"), *hint = input->hint ? apr_pstrcat(pool, id, "-hint", NULL) : NULL;
    const char *told = here ? apr_pstrcat(pool, id, "-fault", NULL) : NULL;
    page_set_text(object, "fault", here ? fault->message : NULL);
    page_set_text(object, "described", hint && told ? apr_pstrcat(pool, told, " ", hint, NULL) : hint ? hint : told);
}

/* Returns the values of an input (desk_input.html). Each name has a value, so that none is taken from outside. */
static json_t *page_input(const page_t *page, const sr_desk_input_t *input, const json_t *values, int row)
{
    apr_pool_t *pool = page->desk->http->pool;
    const char *value = sr_json_string(values, input->name);
    const bool select = !strcmp(input->type, "select"), area = !strcmp(input->type, "textarea");
    const bool check = !strcmp(input->type, "checkbox");
    json_t *object = json_object();
    page_set_text(object, "key", input->name);
    page_set_text(object, "id", page_id(input->list, input->name, row, pool));
    page_set_text(object, "name", input->list ? apr_pstrcat(pool, input->list, "-", input->name, NULL) : input->name);
    page_set_text(object, "type", input->type);
    page_set_text(object, "label", sr_desk_word(page->desk, input->label));
    page_set_text(object, "hint", input->hint ? sr_desk_word(page->desk, input->hint) : NULL);
    page_set_text(object, "value", value ? value : "");
    json_object_set_new(object, "most", input->most ? json_integer(input->most) : json_null());
    json_object_set_new(object, "number", json_boolean(!strcmp(input->type, "number")));
    json_object_set_new(object, "auto", json_boolean(!strcmp(input->type, "text")));
    page_set_text(object, "least", strcmp(input->type, "date") ? NULL : page->today);
    json_object_set_new(object, "required", json_boolean(input->required));
    json_object_set_new(object, "select", json_boolean(select));
    json_object_set_new(object, "options", select ? page_options(page, input->name, value) : json_null());
    json_object_set_new(object, "area", json_boolean(area));
    json_object_set_new(object, "check", json_boolean(check));
    json_object_set_new(object, "line", json_boolean(!select && !area && !check));
    json_object_set_new(object, "on", json_boolean(value));
    page_add_fault(object, page, input, row);
    return object;
}

/* Returns the message of an error about the files or a list, or null. */
static json_t *page_part_fault(const page_t *page, const char *name)
{
    const sr_desk_fault_t *fault = page->fault;
    const bool here = fault && !fault->list && fault->input && !strcmp(fault->input, name);
    return sr_json_string_or_null(here ? fault->message : NULL);
}

static json_t *page_row(const page_t *page, const char *list, const json_t *values, int number)
{
    const bool signing = !strcmp(list, "signer"), fixed = signing && page->form->template;
    json_t *row = json_object(), *inputs = json_array();
    for (const sr_desk_input_t *input = sr_desk_inputs; input->name; input++)
        if (input->list && !strcmp(input->list, list))
            json_array_append_new(inputs, page_input(page, input, values, number));
    json_object_set_new(row, "number", json_integer(number));
    json_object_set_new(row, "signing", json_boolean(signing));
    json_object_set_new(row, "inputs", inputs);
    page_set_text(row, "list", list);
    page_set_text(row, "remove", fixed ? NULL : apr_psprintf(page->desk->http->pool, "%s-%d", list, number));
    return row;
}

/* Adds the section of a list. `blank` is the row that the script adds; a template says how many signers there are. */
static void page_add_list(json_t *object, const page_t *page, const char *list)
{
    json_t *rows = json_array(), *blank = sr_json_own(json_object(), page->desk->http->pool), *values;
    size_t i;
    json_array_foreach (sr_desk_rows(page->form, list), i, values)
        json_array_append_new(rows, page_row(page, list, values, (int)i + 1));
    json_object_set_new(blank, "order", json_string("1"));
    json_object_set_new(object, list,
                        json_pack("{s:o,s:o,s:o}", "rows", rows, "blank", page_row(page, list, blank, 0), "fault",
                                  page_part_fault(page, list)));
}

/* Adds the form itself. */
static void page_add_form(json_t *values, const page_t *page)
{
    sr_desk_t *desk = page->desk;
    const sr_desk_form_t *form = page->form;
    const sr_settings_t *limits = desk->http->settings;
    page_set_text(values, "form", form->name);
    page_set_text(values, "token", sr_desk_form_token(desk, apr_pstrcat(desk->http->pool, "new ", form->name, NULL)));
    json_object_set_new(values, "files", json_integer(limits->max_files));
    json_object_set_new(values, "bytes", json_integer(limits->max_file_size));
    json_object_set_new(values, "all", json_integer(limits->max_request_size));
    json_object_set_new(values, "size", json_integer((limits->max_file_size + MEGABYTE - 1) / MEGABYTE));
    json_object_set_new(values, "file", json_pack("{s:o}", "fault", page_part_fault(page, "file")));
    page_add_list(values, page, "signer");
    page_add_list(values, page, "viewer");
    for (const sr_desk_input_t *input = sr_desk_inputs; input->name; input++)
        if (!input->list) json_object_set_new(values, input->name, page_input(page, input, form->values, 0));
}

/* Adds the message at the top, which leads to the input. */
static void page_add_message(json_t *values, const page_t *page)
{
    const sr_desk_fault_t *fault = page->fault;
    apr_pool_t *pool = page->desk->http->pool;
    json_t *object = json_object();
    page_set_text(object, "text", fault->message);
    page_set_text(object, "language", fault->language);
    page_set_text(object, "at", fault->input ? page_id(fault->list, fault->input, fault->row, pool) : NULL);
    json_object_set_new(values, "fault", object);
}

static sr_error_t *page_add_template(json_t *values, const page_t *page)
{
    sr_desk_t *desk = page->desk;
    json_t *template, *document;
    size_t i;
    if (!page->form->template) return NULL;
    SR_TRY(
        sr_service_template(desk->http->service, &template, desk->token_hash, page->form->template, desk->http->pool));
    json_array_foreach (json_object_get(template, "documents"), i, document)
        json_object_set(document, "count", json_object_get(document, "pages"));
    json_object_set_new(values, "template", template);
    return NULL;
}

sr_error_t *sr_desk_new_show(sr_desk_t *desk, const sr_desk_form_t *form, int status, const sr_desk_fault_t *fault)
{
    const apr_time_t now = sr_time_now();
    const apr_time_t here = now + apr_time_from_sec(60) * sr_zone_of_server(now, desk->http->pool).offset;
    const page_t page = {desk, form, fault, apr_pstrndup(desk->http->pool, sr_time_format(here, desk->http->pool), 10)};
    json_t *values = sr_json_own(json_object(), desk->http->pool);
    page_set_text(values, "title", sr_desk_word(desk, "new.title"));
    page_set_text(values, "module", "desk_new.js");
    SR_TRY(page_add_template(values, &page));
    page_add_form(values, &page);
    if (fault) page_add_message(values, &page);
    json_object_set_new(values, "again", json_boolean(form->files || form->refused));
    return sr_desk_page(desk, status, "desk_new", json_incref(values));
}
