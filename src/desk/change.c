/* SPDX-License-Identifier: Apache-2.0 */
/* change.c: what the forms of the page of one request change. All are sent to the page's own URL. The field
 * "action" names a row of the table below, and "of" the signer, viewer or event that it changes. The form token is
 * bound to both. A form that is not accepted is shown again with the fault and with what was entered. */
#include <string.h>

#include "desk/request_page.h"
#include "model/authentication.h"
#include "service/drafts.h"

typedef struct sr_desk_change_t change_t;
struct sr_desk_change_t {
    sr_desk_t *desk;
    sr_caller_t caller;
    const sr_signing_t *signing; /* the request, as it was before */
    const char *action, *of;
    const char *reason, *expires_at, *firstname, *lastname, *email, *locale,
        *secret; /* as they were entered, or NULL */
    sr_desk_tried_t tried;
    const char *shown; /* the representation afterwards, which is not used */
    apr_pool_t *pool;
};

/* --- the changes */

static sr_error_t *change_cancel(change_t *change)
{
    return sr_service_cancel(change->desk->http->service, &change->shown, &change->caller, change->reason,
                             change->pool);
}

static sr_error_t *change_extend(change_t *change)
{
    apr_time_t expires_at;
    SR_TRY(
        sr_deadline_read(&expires_at, sr_desk_deadline(change->expires_at, change->pool), sr_time_now(), change->pool));
    return sr_service_extend(change->desk->http->service, &change->shown, &change->caller, expires_at, change->pool);
}

static sr_error_t *change_remind(change_t *change)
{
    return sr_service_remind(change->desk->http->service, &change->shown, &change->caller, change->of, change->pool);
}

static sr_error_t *change_unlock(change_t *change)
{
    return sr_service_unlock(change->desk->http->service, &change->shown, &change->caller, change->of, change->pool);
}

/* Adds the check of the old signer, with what it needs of the new one. */
static void replace_add_check(const change_t *change, json_t *person)
{
    static const char *const members[SR_AUTH_METHOD_COUNT] = {
        [SR_AUTH_CODE] = "code", [SR_AUTH_HOOK] = "to", [SR_AUTH_HTTPD] = "user"};
    const sr_signer_t *signer = sr_submission_signer(&change->signing->submission, change->of);
    const sr_authentication_t *before = signer ? signer->authentication : NULL;
    const char *member = before ? members[before->method] : NULL;
    if (!member) return;
    json_t *authentication = sr_authentication_kind(before);
    json_object_set_new(authentication, member, json_string(change->secret ? change->secret : ""));
    json_object_set_new(person, "authentication", authentication);
}

static sr_error_t *change_replace(change_t *change)
{
    json_t *person = sr_json_own(json_object(), change->pool);
    const sr_replace_t request = {change->of, person};
    sr_desk_request_set(person, "firstname", change->firstname);
    sr_desk_request_set(person, "lastname", change->lastname);
    sr_desk_request_set(person, "email", change->email);
    sr_desk_request_set(person, "locale", change->locale && *change->locale ? change->locale : NULL);
    replace_add_check(change, person);
    return sr_service_replace(change->desk->http->service, &change->shown, &change->caller, &request, change->pool);
}

static sr_error_t *change_copies(change_t *change)
{
    return sr_service_copy(change->desk->http->service, &change->shown, &change->caller, change->pool);
}

static sr_error_t *change_revoke(change_t *change)
{
    return sr_service_viewer_revoke(change->desk->http->service, &change->caller, change->of, change->pool);
}

/* `of` is the uuid of the newest call of an event. If there is a newer one, the form was sent before. */
static sr_error_t *change_again(change_t *change)
{
    const char *event;
    SR_TRY(sr_desk_call_event(&event, change->desk, change->caller.submission, change->of));
    if (!event) return NULL;
    return sr_service_redeliver(change->desk->http->service, &change->shown, change->desk->token_hash, event,
                                change->pool);
}

static sr_error_t *change_send(change_t *change)
{
    const sr_draft_subject_t subject = {.token_hash = change->desk->token_hash,
                                        .token = change->desk->caller->uuid,
                                        .submission = change->caller.submission};
    sr_shown_submission_t shown;
    return sr_service_draft_send(change->desk->http->service, &shown, &subject, NULL, &change->caller.client,
                                 change->pool);
}

static sr_error_t *change_delete(change_t *change)
{
    return sr_service_erase(change->desk->http->service, &change->caller, change->pool);
}

