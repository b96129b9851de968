/* SPDX-License-Identifier: Apache-2.0 */
/* draft.c: reads a draft, for its caller or by its placement link. */
#include "service/drafts/draft.h"

#include <string.h>

sr_subject_t sr_draft_subject(const sr_draft_subject_t *subject)
{
    if (subject->placement) return (sr_subject_t){.placement = subject->placement};
    return (sr_subject_t){.token_hash = subject->token_hash, .submission = subject->submission};
}

sr_error_t *sr_draft_may(const sr_submission_t *submission, apr_pool_t *pool)
{
    if (submission->state == SR_SUBMISSION_DRAFT) return NULL;
    return sr_error(pool, SR_ECONFLICT, "This submission is no draft: it was sent");
}

sr_error_t *sr_service_draft(const sr_service_t *service, sr_signing_t **signing, const sr_draft_subject_t *subject,
                             apr_pool_t *pool)
{
    const sr_subject_t whose = sr_draft_subject(subject);
    sr_error_t *error = sr_service_subject(service, signing, &whose, pool);
    if (error && error->code == SR_EGONE && subject->placement)
        return sr_error(pool, SR_EGONE, "This link has ended, or the signature request was sent");
    return error ? error : sr_draft_may(&(*signing)->submission, pool);
}

const char *sr_service_draft_tag(const sr_signing_t *signing, apr_pool_t *pool)
{
    return sr_representation_tag(signing->events_hash, signing->submission.saves, pool);
}

/* The tag is followed by "-" and digits of the base URL (sr_http_tag). */
sr_error_t *sr_draft_match(const char *known, const sr_signing_t *signing, apr_pool_t *pool)
{
    const char *tag = apr_pstrcat(pool, "\"", sr_service_draft_tag(signing, pool), "-", NULL);
    if (!known || !strcmp(known, "*") || strstr(known, tag)) return NULL;
    return sr_error(pool, SR_EPRECONDITION, "The draft was changed since it was read");
}
