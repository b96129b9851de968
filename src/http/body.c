/* SPDX-License-Identifier: Apache-2.0 */
/* body.c: reads request bodies piece by piece from httpd's input filters, so that memory use does not depend on the
 * size of a body. */
#include "http/http.h"

#include <http_protocol.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "metrics/metrics.h"

#define PIECE 65536
#define PATIENCE apr_time_from_msec(100)
#define NAP apr_time_from_msec(5)

static sr_error_t *too_large(sr_http_t *http, apr_off_t limit)
{
    return sr_error(http->pool, SR_ETOOLARGE, "The request must be at most %" APR_OFF_T_FMT " bytes", limit);
}

/* Returns the error for a status of httpd's input filters: the client stopped sending, the body is malformed, or it
 * exceeds LimitRequestBody. */
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

/* An input filter that decodes the body removes the Content-Encoding header when it begins to read. If the header is
 * still there, the body is still encoded. */
static sr_error_t *check_encoding(sr_http_t *http)
{
    const char *encoding = apr_table_get(http->r->headers_in, "Content-Encoding");
    if (!encoding || !strcasecmp(encoding, "identity")) return NULL;
    apr_table_setn(http->r->err_headers_out, "Accept-Encoding", "identity"); /* RFC 9110, 15.5.16 */
    return sr_error(http->pool, SR_EMEDIATYPE, "Content-Encoding is not supported: send the body as it is");
}

/* A body that is being read. */
typedef struct reading_t {
    sr_http_t *http;
    apr_bucket_brigade *brigade;
    bool waits;   /* it has a place among the threads that wait for slow bodies */
    bool lingers; /* it has a place among the threads that give a body PATIENCE */
    int place;
} reading_t;

static void body_leave_place(reading_t *reading)
{
    if (reading->waits || reading->lingers) sr_http_readers_leave(reading->place);
    reading->waits = reading->lingers = false;
}

/* Takes a place among the threads that may block. If all are taken, it polls for PATIENCE: the body may arrive, or
 * another thread may leave its place. */
static sr_error_t *wait_for_place(reading_t *reading, apr_interval_time_t waited)
{
    apr_pool_t *pool = reading->http->pool;
    int place;
    if (sr_http_readers_enter(&place, SR_READER_WAITS)) {
        body_leave_place(reading);
        reading->place = place;
        reading->waits = true;
        return NULL;
    }
    if (!reading->lingers) reading->lingers = sr_http_readers_enter(&reading->place, SR_READER_LINGERS);
    if (reading->lingers && waited < PATIENCE) {
        apr_sleep(NAP);
        return NULL;
    }
    sr_metrics_count(SR_METRIC_LIMITED, sr_metrics_number(SR_LABEL_LIMIT, "bodies"), 0, 1);
    /* httpd then waits 2 s for the client to close the connection, not 30 s. In an MPM without threads such a wait
     * blocks a child. */
    apr_table_setn(reading->http->r->connection->notes, "short-lingering-close", "1");
    return sr_error_retry(sr_error(pool, SR_EUNAVAILABLE, "Too many requests arrive slowly at the moment"),
                          apr_time_from_sec(5));
}

/* Reads the next piece of the body. Without a place it does not block. */
static sr_error_t *next_piece(reading_t *reading)
{
    request_rec *r = reading->http->r;
    for (apr_interval_time_t waited = 0;; waited += NAP) {
        const apr_read_type_e block = reading->waits ? APR_BLOCK_READ : APR_NONBLOCK_READ;
        apr_status_t status = ap_get_brigade(r->input_filters, reading->brigade, AP_MODE_READBYTES, block, PIECE);
        if (!status && (reading->waits || !APR_BRIGADE_EMPTY(reading->brigade))) {
            if (reading->lingers) body_leave_place(reading);
            return NULL;
        }
        if (status && (reading->waits || !APR_STATUS_IS_EAGAIN(status))) return read_failed(reading->http, status);
        apr_brigade_cleanup(reading->brigade);
        SR_TRY(wait_for_place(reading, waited));
    }
}

static sr_error_t *body_read_all(reading_t *reading, apr_off_t limit, sr_http_sink_t sink, void *baton)
{
    sr_http_t *http = reading->http;
    apr_off_t left = limit, announced;
    const char *header = apr_table_get(http->r->headers_in, "Content-Length");
    if (header && ap_parse_strict_length(&announced, header) && announced > limit) return too_large(http, limit);
    while (!http->body_read) {
        SR_TRY(next_piece(reading));
        sr_error_t *error = check_encoding(http);
        if (!error) error = drain(http, reading->brigade, &left, limit, sink, baton);
        apr_brigade_cleanup(reading->brigade);
        if (error) return error;
    }
    return NULL;
}

