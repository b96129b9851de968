/* SPDX-License-Identifier: Apache-2.0 */
/* s3.h: calls to an S3-compatible object store.
 *
 * Sections: sigv4.c · repeat.c · settings.c · objects.c · enumerate.c
 *
 * Every call may be repeated, because the name of an object contains a digest of its content: an object is only ever
 * written with the same bytes. Nothing depends on conditional requests, on ETags or on the order of a list.
 */
#ifndef SR_BLOBS_S3_S3_H
#define SR_BLOBS_S3_S3_H

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

/* Percent-encodes a path, but not its slashes. */
const char *sr_s3_encode_path(const char *path, apr_pool_t *pool);
/* Signs a request. Host, X-Amz-Content-Sha256, X-Amz-Date and X-Amz-Security-Token are added to the headers. */
void sr_s3_sign(sr_s3_signed_t *result, const sr_s3_request_t *request, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------- repeat.c
 * A client of one bucket, for any number of threads of one process. It keeps connections. Make it after a fork,
 * and before threads start.
 */
typedef struct sr_s3_t sr_s3_t;

typedef struct sr_s3_options_t {
    const char *scheme, *authority; /* of the endpoint: "https", "s3.example.org:8080" */
    const char *bucket;
    const char *prefix; /* of all keys: "" or "sigreq/" */
    const char *region;
    sr_s3_credentials_t credentials;
    bool virtual_host;       /* the bucket is a part of the host's name (bucket.s3.example.org), and not of the path */
    const char *authorities; /* certificates (PEM) of https servers; NULL: the system's */
    const char *agent;       /* User-Agent */
    /* Time limits; 0: the default. `stall` is how long a transfer may be slower than 1 KiB/s (whole seconds), `small`
     * and `large` limit an operation with all its repeats, of up to 1 MiB or more. */
    apr_interval_time_t stall, small, large;
    /* Called with a line for the log, for example when the clock differs from that of the server; or NULL. */
    void (*note)(void *baton, const char *text);
    void *baton;
} sr_s3_options_t;

/* Errors: SR_EINTERNAL. */
sr_error_t *sr_s3_create(sr_s3_t **s3, const sr_s3_options_t *options, apr_pool_t *pool);
/* "s3://bucket/prefix" */
const char *sr_s3_name(const sr_s3_t *s3, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ settings.c
 * Read options from texts. They return the fault, or NULL.
 */
/* Returns true if a text begins with "s3://". */
bool sr_s3_is_url(const char *text);
/* "s3://bucket" or "s3://bucket/prefix": the bucket, and the prefix with a slash at its end */
const char *sr_s3_read_url(sr_s3_options_t *options, const char *url, apr_pool_t *pool);
/* "https://s3.example.org": the scheme and the authority */
const char *sr_s3_read_endpoint(sr_s3_options_t *options, const char *url, apr_pool_t *pool);
/* A file with the access key, the secret key, and perhaps a session token, each in a line. The fault has nothing of the
 * file. */
const char *sr_s3_read_credentials(sr_s3_credentials_t *credentials, const char *path, apr_pool_t *pool);
/* Returns the local folder for a bucket and a prefix, below `below`. */
const char *sr_s3_folder(const sr_s3_options_t *options, const char *below, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ objects.c
 * Operations on objects. A key is that of the object without the prefix of the client. Errors: SR_EUNAVAILABLE, whose
 * cause has the code and the request's id of the server.
 */
/* Stores the first `size` bytes of a file under a key, and asks the server whether it has them. */
sr_error_t *sr_s3_put(sr_s3_t *s3, const char *key, int descriptor, apr_off_t size, const char *sha256,
                      apr_pool_t *pool);
/* The same, but does not ask. For an object that nothing needs. */
sr_error_t *sr_s3_send(sr_s3_t *s3, const char *key, int descriptor, apr_off_t size, const char *sha256,
                       apr_pool_t *pool);
/* Writes an object to a file from its beginning. Nothing in the file may be used if there is an error. A content with
 * another SHA-256 (NULL: any), and an object that is missing, are errors. *size is -1 if the file cannot be written. */
sr_error_t *sr_s3_get(apr_off_t *size, sr_s3_t *s3, const char *key, const char *sha256, int descriptor,
                      apr_pool_t *pool);
/* The same of an object that may be missing, with any content. That the bucket is missing is an error. */
sr_error_t *sr_s3_find(bool *there, apr_off_t *size, sr_s3_t *s3, const char *key, int descriptor, apr_off_t most,
                       apr_pool_t *pool);
/* *size is set if the object is there. That the bucket is missing is not known here. */
sr_error_t *sr_s3_head(bool *there, apr_off_t *size, sr_s3_t *s3, const char *key, apr_pool_t *pool);
/* Copies an object within the bucket. Errors: SR_EUNAVAILABLE, also if it is missing. */
sr_error_t *sr_s3_copy(sr_s3_t *s3, const char *from, const char *to, apr_pool_t *pool);
/* It is no error if the object is missing. */
sr_error_t *sr_s3_delete(sr_s3_t *s3, const char *key, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ enumerate.c */
typedef struct sr_s3_object_t {
    const char *key; /* without the prefix of the client */
    apr_off_t size;
    apr_time_t modified; /* by the clock of the server; 0: not known */
} sr_s3_object_t;
/* Calls `each` for all objects whose keys begin with `begin`, which may be "". An error of `each` ends the list and is
 * returned. The pool of `each` is cleared after each call. */
typedef sr_error_t *(*sr_s3_each_t)(void *baton, const sr_s3_object_t *object, apr_pool_t *pool);
sr_error_t *sr_s3_list(sr_s3_t *s3, const char *begin, sr_s3_each_t each, void *baton, apr_pool_t *pool);

#endif
