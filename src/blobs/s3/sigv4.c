/* SPDX-License-Identifier: Apache-2.0 */
/* sigv4.c: signs requests to S3 (AWS Signature Version 4): the canonical request, the string to sign, the signature.
 * libcurl's own (CURLOPT_AWS_SIGV4) neither sorts nor encodes the query in the version of Debian 12. */
#include "blobs/s3/s3.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define ALGORITHM "AWS4-HMAC-SHA256"
#define SERVICE "s3"
#define TERMINATOR "aws4_request"
#define KEY_LENGTH 32

/* A header or a parameter of the query, in the form in which it is signed. */
typedef struct field_t {
    const char *name, *value;
    int place; /* values of one header keep their order */
} field_t;

/* Percent-encodes everything but the unreserved characters of RFC 3986, and in a path the slash. */
static const char *sigv4_encode(const char *text, bool is_path, apr_pool_t *pool)
{
    static const char digits[] = "0123456789ABCDEF";
    char *encoded = apr_palloc(pool, 3 * strlen(text) + 1), *at = encoded;
    for (; *text; text++) {
        const unsigned char byte = (unsigned char)*text;
        if ((byte < 0x80 && isalnum(byte)) || strchr("-_.~", byte) || (is_path && byte == '/')) {
            *at++ = *text;
            continue;
        }
        *at++ = '%';
        *at++ = digits[byte >> 4];
        *at++ = digits[byte & 15];
    }
    *at = '\0';
    return encoded;
}

const char *sr_s3_encode_path(const char *path, apr_pool_t *pool)
{
    return sigv4_encode(path, true, pool);
}

/* Removes white space around a value, and makes one space of each other run of white space. */
static const char *squeeze(const char *text, apr_pool_t *pool)
{
    char *squeezed = apr_palloc(pool, strlen(text) + 1), *at = squeezed;
    for (; *text; text++) {
        if (!isspace((unsigned char)*text)) *at++ = *text;
        else if (at > squeezed && at[-1] != ' ') *at++ = ' ';
    }
    if (at > squeezed && at[-1] == ' ') at--;
    *at = '\0';
    return squeezed;
}

static int by_name_and_value(const void *a, const void *b)
{
    const field_t *one = a, *other = b;
    const int order = strcmp(one->name, other->name);
    return order ? order : strcmp(one->value, other->value);
}

static int by_name_and_place(const void *a, const void *b)
{
    const field_t *one = a, *other = b;
    const int order = strcmp(one->name, other->name);
    return order ? order : one->place - other->place;
}

static void sort(apr_array_header_t *fields, int (*compare)(const void *, const void *))
{
    qsort(fields->elts, (size_t)fields->nelts, sizeof(field_t), compare);
}

/* The parameters are encoded first and then sorted, because a percent sign sorts before letters. */
static const char *query_of(const sr_s3_request_t *request, apr_pool_t *pool)
{
    apr_array_header_t *fields = apr_array_make(pool, request->query_count, sizeof(field_t));
    apr_array_header_t *parts = apr_array_make(pool, request->query_count, sizeof(const char *));
    for (int i = 0; i < request->query_count; i++) {
        const sr_s3_pair_t *pair = &request->query[i];
        APR_ARRAY_PUSH(fields, field_t) = (field_t){sigv4_encode(pair->name, false, pool),
                                                    sigv4_encode(pair->value ? pair->value : "", false, pool), i};
    }
    sort(fields, by_name_and_value);
    for (int i = 0; i < fields->nelts; i++) {
        const field_t *field = &APR_ARRAY_IDX(fields, i, field_t);
        APR_ARRAY_PUSH(parts, const char *) = apr_pstrcat(pool, field->name, "=", field->value, NULL);
    }
    return apr_array_pstrcat(pool, parts, '&');
}

/* The Host that libcurl sends: without the default port of the scheme. */
static const char *sigv4_host_of(const sr_s3_request_t *request, apr_pool_t *pool)
{
    const char *port = strcmp(request->scheme, "https") == 0 ? ":443" : ":80";
    const apr_size_t length = strlen(request->authority), end = strlen(port);
    const bool is_default = length > end && strcmp(request->authority + length - end, port) == 0;
    return apr_pstrmemdup(pool, request->authority, is_default ? length - end : length);
}

static void sigv4_add_header(apr_array_header_t *fields, const char *name, const char *value, apr_pool_t *pool)
{
    char *lower = apr_pstrdup(pool, name);
    for (char *at = lower; *at; at++) *at = (char)tolower((unsigned char)*at);
    const field_t field = {lower, squeeze(value ? value : "", pool), fields->nelts};
    APR_ARRAY_PUSH(fields, field_t) = field;
}