typedef struct change_row_t {
    const char *action;
    bool of;          /* the form has the field "of" */
    const char *done; /* the text of the page afterwards: "done.<done>" */
    sr_error_t *(*make)(change_t *change);
} change_row_t;

static const change_row_t changes[] = {
    {"cancel", false, "changed", change_cancel},
    {"extend", false, "changed", change_extend},
    {"remind", true, "sent", change_remind},
    {"unlock", true, "changed", change_unlock},
    {"replace", true, "changed", change_replace},
    {"copies", false, "sent", change_copies},
    {"revoke", true, "changed", change_revoke},
    {"again", true, "sent", change_again},
    {"send", false, "sent", change_send},
    {"delete", false, "deleted", change_delete},
    {NULL, false, NULL, NULL},
};

/* --- handlers */

/* Shows the page again, with the fault (sr_http_t.show_error). */
static sr_error_t *change_show_fault(sr_http_t *http, int status, const char *message)
{
    change_t *change = sr_desk_entered(http)->change;
    change->tried.message = message;
    const sr_error_t *error = sr_desk_request_show(change->desk, http->params[1], status, &change->tried);
    return error ? sr_desk_error(http, status, message) : NULL;
}

/* Returns the row of an action whose field "of" is right, or NULL. */
static const change_row_t *change_find(const change_t *change)
{
    const change_row_t *row = changes;
    while (row->action && (!change->action || strcmp(row->action, change->action) != 0)) row++;
    return row->action && row->of == (change->of && sr_uuid_valid(change->of)) ? row : NULL;
}

static sr_error_t *change_make(change_t *change, const sr_query_param_t *fields)
{
    sr_http_t *http = change->desk->http;
    const char *token, *submission = change->caller.submission;
    SR_TRY(sr_desk_form_fields(change->desk, &token, fields));
    const change_row_t *row = change_find(change);
    if (!row) return sr_error(http->pool, SR_EBADREQUEST, "There is no such form");
    SR_TRY(sr_desk_form_check(change->desk, sr_desk_request_form_name(row->action, submission, change->of, http->pool),
                              token));
    change->tried = (sr_desk_tried_t){.action = row->action, .of = change->of, .fields = fields};
    if (http->show_error) http->show_error = change_show_fault;
    sr_error_t *error = row->make(change);
    /* what the form changes has gone meanwhile, such as a signer who was replaced: the page shows what there is */
    const bool gone = error && error->code == SR_ENOTFOUND && row->of;
    if (error && !gone) return error;
    const char *path = apr_pstrcat(http->pool, "requests/", submission, NULL);
    return sr_desk_done(change->desk, row->make == change_delete ? "" : path, gone ? NULL : row->done);
}

sr_error_t *sr_desk_change(sr_http_t *http)
{
    change_t *change = apr_pcalloc(http->pool, sizeof *change);
    sr_signing_t *signing;
    const char *uuid;
    change->pool = http->pool;
    SR_TRY(sr_desk_enter(&change->desk, http));
    change->desk->change = change;
    SR_TRY(sr_web_uuid(&uuid, http, 1));
    change->caller = sr_desk_caller(change->desk, uuid);
    SR_TRY(sr_service_request(http->service, &signing, change->desk->token_hash, uuid, http->pool));
    change->signing = signing;
    const sr_query_param_t fields[] = {{"action", &change->action},         {"of", &change->of},
                                       {"reason", &change->reason},         {"expiresAt", &change->expires_at},
                                       {"firstname", &change->firstname},   {"lastname", &change->lastname},
                                       {"email", &change->email},           {"locale", &change->locale},
                                       {"authentication", &change->secret}, {NULL, NULL}};
    return change_make(change, apr_pmemdup(http->pool, fields, sizeof fields));
}

sr_error_t *sr_desk_delete(sr_http_t *http)
{
    sr_desk_t *desk;
    sr_desk_request_t request = {.pool = http->pool};
    const char *uuid;
    SR_TRY(sr_desk_enter(&desk, http));
    SR_TRY(sr_web_uuid(&uuid, http, 1));
    SR_TRY(sr_service_request(http->service, &request.signing, desk->token_hash, uuid, http->pool));
    request.desk = desk;
    json_t *values = json_object();
    sr_desk_request_set(values, "title", sr_desk_word(desk, "request.delete.title"));
    sr_desk_request_set(values, "name", request.signing->submission.name);
    sr_desk_request_set(values, "here", apr_pstrcat(http->pool, desk->way, "requests/", uuid, NULL));
    sr_desk_add_form(&request, values, "delete", NULL);
    return sr_desk_page(desk, HTTP_OK, "desk_delete", values);
}
