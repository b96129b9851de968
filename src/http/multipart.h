/* SPDX-License-Identifier: Apache-2.0 */
/* multipart.h: a push parser for multipart/form-data (RFC 7578 over RFC 2046, 5.1). It is fed pieces as they come
 * and calls back; it holds one part's headers and at most one delimiter, never the data. No httpd.h: unit-tested
 * alone.
 */
#ifndef SR_MULTIPART_H
#define SR_MULTIPART_H

#include "base/base.h"

#define SR_MULTIPART_HEADER_MAX 8192 /* bytes of one part's headers */

typedef struct sr_part_t {
    const char *name;         /* decoded; never NULL */
    const char *filename;     /* decoded (%22 %0D %0A, \", filename*), or NULL when the part is no file */
    const char *raw_filename; /* as it stood between the quotes; equal to `filename` where nothing was encoded */
    const char *type;         /* media type in lower case without parameters, or NULL */
    const char *encoding;     /* Content-Transfer-Encoding in lower case, or NULL */
} sr_part_t;

/* What the parser calls; an error ends the parsing and is returned by sr_multipart_feed. `part` and its text live
 * in the pool given to sr_multipart_make. */
typedef struct sr_multipart_sink_t {
    sr_error_t *(*begin)(void *baton, const sr_part_t *part);
    sr_error_t *(*data)(void *baton, const char *data, apr_size_t length);
    sr_error_t *(*end)(void *baton);
    void *baton;
} sr_multipart_sink_t;

typedef struct sr_multipart_t sr_multipart_t;

/* `parameters` is what follows "multipart/form-data" in the Content-Type. Errors, here and below, are
 * SR_EBADREQUEST with the message "Malformed multipart body: <reason>". */
sr_error_t *sr_multipart_make(sr_multipart_t **parser, const char *parameters, const sr_multipart_sink_t *sink,
                              int max_parts, apr_pool_t *pool);
sr_error_t *sr_multipart_feed(sr_multipart_t *parser, const char *data, apr_size_t length);
/* The body is over: an error unless the closing delimiter was seen. */
sr_error_t *sr_multipart_finish(const sr_multipart_t *parser);

#endif
