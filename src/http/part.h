/* SPDX-License-Identifier: Apache-2.0 */
/* part.h: the header lines of one part of a multipart body, for multipart.c. */
#ifndef SR_PART_H
#define SR_PART_H

#include "http/multipart.h"

/* Reads the header block of a part (each line ending in CRLF, with the blank line at the end). */
sr_error_t *sr_part_parse(sr_part_t **part, const char *headers, apr_size_t length, apr_pool_t *pool);

/* The error of a body that cannot be read as a form, with the reason in its message. */
sr_error_t *sr_part_malformed(apr_pool_t *pool, const char *why);

/* The value of one parameter of "; name=token; other=\"quoted \\\" text\"", or NULL when it is not there. */
sr_error_t *sr_part_parameter(const char **value, const char *parameters, const char *name, apr_pool_t *pool);

#endif
