/* SPDX-License-Identifier: Apache-2.0 */
/* draft_save.c: changes of a draft, which are no events: its fields, and its placement link. */
#include <string.h>

#include "service/drafts/draft.h"
#include "service/submissions/uploads.h"

#define ATTEMPTS 20

/* Returns NULL if only the link was changed. */
static apr_array_header_t *save_signers(const sr_submission_t *submission, bool fields, apr_pool_t *pool)
{
    apr_array_header_t *rows = apr_array_make(pool, submission->signers->nelts, sizeof(sr_saved_arg_t));
    for (int i = 0; i < submission->signers->nelts; i++) {
        const sr_signer_t *signer = &APR_ARRAY_IDX(submission->signers, i, sr_signer_t);
        APR_ARRAY_PUSH(rows, sr_saved_arg_t) =
            (sr_saved_arg_t){.uuid = signer->uuid, .fields = sr_json_own(sr_signer_fields_json(signer), pool)};
    }
    return fields ? rows : NULL;
}

/* `former`: the placement link as it was read. */
static sr_error_t *save_store(const sr_service_t *service, sr_outcome_t *outcome, sr_shown_submission_t *shown,
                              sr_signing_t *signing, const char *former, bool fields, apr_pool_t *pool)
{
    sr_submission_t *submission = &signing->submission;
    const bool is_moved = submission->placement != former;
    const sr_save_arg_t save = {.seen_hash = signing->events_hash,
                                .saves = submission->saves,
                                .representation_version = SR_REPRESENTATION_VERSION,
                                .warnings = submission->warnings,
                                .placement = is_moved ? submission->placement : NULL,
                                .placement_until = is_moved ? submission->placement_until : 0,
                                .signers = save_signers(submission, fields, pool)};
    submission->updated_at = sr_time_now();
    submission->saves++;
    shown->representation = sr_submission_render(submission, pool);
    shown->tag = sr_service_draft_tag(signing, pool);
    sr_error_t *error = sr_store_draft_save(service->database, outcome, submission->uuid, submission->updated_at, &save,
                                            shown->representation, pool);
    /* the former link ends at once, also after an error, because the transaction may have been committed */
    for (int i = 0; is_moved && i < submission->documents->nelts; i++)
        sr_version_cache_changed(APR_ARRAY_IDX(submission->documents, i, sr_document_state_t).uuid);
    return error;
}

/* Changes signing->submission, which is then stored. */
typedef sr_error_t *(*change_t)(const sr_service_t *service, sr_signing_t *signing, void *baton, apr_pool_t *pool);

/* If the draft was changed meanwhile, all begins again. `fields`: they are changed. */
static sr_error_t *save_change(const sr_service_t *service, sr_shown_submission_t *shown,
                               const sr_draft_subject_t *subject, bool fields, change_t change, void *baton,
                               apr_pool_t *pool)
{
    sr_outcome_t outcome = SR_STALE;
    sr_signing_t *signing;
    for (int i = 0; i < ATTEMPTS && outcome == SR_STALE; i++) {
        SR_TRY(sr_service_draft(service, &signing, subject, pool));
        const char *former = signing->submission.placement;
        SR_TRY(change(service, signing, baton, pool));
        SR_TRY(save_store(service, &outcome, shown, signing, former, fields, pool));
    }
    if (outcome == SR_STALE)
        return sr_error(pool, SR_EUNAVAILABLE, "The draft is changed too often now, try again in a moment");
    return sr_service_refusal(outcome, pool);
}

/* --- fields */

typedef struct placing_t {
    const char *signers, *known;
    apr_size_t length;
    sr_remarks_t *remarks;
} placing_t;

static sr_error_t *save_fields(const sr_service_t *service, sr_signing_t *signing, void *baton, apr_pool_t *pool)
{
    const placing_t *placing = baton;
    sr_draft_work_t work;
    SR_TRY(sr_draft_match(placing->known, signing, pool));
    sr_error_t *error =
        sr_draft_check(service, &work, signing, placing->signers, placing->length, false, placing->remarks, pool);
    sr_uploads_drop(&work.preflight);
    json_t *warnings = sr_remarks_json(placing->remarks);
    signing->submission.warnings = warnings ? sr_json_own(warnings, pool) : NULL;
    return error;
}

sr_error_t *sr_service_draft_fields(const sr_service_t *service, sr_shown_submission_t *shown,
                                    const sr_draft_subject_t *subject, const char *signers, apr_size_t length,
                                    const char *known, sr_remarks_t *remarks, apr_pool_t *pool)
{
    placing_t placing = {.signers = signers, .known = known, .length = length, .remarks = remarks};
    return save_change(service, shown, subject, true, save_fields, &placing, pool);
}

/* --- the link */

typedef struct link_t {
    const char *placement;
    apr_time_t until;
} link_t;

static sr_error_t *save_link(const sr_service_t *service, sr_signing_t *signing, void *baton, apr_pool_t *pool)
{
    link_t *link = baton;
    (void)service;
    (void)pool;
    signing->submission.placement = link->placement;
    signing->submission.placement_until = link->until = signing->clock + SR_PLACEMENT_LIFETIME;
    return NULL;
}

sr_error_t *sr_service_draft_link(const sr_service_t *service, const char **placement, apr_time_t *until,
                                  const char *token_hash, const char *submission, apr_pool_t *pool)
{
    const sr_draft_subject_t subject = {.token_hash = token_hash, .submission = submission};
    link_t link = {.placement = sr_uuid_make(pool)};
    sr_shown_submission_t shown;
    SR_TRY(save_change(service, &shown, &subject, false, save_link, &link, pool));
    *placement = link.placement;
    *until = link.until;
    return NULL;
}
