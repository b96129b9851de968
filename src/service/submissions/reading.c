/* SPDX-License-Identifier: Apache-2.0 */
/* reading.c: reads a submission, mostly for one of its signers or viewers. The first request that reads it after its
 * deadline records that it is expired. */
#include "service/private.h"

sr_error_t *sr_service_read(const sr_service_t *service, sr_signing_t **signing, const sr_subject_t *subject,
                            apr_pool_t *pool)
{
    SR_TRY(sr_service_subject(service, signing, subject, pool));
    if (!(*signing)->submission.late) return NULL;
    SR_TRY(sr_service_expire(service, (*signing)->submission.uuid, pool));
    return sr_service_subject(service, signing, subject, pool);
}

sr_error_t *sr_service_signing(const sr_service_t *service, sr_signing_t **signing, const char *signer,
                               apr_pool_t *pool)
{
    const sr_subject_t subject = {.signer = signer};
    return sr_service_read(service, signing, &subject, pool);
}

sr_error_t *sr_service_viewing(const sr_service_t *service, sr_signing_t **signing, const char *viewer,
                               apr_pool_t *pool)
{
    const sr_subject_t subject = {.viewer = viewer};
    return sr_service_read(service, signing, &subject, pool);
}

sr_error_t *sr_service_request(const sr_service_t *service, sr_signing_t **signing, const char *token_hash,
                               const char *submission, apr_pool_t *pool)
{
    const sr_subject_t subject = {.token_hash = token_hash, .submission = submission};
    return sr_service_read(service, signing, &subject, pool);
}

sr_error_t *sr_service_access_epoch(const sr_service_t *service, apr_int64_t *epoch, const sr_show_t *show,
                                    apr_pool_t *pool)
{
    const sr_access_row_t *row;
    sr_outcome_t outcome;
    sr_store_source_t *database = service->database;
    SR_TRY(show->signer      ? sr_store_signing_access(database, &outcome, &row, show->signer, pool)
           : show->viewer    ? sr_store_viewing_access(database, &outcome, &row, show->viewer, SR_COPY_LIFETIME, pool)
           : show->placement ? sr_store_placement_access(database, &outcome, &row, show->placement, pool)
                             : sr_store_submission_access(database, &outcome, &row, show->token_hash, sr_time_now(),
                                                          show->submission, pool));
    SR_TRY(sr_service_refusal(outcome, pool));
    *epoch = row->epoch;
    return NULL;
}

sr_error_t *sr_service_signing_boxes(const sr_service_t *service, sr_signing_t *signing, apr_pool_t *pool)
{
    sr_blobs_t *documents;
    SR_TRY(sr_service_documents(&documents, service, pool));
    sr_blobs_own(documents, sr_owner_of(signing->organization_uuid, signing->environment, pool));
    for (int i = 0; i < signing->submission.documents->nelts; i++) {
        sr_document_state_t *document = &APR_ARRAY_IDX(signing->submission.documents, i, sr_document_state_t);
        sr_pages_t *pages;
        SR_TRY(sr_service_pages(&pages, documents, document->base_sha256, pool));
        document->boxes = pages;
    }
    return NULL;
}
