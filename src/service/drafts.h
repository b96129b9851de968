/* SPDX-License-Identifier: Apache-2.0 */
/* drafts.h: submissions that are not sent yet (docs/decisions/0032-drafts.md). Part of service.h.
 *
 * Sections: draft.c · draft_save.c · draft_send.c */
#ifndef SR_SERVICE_DRAFTS_H
#define SR_SERVICE_DRAFTS_H

#include "service/service.h"

#define SR_PLACEMENT_LIFETIME apr_time_from_sec(APR_INT64_C(7) * 86400)

/* Who acts on a draft: a caller's token and the submission's uuid, or the uuid of a placement link. */
typedef struct sr_draft_subject_t {
    const char *token_hash, *submission, *placement;
    const char *token; /* the uuid of the token; NULL: it is looked up if it is needed */
} sr_draft_subject_t;
/* Reads a draft. Errors: SR_ENOTFOUND, SR_EGONE (a placement link that has ended: after 7 days, replaced, or sent),
 * SR_ECONFLICT if it is no draft any more (token). */
sr_error_t *sr_service_draft(const sr_service_t *service, sr_signing_t **signing, const sr_draft_subject_t *subject,
                             apr_pool_t *pool);
/* Returns the tag of the representation of a draft that was read (sr_shown_submission_t). */
const char *sr_service_draft_tag(const sr_signing_t *signing, apr_pool_t *pool);
/* Replaces its fields. `signers` is the JSON text of the array. `known`: an If-Match header, or NULL. *shown is the new
 * representation. The errors above, and SR_EPRECONDITION if the header has another tag. */
sr_error_t *sr_service_draft_fields(const sr_service_t *service, sr_shown_submission_t *shown,
                                    const sr_draft_subject_t *subject, const char *signers, apr_size_t length,
                                    const char *known, sr_remarks_t *remarks, apr_pool_t *pool);
/* Sends it. `known` is as above. Errors: also those of a creation. */
sr_error_t *sr_service_draft_send(const sr_service_t *service, sr_shown_submission_t *shown,
                                  const sr_draft_subject_t *subject, const char *known, const sr_client_t *client,
                                  apr_pool_t *pool);
/* Makes a new placement link. *placement is its uuid. */
sr_error_t *sr_service_draft_link(const sr_service_t *service, const char **placement, apr_time_t *until,
                                  const char *token_hash, const char *submission, apr_pool_t *pool);

#endif
