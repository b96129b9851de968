/* SPDX-License-Identifier: Apache-2.0 */
/* letter.h: the subject and texts of a mail to a signer, in their language. letter.c makes them for mail.c. */
#ifndef SR_JOBS_LETTER_H
#define SR_JOBS_LETTER_H

#include "jobs/jobs.h"

typedef struct sr_letter_t {
    const char *from; /* the name of the sender, or NULL */
    const char *subject, *text, *html;
} sr_letter_t;

/* Makes the texts of an invitation, a reminder or a code in `pool`. One of the test environment is marked as a test,
 * with any template. `reply_to` is the address to which replies go, or NULL. Errors: SR_EINTERNAL. */
sr_error_t *sr_letter_write(sr_letter_t *letter, const sr_mail_t *mail, const json_t *invitation, const char *reply_to,
                            apr_pool_t *pool);
/* Returns true if the invitation belongs to the test environment. */
bool sr_letter_is_test(const json_t *invitation);

#endif
