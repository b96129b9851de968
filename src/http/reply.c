/* SPDX-License-Identifier: Apache-2.0 */
/* reply.c: sends all responses. Only this file turns an error code into a status, a body and a log level. The handler
 * writes the body itself and returns OK to httpd, because for a returned status ErrorDocument could replace the body.
 */
#include "http/http.h"

#include <apr_atomic.h>
#include <http_core.h>
#include <http_log.h>
#include <http_protocol.h>
#include <http_request.h>
#include <string.h>

#include "mod_sigreq.h"

APLOG_USE_MODULE(sigreq);

#define TEXT_TYPE "text/plain; charset=utf-8"
#define RETRY_AFTER 2 /* seconds, for errors without a time of their own */

/* Responses of the API belong to one person: no cache may store them, and no browser may guess their type. */
static void reply_set_headers(sr_http_t *http, int status, const char *type)
{
    request_rec *r = http->r;
    r->status = status;
    if (type) ap_set_content_type(r, type);
    apr_table_setn(r->err_headers_out, "X-Content-Type-Options", "nosniff");
    if (!apr_table_get(r->headers_out, "Cache-Control"))
        apr_table_setn(r->err_headers_out, "Cache-Control", "no-store");
}

/* If a response cannot be sent completely, its connection is closed, so that no client takes a part for the whole.
 * The status has been sent already, so it cannot report the error. */
static void reply_send_all(sr_http_t *http, apr_bucket_brigade *brigade)
{
    conn_rec *connection = http->r->connection;
    const apr_status_t status = ap_pass_brigade(http->r->output_filters, brigade);
    if (status == APR_SUCCESS || status == AP_FILTER_ERROR)
        return; /* a filter has sent another response, such as 416 */
    connection->keepalive = AP_CONN_CLOSE;
    connection->aborted = 1;
}

sr_error_t *sr_http_bytes(sr_http_t *http, int status, const char *type, const char *data, apr_size_t length)
{
    reply_set_headers(http, status, type);
    if (sr_http_wants_gzip(http, status, type, length)) sr_http_gzip(http, &data, &length);
    ap_set_content_length(http->r, (apr_off_t)length);
    conn_rec *connection = http->r->connection;
    apr_bucket_brigade *brigade = apr_brigade_create(http->pool, connection->bucket_alloc);
    APR_BRIGADE_INSERT_TAIL(brigade, apr_bucket_pool_create(data, length, http->pool, connection->bucket_alloc));
    APR_BRIGADE_INSERT_TAIL(brigade, apr_bucket_eos_create(connection->bucket_alloc));
    reply_send_all(http, brigade);
    return NULL;
}

sr_error_t *sr_http_empty(sr_http_t *http)
{
    reply_set_headers(http, HTTP_NO_CONTENT, NULL);
    return NULL;
}

sr_error_t *sr_http_json(sr_http_t *http, int status, json_t *value)
{
    const char *text = sr_json_text(sr_json_own(value, http->pool), http->pool);
    return sr_http_bytes(http, status, SR_HTTP_JSON, text, strlen(text));
}

sr_error_t *sr_http_view(sr_http_t *http, int status, const char *view)
{
    const char *text = sr_text_with_base(view, http->base_url, http->pool);
    return sr_http_bytes(http, status, SR_HTTP_JSON, text, strlen(text));
}

/* Appends a byte, percent-encoded unless it is plain. */
static char *put_encoded(char *out, unsigned char c, bool plain)
{
    return out + (plain ? sprintf(out, "%c", c) : sprintf(out, "%%%02X", c));
}

/* Returns the Content-Disposition of a download (RFC 6266): an ASCII fallback, and the name percent-encoded as
 * filename*. */
static const char *disposition(const char *given, apr_pool_t *pool)
{
    const char *name = sr_text_undirected(given, pool); /* U+202E could make the name seem to have another extension */
    apr_size_t length = strlen(name);
    char *ascii = apr_palloc(pool, length + 1), *encoded = apr_palloc(pool, 3 * length + 1), *out = encoded;
    for (apr_size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)name[i];
        bool plain = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || (c && strchr("-_.~", c));
        ascii[i] = (char)(plain || c == ' ' || c == '(' || c == ')' ? c : '_');
        out = put_encoded(out, c, plain);
    }
    ascii[length] = *out = '\0';
    return apr_psprintf(pool, "attachment; filename=\"%s\"; filename*=UTF-8''%s", ascii, encoded);
}

sr_error_t *sr_http_file(sr_http_t *http, const char *type, apr_file_t *file, apr_off_t length)
{
    request_rec *r = http->r;
    apr_bucket_brigade *brigade = apr_brigade_create(http->pool, r->connection->bucket_alloc);
    reply_set_headers(http, HTTP_OK, type);
    ap_set_content_length(r, length);
    apr_brigade_insert_file(brigade, file, 0, length, http->pool);
    APR_BRIGADE_INSERT_TAIL(brigade, apr_bucket_eos_create(r->connection->bucket_alloc));
    reply_send_all(http, brigade);
    return NULL;
}

