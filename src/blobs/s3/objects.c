/* SPDX-License-Identifier: Apache-2.0 */
/* objects.c: stores, fetches, finds and deletes objects. */
#include "blobs/s3/private.h"

#include <string.h>

#define STORES 3 /* how often an object is sent to a server that says it has stored it and has not */

/* The server compares the body with the hash that is signed. Whether it has kept it is asked for, because a server may
 * say so and have lost it. Its length and the hash that is stored with it must be right. */
static sr_error_t *is_stored(const char **fault, sr_s3_t *s3, const char *key, apr_off_t size, const char *sha256,
                             apr_pool_t *pool)
{
    const sr_s3_call_t call = {.method = "HEAD", .key = key, .source = -1, .sink = -1};
    sr_s3_answer_t answer;
    *fault = NULL;
    SR_TRY(sr_s3_call(&answer, s3, &call, pool));
    if (answer.status == 404) *fault = "the server said that it has stored the object, and does not have it";
    else if (answer.length != size)
        *fault = apr_psprintf(pool, "the server has stored %" APR_OFF_T_FMT " bytes instead of %" APR_OFF_T_FMT,
                              answer.length, size);
    else if (strcmp(answer.sha256, sha256) != 0)
        *fault = "the server has stored the object without its x-amz-meta-sha256";
    return NULL;
}

sr_error_t *sr_s3_send(sr_s3_t *s3, const char *key, int descriptor, apr_off_t size, const char *sha256,
                       apr_pool_t *pool)
{
    const sr_s3_pair_t headers[] = {{"x-amz-meta-sha256", sha256}, {"content-type", "application/octet-stream"}};
    const sr_s3_call_t call = {.method = "PUT",
                               .key = key,
                               .headers = headers,
                               .header_count = 2,
                               .source = descriptor,
                               .size = size,
                               .payload = sha256,
                               .sink = -1};
    sr_s3_answer_t answer;
    SR_TRY(sr_s3_call(&answer, s3, &call, pool));
    return answer.status == 404 ? sr_s3_trouble(s3, &call, "404", pool) : NULL;
}

sr_error_t *sr_s3_put(sr_s3_t *s3, const char *key, int descriptor, apr_off_t size, const char *sha256,
                      apr_pool_t *pool)
{
    const sr_s3_call_t call = {.method = "PUT", .key = key};
    const char *fault = NULL;
    for (int i = 0; i < STORES; i++) {
        SR_TRY(sr_s3_send(s3, key, descriptor, size, sha256, pool));
        SR_TRY(is_stored(&fault, s3, key, size, sha256, pool));
        if (!fault) return NULL;
    }
    return sr_s3_trouble(s3, &call, fault, pool);
}

sr_error_t *sr_s3_get(apr_off_t *size, sr_s3_t *s3, const char *key, const char *sha256, int descriptor,
                      apr_pool_t *pool)
{
    const sr_s3_call_t call = {
        .method = "GET", .key = key, .source = -1, .sink = descriptor, .expected = sha256, .expects_object = true};
    sr_s3_answer_t answer;
    sr_error_t *error = sr_s3_call(&answer, s3, &call, pool);
    *size = error && answer.own ? -1 : answer.received;
    return error;
}

sr_error_t *sr_s3_find(bool *there, apr_off_t *size, sr_s3_t *s3, const char *key, int descriptor, apr_off_t most,
                       apr_pool_t *pool)
{
    const sr_s3_call_t call = {.method = "GET", .key = key, .source = -1, .sink = descriptor, .most = most};
    sr_s3_answer_t answer;
    SR_TRY(sr_s3_call(&answer, s3, &call, pool));
    *there = answer.status != 404;
    *size = answer.received;
    return NULL;
}

sr_error_t *sr_s3_head(bool *there, apr_off_t *size, sr_s3_t *s3, const char *key, apr_pool_t *pool)
{
    const sr_s3_call_t call = {.method = "HEAD", .key = key, .source = -1, .sink = -1};
    sr_s3_answer_t answer;
    SR_TRY(sr_s3_call(&answer, s3, &call, pool));
    *there = answer.status != 404;
    *size = *there ? answer.length : 0;
    return NULL;
}

/* The response may be 200 and have an error in its body, which sr_s3_call repeats. */
sr_error_t *sr_s3_copy(sr_s3_t *s3, const char *from, const char *to, apr_pool_t *pool)
{
    const char *path = apr_pstrcat(pool, "/", s3->options.bucket, "/", s3->options.prefix, from, NULL);
    const sr_s3_pair_t header = {"x-amz-copy-source", sr_s3_encode_path(path, pool)};
    const sr_s3_call_t call = {
        .method = "PUT", .key = to, .headers = &header, .header_count = 1, .source = -1, .sink = -1};
    sr_s3_answer_t answer;
    SR_TRY(sr_s3_call(&answer, s3, &call, pool));
    return answer.status == 404 ? sr_s3_trouble(s3, &call, "the object to copy is missing", pool) : NULL;
}

sr_error_t *sr_s3_delete(sr_s3_t *s3, const char *key, apr_pool_t *pool)
{
    const sr_s3_call_t call = {.method = "DELETE", .key = key, .source = -1, .sink = -1};
    sr_s3_answer_t answer;
    return sr_s3_call(&answer, s3, &call, pool);
}
