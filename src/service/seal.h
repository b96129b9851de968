/* SPDX-License-Identifier: Apache-2.0 */
/* seal.h: shared by sign.c and certify.c. */
#ifndef SR_SEAL_H
#define SR_SEAL_H

#include "service/transition.h"

/* Fills a prepared document and seals it with the seal of the environment in `what`. Errors: SR_EBADREQUEST if the
 * signature cannot be drawn, and SR_EUNAVAILABLE for everything else; the signer may try again. */
sr_error_t *sr_seal(const sr_service_t *service, sr_pdf_revision_t *revision, const sr_joined_t *joined,
                    const sr_pdf_signature_t *what, apr_pool_t *pool);
/* Makes an SR_EUNAVAILABLE. `what` and `why` are for the log. */
sr_error_t *sr_seal_failed(apr_pool_t *pool, const char *what, const char *why);

/* certify.c: makes, seals and stores the certificate of completion after the last signature, and adds it to the
 * transition. */
sr_error_t *sr_certify(const sr_service_t *service, sr_transition_t *transition, sr_blobs_t *documents);

#endif
