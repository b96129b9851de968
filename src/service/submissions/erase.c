/* SPDX-License-Identifier: Apache-2.0 */
/* erase.c: deletes a closed submission or a draft. One transaction (tombstone.c) erases all that is personal and leaves
 * a tombstone. The column `erasing` then lists the contents whose page images and reports must still be removed from
 * folders, until that has been done. So a process that is killed loses nothing: the next call, or `sigreqctl gc`,
 * continues. Documents become blobs that nothing refers to, which `sigreqctl gc` collects. */
#include "service/submissions/transition.h"

#include <string.h>

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
    if (!error) error = sr_transition_take(service, &signing, &subject, NULL, sr_tombstone_take, NULL, pool);
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
