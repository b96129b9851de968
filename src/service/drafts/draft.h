/* SPDX-License-Identifier: Apache-2.0 */
/* draft.h: shared by the use cases of drafts. */
#ifndef SR_SERVICE_DRAFTS_DRAFT_H
#define SR_SERVICE_DRAFTS_DRAFT_H

#include "service/private.h"

/* Returns by what right a draft is read. */
sr_subject_t sr_draft_subject(const sr_draft_subject_t *subject);
/* Errors: SR_ECONFLICT if it is no draft any more. */
sr_error_t *sr_draft_may(const sr_submission_t *submission, apr_pool_t *pool);

#endif
