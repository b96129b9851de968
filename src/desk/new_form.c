/* SPDX-License-Identifier: Apache-2.0 */
/* new_form.c: reads the form of a new request. */
#include <string.h>

#include "desk/new.h"

#define INPUT_MAX ((apr_size_t)16 * 1024) /* bytes; the service says which texts are too long */
#define ROW_PARTS 8                       /* inputs of a row */
#define OTHER_PARTS 64

/* clang-format off */
const sr_desk_input_t sr_desk_inputs[] = {
    {"name", NULL, "text", "new.name", NULL, 500, true},
    {"firstname", "signer", "text", "new.firstname", NULL, 100, true},
    {"lastname", "signer", "text", "new.lastname", NULL, 100, true},
    {"email", "signer", "email", "new.email", NULL, 254, false},
    {"order", "signer", "number", "new.order", NULL, 5, false},
    {"locale", "signer", "select", "new.locale", NULL, 0, false},
    {"check", "signer", "select", "new.check", NULL, 0, false},
    {"code", "signer", "text", "new.check.code", "new.code.hint", 32, false},
    {"mail", NULL, "checkbox", "new.mail", NULL, 0, false},
    {"subject", NULL, "text", "new.subject", NULL, 200, false},
    {"text", NULL, "textarea", "new.text", NULL, 2000, false},
    {"deadline", NULL, "date", "deadline", "new.deadline.hint", 10, false},
    {"reminders", NULL, "select", "new.reminders", NULL, 0, false},
    {"copy-signers", NULL, "checkbox", "new.copy.signers", NULL, 0, false},
    {"copy-sender", NULL, "checkbox", "new.copy.sender", NULL, 0, false},
    {"copy-others", NULL, "text", "new.copy.others", NULL, 1000, false},
    {"firstname", "viewer", "text", "new.firstname", NULL, 100, true},
    {"lastname", "viewer", "text", "new.lastname", NULL, 100, true},
    {"email", "viewer", "email", "new.email", NULL, 254, false},
    {"when", "viewer", "select", "new.when", NULL, 0, false},
    {NULL, NULL, NULL, NULL, NULL, 0, false},
};
/* clang-format on */

typedef struct receiver_t {
    sr_desk_t *desk;
    sr_desk_form_t *form;
    const char *token;
    bool checked;                 /* the token */
    const sr_desk_input_t *input; /* whose part is being read; or NULL: */
    const char **control;
} receiver_t;

json_t *sr_desk_rows(const sr_desk_form_t *form, const char *list)
{
    json_t *rows = json_object_get(form->values, list);
    if (!rows) json_object_set_new(form->values, list, rows = json_array());
    return rows;
}

static sr_error_t *form_unknown(const receiver_t *receiver)
{
    return sr_error(receiver->desk->http->pool, SR_EBADREQUEST, "The form has an unknown or repeated field");
}

static sr_error_t *form_check(receiver_t *receiver)
{
    const char *name = receiver->form->name;
    if (receiver->checked) return NULL;
    receiver->checked = true;
    return sr_desk_form_check(receiver->desk, apr_pstrcat(receiver->desk->http->pool, "new ", name, NULL),
                              name && sr_uuid_valid(name) ? receiver->token : NULL);
}

static const sr_desk_input_t *input_named(const char *name)
{
    const sr_desk_input_t *input = sr_desk_inputs;
    for (; input->name; input++) {
        const size_t list = input->list ? strlen(input->list) : 0;
        if (!list && !strcmp(name, input->name)) return input;
        if (list && !strncmp(name, input->list, list) && name[list] == '-' && !strcmp(name + list + 1, input->name))
            return input;
    }
    return NULL;
}

static sr_error_t *form_begin(void *baton, apr_size_t *max, const sr_part_t *part)
{
    receiver_t *receiver = baton;
    sr_desk_form_t *form = receiver->form;
    const sr_query_param_t controls[] = {{"form", &form->name},     {"token", &receiver->token},   {"add", &form->add},
                                         {"remove", &form->remove}, {"template", &form->template}, {NULL, NULL}};
    const sr_query_param_t *control = controls;
    if (!strcmp(part->name, "file")) return NULL; /* it was left empty */
    while (control->name && strcmp(control->name, part->name) != 0) control++;
    receiver->control = control->value;
    receiver->input = control->name ? NULL : input_named(part->name);
    if (part->filename || (control->name ? *control->value != NULL : !receiver->input)) return form_unknown(receiver);
    *max = INPUT_MAX;
    return receiver->input ? form_check(receiver) : NULL;
}

/* Returns the object that gets the value of an input: its row, or that of the form. */
static json_t *form_object(const sr_desk_form_t *form, const sr_desk_input_t *input)
{
    if (!input->list) return form->values;
    json_t *rows = sr_desk_rows(form, input->list);
    if (input[-1].list != input->list) json_array_append_new(rows, json_object());
    return json_array_size(rows) ? json_array_get(rows, json_array_size(rows) - 1) : NULL;
}

static sr_error_t *form_text(void *baton, const char *text, apr_size_t length)
{
    receiver_t *receiver = baton;
    json_t *value = strlen(text) == length ? json_string(text) : NULL;
    if (!value) return sr_error(receiver->desk->http->pool, SR_EBADREQUEST, "The form must be UTF-8 without NUL");
    if (receiver->control) {
        *receiver->control = text;
        json_decref(value);
        return NULL;
    }
    json_t *object = form_object(receiver->form, receiver->input);
    if (!object || json_object_get(object, receiver->input->name)) {
        json_decref(value);
        return form_unknown(receiver);
    }
    json_object_set_new(object, receiver->input->name, value);
    return NULL;
}

static sr_error_t *form_begin_file(void *baton, const sr_part_t *part)
{
    receiver_t *receiver = baton;
    SR_TRY(form_check(receiver));
    return sr_service_receive_begin(receiver->form->uploads, part->filename, part->raw_filename,
                                    !part->type || !*part->type || !strcmp(part->type, "application/pdf"));
}

static sr_error_t *form_file_data(void *baton, const char *data, apr_size_t length)
{
    return sr_service_receive_data(((receiver_t *)baton)->form->uploads, data, length);
}

static sr_error_t *form_end_file(void *baton)
{
    return sr_service_receive_end(((receiver_t *)baton)->form->uploads);
}

sr_error_t *sr_desk_new_read(sr_desk_form_t *form, sr_desk_t *desk)
{
    receiver_t receiver = {.desk = desk, .form = form};
    sr_http_t *http = desk->http;
    const int rows = http->settings->max_signers + SR_VIEWERS_MAX;
    const sr_http_parts_t parts = {OTHER_PARTS + rows * ROW_PARTS,
                                   form_begin,
                                   form_text,
                                   form_begin_file,
                                   form_file_data,
                                   form_end_file,
                                   &receiver,
                                   &form->refused};
    *form = (sr_desk_form_t){.values = sr_json_own(json_object(), http->pool)};
    SR_TRY(sr_service_receive(http->service, &form->uploads, http->pool));
    SR_TRY(sr_http_read_parts(http, &parts));
    SR_TRY(form_check(&receiver));
    form->files = sr_service_received(form->uploads);
    if (form->template && !*form->template) form->template = NULL;
    return NULL;
}
