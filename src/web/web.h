/* SPDX-License-Identifier: Apache-2.0 */
/* web.h: the pages for people. <location>/sign is the signing page, <location>/view is the page of viewers (view.c),
 * <location>/place is the page on which the fields of a draft are placed (place.c), <location>/verify is the page on
 * which anybody can check a PDF (verify.c), and <location>/ is the front page (front.c). The desk (src/desk) uses its
 * parts. routes.c has the route table. link.c serves the signing page, links.c has what its parts share,
 * identity_page.c and login_page.c ask who they are, action.c reads what signers send, download.c serves downloads,
 * pages.c serves images and text of the document's pages, user.c tells who has signed in at httpd, and assets.c and
 * theme.c serve files that browsers load. The uuid in the path identifies the signer, so there is no token. plain.c
 * has the fields of the form that works without a script.
 *
 * How an HTML page is made: html.c collects the values, texts.c the texts in the right language, and theme.c the
 * administrator's changes. base/template.c fills them into the HTML templates that files.c holds. */
#ifndef SR_WEB_WEB_H
#define SR_WEB_WEB_H

#include "http/http.h"
#include "service/service.h"

/* In the query of a placement link: the page leads back to the desk of the request's scope. */
#define SR_WEB_FROM_DESK "from=desk"

extern const sr_route_t sr_web_routes[];        /* paths below <location>/sign */
extern const sr_route_t sr_web_view_routes[];   /* paths below <location>/view */
extern const sr_route_t sr_web_place_routes[];  /* paths below <location>/place */
extern const sr_route_t sr_web_verify_routes[]; /* paths below <location>/verify */
extern const sr_route_t sr_web_front_routes[];  /* <location>/ alone */

/* Sets the headers of every response below /sign, and makes errors HTML pages for clients that do not ask for JSON. */
void sr_web_begin(sr_http_t *http);
/* Do the same below /view, /place and /verify, and for the front page. */
void sr_web_view_begin(sr_http_t *http);
void sr_web_place_begin(sr_http_t *http);
void sr_web_verify_begin(sr_http_t *http);
void sr_web_front_begin(sr_http_t *http);
/* The handlers. */
sr_error_t *sr_web_get(sr_http_t *http);
sr_error_t *sr_web_get_followed(sr_http_t *http);
sr_error_t *sr_web_view_get(sr_http_t *http);
sr_error_t *sr_web_place_get(sr_http_t *http);
sr_error_t *sr_web_place_fields(sr_http_t *http);
sr_error_t *sr_web_place_send(sr_http_t *http);
sr_error_t *sr_web_place_forms(sr_http_t *http);
sr_error_t *sr_web_post(sr_http_t *http);
sr_error_t *sr_web_preview(sr_http_t *http);
sr_error_t *sr_web_check_get(sr_http_t *http);
sr_error_t *sr_web_check_post(sr_http_t *http);
sr_error_t *sr_web_visit(sr_http_t *http);
sr_error_t *sr_web_login_begin(sr_http_t *http);
sr_error_t *sr_web_login(sr_http_t *http);
sr_error_t *sr_web_code_post(sr_http_t *http);
sr_error_t *sr_web_document(sr_http_t *http);
sr_error_t *sr_web_certificate(sr_http_t *http);
sr_error_t *sr_web_archive(sr_http_t *http);
sr_error_t *sr_web_qr(sr_http_t *http);
sr_error_t *sr_web_image(sr_http_t *http);
sr_error_t *sr_web_png(sr_http_t *http);
sr_error_t *sr_web_text(sr_http_t *http);
sr_error_t *sr_web_asset(sr_http_t *http);
sr_error_t *sr_web_embed(sr_http_t *http);
sr_error_t *sr_web_theme_file(sr_http_t *http);
sr_error_t *sr_web_verify_get(sr_http_t *http);
sr_error_t *sr_web_verify_post(sr_http_t *http);
sr_error_t *sr_web_front(sr_http_t *http);