sr_error_t *sr_http_read(sr_http_t *http, apr_off_t limit, sr_http_sink_t sink, void *baton)
{
    reading_t reading = {.http = http, .brigade = apr_brigade_create(http->pool, http->r->connection->bucket_alloc)};
    sr_error_t *error = body_read_all(&reading, limit, sink, baton);
    body_leave_place(&reading);
    return error;
}

sr_error_t *sr_http_expect_type(sr_http_t *http, const char *type, const char **parameters)
{
    const char *sent = apr_table_get(http->r->headers_in, "Content-Type");
    size_t length = strlen(type);
    if (!sent || strncasecmp(sent, type, length) != 0 || (sent[length] && !strchr("; \t", sent[length])))
        return sr_error(http->pool, SR_EMEDIATYPE, "Content-Type must be %s", type);
    if (parameters) *parameters = sent + length;
    return NULL;
}

/* --- JSON: a body that is read whole */

#define ROOM_FIRST 4096

/* A buffer that grows while it is filled. Content-Length gives the size of what the client sends, but an input filter
 * such as mod_deflate's may expand it. The memory is from malloc, because a pool would keep each smaller buffer too.
 */
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

static buffer_t *buffer_make(sr_http_t *http, apr_size_t limit)
{
    buffer_t *buffer = apr_pcalloc(http->pool, sizeof *buffer);
    buffer->limit = limit;
    buffer->pool = http->pool;
    apr_pool_cleanup_register(http->pool, buffer, buffer_free, apr_pool_cleanup_null);
    return buffer;
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

/* sr_http_read has checked the total already. It is checked again because a mistake there would write past the
 * buffer. */
static sr_error_t *buffer_append(void *baton, const char *data, apr_size_t length)
{
    buffer_t *buffer = baton;
    if (length > buffer->limit - buffer->length)
        return sr_error(buffer->pool, SR_EINTERNAL, "The request is too large");
    SR_TRY(buffer_reserve(buffer, length));
    memcpy(buffer->data + buffer->length, data, length);
    buffer->length += length;
    return NULL;
}

sr_error_t *sr_http_read_json(json_t **object, sr_http_t *http, apr_size_t limit, apr_size_t max_values)
{
    sr_error_t *mistyped = sr_http_expect_type(http, "application/json", NULL);
    if (mistyped && apr_table_get(http->r->headers_in, "Content-Type")) return mistyped;
    buffer_t *buffer = buffer_make(http, limit);
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

/* --- forms */

/* Reads one pair of a form, "name=value", which is changed. */
static sr_error_t *take_pair(sr_http_t *http, sr_http_pair_sink_t take, void *baton, char *pair)
{
    char *value = strchr(pair, '=');
    if (value) *value++ = '\0';
    else value = pair + strlen(pair);
    if (!sr_http_decode(pair) || !sr_http_decode(value))
        return sr_error(http->pool, SR_EBADREQUEST, "The form could not be read");
    if (!sr_text_is_utf8(pair, strlen(pair)) || !sr_text_is_utf8(value, strlen(value)))
        return sr_error(http->pool, SR_EBADREQUEST, "The fields of a form must be UTF-8 text");
    return take(baton, pair, value);
}

sr_error_t *sr_http_read_form(sr_http_t *http, apr_size_t limit, int most, sr_http_pair_sink_t take, void *baton)
{
    SR_TRY(sr_http_expect_type(http, "application/x-www-form-urlencoded", NULL));
    buffer_t *buffer = buffer_make(http, limit);
    SR_TRY(sr_http_read(http, (apr_off_t)limit, buffer_append, buffer));
    if (!buffer->length) return NULL;
    char *rest = apr_pstrmemdup(http->pool, buffer->data, buffer->length);
    int count = 0;
    if (strlen(rest) != buffer->length) return sr_error(http->pool, SR_EBADREQUEST, "The form could not be read");
    for (char *pair; (pair = apr_strtok(NULL, "&", &rest)) != NULL;) {
        if (++count > most) return sr_error(http->pool, SR_EBADREQUEST, "The form has too many fields");
        SR_TRY(take_pair(http, take, baton, pair));
    }
    return NULL;
}
