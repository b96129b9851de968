/* SPDX-License-Identifier: Apache-2.0 */
/* http.h: the HTTP layer. It knows no resource of the API. Its callers give it a table of routes.
 *
 * Sections: router.c · rate.c · reply.c · compress.c · conditional.c · views.c · body.c · file.c · parts.c · bearer.c ·
 * agent.c · negotiate.c · multipart.c · query.c
 *
 * Everything that these functions return lives in the pool of the request (r->pool), unless the comment says
 * otherwise. */
#ifndef SR_HTTP_HTTP_H
#define SR_HTTP_HTTP_H

#include <httpd.h>

#include "base/base.h"
#include "http/multipart.h"
#include "settings/settings.h"

#define SR_HTTP_PARAMS 4
#define SR_HTTP_JSON "application/json"

/* One request that this module handles. Everything in it lives in r->pool. */
typedef struct sr_http_t sr_http_t;
struct sr_http_t {
    request_rec *r;
    apr_pool_t *pool;
    const char *base_url;               /* the URL of the location, without a slash at the end */
    const char *path;                   /* below the path that the routes are relative to: "/signatures/…" */
    const char *params[SR_HTTP_PARAMS]; /* the text of each {name} segment of the route's path, in order */
    const sr_settings_t *settings;      /* of the location */
    const struct sr_service_t *service; /* for the handlers */
    void *state;                        /* set and read by handlers: their data about this request */
    const char *manual;  /* the URL that describes the paths, for a request to a path that does not exist; or NULL */
    const char *folder;  /* the folder in which temporary files without a name are made */
    bool secret_paths;   /* a secret in the first segment of the path authenticates; otherwise a bearer token does */
    const char *session; /* the secret of a session that the path names beside the secret, or NULL */
    bool viewing;        /* the secret in the path is of a viewer */
    bool placing;        /* the secret in the path is of a placement link; neither: of a signer */
    bool is_public;      /* the request needs neither a signing link nor a token */
    const struct sr_route_t *route; /* the route of the request; NULL if no route has its path and method */
    /* Sends an error in another form than JSON. NULL: errors are sent as JSON. */
    sr_error_t *(*show_error)(sr_http_t *http, int status, const char *message);
    bool body_read; /* the request's body was read to its end, so the connection can serve another request */
    /* Set by rate.c: the Authorization header or the uuid of the signing link, NULL if the client sent none; its rate
     * key; and whether it was accepted within the last hour. */
    const char *credential;
    apr_uint64_t credential_key;
    bool known;
};

/* ------------------------------------------------------------------------------------------------ router.c
 * The routes are a const table that ends with a row without a path. Several rows may have the same path with
 * different methods. A path is compared literally except for its {name} segments. A segment's text, never empty and
 * percent-decoded by httpd, is stored in params. If text follows the name, as in "{name}.png", the segment must end
 * with that text.
 */
typedef sr_error_t *(*sr_http_handler_t)(sr_http_t *http);
typedef struct sr_route_t {
    int method; /* M_GET (which also serves HEAD), M_POST, M_PUT, M_PATCH or M_DELETE */
    const char *path;
    sr_http_handler_t handler;
    bool plain_errors; /* errors 400 and 413 are sent as text/plain: the message alone */
} sr_route_t;

/* Finds the route, calls its handler and sends the response, also if the handler returns an error. Sets http->route. */
void sr_http_dispatch(sr_http_t *http, const sr_route_t *routes);

/* -------------------------------------------------------------------------------------------------- rate.c */
/* Called before the handler. Errors: SR_ETOOMANY if this token, signing link or client address has sent too many
 * requests, or if the address has used too many wrong tokens or links. */
sr_error_t *sr_http_rate_begin(sr_http_t *http);
/* Counts one check on the public verification page. Errors: SR_ETOOMANY if this client address has made too many. */
sr_error_t *sr_http_rate_verify(sr_http_t *http);
/* Counts one preview of a creation with the token of the request. Errors: SR_ETOOMANY. */
sr_error_t *sr_http_rate_preview(sr_http_t *http);
/* For a secret that a client enters. sr_http_rate_guess is called before it is compared: SR_ETOOMANY if this client
 * address has entered too many wrong ones, or used too many wrong tokens or links, or if too many were entered at this
 * link. sr_http_rate_guessed counts a wrong one. */
