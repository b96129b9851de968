/* verify.c: POST /verify: takes one PDF, as the body or as the one file of a form, and says what its signatures are. */
#include "api/api.h"

typedef struct receiver_t {
    sr_http_t *http;
    sr_documents_t *documents;
    sr_spool_t *spool; /* NULL: no file has come */
} receiver_t;

static sr_error_t *begin_file(void *baton, const char *name)
{
    receiver_t *receiver = baton;
    return sr_spool_begin(&receiver->spool, receiver->documents, receiver->http->pool);
}

static sr_error_t *file_data(void *baton, const char *data, apr_size_t length)
{
    return sr_spool_write(((receiver_t *)baton)->spool, data, length);
}

static sr_error_t *verify(receiver_t *receiver, json_t **answer, sr_verify_t *request)
{
    sr_http_t *http = receiver->http;
    const sr_http_file_sink_t sink = {begin_file, file_data, receiver, http->limits->max_file_size,
                                      http->limits->max_request_size};
    SR_TRY(sr_documents_open(&receiver->documents, http->service->documents_root, http->pool));
    SR_TRY(sr_http_read_one_file(http, "application/pdf", &sink));
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
    SR_TRY(sr_api_token(&request.token_hash, http));
    SR_TRY(sr_service_authenticate(http->service, &caller, request.token_hash, http->pool));
    request.environment = caller->environment;
    sr_error_t *error = verify(&receiver, &answer, &request);
    if (receiver.spool) sr_spool_drop(receiver.spool); /* now, not when a slow client has read the answer */
    SR_TRY(error);
    return sr_http_json(http, HTTP_OK, answer);
}
