/* SPDX-License-Identifier: Apache-2.0 */
/* open.c: a signer opens their link. This is recorded once, with the time. */
#include "service/transition.h"

static sr_error_t *record_opening(const sr_service_t *service, sr_transition_t *transition, void *baton)
{
    sr_transition_open(transition);
    return NULL;
}

sr_error_t *sr_service_signing_open(const sr_service_t *service, sr_signing_t **signing, const char *signer,
                                    const sr_client_t *client, apr_pool_t *pool)
{
    SR_TRY(sr_service_signing(service, signing, signer, pool));
    if (sr_signing_may(*signing, SR_ACTION_OPEN, pool)) return NULL;
    const sr_subject_t subject = {.signer = signer};
    return sr_transition_take(service, signing, &subject, client, record_opening, NULL, pool);
}
