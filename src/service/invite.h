/* SPDX-License-Identifier: Apache-2.0 */
/* invite.h: how many invitations may be sent: of an organisation, and of an organisation to one address. */
#ifndef SR_SERVICE_INVITE_H
#define SR_SERVICE_INVITE_H

#include "service/private.h"

typedef struct sr_inviting_t {
    const sr_service_t *service;
    const char *organization_uuid;
    sr_environment_t environment;
    apr_array_header_t *taken; /* of invite.c; NULL: nothing was counted */
} sr_inviting_t;

/* Counts one invitation for each address (const char *), in the order of the signers. Errors: SR_ETOOMANY, and
 * SR_EBADREQUEST when even the whole allowance is too small; then nothing is counted. */
sr_error_t *sr_invite_take(sr_inviting_t *inviting, const apr_array_header_t *addresses, apr_pool_t *pool);
/* Nothing was sent: what was counted is counted no more. */
void sr_invite_give_back(sr_inviting_t *inviting);

#endif