/* pages.c: sends the image of a page. `show` names a caller and their submission, or nothing: then the path names a
 * link. The path parameter with the number `param` names the document, the next one the page. */
sr_error_t *sr_web_show_image(sr_http_t *http, sr_show_t *show, int param);
/* download.c */
sr_error_t *sr_web_send_pdf(sr_http_t *http, const sr_download_t *download);
/* Sets *user to the value of an expression (a directive's) for a login by httpd at <location><path>, and *by to the
 * AuthType, or to "certificate" if the client has shown one. A certificate that nobody has verified (SSLVerifyClient
 * optional_no_ca) gives no user. Errors: SR_EINTERNAL if nobody has signed in, because then httpd should not have let
 * the request pass. */
sr_error_t *sr_web_user(const char **user, const char **by, sr_http_t *http, const void *expression,
                        const char *directive, const char *path);
/* Returns true if a module of httpd has found out who the client is, or has verified their certificate. */
bool sr_web_is_authenticated(const sr_http_t *http);
/* Returns the sources of frame-ancestors in the Content-Security-Policy. */
const char *sr_web_ancestors(sr_http_t *http);
/* Sets *uuid to a path parameter. Errors: SR_ENOTFOUND if it is not a uuid. */
sr_error_t *sr_web_uuid(const char **uuid, sr_http_t *http, int param);
/* Returns the client for the evidence. */
sr_client_t sr_web_client(sr_http_t *http);
/* Returns true for HEAD, prefetching and robots: no person has come. A program that asks for JSON is no preview. */
bool sr_web_only_looks(sr_http_t *http, bool json);
/* Errors: SR_EFORBIDDEN if a request comes from a page of another site. */
sr_error_t *sr_web_refuse_foreign(sr_http_t *http);
/* Shows the page of the check (identity_page.c) instead of SR_EUNCHECKED. Programs, and all other errors: the error. */
sr_error_t *sr_web_unchecked(sr_http_t *http, sr_error_t *error);
/* Returns what follows "/sign/" in a link: the uuid, with the session of the request if there is one. */
const char *sr_web_name(sr_http_t *http, const char *signer);
/* The same with another session. */
const char *sr_web_name_in(sr_http_t *http, const char *signer, const char *session);
/* Returns the absolute URL of the link of a signer, or below /view of a viewer, or below /place. */
const char *sr_web_link(sr_http_t *http, const char *signer);

/* ----------------------------------------------------------------------------------------------- action.c
 * The request that a signer sends: JSON, a form, or a form with a file.
 */
typedef struct sr_web_action_t {
    sr_action_t action;
    const sr_consent_t *consent;          /* of SR_ACTION_SIGN: the text that was accepted */
    const char *terms_url;                /* of SR_ACTION_SIGN: the page that was linked beside it, or "" */
    sr_signature_t signature;             /* of SR_ACTION_SIGN */
    json_t *values;                       /* of SR_ACTION_SIGN: numbers of fields to values of any type, or NULL */
    sr_signature_t *initials;             /* of SR_ACTION_SIGN, or NULL */
    const char *reason;                   /* of SR_ACTION_REFUSE, or NULL */
    const json_t *time_zone, *utc_offset; /* the browser's time zone, or NULL */
} sr_web_action_t;
/* Returns true if the client wants JSON: it sends JSON, or it sends a file and its Accept header prefers JSON. */
bool sr_web_answers_json(sr_http_t *http);
/* Reads an action. Its values are not checked. */
sr_error_t *sr_web_read_action(sr_web_action_t *action, sr_http_t *http, const sr_signing_t *signing);
/* Reads what is to be previewed: {"values":{…}}, {"signature":{…}}, or a form with a signature. Also reads the time
 * zone and the version of the accepted text, whose language a caption may use. */
sr_error_t *sr_web_read_preview(sr_web_action_t *action, sr_http_t *http, const sr_signing_t *signing);

