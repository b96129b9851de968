/* SPDX-License-Identifier: Apache-2.0 */
/* desk.h: <location>/desk, the pages for senders (SigreqDesk). httpd authenticates the user, who has no password and no
 * session here. Every use case is called with the hash of a token of the user (service/desk_users.h), so each statement
 * is limited to their scope, and a user who was disabled is out at once. All pages work without a script: a change is a
 * POST of a form, which is followed by a redirection (303).
 *
 * Sections: enter.c (user and scope) · frame.c (what every page has) · form_token.c (forms) · list.c (the list of
 * requests) · remind.c · new.c (a new request) · placing.c · templates.c · request_page.c (one request; its parts
 * are in request_page.h) · change.c (its forms) · request_files.c (its pages and downloads) · routes.c
 *
 * The HTML is in web/assets/html/desk_*.html. The texts are those of the section "desk" of a catalogue, then those of
 * "page". */
#ifndef SR_DESK_DESK_H
#define SR_DESK_DESK_H

#include "http/http.h"
#include "service/service.h"
#include "web/web.h"

extern const sr_route_t sr_desk_routes[]; /* paths below <location>/desk */

/* Sets the headers of every response, and makes errors HTML pages for clients that do not ask for JSON. */
void sr_desk_begin(sr_http_t *http);

/* The user of a request, in the scope that the path names. */
typedef struct sr_desk_t {
    sr_http_t *http;
    const char *user;                 /* as httpd has authenticated them (SigreqDeskUser) */
    const apr_array_header_t *scopes; /* sr_desk_scope_t: all of the user */
    const char *scope;                /* "<organization uuid>.<environment>", the first segment of the path */
    const char *token_hash;           /* for use cases */
    const sr_token_t *caller;         /* the user, organisation and environment, for use cases */
    const char *way;                  /* the relative URL from the requested URL to <location>/desk/<scope>/ */
    bool read_only;
    json_t *texts;                   /* the catalogue (sr_desk_word); NULL until it is used */
    struct sr_desk_change_t *change; /* the form that was sent (change.c), or NULL */
} sr_desk_t;

/* ------------------------------------------------------------------------------------------------ enter.c */
/* Called first by every handler. Errors: SR_EINTERNAL if httpd has authenticated nobody; SR_EFORBIDDEN if there is no
 * such user, or if a form is sent to a desk that is read-only; SR_ENOTFOUND if the user does not have this scope. */
sr_error_t *sr_desk_enter(sr_desk_t **desk, sr_http_t *http);
/* Errors: SR_EFORBIDDEN if this desk is read-only. */
sr_error_t *sr_desk_may_write(const sr_desk_t *desk);
/* Returns the desk that this request has entered, or NULL. */
sr_desk_t *sr_desk_entered(sr_http_t *http);
/* Returns the caller of a transition of a submission. */
sr_caller_t sr_desk_caller(const sr_desk_t *desk, const char *submission);
/* <location>/desk/ leads to the first scope of the user, and a scope without a slash to the one with it. */
sr_error_t *sr_desk_root(sr_http_t *http);

/* ------------------------------------------------------------------------------------------------ frame.c */
/* Sends a page: the template assets/html/<template>.html in the frame of the desk. `values` are released with the
 * request's pool. The frame adds values that every template may use: desk.user, desk.organization, desk.way (see
 * sr_desk_t), desk.write (null on a desk that is read-only), desk.test, desk.done (the text of sr_desk_done), query
 * ("?lang=de" or "", which every link repeats), lang ("de" or null, for hidden fields of forms with GET) and those of
 * sr_web_reply. values.title is the title of the page. values.module, if it is given, names a script
 * (web/assets/js), such as "desk.js". */
sr_error_t *sr_desk_page(sr_desk_t *desk, int status, const char *template, json_t *values);
/* Sends an error as a page (sr_http_t.show_error). */
sr_error_t *sr_desk_error(sr_http_t *http, int status, const char *message);
/* Returns a text of the section "desk" in the language of the request, or "". */
const char *sr_desk_word(sr_desk_t *desk, const char *key);
/* Returns the date of a time in JSON in the form of the language, in the time zone of this server, or NULL. */
const char *sr_desk_date(sr_desk_t *desk, const char *time);

/* ------------------------------------------------------------------------------------------- form_token.c */
/* Returns the value of the hidden field "token" of a form. `form` names the form and what it changes, such as
 * "remind <uuid>". The token is bound to the user, the scope and the form, and is valid for 12 hours. */
const char *sr_desk_form_token(const sr_desk_t *desk, const char *form);
/* Errors: SR_EFORBIDDEN if the token is not one of this user and form, if it has expired, or if a page of another site
 * made the request. */
sr_error_t *sr_desk_form_check(sr_desk_t *desk, const char *form, const char *token);
/* Reads a form (application/x-www-form-urlencoded) into the fields of a table that ends with a NULL name, and checks
 * its token. Errors: SR_EBADREQUEST if a field is unknown or repeated, and those of sr_desk_form_check. */
sr_error_t *sr_desk_form_read(sr_desk_t *desk, const char *form, const sr_query_param_t *fields);
/* Reads it and leaves the check of its token to the caller. *token is NULL if there is none. */
sr_error_t *sr_desk_form_fields(sr_desk_t *desk, const char **token, const sr_query_param_t *fields);
/* Redirects (303) to a path below the scope, such as "requests/<uuid>". The page there shows the text "done.<done>" of
 * the section "desk". `done` may be NULL. */
sr_error_t *sr_desk_done(sr_desk_t *desk, const char *path, const char *done);

/* ---------------------------------------------------------------------------------------------- handlers */
sr_error_t *sr_desk_list(sr_http_t *http);
sr_error_t *sr_desk_remind(sr_http_t *http);
sr_error_t *sr_desk_new(sr_http_t *http);
sr_error_t *sr_desk_new_post(sr_http_t *http);
sr_error_t *sr_desk_place(sr_http_t *http);
sr_error_t *sr_desk_templates(sr_http_t *http);
sr_error_t *sr_desk_template_delete(sr_http_t *http);
/* Redirects (303) to the placement page of a draft, by its link or, if that has ended, by a new one. The page leads
 * back to the desk. If it was sent, redirects to the page of the request. Errors: SR_ENOTFOUND. */
sr_error_t *sr_desk_place_fields(sr_desk_t *desk, const char *uuid);
sr_error_t *sr_desk_request(sr_http_t *http);
sr_error_t *sr_desk_change(sr_http_t *http);
sr_error_t *sr_desk_delete(sr_http_t *http);
sr_error_t *sr_desk_image(sr_http_t *http);
sr_error_t *sr_desk_document(sr_http_t *http);
sr_error_t *sr_desk_certificate(sr_http_t *http);
sr_error_t *sr_desk_archive(sr_http_t *http);
sr_error_t *sr_desk_audit(sr_http_t *http);
/* Returns true if a signer of a representation has not signed yet, and can be reminded by mail. */
bool sr_desk_is_due(const json_t *signer);

#endif
