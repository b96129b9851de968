/* SPDX-License-Identifier: Apache-2.0 */
/* part.h: parses the headers of one part of a multipart body. Only multipart.c and part.c use it. */
#ifndef SR_HTTP_PART_H
#define SR_HTTP_PART_H

#include "http/multipart.h"

/* Parses the headers of a part. Each line ends with CRLF, and the blank line at the end is included. The part lives
 * in `pool`. */
sr_error_t *sr_part_parse(sr_part_t **part, const char *headers, apr_size_t length, apr_pool_t *pool);

/* Makes the error SR_EBADREQUEST of a malformed multipart body, with the reason in its message. */
sr_error_t *sr_part_malformed(apr_pool_t *pool, const char *why);

/* Finds one parameter in text of the form "; name=token; other=\"quoted \\\" text\"". *value is NULL if it is absent.
 */
sr_error_t *sr_part_parameter(const char **value, const char *parameters, const char *name, apr_pool_t *pool);

#endif