sr_error_t *sr_http_rate_guess(sr_http_t *http);
void sr_http_rate_guessed(sr_http_t *http);
/* Called after the handler with its error or NULL. Counts a wrong token or link. Returns the error to send, or NULL. */
sr_error_t *sr_http_rate_end(sr_http_t *http, sr_error_t *error);

/* ------------------------------------------------------------------------------------------------- reply.c */
/* Sends a JSON value. Takes over the caller's reference to it. */
sr_error_t *sr_http_json(sr_http_t *http, int status, json_t *value);
/* Sends a stored JSON text, with each SR_BASE_URL_PLACEHOLDER replaced by the base URL. */
sr_error_t *sr_http_view(sr_http_t *http, int status, const char *view);
/* Sends the first `length` bytes of a file with status 200. The file must stay open until the request ends. */
sr_error_t *sr_http_file(sr_http_t *http, const char *type, apr_file_t *file, apr_off_t length);
/* views.c: sends status 200 with the stored JSON texts (const char *) of `views` joined, or 304 if the client has them
 * already. The texts are not used after the function has returned. */
sr_error_t *sr_http_views(sr_http_t *http, const apr_array_header_t *views);
/* Sends status 204 without a body. */
sr_error_t *sr_http_empty(sr_http_t *http);
/* Sends bytes of a media type. They must stay in memory until the request ends. */
sr_error_t *sr_http_bytes(sr_http_t *http, int status, const char *type, const char *data, apr_size_t length);
/* Content that never changes, in buckets or in an open file. It is sent with an ETag, and Range and If-None-Match are
 * honoured. */
typedef struct sr_http_content_t {
    apr_bucket_brigade *brigade; /* the content, without an end-of-stream bucket; or NULL */
    const char *type;
    const char *etag; /* without quotes; NULL: the content was not made, for a HEAD request, and no length is sent */
    const char *name; /* the file name of a download; NULL: the browser shows the content */
    const char *cache_control; /* NULL: "private, no-cache" */
    apr_file_t *file;          /* the content, if there is no brigade; opened in the request's pool */
    apr_off_t size;            /* how many bytes of the file are sent, from its beginning */
} sr_http_content_t;
sr_error_t *sr_http_content(sr_http_t *http, const sr_http_content_t *content);
/* Sends a PDF as a download with this file name. `sha256` is the digest of its content and becomes its ETag. */
sr_error_t *sr_http_pdf(sr_http_t *http, apr_bucket_brigade *brigade, const char *sha256, const char *name);
/* Sends a ZIP as a download with this file name. */
sr_error_t *sr_http_zip(sr_http_t *http, apr_bucket_brigade *brigade, const char *etag, const char *name);
/* Sends status 303 or 308 with a URL as Location. */
sr_error_t *sr_http_redirect(sr_http_t *http, int status, const char *url);
/* Sends the response for an error. Only this function turns an error code into a status, a body and a log level. */
void sr_http_error(sr_http_t *http, const sr_error_t *error);

/* ---------------------------------------------------------------------------------------------- compress.c */
/* Returns true if this response should be compressed. Adds Accept-Encoding to Vary if that depends on the client. */
bool sr_http_wants_gzip(sr_http_t *http, int status, const char *type, apr_size_t length);
/* Adds Accept-Encoding to Vary. */
void sr_http_vary(request_rec *r);
/* Replaces *data by its gzip form, allocated in the request's pool, and sets Content-Encoding. Returns false, and
 * changes nothing, if that would not be shorter. */
bool sr_http_gzip(sr_http_t *http, const char **data, apr_size_t *length);

/* ------------------------------------------------------------------------------------------- conditional.c */
/* For responses of JSON to GET and HEAD. Sets ETag, Vary and Cache-Control. `tag`, which changes whenever the text
 * changes, has hexadecimal digits and "-". Returns true if the request's conditions are not met: then the response is
 * 304 or 412, without a body. */
