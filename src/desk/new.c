/* SPDX-License-Identifier: Apache-2.0 */
/* new.c: a new request. Its form makes a draft, and the placement page of the draft sends it. */
#include "desk/new.h"

#include <stdlib.h>
#include <string.h>

#include "service/setup.h"

/* Adds a row to a list, with the order of the row before. */
static void new_add_row(const sr_desk_form_t *form, const char *list)
{
    json_t *rows = sr_desk_rows(form, list), *row = json_object();
    const json_t *last = json_array_get(rows, json_array_size(rows) - 1);
    if (last) json_object_set(row, "order", json_object_get(last, "order"));
    else json_object_set_new(row, "order", json_string("1"));
    json_array_append_new(rows, row);
}

/* Does what the buttons of rows say. Unknown names change nothing. */
static void new_press(const sr_desk_form_t *form)
{
    static const char *const lists[] = {"signer", "viewer"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const char *list = lists[i];
        const size_t length = strlen(list);
        if (form->add && !strcmp(form->add, list)) new_add_row(form, list);
        if (form->remove && !strncmp(form->remove, list, length) && form->remove[length] == '-')
            json_array_remove(sr_desk_rows(form, list), strtoul(form->remove + length + 1, NULL, 10) - 1);
    }
}

/* Fills the form of a new request: a row for each signer of the template. */
static sr_error_t *new_begin(sr_desk_t *desk, sr_desk_form_t *form)
{
    sr_http_t *http = desk->http;
    json_t *template;
    size_t signers = 1;
    form->name = sr_uuid_make(http->pool);
    form->values = sr_json_own(json_object(), http->pool);
    if (form->template) {
        SR_TRY(sr_service_template(http->service, &template, desk->token_hash, form->template, http->pool));
        json_object_set(form->values, "name", json_object_get(template, "name"));
        signers = json_array_size(json_object_get(template, "roles"));
        json_decref(template);
    }
    while (signers--) new_add_row(form, "signer");
    if (http->service->child->sends_mail) json_object_set_new(form->values, "mail", json_string("on"));
    return NULL;
}

sr_error_t *sr_desk_new(sr_http_t *http)
{
    sr_desk_t *desk;
    const char *lang = NULL;
    sr_desk_form_t form = {0};
    SR_TRY(sr_desk_enter(&desk, http));
    SR_TRY(sr_desk_may_write(desk));
    SR_TRY(sr_http_query(http, (const sr_query_param_t[]){{"lang", &lang}, {NULL, NULL}}));
    if (http->params[1]) SR_TRY(sr_web_uuid(&form.template, http, 1));
    SR_TRY(new_begin(desk, &form));
    return sr_desk_new_show(desk, &form, HTTP_OK, NULL);
}

/* Shows the form again, if that helps. */
static sr_error_t *new_show_error(sr_desk_t *desk, sr_desk_form_t *form, sr_error_t *error)
{
    sr_desk_fault_t fault = sr_desk_new_fault(error, desk->http->pool);
    int status = error->code == SR_ETOOLARGE ? HTTP_REQUEST_ENTITY_TOO_LARGE : HTTP_BAD_REQUEST;
    if (error->code == SR_ECONFLICT) { /* it was sent before, with other values */
        form->name = sr_uuid_make(desk->http->pool);
        fault = (sr_desk_fault_t){.message = sr_desk_word(desk, "new.before")};
        status = HTTP_CONFLICT;
    } else if (error->code != SR_EBADREQUEST && error->code != SR_ETOOLARGE && !fault.input) {
        return error;
    }
    return sr_desk_new_show(desk, form, status, &fault);
}

sr_error_t *sr_desk_new_post(sr_http_t *http)
{
    sr_desk_t *desk;
    sr_desk_form_t form;
    const char *uuid;
    SR_TRY(sr_desk_enter(&desk, http));
    SR_TRY(sr_desk_new_read(&form, desk));
    if (form.add || form.remove) {
        new_press(&form);
        return sr_desk_new_show(desk, &form, HTTP_OK, NULL);
    }
    sr_error_t *error = sr_desk_new_draft(&uuid, desk, &form);
    sr_service_receive_drop(form.uploads);
    return error ? new_show_error(desk, &form, error) : sr_desk_place_fields(desk, uuid);
}
