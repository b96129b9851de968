/* SPDX-License-Identifier: Apache-2.0 */
/* page.h: <location>/sign: what signers see and do; and <location>/verify (verify.c), where anybody checks a PDF.
 * routes.c is the table; link.c the page itself, action.c what is sent to it, document.c what is downloaded from it,
 * pages.c what is seen on it, assets.c and theme.c what browsers load for it. The uuid in the path identifies the
 * signer: there is no token here.
 *
 * How a page is made: html.c puts the values together, texts.c the words, theme.c what the administrator changed;
 * base/template.c fills them into the pieces of HTML that files.c has.
 */
#ifndef SR_WEB_H
#define SR_WEB_H

#include "http/http.h"
#include "service/service.h"

extern const sr_route_t sr_web_routes[];        /* below <location>/sign */
extern const sr_route_t sr_web_verify_routes[]; /* below <location>/verify */

/* What handlers need (sr_http_t.context): the service, and what directives say of the page. */
typedef struct sr_web_t {
    const sr_service_t *service;
    const char *theme;           /* a folder, or "" */
    const char *frame_ancestors; /* as in a Content-Security-Policy, or "" */
    apr_off_t max_file_size, max_request_size;
    const char *privacy_url, *help_url; /* links on every page, or "" */
} sr_web_t;
static inline const sr_web_t *sr_web_of(const sr_http_t *http)
{
    return http->context;
}

/* What every answer below /sign begins with: its headers, and errors that are pages, for who does not want JSON. */
void sr_web_begin(sr_http_t *http);
/* The same below /verify. */
void sr_web_verify_begin(sr_http_t *http);
/* The handlers. */
sr_error_t *sr_web_get(sr_http_t *http);
sr_error_t *sr_web_post(sr_http_t *http);
sr_error_t *sr_web_preview(sr_http_t *http);
sr_error_t *sr_web_document(sr_http_t *http);
sr_error_t *sr_web_certificate(sr_http_t *http);
sr_error_t *sr_web_image(sr_http_t *http);
sr_error_t *sr_web_png(sr_http_t *http);
sr_error_t *sr_web_text(sr_http_t *http);
sr_error_t *sr_web_asset(sr_http_t *http);
sr_error_t *sr_web_theme_file(sr_http_t *http);
sr_error_t *sr_web_verify_get(sr_http_t *http);
sr_error_t *sr_web_verify_post(sr_http_t *http);

/* Who may put the page into a frame, as in a Content-Security-Policy. */
const char *sr_web_ancestors(sr_http_t *http);
/* A path parameter that must be a uuid; anything else is not found. */
sr_error_t *sr_web_uuid(const char **uuid, sr_http_t *http, int param);
/* The absolute URL of a link. */
const char *sr_web_link(sr_http_t *http, const char *signer);

/* ----------------------------------------------------------------------------------------------- action.c
 * What a signer sends: JSON, a form, or a form with a file.
 */
typedef struct sr_web_action_t {
    sr_action_t action;
    const sr_consent_t *consent;          /* of SR_ACTION_SIGN */
    sr_signature_t signature;             /* the same */
    const char *reason;                   /* of SR_ACTION_REFUSE, or NULL */
    const json_t *time_zone, *utc_offset; /* what the browser says, or NULL */
} sr_web_action_t;
/* Whether the client wants JSON: it sends JSON, or a file and likes JSON better. */
bool sr_web_answers_json(sr_http_t *http);
sr_error_t *sr_web_read_action(sr_web_action_t *action, sr_http_t *http);
/* A signature alone: {"signature":{…}}, or a form with it; and the time zone and the text to agree to, whose language
 * that of a caption may be. */
sr_error_t *sr_web_read_signature(sr_web_action_t *action, sr_http_t *http);

/* ------------------------------------------------------------------------------------------------ theme.c */
typedef struct sr_web_theme_t {
    const json_t *settings;   /* theme.json, or NULL */
    const char *style, *logo; /* URLs below <location>/sign/, or NULL */
} sr_web_theme_t;
void sr_web_theme(sr_web_theme_t *theme, sr_http_t *http);

/* ------------------------------------------------------------------------------------------------- html.c */
/* The page of a state (sr_signing_representation, which is changed by it). */
sr_error_t *sr_web_show(sr_http_t *http, json_t *view, const char *signer);
/* The body of an error as a page, for who does not want JSON (sr_http_t.show_error). */
sr_error_t *sr_web_error(sr_http_t *http, int status, const char *message);
/* A page of these values and texts, and of what is on every page. */
sr_error_t *sr_web_reply(sr_http_t *http, int status, json_t *values, const sr_web_theme_t *theme, const json_t *texts);

/* ------------------------------------------------------------------------------------------------ texts.c */
/* The language of the answer: what the query asks for (?lang=), else the signer's locale, else what the client likes
 * best of those there are. */
const sr_language_t *sr_web_language(sr_http_t *http);
/* Reads the query; and takes the locale of a signer. */
void sr_web_ask_language(sr_http_t *http);
void sr_web_use_locale(sr_http_t *http, const sr_signing_t *signing);
/* "?lang=de", where the query has asked: the page's own links and forms carry it along. */
const char *sr_web_language_query(sr_http_t *http);
/* Its catalogue: {"dir", "page": texts of the HTML, "script": those of the script}; the pool's. */
sr_error_t *sr_web_texts(json_t **texts, sr_http_t *http, const sr_web_theme_t *theme);
/* One text of the HTML's, as it is. */
const char *sr_web_word(const json_t *texts, const char *key);

/* ------------------------------------------------------------------------------------------------ files.c */
/* By the name with the hash; NULL: not there. */
const sr_embedded_t *sr_web_asset_file(const char *file);
/* By the name without, as a URL below <location>/sign/. */
const char *sr_web_asset_url(const char *name, apr_pool_t *pool);
const char *sr_web_piece(const char *name, apr_pool_t *pool);

#endif
