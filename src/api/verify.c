/* verify.c: POST /verify: takes one PDF, as the body or as the one file of a form, and says what its signatures are. */
#include "api/api.h"

#include <string.h>

#define EXTRA_PARTS 64 /* parts beside the file, which are passed over */

typedef struct receiver_t {
    sr_http_t *http;
    sr_multipart_t *parser;
    sr_documents_t *documents;
    sr_spool_t *spool; /* NULL: no file has come */
    bool is_file;      /* the part that is being read is the file */
    apr_off_t size;
} receiver_t;

static sr_error_t *not_one(const receiver_t *receiver)
{
    return sr_error(receiver->http->pool, SR_EBADREQUEST, "Exactly 1 file must be provided");
}

static sr_error_t *begin_file(receiver_t *receiver)
{
    if (receiver->spool) return not_one(receiver);
    return sr_spool_begin(&receiver->spool, receiver->documents, receiver->http->pool);
}

static sr_error_t *file_data(void *baton, const char *data, apr_size_t length)
{
    receiver_t *receiver = baton;
    receiver->size += (apr_off_t)length;
    if (receiver->size > receiver->http->limits->max_file_size)
        return sr_error(receiver->http->pool, SR_ETOOLARGE, "A file must be at most %" APR_OFF_T_FMT " bytes",
                        receiver->http->limits->max_file_size);
    return sr_spool_write(receiver->spool, data, length);
}

static sr_error_t *begin_part(void *baton, const sr_part_t *part)
{
    receiver_t *receiver = baton;
    SR_TRY(sr_api_check_part(part, receiver->http->pool));
    receiver->is_file = sr_api_is_file(part);
    return receiver->is_file ? begin_file(receiver) : NULL;
}

static sr_error_t *part_data(void *baton, const char *data, apr_size_t length)
{
    return ((receiver_t *)baton)->is_file ? file_data(baton, data, length) : NULL;
}

static sr_error_t *end_part(void *baton)
{
    return NULL;
}

static sr_error_t *body_piece(void *baton, const char *data, apr_size_t length)
{
    return sr_multipart_feed(((receiver_t *)baton)->parser, data, length);
}

static sr_error_t *receive_form(receiver_t *receiver, const char *parameters)
{
    sr_http_t *http = receiver->http;
    const sr_multipart_sink_t sink = {begin_part, part_data, end_part, receiver};
    SR_TRY(sr_multipart_make(&receiver->parser, parameters, &sink, 1 + EXTRA_PARTS, http->pool));
    SR_TRY(sr_http_read(http, http->limits->max_request_size, body_piece, receiver));
    return sr_multipart_finish(receiver->parser);
}

static sr_error_t *receive(receiver_t *receiver)
{
    sr_http_t *http = receiver->http;
    const sr_api_limits_t *limits = http->limits;
    apr_off_t most =
        limits->max_file_size < limits->max_request_size ? limits->max_file_size : limits->max_request_size;
    const char *parameters;
    bool is_form = !sr_http_expect_type(http, "multipart/form-data", &parameters);
    if (!is_form && sr_http_expect_type(http, "application/pdf", NULL))
        return sr_error(http->pool, SR_EMEDIATYPE, "Content-Type must be application/pdf or multipart/form-data");
    SR_TRY(sr_documents_open(&receiver->documents, http->service->documents_root, http->pool));
    if (is_form) return receive_form(receiver, parameters);
    SR_TRY(begin_file(receiver));
    return sr_http_read(http, most, file_data, receiver);
}

static sr_error_t *verify(receiver_t *receiver, json_t **answer, sr_verify_t *request)
{
    sr_http_t *http = receiver->http;
    sr_error_t *error = receive(receiver);
    if (error && error->code == SR_EVALIDATION) error->code = SR_EBADREQUEST; /* as JSON, like all else here */
    SR_TRY(error);
    if (!receiver->size) return not_one(receiver);
    request->spool = receiver->spool;
    SR_TRY(sr_spool_end(request->spool, &request->sha256, &request->size));
    return sr_service_verify(http->service, answer, request, http->pool);
}

sr_error_t *sr_api_verify(sr_http_t *http)
{
    receiver_t receiver = {.http = http};
    sr_verify_t request = {0};
    sr_token_t *caller;
    json_t *answer;
    /* the caller is known before the body is read: nobody else makes us read one */
    SR_TRY(sr_http_bearer(&request.token_hash, http));
    SR_TRY(sr_service_authenticate(http->service, &caller, request.token_hash, http->pool));
    request.environment = caller->environment;
    sr_error_t *error = verify(&receiver, &answer, &request);
    if (receiver.spool) sr_spool_drop(receiver.spool); /* now, not when a slow client has read the answer */
    SR_TRY(error);
    return sr_http_json(http, HTTP_OK, answer);
}