/* Returns the compressed content of the file, or NULL if it is sent uncompressed. */
static const char *compressed(sr_http_t *http, const sr_http_content_t *content, apr_off_t *length)
{
    apr_size_t size = (apr_size_t)content->size, got = 0;
    apr_off_t start = 0;
    if (!content->file || !sr_http_wants_gzip(http, HTTP_OK, content->type, size)) return NULL;
    char *text = apr_palloc(http->pool, size);
    const char *data = text;
    if (apr_file_seek(content->file, APR_SET, &start) || apr_file_read_full(content->file, text, size, &got))
        return NULL;
    if (!sr_http_gzip(http, &data, &size)) return NULL;
    *length = (apr_off_t)size;
    return data;
}

sr_error_t *sr_http_content(sr_http_t *http, const sr_http_content_t *content)
{
    request_rec *r = http->r;
    apr_bucket_brigade *brigade =
        content->brigade ? content->brigade : apr_brigade_create(http->pool, r->connection->bucket_alloc);
    apr_off_t length = content->file ? content->size : 0;
    const char *packed = compressed(http, content, &length);
    if (packed) apr_brigade_write(brigade, NULL, NULL, packed, (apr_size_t)length);
    else if (content->file) apr_brigade_insert_file(brigade, content->file, 0, length, http->pool);
    if (content->brigade && apr_brigade_length(brigade, 0, &length))
        return sr_error(http->pool, SR_EINTERNAL, "The length of the content is not known");
    apr_table_setn(r->headers_out, "Cache-Control",
                   content->cache_control ? content->cache_control : "private, no-cache");
    reply_set_headers(http, HTTP_OK, content->type);
    if (content->name) apr_table_setn(r->headers_out, "Content-Disposition", disposition(content->name, http->pool));
    if (!content->etag) return NULL; /* HEAD for content that was not made */
    /* the compressed form is another representation and has an ETag of its own (RFC 9110, 8.8.3.3) */
    const char *etag = apr_pstrcat(http->pool, "\"", content->etag, packed ? "-gzip\"" : "\"", NULL);
    apr_table_setn(r->headers_out, "ETag", etag);
    if (!packed) ap_set_accept_ranges(r);
    int condition = ap_meets_conditions(r);
    if (condition != OK) {
        r->status = condition; /* 304 or 412; both are sent without a body */
        return NULL;
    }
    ap_set_content_length(r, length);
    APR_BRIGADE_INSERT_TAIL(brigade, apr_bucket_eos_create(r->connection->bucket_alloc));
    reply_send_all(http, brigade);
    return NULL;
}

sr_error_t *sr_http_pdf(sr_http_t *http, apr_bucket_brigade *brigade, const char *sha256, const char *name)
{
    const sr_http_content_t content = {.brigade = brigade, .type = "application/pdf", .etag = sha256, .name = name};
    return sr_http_content(http, &content);
}

sr_error_t *sr_http_zip(sr_http_t *http, apr_bucket_brigade *brigade, const char *etag, const char *name)
{
    const sr_http_content_t content = {.brigade = brigade, .type = "application/zip", .etag = etag, .name = name};
    return sr_http_content(http, &content);
}

sr_error_t *sr_http_redirect(sr_http_t *http, int status, const char *url)
{
    apr_table_setn(http->r->headers_out, "Location", url);
    return sr_http_bytes(http, status, TEXT_TYPE, "", 0);
}

static const struct {
    int status;
    int level;
} answers[SR_CODE_COUNT] = {
    [SR_EBADREQUEST] = {HTTP_BAD_REQUEST, APLOG_INFO},
    [SR_EUNAUTHORIZED] = {HTTP_UNAUTHORIZED, APLOG_INFO},
    [SR_EFORBIDDEN] = {HTTP_FORBIDDEN, APLOG_INFO},
    [SR_EUNCHECKED] = {HTTP_FORBIDDEN, APLOG_INFO},
    [SR_ENOTFOUND] = {HTTP_NOT_FOUND, APLOG_INFO},
    [SR_EMETHOD] = {HTTP_METHOD_NOT_ALLOWED, APLOG_INFO},
    [SR_ETIMEOUT] = {HTTP_REQUEST_TIME_OUT, APLOG_INFO},
    [SR_EGONE] = {HTTP_GONE, APLOG_INFO},
    [SR_ECONFLICT] = {HTTP_CONFLICT, APLOG_INFO},
    [SR_ETOOLARGE] = {HTTP_REQUEST_ENTITY_TOO_LARGE, APLOG_INFO},
    [SR_EMEDIATYPE] = {HTTP_UNSUPPORTED_MEDIA_TYPE, APLOG_INFO},
    [SR_EPRECONDITION] = {HTTP_PRECONDITION_FAILED, APLOG_INFO},
    [SR_EUNCONDITIONAL] = {HTTP_PRECONDITION_REQUIRED, APLOG_INFO},
    [SR_ECONTENT] = {HTTP_UNPROCESSABLE_ENTITY, APLOG_INFO},
    [SR_ETOOMANY] = {HTTP_TOO_MANY_REQUESTS, APLOG_INFO},
    [SR_EINTERNAL] = {HTTP_INTERNAL_SERVER_ERROR, APLOG_ERR},
    [SR_EUNAVAILABLE] = {HTTP_SERVICE_UNAVAILABLE, APLOG_ERR},
};

