/* body.c: reads request bodies piece by piece from httpd's input filters; memory stays flat whatever the size. */
#include "http/http.h"

#include <http_protocol.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PIECE 65536
#define FORM_MAX 65536
#define FORM_FIELDS_MAX 100

static sr_error_t *too_large(sr_http_t *http, apr_off_t limit)
{
    return sr_error(http->pool, SR_ETOOLARGE, "The request must be at most %" APR_OFF_T_FMT " bytes", limit);
}

/* What httpd's filters say when the client stops, misbehaves or exceeds LimitRequestBody. */
static sr_error_t *read_failed(sr_http_t *http, apr_status_t status)
{
    int code = ap_map_http_request_error(status, HTTP_BAD_REQUEST);
    sr_code_t as = code == HTTP_REQUEST_ENTITY_TOO_LARGE ? SR_ETOOLARGE
                   : code == HTTP_REQUEST_TIME_OUT       ? SR_ETIMEOUT
                                                         : SR_EBADREQUEST;
    const char *message = as == SR_ETOOLARGE  ? "The request is larger than this server's LimitRequestBody"
                          : as == SR_ETIMEOUT ? "The request body did not arrive in time"
                                              : "The request body could not be read";
    return sr_error_because(sr_error(http->pool, as, "%s", message), http->pool, "%pm", &status);
}

static sr_error_t *drain(sr_http_t *http, apr_bucket_brigade *brigade, apr_off_t *left, apr_off_t limit,
                         sr_http_sink_t sink, void *baton)
{
    for (apr_bucket *b = APR_BRIGADE_FIRST(brigade); b != APR_BRIGADE_SENTINEL(brigade); b = APR_BUCKET_NEXT(b)) {
        const char *data;
        apr_size_t length;
        if (APR_BUCKET_IS_EOS(b)) http->body_read = true;
        if (APR_BUCKET_IS_METADATA(b)) continue;
        apr_status_t status = apr_bucket_read(b, &data, &length, APR_BLOCK_READ);
        if (status) return read_failed(http, status);
        if ((apr_off_t)length > *left) return too_large(http, limit);
        *left -= (apr_off_t)length;
        SR_TRY(sink(baton, data, length));
    }
    return NULL;
}

/* An input filter that decodes the body takes the header away when it begins to read: what is left then is sent encoded
 * to us. */
static sr_error_t *check_encoding(sr_http_t *http)
{
    const char *encoding = apr_table_get(http->r->headers_in, "Content-Encoding");
    if (!encoding || !strcasecmp(encoding, "identity")) return NULL;
    apr_table_setn(http->r->err_headers_out, "Accept-Encoding", "identity"); /* RFC 9110, 15.5.16 */
    return sr_error(http->pool, SR_EMEDIATYPE, "Content-Encoding is not supported: send the body as it is");
}

sr_error_t *sr_http_read(sr_http_t *http, apr_off_t limit, sr_http_sink_t sink, void *baton)
{
    request_rec *r = http->r;
    apr_bucket_brigade *brigade = apr_brigade_create(http->pool, r->connection->bucket_alloc);
    apr_off_t left = limit, announced;
    const char *header = apr_table_get(r->headers_in, "Content-Length");
    if (header && ap_parse_strict_length(&announced, header) && announced > limit) return too_large(http, limit);
    while (!http->body_read) {
        apr_status_t status = ap_get_brigade(r->input_filters, brigade, AP_MODE_READBYTES, APR_BLOCK_READ, PIECE);
        if (status) return read_failed(http, status);
        sr_error_t *error = check_encoding(http);
        if (!error) error = drain(http, brigade, &left, limit, sink, baton);
        apr_brigade_cleanup(brigade);
        if (error) return error;
    }
    return NULL;
}

sr_error_t *sr_http_expect_type(sr_http_t *http, const char *type, const char **parameters)
{
    const char *sent = apr_table_get(http->r->headers_in, "Content-Type");
    size_t length = strlen(type);
    if (!sent || strncasecmp(sent, type, length) || (sent[length] && !strchr("; \t", sent[length])))
        return sr_error(http->pool, SR_EMEDIATYPE, "Content-Type must be %s", type);
    if (parameters) *parameters = sent + length;
    return NULL;
}

/* --- JSON: a body that is read whole */

#define ROOM_FIRST 4096

