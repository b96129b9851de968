/* SPDX-License-Identifier: Apache-2.0 */
/* desk_users.h: the users of the desk, whom httpd has authenticated (accounts/desk_users.c), and what the desk shows of
 * a submission. Part of service.h. */
#ifndef SR_SERVICE_DESK_USERS_H
#define SR_SERVICE_DESK_USERS_H

#include "service/service.h"

/* A user in an environment. */
typedef struct sr_desk_scope_t {
    const char *name;       /* sr_owner_of */
    const char *token_hash; /* of a token that has no secret; NULL until sr_service_desk_token has made it */
    sr_token_t token;       /* without its webhooks and times */
} sr_desk_scope_t;
/* Sets *scopes to an array of sr_desk_scope_t: those of the users with this email address, of all organisations. It is
 * empty if there is no such user, or if they are disabled. */
sr_error_t *sr_service_desk_scopes(const sr_service_t *service, const apr_array_header_t **scopes, const char *email,
                                   apr_pool_t *pool);
/* Gives the scope its token. Errors: SR_ENOTFOUND if the user was disabled or deleted meanwhile. */
sr_error_t *sr_service_desk_token(const sr_service_t *service, sr_desk_scope_t *scope, apr_pool_t *pool);
/* reading.c: the record of a submission of the caller, with all that the desk shows. It is expired first if its
 * deadline is over. Errors: SR_EGONE if it was deleted. */
sr_error_t *sr_service_request(const sr_service_t *service, sr_signing_t **signing, const char *token_hash,
                               const char *submission, apr_pool_t *pool);

#endif
