/* SPDX-License-Identifier: Apache-2.0 */
/* request_page.h: the parts of the page of one request. Part of desk.h.
 *
 * Sections: request_page.c (the page) · request_values.c · request_forms.c · participants.c (signers, viewers, copies)
 * · timeline.c (events, mails, calls) */
#ifndef SR_DESK_REQUEST_PAGE_H
#define SR_DESK_REQUEST_PAGE_H

#include "desk/desk.h"

/* A form of the page that was not accepted. */
typedef struct sr_desk_tried_t {
    const char *action, *of;        /* the action, and the uuid of what it changes, or NULL */
    const char *message;            /* the fault */
    const sr_query_param_t *fields; /* what was entered */
    bool shown;                     /* the page shows the fault at its form */
} sr_desk_tried_t;

/* A request that is shown. */
typedef struct sr_desk_request_t {
    sr_desk_t *desk;
    sr_signing_t *signing;
    const json_t *events;   /* the audit trail, an array */
    sr_desk_tried_t *tried; /* or NULL */
    apr_pool_t *pool;
} sr_desk_request_t;

/* Sends the page. Errors: SR_ENOTFOUND, SR_EGONE if it was deleted. */
sr_error_t *sr_desk_request_show(sr_desk_t *desk, const char *uuid, int status, sr_desk_tried_t *tried);
/* Returns the word "<group>.<name>" of the section "desk", or else one that other pages or parts have: "new.…",
 * "signer.<name>" or "state.<name>". NULL: there is none. */
const char *sr_desk_request_word(const sr_desk_request_t *request, const char *group, const char *name);
/* Sets a member to a time, {"at","moment"}, or to null if it is 0. */
void sr_desk_request_set_time(const sr_desk_request_t *request, json_t *object, const char *key, apr_time_t when);
/* Sets a member to a text or null. */
void sr_desk_request_set(json_t *object, const char *key, const char *text);

/* request_files.c: the ZIP and the list of events have the uuids of signers, which are the secrets of their links.
 * Returns false if a desk that is read-only must not show them, because somebody can still sign. */
bool sr_desk_may_download_all(const sr_desk_t *desk, const sr_submission_t *submission);
/* Add the signers, viewers and recipients of copies; the events; the mails and webhook calls. */
void sr_desk_add_participants(const sr_desk_request_t *request, json_t *values);
void sr_desk_add_events(const sr_desk_request_t *request, json_t *values);
sr_error_t *sr_desk_add_calls(const sr_desk_request_t *request, json_t *values);
/* Sets *event to the uuid of the event of a call, or to NULL if this is not the newest call of the event. */
sr_error_t *sr_desk_call_event(const char **event, const sr_desk_t *desk, const char *submission, const char *call);

/* Returns the name of a signer or viewer, also of a signer who was replaced, or NULL. */
const char *sr_desk_event_name(const sr_desk_request_t *request, const char *uuid);

/* Sets the member "form_<action>" to what a form needs: {"token","of","open","error", and what was entered}. A desk
 * that is read-only has no forms: null. Returns the form or NULL. */
json_t *sr_desk_add_form(const sr_desk_request_t *request, json_t *object, const char *action, const char *of);
/* Returns the name of a form for its token. `of`: the uuid of what it changes, or NULL. */
const char *sr_desk_request_form_name(const char *action, const char *submission, const char *of, apr_pool_t *pool);
/* Returns the deadline that a form has in the time zone of this server, as browsers send it ("2026-12-01T10:00"), with
 * its zone. A text that is no local time stays as it is. */
const char *sr_desk_deadline(const char *text, apr_pool_t *pool);
/* Adds the forms of the request itself. */
void sr_desk_add_forms(const sr_desk_request_t *request, json_t *values);

#endif