bool sr_http_unchanged(sr_http_t *http, const char *tag);
/* Returns the entity-tag for a tag, and sets the same headers of a response to another method. */
const char *sr_http_etag(const sr_http_t *http, const char *tag);
void sr_http_tag(sr_http_t *http, const char *tag);

/* -------------------------------------------------------------------------------------------------- body.c */
typedef sr_error_t *(*sr_http_sink_t)(void *baton, const char *data, apr_size_t length);
/* Reads the request's body and gives it to `sink` piece by piece. Errors: SR_ETOOLARGE if it has more than `limit`
 * bytes; SR_EUNAVAILABLE if it arrives slowly and too many other threads wait for slow bodies already; SR_ETIMEOUT
 * and SR_EBADREQUEST if reading fails; SR_EMEDIATYPE if it has a Content-Encoding; and the errors of `sink`. */
sr_error_t *sr_http_read(sr_http_t *http, apr_off_t limit, sr_http_sink_t sink, void *baton);
/* readers.c: takes a place among the threads that wait for slow bodies (SR_READER_WAITS), among those that give a body
 * 100 ms before it is refused (SR_READER_LINGERS), or among those that wait for events (SR_READER_EVENTS). Returns
 * false if no place is free. */
typedef enum sr_reader_t { SR_READER_WAITS, SR_READER_LINGERS, SR_READER_EVENTS, SR_READERS } sr_reader_t;
bool sr_http_readers_enter(int *place, sr_reader_t what);
void sr_http_readers_leave(int place);
/* Returns true if a request that waits should end, because httpd stops this child, or because its client has gone. */
bool sr_http_readers_end(const sr_http_t *http);
/* sr_http_readers_size and sr_http_readers_use are for post_config: they give the size of the shared memory, and take
 * a block of it that is filled with zeros. sr_http_readers_child_init is for child_init. */
apr_size_t sr_http_readers_size(void);
void sr_http_readers_use(void *block);
void sr_http_readers_child_init(void);
#define SR_HTTP_JSON_MAX 65536
#define SR_HTTP_JSON_VALUES 200
/* Reads an application/json body: a JSON object in at most `limit` bytes and with at most `max_values` values
 * (sr_json_parse_bounded). A request without a body gives an empty object. The object is released with the request's
 * pool. */
sr_error_t *sr_http_read_json(json_t **object, sr_http_t *http, apr_size_t limit, apr_size_t max_values);
/* Gets a field of a form. Both texts are UTF-8 and live in the pool of the request. */
typedef sr_error_t *(*sr_http_pair_sink_t)(void *baton, const char *name, const char *value);
/* Reads an application/x-www-form-urlencoded body of at most `limit` bytes and `most` fields. Gives the fields to
 * `take` in their order. Errors: SR_EMEDIATYPE, SR_ETOOLARGE, SR_EBADREQUEST for a malformed form, and the errors of
 * `take`. */
sr_error_t *sr_http_read_form(sr_http_t *http, apr_size_t limit, int most, sr_http_pair_sink_t take, void *baton);
/* Checks the media type of the request's body. Sets *parameters (unless it is NULL) to the text after the type.
 * Errors: SR_EMEDIATYPE. */
sr_error_t *sr_http_expect_type(sr_http_t *http, const char *type, const char **parameters);

/* ------------------------------------------------------------------------------------------------- file.c
 * Reading the single file of a request.
 */
typedef struct sr_http_file_sink_t {
    sr_error_t *(*begin)(void *baton,
                         const char *name); /* called when the file begins; `name` is NULL if it has none */
    sr_http_sink_t data;                    /* called with each piece of the file */
    void *baton;
    apr_off_t max_file, max_request;
} sr_http_file_sink_t;
/* Reads the part `file` of a form, or the whole body if it has the media type `type` (NULL: only forms are accepted).
 * Errors: SR_EMEDIATYPE; SR_ETOOLARGE; SR_EBADREQUEST for a malformed form, and with "Exactly 1 file must be
 * provided" if there is no file, an empty one or more than one. */