/* "401 Unauthorized" → "Unauthorized" */
static const char *reply_reason_of(int status)
{
    const char *line = ap_get_status_line(status);
    return strlen(line) > 4 ? line + 4 : line;
}

static bool has_body(const request_rec *r)
{
    const char *length = apr_table_get(r->headers_in, "Content-Length");
    return apr_table_get(r->headers_in, "Transfer-Encoding") || (length && strcmp(length, "0") != 0);
}

/* The message of an error may contain a name or an email address, so messages are logged only for 5xx errors. A part
 * of the service that is unavailable fails every request, and the log must not fill the disk. So all processes together
 * write each such line at most once a second, and each process counts those that it has left out. */
static void log_failure(sr_http_t *http, const sr_error_t *error, int level)
{
    static const sr_rate_t rate = {1, APR_USEC_PER_SEC};
    static volatile apr_uint32_t left_out;
    const char *text = sr_error_text(error, true, http->pool), *others = "";
    if (error->code == SR_EUNAVAILABLE) {
        if (!sr_rate_take(NULL, sr_rate_key("log", text, strlen(text), &rate), &rate, sr_time_steady())) {
            apr_atomic_inc32(&left_out);
            return;
        }
        const apr_uint32_t count = apr_atomic_xchg32(&left_out, 0);
        if (count) others = apr_psprintf(http->pool, ", and %u times before", count);
    }
    ap_log_rerror(APLOG_MARK, level, 0, http->r, "SR0100: %s%s [request %s]", text, others, http->r->log_id);
}

/* Errors of clients are logged by status and source line. */
static void log_error(sr_http_t *http, const sr_error_t *error, int level)
{
    if (level <= APLOG_ERR) log_failure(http, error, level);
    else
        ap_log_rerror(APLOG_MARK, level, 0, http->r, "SR0101: refused with %d at %s:%d%s%s [request %s]",
                      answers[error->code].status, error->file, error->line, error->cause ? ": " : "",
                      error->cause ? error->cause : "", http->r->log_id);
}

#define HINT_MAX 1000
#define NO_TOKEN "Bearer error=\"invalid_request\", error_description=\"Send the header Authorization: Bearer <token>\""

/* Sets the header X-Hint. All but printable ASCII is percent-encoded. */
static void set_hint(sr_http_t *http, const char *hint)
{
    char *text = apr_palloc(http->pool, HINT_MAX + 1), *out = text;
    for (; *hint && out - text <= HINT_MAX - 3; hint++) {
        const unsigned char c = (unsigned char)*hint;
        out = put_encoded(out, c, c >= 0x20 && c < 0x7f && c != '%');
    }
    *out = '\0';
    apr_table_setn(http->r->err_headers_out, "X-Hint", text);
}

void sr_http_error(sr_http_t *http, const sr_error_t *error)
{
    request_rec *r = http->r;
    int status = answers[error->code].status;
    /* an error that tells the client when to try again is not a fault of the server */
    log_error(http, error, error->retry_after && !error->cause ? APLOG_INFO : answers[error->code].level);
    if (error->hint) set_hint(http, error->hint);
    if (status == HTTP_UNAUTHORIZED)
        apr_table_setn(r->err_headers_out, "WWW-Authenticate", sr_http_bearer(http) ? "Bearer" : NO_TOKEN);
    if (status == HTTP_SERVICE_UNAVAILABLE || status == HTTP_TOO_MANY_REQUESTS)
        apr_table_setn(r->err_headers_out, "Retry-After",
                       apr_itoa(http->pool, error->retry_after > 0 ? error->retry_after : RETRY_AFTER));
    /* otherwise httpd would read the rest of the body to keep the connection open */
    if (!http->body_read && has_body(r)) r->connection->keepalive = AP_CONN_CLOSE;
    bool may_be_plain = status == HTTP_REQUEST_ENTITY_TOO_LARGE || status == HTTP_BAD_REQUEST;
    if (may_be_plain && http->route && http->route->plain_errors) {
        sr_http_bytes(http, status, TEXT_TYPE, error->message, strlen(error->message));
        return;
    }
    if (http->show_error && !http->show_error(http, status, error->message)) return;
    json_t *body = json_object();
    json_object_set_new(body, "statusCode", json_integer(status));
    json_object_set_new(body, "error", json_string(reply_reason_of(status)));
    json_object_set_new(body, "message", json_string(error->message));
    if (error->fields) json_object_set(body, "fields", error->fields);
    sr_http_json(http, status, body);
}