/* ------------------------------------------------------------------------------------------------ theme.c */
typedef struct sr_web_theme_t {
    const json_t *settings;   /* the content of theme.json, or NULL */
    const char *style, *logo; /* URLs relative to <location>/sign/, or NULL */
} sr_web_theme_t;
void sr_web_theme(sr_web_theme_t *theme, sr_http_t *http);

/* ------------------------------------------------------------------------------------------------ plain.c */
/* What a form contained whose values were not accepted. */
typedef struct sr_web_entered_t {
    const json_t *values; /* numbers of fields to texts, true or false; or NULL */
    const json_t *faults; /* [{"number","code"},…] */
    const char *typed;    /* the name, or NULL */
    bool refuses;         /* the form was one to refuse, without the reason that it needs */
} sr_web_entered_t;
/* Adds the fields of the form without a script to the values of a page. `entered` is NULL for a new form. */
void sr_web_add_entries(json_t *view, const sr_web_entered_t *entered, const json_t *texts, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ words.c */
/* Adds what the sender has written and lets the signer do. `entered` as in sr_web_add_entries. */
void sr_web_add_words(json_t *view, const sr_web_entered_t *entered, const json_t *texts, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------- html.c */
/* Sends the page for a representation (sr_signing_representation, sr_viewing_representation), which the function
 * changes. `link` is the last part of the link. `entered` is NULL, or what is shown again with status 400. */
sr_error_t *sr_web_show(sr_http_t *http, json_t *view, const char *link, const sr_web_entered_t *entered);
/* Adds the values of outcome.html: `state` is the name of a state in which the signer cannot sign. */
void sr_web_add_closing(json_t *values, const char *state);
/* Returns the relative URL from the requested URL to <location>/sign/. */
const char *sr_web_way_up(sr_http_t *http);
/* Sends an error as an HTML page (sr_http_t.show_error). */
sr_error_t *sr_web_error(sr_http_t *http, int status, const char *message);
/* Sends a page with these values and texts, and with the values that every page has. */
sr_error_t *sr_web_reply(sr_http_t *http, int status, json_t *values, const sr_web_theme_t *theme, const json_t *texts);
/* What a page is made of. */
typedef struct sr_web_frame_t {
    const char *html;      /* the template */
    const char *ancestors; /* the sources of frame-ancestors */
} sr_web_frame_t;
/* The same with another frame than that of the signing page. */
sr_error_t *sr_web_reply_in(sr_http_t *http, int status, json_t *values, const sr_web_theme_t *theme,
                            const json_t *texts, const sr_web_frame_t *frame);

/* ------------------------------------------------------------------------------------------------ texts.c */
/* Returns the language of the response: the one in the query (?lang=), else the signer's locale, else the best
 * language of the Accept-Language header. */
const sr_language_t *sr_web_language(sr_http_t *http);
/* sr_web_ask_language reads the language from the query. sr_web_use_locale takes it from the signer's locale. */
void sr_web_ask_language(sr_http_t *http);
void sr_web_use_locale(sr_http_t *http, const sr_signing_t *signing);
/* Returns "?lang=de" if the query has a language, else "". The page's own links and forms repeat it. */
const char *sr_web_language_query(sr_http_t *http);
/* Sets *texts to the catalogue of the language: {"dir", "page": texts of the HTML, "script": texts of the script}. It
 * is released with the request's pool. */
sr_error_t *sr_web_texts(json_t **texts, sr_http_t *http, const sr_web_theme_t *theme);
/* Returns one text of "page", without filling its placeholders. */
const char *sr_web_word(const json_t *texts, const char *key);

/* ------------------------------------------------------------------------------------------------ files.c */
/* Returns the file with this hashed name, or NULL if there is none. */
const sr_embedded_t *sr_web_asset_file(const char *file);
/* Returns the file with this name (without hash), or NULL. */
const sr_embedded_t *sr_web_asset_named(const char *name);
/* Returns the URL of the file with this name (without hash), relative to <location>/sign/. */
const char *sr_web_asset_url(const char *name, apr_pool_t *pool);
const char *sr_web_piece(const char *name, apr_pool_t *pool);

#endif
