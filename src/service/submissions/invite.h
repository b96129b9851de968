/* SPDX-License-Identifier: Apache-2.0 */
/* invite.h: the limits of mails and codes to signers: of an organisation, and of an organisation to one address. */
#ifndef SR_SERVICE_SUBMISSIONS_INVITE_H
#define SR_SERVICE_SUBMISSIONS_INVITE_H

#include "service/private.h"

typedef struct sr_inviting_t {
    const sr_service_t *service;
    const char *organization_uuid;
    sr_environment_t environment;
    apr_array_header_t *taken; /* private to invite.c; NULL if nothing was counted */
} sr_inviting_t;

/* Counts one mail for each address (const char *): in the order of the signers, and last those of `others`, who get
 * copies or may look. Errors: SR_ETOOMANY, and SR_EBADREQUEST if the limit is too low for all of them. With an error
 * nothing is counted. */
sr_error_t *sr_invite_take(sr_inviting_t *inviting, const apr_array_header_t *addresses, int others, apr_pool_t *pool);
/* The same for one mail. */
sr_error_t *sr_invite_take_one(sr_inviting_t *inviting, const char *address, apr_pool_t *pool);
/* Counts one code that SigreqCodeHook delivers, also by the first digits of a telephone number. Such limits are those
 * of all organisations together. Errors: SR_ETOOMANY. */
sr_error_t *sr_invite_take_hook(sr_inviting_t *inviting, const char *to, apr_pool_t *pool);
/* Subtracts what was counted, if the invitations are not sent. */
void sr_invite_give_back(sr_inviting_t *inviting);

#endif
