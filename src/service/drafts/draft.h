/* SPDX-License-Identifier: Apache-2.0 */
/* draft.h: shared by the use cases of drafts. */
#ifndef SR_SERVICE_DRAFTS_DRAFT_H
#define SR_SERVICE_DRAFTS_DRAFT_H

#include "service/submissions/preflight.h"

/* ---------------------------------------------------------------------------------------------- draft.c */
/* Returns by what right a draft is read. */
sr_subject_t sr_draft_subject(const sr_draft_subject_t *subject);
/* Errors: SR_ECONFLICT if it is no draft any more. */
sr_error_t *sr_draft_may(const sr_submission_t *submission, apr_pool_t *pool);
/* `known`: an If-Match header, or NULL. Errors: SR_EPRECONDITION if it has another tag than that of the draft. */
sr_error_t *sr_draft_match(const char *known, const sr_signing_t *signing, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------- draft_check.c */
/* A draft as a creation that is checked. */
typedef struct sr_draft_work_t {
    sr_token_t caller;   /* has the organisation and the environment */
    sr_create_t request; /* has no texts */
    sr_preflight_t preflight;
} sr_draft_work_t;
/* Takes the fields (sr_signers_place) and makes the checks of a creation. signing->submission then has the resolved
 * fields. `sends`: also those that a draft need not pass, and those of the documents with their fields, for which they
 * are prepared. Call sr_uploads_drop afterwards, also after an error. */
sr_error_t *sr_draft_check(const sr_service_t *service, sr_draft_work_t *work, sr_signing_t *signing,
                           const char *signers, apr_size_t length, bool sends, sr_remarks_t *remarks, apr_pool_t *pool);

#endif
