/* SPDX-License-Identifier: Apache-2.0 */
/* file.c: reads the single file of a request: the part `file` of a form, or the body itself. */
#include "http/http.h"

#include <string.h>

#define EXTRA_PARTS 64 /* parts besides the file; they are ignored */

typedef struct receiver_t {
    sr_http_t *http;
    const sr_http_file_sink_t *sink;
    sr_multipart_t *parser;
    bool has_file, is_file; /* has_file: a file has begun; is_file: the part that is being read is the file */
    apr_off_t size;
} receiver_t;

sr_error_t *sr_http_check_part(const sr_part_t *part, apr_pool_t *pool)
{
    const char *encoding = part->encoding;
    if (!encoding || !strcmp(encoding, "binary") || !strcmp(encoding, "8bit") || !strcmp(encoding, "7bit")) return NULL;
    /* RFC 7578, 4.7, deprecates it, and decoding by guess could change the bytes of a document */
    return sr_error(pool, SR_EBADREQUEST, "Content-Transfer-Encoding is not supported");
}

bool sr_http_is_file(const sr_part_t *part)
{
    /* a form sends a file field that was left empty as a part with an empty file name */
    return !strcmp(part->name, "file") && part->filename && *part->filename;
}

static sr_error_t *not_one(const receiver_t *receiver)
{
    return sr_error(receiver->http->pool, SR_EBADREQUEST, "Exactly 1 file must be provided");
}

static sr_error_t *file_begin_file(receiver_t *receiver, const char *name)
{
    if (receiver->has_file) return not_one(receiver);
    receiver->has_file = true;
    return receiver->sink->begin(receiver->sink->baton, name);
}

static sr_error_t *file_data(void *baton, const char *data, apr_size_t length)
{
    receiver_t *receiver = baton;
    receiver->size += (apr_off_t)length;
    if (receiver->size > receiver->sink->max_file)
        return sr_error(receiver->http->pool, SR_ETOOLARGE, "A file must be at most %" APR_OFF_T_FMT " bytes",
                        receiver->sink->max_file);
    return receiver->sink->data(receiver->sink->baton, data, length);
}

static sr_error_t *file_begin_part(void *baton, const sr_part_t *part)
{
    receiver_t *receiver = baton;
    SR_TRY(sr_http_check_part(part, receiver->http->pool));
    receiver->is_file = sr_http_is_file(part);
    return receiver->is_file ? file_begin_file(receiver, part->filename) : NULL;
}

static sr_error_t *file_part_data(void *baton, const char *data, apr_size_t length)
{
    return ((receiver_t *)baton)->is_file ? file_data(baton, data, length) : NULL;
}

static sr_error_t *file_end_part(void *baton)
{
    return NULL;
}

static sr_error_t *file_body_piece(void *baton, const char *data, apr_size_t length)
{
    return sr_multipart_feed(((receiver_t *)baton)->parser, data, length);
}

static sr_error_t *receive_form(receiver_t *receiver, const char *parameters)
{
    sr_http_t *http = receiver->http;
    const sr_multipart_sink_t sink = {file_begin_part, file_part_data, file_end_part, receiver};
    SR_TRY(sr_multipart_make(&receiver->parser, parameters, &sink, 1 + EXTRA_PARTS, http->pool));
    SR_TRY(sr_http_read(http, receiver->sink->max_request, file_body_piece, receiver));
    return sr_multipart_finish(receiver->parser);
}

static sr_error_t *receive_body(receiver_t *receiver)
{
    const sr_http_file_sink_t *sink = receiver->sink;
    SR_TRY(file_begin_file(receiver, NULL));
    return sr_http_read(receiver->http, sink->max_file < sink->max_request ? sink->max_file : sink->max_request,
                        file_data, receiver);
}

sr_error_t *sr_http_read_one_file(sr_http_t *http, const char *type, const sr_http_file_sink_t *sink)
{
    receiver_t receiver = {.http = http, .sink = sink};
    const char *parameters;
    bool is_form = !sr_http_expect_type(http, "multipart/form-data", &parameters);
    if (!is_form && (!type || sr_http_expect_type(http, type, NULL)))
        return sr_error(http->pool, SR_EMEDIATYPE, "Content-Type must be %s%smultipart/form-data", type ? type : "",
                        type ? " or " : "");
    SR_TRY(is_form ? receive_form(&receiver, parameters) : receive_body(&receiver));
    return receiver.size ? NULL : not_one(&receiver);
}
