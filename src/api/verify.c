/* SPDX-License-Identifier: Apache-2.0 */
/* verify.c: POST /verify and POST /documents/inspect: both read one PDF, as the body or as the single file of a form,
 * and describe its signatures, or its pages and fields. */
#include "api/api.h"

typedef struct receiver_t {
    sr_http_t *http;
    sr_uploads_t *uploads;
} receiver_t;

static sr_error_t *verify_begin_file(void *baton, const char *name)
{
    receiver_t *receiver = baton;
    return sr_service_receive_begin(receiver->uploads, NULL, NULL, true);
}

static sr_error_t *verify_file_data(void *baton, const char *data, apr_size_t length)
{
    return sr_service_receive_data(((receiver_t *)baton)->uploads, data, length);
}

typedef sr_error_t *verify_describe_t(const sr_service_t *service, json_t **answer, const sr_verify_t *request,
                                      apr_pool_t *pool);

static sr_error_t *verify_receive(receiver_t *receiver, json_t **answer, sr_verify_t *request,
                                  verify_describe_t *describe)
{
    sr_http_t *http = receiver->http;
    const sr_http_file_sink_t sink = {verify_begin_file, verify_file_data, receiver, http->settings->max_file_size,
                                      http->settings->max_request_size};
    SR_TRY(sr_service_receive(http->service, &receiver->uploads, http->pool));
    SR_TRY(sr_http_read_one_file(http, "application/pdf", &sink));
    SR_TRY(sr_service_receive_end(receiver->uploads));
    request->uploads = receiver->uploads;
    return describe(http->service, answer, request, http->pool);
}

static sr_error_t *verify_answer(sr_http_t *http, verify_describe_t *describe)
{
    receiver_t receiver = {.http = http};
    sr_verify_t request = {0};
    sr_token_t *caller;
    json_t *answer;
    /* the caller is authenticated before the body is read */
    SR_TRY(sr_api_token(&request.token_hash, http));
    SR_TRY(sr_service_authenticate(http->service, &caller, request.token_hash, http->pool));
    request.environment = caller->environment;
    sr_error_t *error = verify_receive(&receiver, &answer, &request, describe);
    if (receiver.uploads) sr_service_receive_drop(receiver.uploads);
    SR_TRY(error);
    return sr_http_json(http, HTTP_OK, answer);
}

sr_error_t *sr_api_verify(sr_http_t *http)
{
    return verify_answer(http, sr_service_verify);
}

sr_error_t *sr_api_inspect(sr_http_t *http)
{
    return verify_answer(http, sr_service_inspect);
}
