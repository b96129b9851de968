/* SPDX-License-Identifier: Apache-2.0 */
/* attached.h: the files of a mail, as parts of its message. Private to src/jobs. */
#ifndef SR_JOBS_ATTACHED_H
#define SR_JOBS_ATTACHED_H

#include "jobs/jobs.h"

struct sr_mail_files_t {
    const apr_array_header_t *parts; /* const char *: the headers of a part, an empty line, and a file in base64.
                                        NULL: the files are too large for a mail */
};

/* Makes the parts of files (sr_attachment_t; NULL: they are too large). All of a file is read. Errors:
 * SR_EUNAVAILABLE. */
sr_error_t *sr_mail_files(const sr_mail_files_t **made, const apr_array_header_t *files, apr_pool_t *pool);

/* Returns "=?UTF-8?B?…?=" for a header (RFC 2047), in words of at most 75 characters that are cut between characters.
 * Plain ASCII text is returned as it is. */
const char *sr_mail_encoded(const char *text, apr_pool_t *pool);
/* Writes bytes to `out` in base64 with lines of 76 characters (RFC 2045, 6.8), and returns the end. */
char *sr_mail_base64(char *out, const unsigned char *bytes, apr_size_t length);
#define SR_MAIL_LINE ((apr_size_t)57) /* bytes in a line */
/* room for so many bytes, and NUL */
#define SR_MAIL_BASE64(length) (((length) + SR_MAIL_LINE) / SR_MAIL_LINE * 78 + 1)

#endif
