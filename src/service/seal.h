/* SPDX-License-Identifier: Apache-2.0 */
/* seal.h: what sign.c and certify.c share. */
#ifndef SR_SEAL_H
#define SR_SEAL_H

#include "service/transition.h"

/* Fills a prepared document and seals it, with the seal of the environment that `what` says. What the signer is to
 * blame for is SR_EBADREQUEST; all else SR_EUNAVAILABLE: the signer may try again. */
sr_error_t *sr_seal(const sr_service_t *service, sr_pdf_revision_t *revision, const sr_joined_t *joined,
                    const sr_pdf_signature_t *what, apr_pool_t *pool);
/* SR_EUNAVAILABLE; `what` and `why` are for the log. */
sr_error_t *sr_seal_failed(apr_pool_t *pool, const char *what, const char *why);

/* certify.c: all have signed: the certificate of completion is made, sealed and stored, and becomes part of the
 * transition. */
sr_error_t *sr_certify(const sr_service_t *service, sr_transition_t *step, sr_blobs_t *documents);

#endif
