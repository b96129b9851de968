/* SPDX-License-Identifier: Apache-2.0 */
/* http.h: HTTP alone. Knows no resource of the API: it is handed a table of routes and walks it.
 *
 * Sections: router.c · rate.c · reply.c · compress.c · views.c · body.c · file.c · bearer.c · agent.c · negotiate.c ·
 * multipart.c · query.c
 */
#ifndef SR_HTTP_H
#define SR_HTTP_H

#include <httpd.h>

#include "base/base.h"
#include "http/multipart.h"

#define SR_HTTP_PARAMS 4
#define SR_HTTP_JSON "application/json"

/* One request of ours. All of it lives in r->pool. */
typedef struct sr_http_t sr_http_t;
struct sr_http_t {
    request_rec *r;
    apr_pool_t *pool;
    const char *base_url;               /* of the location, without a slash at the end */
    const char *path;                   /* below the base of the routes: "/signatures/…" */
    const char *params[SR_HTTP_PARAMS]; /* what stood for each {…} of the route's path */
    const void *context;                /* of the handlers: what they need of the location */
    void *state;                        /* of the handlers: what they keep of this request */
    const char *folder;                 /* where files without a name can be made */
    const sr_rates_t *rates;
    bool secret_paths;              /* the first part of the path lets its holder in; else a bearer token */
    bool is_public;                 /* anybody is let in: neither a link nor a token is looked for */
    const struct sr_route_t *route; /* which one it was; NULL: none has this path and method */
    /* Writes the body of an error in place of JSON; NULL: JSON. */
    sr_error_t *(*show_error)(sr_http_t *http, int status, const char *message);
    bool body_read; /* to its end: the connection can serve another request */
    /* rate.c: what the client has to know to be let in, NULL if it named nothing; whether it was right before */
    const char *credential;
    apr_uint64_t credential_key;
    bool known;
};

/* ------------------------------------------------------------------------------------------------ router.c
 * Routes are a const table, ended by a row without a path. Several rows may share a path (one per method).
 * A path is literal but for {name} segments, whose text (never empty, percent-decoded by httpd) goes to params. What
 * stands behind the name, as in "{name}.png", the segment must end with.
 */
typedef sr_error_t *(*sr_http_handler_t)(sr_http_t *http);
typedef struct sr_route_t {
    int method; /* M_GET (serves HEAD too), M_POST, M_DELETE */
    const char *path;
    sr_http_handler_t handler;
    bool plain_errors; /* of 400 and 413: the message alone, as text/plain */
} sr_route_t;

/* Answers the request, errors included; http->route is then its row. */
void sr_http_dispatch(sr_http_t *http, const sr_route_t *routes);

/* -------------------------------------------------------------------------------------------------- rate.c */
/* Before a handler: SR_ETOOMANY if this token, link or address has asked too often, or failed too often. */
sr_error_t *sr_http_rate_begin(sr_http_t *http);
/* SR_ETOOMANY if this address has checked too many documents on the public page. Counts one more. */
sr_error_t *sr_http_rate_verify(sr_http_t *http);
/* After it: counts a wrong token or link. The error to answer with. */
sr_error_t *sr_http_rate_end(sr_http_t *http, sr_error_t *error);

/* ------------------------------------------------------------------------------------------------- reply.c */
/* A JSON value (its reference is taken over). */
sr_error_t *sr_http_json(sr_http_t *http, int status, json_t *value);
/* Stored JSON text in which each SR_BASE_URL_PLACEHOLDER becomes the base URL. */
sr_error_t *sr_http_view(sr_http_t *http, int status, const char *view);
/* JSON from a file, which lives as long as the request. */
sr_error_t *sr_http_file(sr_http_t *http, int status, apr_file_t *file, apr_off_t length);
/* views.c: 200 with such texts (const char *) joined. When this returns they are not needed any more. */
sr_error_t *sr_http_views(sr_http_t *http, const apr_array_header_t *views);
/* 204 */
sr_error_t *sr_http_empty(sr_http_t *http);
/* Bytes of a type, in memory that lives as long as the process or the request. */
sr_error_t *sr_http_bytes(sr_http_t *http, int status, const char *type, const char *data, apr_size_t length);
/* Content that never changes, in buckets or in one open file; with ETag, Range and If-None-Match. */
typedef struct sr_http_content_t {
    apr_bucket_brigade *brigade; /* without an end-of-stream bucket; or NULL */
    const char *type;
    const char *etag;          /* without quotes; NULL: for HEAD of what was not made, no length either */
    const char *name;          /* of a download, or NULL: to be shown */
    const char *cache_control; /* NULL: "private, no-cache" */
    apr_file_t *file;          /* or NULL; of the request's pool */
    apr_off_t size;            /* how much of it, from its beginning */
} sr_http_content_t;
sr_error_t *sr_http_content(sr_http_t *http, const sr_http_content_t *content);
/* A PDF file to be kept under a name, whose content has this SHA-256. */
sr_error_t *sr_http_pdf(sr_http_t *http, apr_bucket_brigade *brigade, const char *sha256, const char *name);
/* 303 to an absolute URL. */
sr_error_t *sr_http_see_other(sr_http_t *http, const char *url);
/* The answer for an error: the one place where a code becomes a status, a body and a log level. */
void sr_http_error(sr_http_t *http, const sr_error_t *error);

