/* SPDX-License-Identifier: Apache-2.0 */
/* multipart.h: a push parser for multipart/form-data (RFC 7578, RFC 2046 section 5.1). The caller feeds it the body
 * in pieces of any size, and it calls the functions of a sink. It holds the headers of one part and at most one
 * delimiter in memory, never the data of a part. It does not include httpd.h, so that unit tests need no httpd. */
#ifndef SR_HTTP_MULTIPART_H
#define SR_HTTP_MULTIPART_H

#include "base/base.h"

#define SR_MULTIPART_HEADER_MAX 8192 /* bytes of one part's headers, at most */

typedef struct sr_part_t {
    const char *name;         /* decoded; never NULL */
    const char *filename;     /* decoded (%22 %0D %0A, \", filename*); NULL if the part is not a file */
    const char *raw_filename; /* as it was sent, without the quotes; the same as `filename` if nothing was encoded */
    const char *type;         /* media type in lower case without parameters, or NULL */
    const char *encoding;     /* Content-Transfer-Encoding in lower case, or NULL */
} sr_part_t;

/* The functions that the parser calls. If one returns an error, parsing ends and sr_multipart_feed returns that
 * error. `part` and its texts live in the pool given to sr_multipart_make. */
typedef struct sr_multipart_sink_t {
    sr_error_t *(*begin)(void *baton, const sr_part_t *part);
    sr_error_t *(*data)(void *baton, const char *data, apr_size_t length);
    sr_error_t *(*end)(void *baton);
    void *baton;
} sr_multipart_sink_t;

typedef struct sr_multipart_t sr_multipart_t;

/* Makes a parser. `parameters` is the text after "multipart/form-data" in the Content-Type header. `sink` is copied.
 * Errors here and below: SR_EBADREQUEST with the message "Malformed multipart body: <reason>". */
sr_error_t *sr_multipart_make(sr_multipart_t **parser, const char *parameters, const sr_multipart_sink_t *sink,
                              int max_parts, apr_pool_t *pool);
sr_error_t *sr_multipart_feed(sr_multipart_t *parser, const char *data, apr_size_t length);
/* Called at the end of the body. Returns an error if the closing delimiter is missing. */
sr_error_t *sr_multipart_finish(const sr_multipart_t *parser);

#endif
