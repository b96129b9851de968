/* SPDX-License-Identifier: Apache-2.0 */
/* tombstone.c: the transition that deletes a submission, for erase.c, and for expire.c if a draft has ended. */
#include "service/submissions/transition.h"

#include <string.h>

static void tombstone_add(json_t *list, const char *sha256)
{
    size_t i;
    json_t *there;
    json_array_foreach (list, i, there)
        if (!strcmp(json_string_value(there), sha256)) return;
    json_array_append_new(list, json_string(sha256));
}

/* Returns the SHA-256 of all versions of all documents. */
static json_t *tombstone_contents(const sr_submission_t *submission, apr_pool_t *pool)
{
    json_t *list = sr_json_own(json_array(), pool);
    for (int i = 0; i < submission->documents->nelts; i++) {
        const sr_document_state_t *document = &APR_ARRAY_IDX(submission->documents, i, sr_document_state_t);
        tombstone_add(list, document->sha256);
        tombstone_add(list, document->base_sha256);
        for (int k = 0; k < document->revisions->nelts; k++)
            tombstone_add(list, APR_ARRAY_IDX(document->revisions, k, sr_revised_t).whole_sha256);
    }
    return list;
}

sr_error_t *sr_tombstone_take(const sr_service_t *service, sr_transition_t *transition, void *baton)
{
    const sr_submission_t *submission = &transition->signing->submission;
    if (submission->state == SR_SUBMISSION_OPEN)
        return sr_error(transition->pool, SR_ECONFLICT, "This submission is open: cancel it before you delete it");
    SR_TRY(sr_submission_may(submission, SR_ACTION_DELETE, transition->pool));
    if (submission->held_at)
        return sr_error(transition->pool, SR_ECONFLICT, "This submission is under legal hold and cannot be deleted");
    transition->erased = tombstone_contents(submission, transition->pool);
    sr_transition_event(transition, NULL, "deleted",
                        json_pack("{s:s}", "outcome", sr_submission_state_name(submission->state)));
    if (submission->state == SR_SUBMISSION_DRAFT) apr_array_clear(transition->feed); /* which has not told of it */
    return NULL;
}
