/* SPDX-License-Identifier: Apache-2.0 */
/* s3.h: calls to an S3-compatible object store.
 *
 * Sections: sigv4.c
 */
#ifndef SR_S3_H
#define SR_S3_H

#include "base/base.h"

/* ------------------------------------------------------------------------------------------------- sigv4.c
 * AWS Signature Version 4. All names and values are raw: they are encoded here. What is signed is what must be sent, so
 * a caller uses `url` and `headers` without a change, and the HTTP library must not normalise the path.
 */
#define SR_S3_UNSIGNED "UNSIGNED-PAYLOAD"
#define SR_S3_EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" /* SHA-256 of no bytes */

typedef struct sr_s3_pair_t {
    const char *name, *value; /* value NULL: empty */
} sr_s3_pair_t;

typedef struct sr_s3_credentials_t {
    const char *access_key, *secret_key;
    const char *session_token; /* or NULL */
} sr_s3_credentials_t;

typedef struct sr_s3_request_t {
    const char *method;    /* "GET" */
    const char *scheme;    /* "http" or "https" */
    const char *authority; /* "s3.example.org:8080" */
    const char *path;      /* "/bucket/key" */
    const sr_s3_pair_t *query, *headers;
    int query_count, header_count;
    const char *payload; /* the SHA-256 of the body, or SR_S3_UNSIGNED */
    const char *region;
    const sr_s3_credentials_t *credentials;
    apr_time_t now;
} sr_s3_request_t;

typedef struct sr_s3_signed_t {
    const char *url;
    const apr_array_header_t
        *headers; /* const char *: "name: value", or "name;" if it is empty, as libcurl takes them */
    const char *canonical, *to_sign, *signature; /* for tests and messages */
} sr_s3_signed_t;

/* Signs a request. Host, X-Amz-Content-Sha256, X-Amz-Date and X-Amz-Security-Token are added to the headers. */
void sr_s3_sign(sr_s3_signed_t *result, const sr_s3_request_t *request, apr_pool_t *pool);

#endif
