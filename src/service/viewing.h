/* SPDX-License-Identifier: Apache-2.0 */
/* viewing.h: use cases of viewers, who see a submission by a link and never sign it. Part of service.h. */
#ifndef SR_SERVICE_VIEWING_H
#define SR_SERVICE_VIEWING_H

#include "service/service.h"

/* A caller who knows a viewer's uuid is that viewer. No token; SR_ENOTFOUND if there is no such link. *signing has the
 * viewer, also if they may not see the documents: the caller asks sr_viewing_may_see. Changes nothing. reading.c */
sr_error_t *sr_service_viewing(const sr_service_t *service, sr_signing_t **signing, const char *viewer,
                               apr_pool_t *pool);
/* The same, and records the first opening of the link. first_view.c */
sr_error_t *sr_service_viewing_open(const sr_service_t *service, sr_signing_t **signing, const char *viewer,
                                    const sr_client_t *client, apr_pool_t *pool);
/* Revokes the link of a viewer, or of a copy. Does nothing if it is revoked already. revoke.c */
sr_error_t *sr_service_viewer_revoke(const sr_service_t *service, const sr_caller_t *caller, const char *viewer,
                                     apr_pool_t *pool);

#endif