/* ---------------------------------------------------------------------------------------------- compress.c */
/* Whether an answer of this kind is to be compressed; says in Vary that this depends on the client. */
bool sr_http_wants_gzip(sr_http_t *http, int status, const char *type, apr_size_t length);
/* Compresses data, in memory of the request, and sets Content-Encoding. False: nothing is changed. */
bool sr_http_gzip(sr_http_t *http, const char **data, apr_size_t *length);

/* -------------------------------------------------------------------------------------------------- body.c */
typedef sr_error_t *(*sr_http_sink_t)(void *baton, const char *data, apr_size_t length);
/* Hands the request's body to `sink`, piece by piece; more than `limit` bytes is SR_ETOOLARGE. SR_EUNAVAILABLE if it
 * arrives slowly and too many others do. */
sr_error_t *sr_http_read(sr_http_t *http, apr_off_t limit, sr_http_sink_t sink, void *baton);
/* readers.c: takes a place among the threads that wait for slow bodies, or that give one a moment before it is refused;
 * false if no place is free. */
typedef enum sr_reader_t { SR_READER_WAITS, SR_READER_LINGERS } sr_reader_t;
bool sr_http_readers_enter(int *place, sr_reader_t what);
void sr_http_readers_leave(int place);
/* post_config: shared memory of so many bytes, zeros at first; child_init. */
apr_size_t sr_http_readers_size(void);
void sr_http_readers_use(void *block);
void sr_http_readers_child_init(void);
#define SR_HTTP_JSON_MAX 65536
#define SR_HTTP_JSON_VALUES 200
/* The JSON object of an application/json body of at most `limit` bytes and `max_values` values (sr_json_parse_bounded);
 * an absent body is an empty object. */
sr_error_t *sr_http_read_json(json_t **object, sr_http_t *http, apr_size_t limit, apr_size_t max_values);
/* A field of an application/x-www-form-urlencoded body. */
typedef struct sr_http_field_t {
    const char *name;
    const char **value; /* left alone when absent */
} sr_http_field_t;
/* Fills the values of a table ended by a NULL name; fields it does not name are left out. */
sr_error_t *sr_http_read_form(sr_http_t *http, const sr_http_field_t *fields);
/* Checks the media type of the body; *parameters (may be NULL) is what follows it. Errors: SR_EMEDIATYPE. */
sr_error_t *sr_http_expect_type(sr_http_t *http, const char *type, const char **parameters);

/* ------------------------------------------------------------------------------------------------- file.c
 * The one file of a request.
 */
typedef struct sr_http_file_sink_t {
    sr_error_t *(*begin)(void *baton, const char *name); /* when the file begins; `name` is NULL if it has no name */
    sr_http_sink_t data;                                 /* its bytes */
    void *baton;
    apr_off_t max_file, max_request;
} sr_http_file_sink_t;
/* Reads the part `file` of a form, or the body if it has this type (NULL: only forms). Errors: SR_EMEDIATYPE;
 * SR_ETOOLARGE; SR_EBADREQUEST for a malformed form, and "Exactly 1 file must be provided" for none, an empty one or
 * several. */
sr_error_t *sr_http_read_one_file(sr_http_t *http, const char *type, const sr_http_file_sink_t *sink);
/* Errors: SR_EBADREQUEST for a part in an encoding that is not supported. */
sr_error_t *sr_http_check_part(const sr_part_t *part, apr_pool_t *pool);
bool sr_http_is_file(const sr_part_t *part);

/* ------------------------------------------------------------------------------------------------ bearer.c */
/* The bearer token as it was sent, or NULL. */
const char *sr_http_bearer(const sr_http_t *http);

/* ------------------------------------------------------------------------------------------------- agent.c */
/* The User-Agent, printable and not too long, or NULL. */
const char *sr_http_user_agent(sr_http_t *http);
/* Whether the client likes JSON better than HTML (RFC 9110, 12.5.1); HTML where it does not say. */
bool sr_http_prefers_json(sr_http_t *http);
/* Whether a browser only fetches in advance: nobody has asked to see it yet. */
bool sr_http_is_prefetch(sr_http_t *http);
/* Whether a request that changes something comes from a page of another site (Origin, RFC 6454). */
bool sr_http_is_foreign(sr_http_t *http);

/* --------------------------------------------------------------------------------------------- negotiate.c */
/* Whether it has said that it takes this encoding of content. */
bool sr_http_accepts_encoding(sr_http_t *http, const char *encoding);

/* ------------------------------------------------------------------------------------------------- query.c
 * The query string, percent-decoded, each name at most once.
 */
typedef struct sr_query_param_t {
    const char *name;
    const char **value; /* left alone when absent */
} sr_query_param_t;
/* Fills the values of a table ended by a NULL name. Errors: SR_EBADREQUEST for what is unknown, repeated or
 * no UTF-8. */
/* Decodes a name or value of a query or form where it stands: "+" is a space there. False if it is malformed. */
bool sr_http_decode(char *text);
sr_error_t *sr_http_query(sr_http_t *http, const sr_query_param_t *params);

#endif