static apr_array_header_t *headers_of(const sr_s3_request_t *request, const char *when, apr_pool_t *pool)
{
    apr_array_header_t *fields = apr_array_make(pool, request->header_count + 4, sizeof(field_t));
    sigv4_add_header(fields, "host", sigv4_host_of(request, pool), pool);
    sigv4_add_header(fields, "x-amz-content-sha256", request->payload, pool);
    sigv4_add_header(fields, "x-amz-date", when, pool);
    if (request->credentials->session_token)
        sigv4_add_header(fields, "x-amz-security-token", request->credentials->session_token, pool);
    for (int i = 0; i < request->header_count; i++)
        sigv4_add_header(fields, request->headers[i].name, request->headers[i].value, pool);
    sort(fields, by_name_and_place);
    return fields;
}

/* Sets the names of the headers, separated by semicolons, and the lines "name:value". Values of headers that have the
 * same name are one line. */
static void join_headers(const char **names, const char **lines, const apr_array_header_t *fields, apr_pool_t *pool)
{
    apr_array_header_t *all = apr_array_make(pool, fields->nelts, sizeof(const char *));
    apr_array_header_t *text = apr_array_make(pool, fields->nelts, sizeof(const char *));
    for (int i = 0; i < fields->nelts; i++) {
        const field_t *field = &APR_ARRAY_IDX(fields, i, field_t);
        if (i && strcmp(field->name, field[-1].name) == 0) {
            char **last = &APR_ARRAY_IDX(text, text->nelts - 1, char *);
            *last = apr_pstrcat(pool, *last, ",", field->value, NULL);
            continue;
        }
        APR_ARRAY_PUSH(all, const char *) = field->name;
        APR_ARRAY_PUSH(text, const char *) = apr_pstrcat(pool, field->name, ":", field->value, NULL);
    }
    *names = apr_array_pstrcat(pool, all, ';');
    *lines = apr_array_pstrcat(pool, text, '\n');
}

/* The headers are sent in the order in which they are signed, and so do not depend on the caller's. */
static apr_array_header_t *sent(const apr_array_header_t *fields, const char *authorization, apr_pool_t *pool)
{
    apr_array_header_t *list = apr_array_make(pool, fields->nelts + 1, sizeof(const char *));
    for (int i = 0; i < fields->nelts; i++) {
        const field_t *field = &APR_ARRAY_IDX(fields, i, field_t);
        APR_ARRAY_PUSH(list, const char *) = *field->value ? apr_pstrcat(pool, field->name, ": ", field->value, NULL)
                                                           : apr_pstrcat(pool, field->name, ";", NULL);
    }
    APR_ARRAY_PUSH(list, const char *) = authorization;
    return list;
}

/* Derives the key of the day, the region and the service from the secret key, and signs the text with it. */
static const char *sigv4_signature_of(const sr_s3_request_t *request, const char *day, const char *text,
                                      apr_pool_t *pool)
{
    const char *first = apr_pstrcat(pool, "AWS4", request->credentials->secret_key, NULL);
    const char *const steps[] = {day, request->region, SERVICE, TERMINATOR, text};
    unsigned char key[KEY_LENGTH];
    sr_hmac_sha256(key, first, strlen(first), steps[0], strlen(steps[0]));
    for (size_t i = 1; i < sizeof steps / sizeof *steps; i++)
        sr_hmac_sha256(key, key, sizeof key, steps[i], strlen(steps[i]));
    return sr_text_hex(key, sizeof key, pool);
}

void sr_s3_sign(sr_s3_signed_t *result, const sr_s3_request_t *request, apr_pool_t *pool)
{
    char when[SR_TIME_PRINTED], day[SR_TIME_PRINTED];
    const char *names, *lines;
    sr_time_print(when, "%Y%m%dT%H%M%SZ", request->now);
    sr_time_print(day, "%Y%m%d", request->now);
    const char *path = sigv4_encode(request->path, true, pool), *query = query_of(request, pool);
    const apr_array_header_t *fields = headers_of(request, when, pool);
    join_headers(&names, &lines, fields, pool);
    const char *scope = apr_pstrcat(pool, day, "/", request->region, "/" SERVICE "/" TERMINATOR, NULL);
    result->canonical = apr_pstrcat(pool, request->method, "\n", path, "\n", query, "\n", lines, "\n\n", names, "\n",
                                    request->payload, NULL);
    result->to_sign = apr_pstrcat(pool, ALGORITHM "\n", when, "\n", scope, "\n",
                                  sr_sha256_hex(result->canonical, strlen(result->canonical), pool), NULL);
    result->signature = sigv4_signature_of(request, day, result->to_sign, pool);
    const char *authorization =
        apr_pstrcat(pool, "authorization: " ALGORITHM " Credential=", request->credentials->access_key, "/", scope,
                    ", SignedHeaders=", names, ", Signature=", result->signature, NULL);
    result->headers = sent(fields, authorization, pool);
    result->url = apr_pstrcat(pool, request->scheme, "://", request->authority, path, *query ? "?" : "", query, NULL);
}