sr_error_t *sr_http_read_one_file(sr_http_t *http, const char *type, const sr_http_file_sink_t *sink);
/* Checks the Content-Transfer-Encoding of a part. Errors: SR_EBADREQUEST unless it is absent, binary, 8bit or 7bit. */
sr_error_t *sr_http_check_part(const sr_part_t *part, apr_pool_t *pool);
bool sr_http_is_file(const sr_part_t *part);

/* ------------------------------------------------------------------------------------------------ parts.c
 * Reading a form with texts and files (multipart/form-data). An error that a function returns ends the reading.
 */
typedef struct sr_http_parts_t {
    int texts; /* parts that the form may have besides its files */
    /* Called when a part begins that is no file. Sets *max to the most bytes that it may have; 0: it is ignored. */
    sr_error_t *(*begin)(void *baton, apr_size_t *max, const sr_part_t *part);
    sr_http_sink_t text; /* gets the text of that part, which lives in the pool of the request */
    /* Called for each part `file` with a file name. */
    sr_error_t *(*begin_file)(void *baton, const sr_part_t *part);
    sr_http_sink_t file_data;
    sr_error_t *(*end_file)(void *baton);
    void *baton;
    sr_error_t **refused; /* NULL: a file over a limit ends the reading. Else the first such error is stored here, and
                             that file, which does not end, and later ones are passed over */
} sr_http_parts_t;
/* Errors: SR_EMEDIATYPE; SR_ETOOLARGE; SR_EBADREQUEST for a malformed form; and the errors of the functions. */
sr_error_t *sr_http_read_parts(sr_http_t *http, const sr_http_parts_t *form);

/* ------------------------------------------------------------------------------------------------ bearer.c */
/* Returns the bearer token of the Authorization header, or NULL if there is none. */
const char *sr_http_bearer(const sr_http_t *http);

/* ------------------------------------------------------------------------------------------------- agent.c */
/* Returns the User-Agent header, printable and cut to 500 bytes, or NULL. */
const char *sr_http_user_agent(sr_http_t *http);
/* Returns true if the Accept header prefers JSON to HTML (RFC 9110, 12.5.1). Without a preference, HTML is sent. */
bool sr_http_prefers_json(sr_http_t *http);
/* Returns the index of the media type that the Accept header prefers in a list that ends with NULL. Without a
 * preference it is 0. */
int sr_http_preferred(sr_http_t *http, const char *const *types);
/* Returns true if a browser prefetches the page or shows a preview of it, so no person has opened it yet. */
bool sr_http_is_prefetch(sr_http_t *http);
/* Returns true if the User-Agent header declares a program that fetches links without a person (robots.def). */
bool sr_http_is_robot(sr_http_t *http);
/* Returns true if a page of another site made the request (Sec-Fetch-Site, or Origin of RFC 6454). Checked for
 * requests that change something. */
bool sr_http_is_foreign(sr_http_t *http);
/* Logs once per child (SR0005) that a proxy was asked for another host or by another scheme than the links have, which
 * begin with `base`. To be called without SigreqBaseURL. */
void sr_http_warn_of_proxy(request_rec *r, const char *base);

/* --------------------------------------------------------------------------------------------- negotiate.c */
/* Returns true if the Accept-Encoding header allows this content coding. */
bool sr_http_accepts_encoding(sr_http_t *http, const char *encoding);

/* ------------------------------------------------------------------------------------------------- query.c
 * The parameters of the query string, percent-decoded. Each name may occur once.
 */
typedef struct sr_query_param_t {
    const char *name;
    const char **value; /* not set if the form or query does not have the name */
} sr_query_param_t;
/* Decodes a name or value of a query or form in place. A "+" is a space there. Returns false if it is malformed. */
bool sr_http_decode(char *text);
/* Sets the values of the parameters in a table that ends with a NULL name. Errors: SR_EBADREQUEST if a parameter is
 * unknown, repeated or not UTF-8. */
sr_error_t *sr_http_query(sr_http_t *http, const sr_query_param_t *params);

#endif