/* Grows while it is filled: Content-Length says what the client sends, but an input filter such as mod_deflate's may
 * make more of it. malloc'd, because a pool would keep every smaller buffer too. */
typedef struct buffer_t {
    char *data;
    apr_size_t length, room, limit;
    apr_pool_t *pool;
} buffer_t;

static apr_status_t buffer_free(void *baton)
{
    buffer_t *buffer = baton;
    free(buffer->data);
    buffer->data = NULL;
    return APR_SUCCESS;
}

static sr_error_t *buffer_reserve(buffer_t *buffer, apr_size_t length)
{
    apr_size_t room = buffer->room ? buffer->room : ROOM_FIRST;
    while (room - buffer->length < length) room *= 2;
    if (room == buffer->room) return NULL;
    char *data = realloc(buffer->data, room);
    if (!data) return sr_error(buffer->pool, SR_EUNAVAILABLE, "There is no memory for the request at the moment");
    buffer->data = data;
    buffer->room = room;
    return NULL;
}

/* sr_http_read has checked the sum against the limit; it is checked again here because a mistake would write past the
 * buffer. */
static sr_error_t *buffer_append(void *baton, const char *data, apr_size_t length)
{
    buffer_t *buffer = baton;
    if (length > buffer->limit - buffer->length)
        return sr_error(buffer->pool, SR_EINTERNAL, "The request is larger than what was allowed");
    SR_TRY(buffer_reserve(buffer, length));
    memcpy(buffer->data + buffer->length, data, length);
    buffer->length += length;
    return NULL;
}

sr_error_t *sr_http_read_json(json_t **object, sr_http_t *http, apr_size_t limit, apr_size_t max_values)
{
    sr_error_t *mistyped = sr_http_expect_type(http, "application/json", NULL);
    if (mistyped && apr_table_get(http->r->headers_in, "Content-Type")) return mistyped;
    buffer_t *buffer = apr_pcalloc(http->pool, sizeof *buffer);
    buffer->limit = limit;
    buffer->pool = http->pool;
    apr_pool_cleanup_register(http->pool, buffer, buffer_free, apr_pool_cleanup_null);
    SR_TRY(sr_http_read(http, (apr_off_t)limit, buffer_append, buffer));
    if (!buffer->length) {
        *object = sr_json_own(json_object(), http->pool);
        return NULL;
    }
    if (mistyped) return mistyped;
    sr_error_t *bad = sr_json_parse_bounded(object, buffer->data, buffer->length, max_values, http->pool);
    buffer_free(buffer);
    if (bad && bad->code != SR_EBADREQUEST) return bad;
    if (bad) return sr_error(http->pool, SR_EBADREQUEST, "The body must be a JSON object: %s", bad->message);
    if (!json_is_object(*object)) return sr_error(http->pool, SR_EBADREQUEST, "The body must be a JSON object");
    return NULL;
}

/* httpd's own parser. A value that is no UTF-8 is refused as JSON would be. */
sr_error_t *sr_http_read_form(sr_http_t *http, const sr_http_field_t *fields)
{
    apr_array_header_t *pairs;
    SR_TRY(sr_http_expect_type(http, "application/x-www-form-urlencoded", NULL));
    int status = ap_parse_form_data(http->r, NULL, &pairs, FORM_FIELDS_MAX, FORM_MAX);
    if (status == HTTP_REQUEST_ENTITY_TOO_LARGE) return too_large(http, FORM_MAX);
    if (status) return sr_error(http->pool, SR_EBADREQUEST, "The form could not be read");
    http->body_read = true;
    for (int i = 0; i < pairs->nelts; i++) {
        const ap_form_pair_t *pair = &APR_ARRAY_IDX(pairs, i, ap_form_pair_t);
        for (const sr_http_field_t *field = fields; field->name; field++) {
            if (strcmp(field->name, pair->name)) continue;
            apr_off_t length;
            apr_size_t size;
            apr_brigade_length(pair->value, 1, &length);
            size = (apr_size_t)length;
            char *value = apr_pcalloc(http->pool, size + 1);
            apr_brigade_flatten(pair->value, value, &size);
            if (!sr_text_is_utf8(value, size))
                return sr_error(http->pool, SR_EBADREQUEST, "The field %s must be UTF-8 text", field->name);
            *field->value = value;
        }
    }
    return NULL;
}
