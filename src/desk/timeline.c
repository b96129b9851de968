/* SPDX-License-Identifier: Apache-2.0 */
/* timeline.c: what has happened to a request: the events of its audit trail in words, and the mails and webhook calls
 * with their results. */
#include <string.h>

#include "desk/request_page.h"

#define EVENTS_MAX 200 /* the newest; the file with all events has the others */
#define CALLS_MAX 100
#define MAILTO "mailto:"

/* --- events */

/* Returns the name of a signer in an event: in its list of signers, or as the one who replaces another. */
static const char *event_person(const json_t *event, const char *uuid, apr_pool_t *pool)
{
    const json_t *detail = json_object_get(event, "detail"), *signers = json_object_get(detail, "signers"), *one;
    const char *replacing = sr_json_string(detail, "signer");
    size_t i;
    if (replacing && !strcmp(replacing, uuid))
        return sr_person_name(sr_json_string(detail, "firstname"), sr_json_string(detail, "lastname"), pool);
    json_array_foreach (signers, i, one) {
        const char *its = sr_json_string(one, "uuid");
        if (its && !strcmp(its, uuid))
            return sr_person_name(sr_json_string(one, "firstname"), sr_json_string(one, "lastname"), pool);
    }
    return NULL;
}

const char *sr_desk_event_name(const sr_desk_request_t *request, const char *uuid)
{
    const sr_viewer_t *viewer = sr_submission_viewer(&request->signing->submission, uuid);
    const char *name = NULL;
    for (size_t i = 0; !viewer && !name && i < json_array_size(request->events); i++)
        name = event_person(json_array_get(request->events, i), uuid, request->pool);
    if (!viewer) return name;
    name = sr_person_name(viewer->firstname, viewer->lastname, request->pool);
    return *name ? name : viewer->email;
}

/* Returns the uuid of the person whom an event concerns, or NULL. */
static const char *event_concerns(const json_t *event)
{
    const json_t *detail = json_object_get(event, "detail");
    const char *viewer = sr_json_string(detail, "viewer"), *signer = sr_json_string(event, "signer");
    return signer ? signer : viewer ? viewer : sr_json_string(detail, "signer");
}

static bool event_is(const char *kind, const char *const *kinds)
{
    while (*kinds && strcmp(*kinds, kind) != 0) kinds++;
    return *kinds != NULL;
}

/* Returns who has caused an event, if it was neither the signer whom it concerns nor the service. */
static const char *event_by(const sr_desk_request_t *request, const json_t *event, const char *kind)
{
    static const char *const of_sender[] = {"created",  "drafted",  "cancelled", "extended",
                                            "replaced", "reminded", "copied",    "authenticationChanged",
                                            "unlocked", "admitted", "revoked",   NULL};
    const json_t *detail = json_object_get(event, "detail");
    const char *by = sr_json_string(detail, "by");
    const sr_person_t *sender = &request->signing->submission.created_by;
    if (by) return strcmp(by, "administrator") ? NULL : sr_desk_word(request->desk, "request.administrator");
    if (json_is_true(json_object_get(detail, "automatic"))) return sr_desk_word(request->desk, "request.automatic");
    return event_is(kind, of_sender) ? sr_person_name(sender->firstname, sender->lastname, request->pool) : NULL;
}

static json_t *event_row(const sr_desk_request_t *request, const json_t *event)
{
    const json_t *detail = json_object_get(event, "detail");
    const char *kind = sr_json_string(event, "event"), *concerns = event_concerns(event);
    const char *at = sr_json_string(event, "at"), *deadline = sr_json_string(detail, "expiresAt");
    const char *method = sr_json_string(detail, "method"), *replaced = sr_json_string(detail, "replaces");
    apr_time_t when = 0, until = 0;
    json_t *row = json_object();
    if (at) sr_time_parse(&when, at);
    if (deadline) sr_time_parse(&until, deadline);
    const char *word = kind ? sr_desk_request_word(request, "event", kind) : NULL;
    sr_desk_request_set(row, "kind", kind);
    sr_desk_request_set(row, "what", word ? word : kind);
    sr_desk_request_set(row, "name", concerns ? sr_desk_event_name(request, concerns) : NULL);
    sr_desk_request_set(row, "by", kind ? event_by(request, event, kind) : NULL);
    sr_desk_request_set(row, "reason", sr_json_string(detail, "reason"));
    sr_desk_request_set(row, "replaced", replaced ? sr_desk_event_name(request, replaced) : NULL);
    sr_desk_request_set(row, "method", method ? sr_desk_request_word(request, "check", method) : NULL);
    sr_desk_request_set(row, "ip", sr_json_string(event, "ip"));
    sr_desk_request_set_time(request, row, "time", when);
    sr_desk_request_set_time(request, row, "until", until);
    return row;
}

