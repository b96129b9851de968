/* SPDX-License-Identifier: Apache-2.0 */
/* drawn_preview.h: a creation's documents with their fields drawn, for create.c. */
#ifndef SR_SERVICE_SUBMISSIONS_DRAWN_PREVIEW_H
#define SR_SERVICE_SUBMISSIONS_DRAWN_PREVIEW_H

#include "service/submissions/preflight.h"

/* Draws the documents of a creation that has passed its checks, or one page of them. Errors: SR_EBADREQUEST,
 * SR_EUNAVAILABLE. */
sr_error_t *sr_preview_draw(const sr_service_t *service, sr_previewed_t *previewed, const sr_preflight_t *preflight,
                            const apr_array_header_t *signers, const sr_create_t *request,
                            const sr_preview_view_t *view, apr_pool_t *pool);

#endif
