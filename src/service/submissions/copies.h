/* SPDX-License-Identifier: Apache-2.0 */
/* copies.h: mails to people who only look, for create.c and sign.c. */
#ifndef SR_SERVICE_SUBMISSIONS_COPIES_H
#define SR_SERVICE_SUBMISSIONS_COPIES_H

#include "service/submissions/transition.h"

/* For the transition that completes a submission: writes the copies, and the mails of viewers who see it from now on.
 */
sr_error_t *sr_copies_write(const sr_service_t *service, sr_transition_t *transition, sr_blobs_t *documents);
/* Adds the mails of viewers who see it from its creation, or from its completion. */
void sr_views_write(json_t *jobs, const sr_submission_t *submission, const sr_inviter_t *inviter, bool completed,
                    apr_pool_t *pool);
/* Adds the addresses (const char *) of all these mails, and returns how many there are. */
int sr_copies_addresses(apr_array_header_t *addresses, const sr_submission_t *submission, apr_pool_t *pool);

#endif