void sr_desk_add_events(const sr_desk_request_t *request, json_t *values)
{
    const size_t count = json_array_size(request->events), last = count > EVENTS_MAX ? count - EVENTS_MAX : 0;
    json_t *rows = json_array();
    for (size_t i = count; i-- > last;)
        json_array_append_new(rows, event_row(request, json_array_get(request->events, i)));
    json_object_set_new(values, "events", rows);
}

/* --- mails and webhook calls */

/* Reads the newest calls, newest first. Each gets the member "newest" if no later one has the same event. */
static sr_error_t *calls_read(json_t **calls, const sr_desk_t *desk, const char *submission)
{
    apr_pool_t *pool = desk->http->pool;
    const sr_list_query_t query = {.limit = CALLS_MAX};
    const sr_history_filter_t filter = {.submission = submission};
    sr_list_result_t page;
    json_t *call, *seen = sr_json_own(json_object(), pool);
    *calls = sr_json_own(json_array(), pool);
    SR_TRY(sr_service_history(desk->http->service, &page, desk->token_hash, &query, &filter, pool));
    for (int i = 0; i < page.bodies->nelts; i++) {
        SR_TRY(sr_json_read(&call, APR_ARRAY_IDX(page.bodies, i, const char *), pool));
        const char *event = sr_json_string(call, "eventId");
        json_object_set_new(call, "newest", json_boolean(!json_object_get(seen, event)));
        json_object_set_new(seen, event, json_true());
        json_array_append(*calls, call);
    }
    return NULL;
}

sr_error_t *sr_desk_call_event(const char **event, const sr_desk_t *desk, const char *submission, const char *call)
{
    json_t *calls, *one;
    size_t i;
    *event = NULL;
    SR_TRY(calls_read(&calls, desk, submission));
    json_array_foreach (calls, i, one)
        if (!strcmp(sr_json_string(one, "uuid"), call) && json_is_true(json_object_get(one, "newest")))
            *event = sr_json_string(one, "eventId");
    return NULL;
}

static json_t *call_row(const sr_desk_request_t *request, const json_t *call)
{
    const char *url = sr_json_string(call, "url"), *created = sr_json_string(call, "createdAt");
    const json_t *success = json_object_get(call, "success");
    const bool mail = !strncmp(url, MAILTO, strlen(MAILTO));
    const char *state = json_is_null(success) ? "running" : json_is_true(success) ? "delivered" : "failed";
    apr_time_t when = 0;
    json_t *row = json_object();
    if (created) sr_time_parse(&when, created);
    const char *word = sr_desk_request_word(request, mail ? "mail" : "event", sr_json_string(call, "event"));
    sr_desk_request_set(row, "what", mail ? word : apr_pstrcat(request->pool, "Webhook: ", word, NULL));
    sr_desk_request_set(row, "to", mail ? url + strlen(MAILTO) : url);
    sr_desk_request_set(row, "result", state);
    sr_desk_request_set(row, "resultText", sr_desk_request_word(request, "result", state));
    sr_desk_request_set(row, "fault", sr_json_string(call, "error"));
    sr_desk_request_set_time(request, row, "time", when);
    if (json_is_true(json_object_get(call, "newest")) && !json_is_null(success))
        sr_desk_add_form(request, row, "again", sr_json_string(call, "uuid"));
    return row;
}

sr_error_t *sr_desk_add_calls(const sr_desk_request_t *request, json_t *values)
{
    json_t *rows = json_array(), *calls, *call;
    size_t i;
    json_object_set_new(values, "calls", rows);
    SR_TRY(calls_read(&calls, request->desk, request->signing->submission.uuid));
    json_array_foreach (calls, i, call) json_array_append_new(rows, call_row(request, call));
    return NULL;
}
