/* SPDX-License-Identifier: Apache-2.0 */
/* erase.c: deletes a closed submission. One transaction erases all that is personal and leaves a tombstone. The column
 * `erasing` then lists the contents whose page images and reports must still be removed from folders, until that has
 * been done. So a process that is killed loses nothing: the next call, or `sigreqctl gc`, continues. Documents become
 * blobs that nothing refers to, which `sigreqctl gc` collects. */
#include "service/submissions/transition.h"

#include <string.h>

/* --- the transaction */

static void erase_add(json_t *list, const char *sha256)
{
    size_t i;
    json_t *there;
    json_array_foreach (list, i, there)
        if (!strcmp(json_string_value(there), sha256)) return;
    json_array_append_new(list, json_string(sha256));
}

/* Returns the SHA-256 of all versions of all documents. */
static json_t *contents_of(const sr_submission_t *submission, apr_pool_t *pool)
{
    json_t *list = sr_json_own(json_array(), pool);
    for (int i = 0; i < submission->documents->nelts; i++) {
        const sr_document_state_t *document = &APR_ARRAY_IDX(submission->documents, i, sr_document_state_t);
        erase_add(list, document->sha256);
        erase_add(list, document->base_sha256);
        for (int k = 0; k < document->revisions->nelts; k++)
            erase_add(list, APR_ARRAY_IDX(document->revisions, k, sr_revised_t).whole_sha256);
    }
    return list;
}

sr_error_t *sr_erase_take(const sr_service_t *service, sr_transition_t *transition, void *baton)
{
    const sr_submission_t *submission = &transition->signing->submission;
    if (submission->state == SR_SUBMISSION_OPEN)
        return sr_error(transition->pool, SR_ECONFLICT, "This submission is open: cancel it before you delete it");
    SR_TRY(sr_submission_may(submission, SR_ACTION_DELETE, transition->pool));
    if (submission->held_at)
        return sr_error(transition->pool, SR_ECONFLICT, "This submission is under legal hold and cannot be deleted");
    transition->erased = contents_of(submission, transition->pool);
    sr_transition_event(transition, NULL, "deleted",
                        json_pack("{s:s}", "outcome", sr_submission_state_name(submission->state)));
    if (submission->state == SR_SUBMISSION_DRAFT) apr_array_clear(transition->feed); /* which has not told of it */
    return NULL;
}

/* --- the folders */

/* Removes what the folders have of one tombstone. */
static sr_error_t *remove_files(const sr_service_t *service, const json_t *erasure, apr_pool_t *pool)
{
    const char *name = sr_json_string(erasure, "environment");
    const sr_environment_t environment = name && !strcmp(name, "production") ? SR_PRODUCTION : SR_TEST;
    const char *owner = sr_owner_of(sr_json_string(erasure, "organization"), environment, pool);
    const json_t *contents = json_object_get(erasure, "contents");
    sr_blobs_t *documents;
    SR_TRY(sr_service_documents(&documents, service, pool));
    sr_blobs_own(documents, owner);
    for (size_t i = 0; i < json_array_size(contents); i++) {
        const char *sha256 = json_string_value(json_array_get(contents, i));
        sr_reports_remove(documents, sha256, pool);
        SR_TRY(sr_cache_forget(service->cache_root, sr_service_pages_begin(sha256, owner, pool), pool));
    }
    return NULL;
}

/* Continues with the files of a submission, or (NULL) of any one. *found is false if there is nothing left. */
static sr_error_t *erase_finish(const sr_service_t *service, bool *found, const char *submission, apr_pool_t *pool)
{
    const sr_body_row_t *row;
    sr_outcome_t outcome;
    json_t *erasure;
    *found = false;
    SR_TRY(sr_store_erasure_get(service->database, &outcome, &row, submission, pool));
    if (outcome == SR_MISSING) return NULL;
    SR_TRY(sr_json_read(&erasure, row->body, pool));
    SR_TRY(remove_files(service, erasure, pool));
    *found = true;
    return sr_store_erasure_done(service->database, &outcome, sr_json_string(erasure, "submission"), pool);
}

sr_error_t *sr_service_erase(const sr_service_t *service, const sr_caller_t *caller, apr_pool_t *pool)
{
    const sr_subject_t subject = {.token_hash = caller->token_hash, .submission = caller->submission};
    sr_signing_t *signing;
    bool found;
    sr_error_t *error = sr_service_read(service, &signing, &subject, pool);
    if (!error) error = sr_transition_take(service, &signing, &subject, NULL, sr_erase_take, NULL, pool);
    if (error && error->code != SR_EGONE) return error;
    if (service->storage.main.root) SR_TRY(erase_finish(service, &found, caller->submission, pool));
    return error;
}

sr_error_t *sr_service_erase_rest(const sr_service_t *service, apr_pool_t *pool)
{
    sr_error_t *error = NULL;
    apr_pool_t *each;
    apr_pool_create(&each, pool);
    for (bool found = true; found && !error;) {
        apr_pool_clear(each);
        error = sr_error_copy(erase_finish(service, &found, NULL, each), pool);
    }
    apr_pool_destroy(each);
    return error;
}
