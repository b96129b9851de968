/* SPDX-License-Identifier: Apache-2.0 */
/* meet.c: a submission as a signer meets it: read, nothing is changed. */
#include "service/private.h"

/* Without `version`, or with one that is not the present one, there is a body. */
static sr_error_t *read_signing(const char **body, const sr_service_t *service, const char *signer, const char *version,
                                apr_pool_t *pool)
{
    const sr_signing_row_t *row;
    sr_outcome_t outcome;
    SR_TRY(sr_store_signing_get(service->database, &outcome, &row, signer, version, pool));
    SR_TRY(sr_service_refusal(outcome, pool));
    *body = row->body;
    return NULL;
}

sr_error_t *sr_service_signing(const sr_service_t *service, sr_signing_t **signing, const char *signer,
                               apr_pool_t *pool)
{
    const char *body;
    SR_TRY(read_signing(&body, service, signer, NULL, pool));
    return sr_signing_parse(signing, body, signer, pool);
}

sr_error_t *sr_service_signing_refresh(const sr_service_t *service, sr_signing_t **signing, apr_pool_t *pool)
{
    const char *body, *signer = (*signing)->signer->uuid;
    SR_TRY(read_signing(&body, service, signer, (*signing)->version, pool));
    return body ? sr_signing_parse(signing, body, signer, pool) : NULL;
}

sr_error_t *sr_service_access_epoch(const sr_service_t *service, apr_int64_t *epoch, const char *signer,
                                    apr_pool_t *pool)
{
    const sr_access_row_t *row;
    sr_outcome_t outcome;
    SR_TRY(sr_store_signing_access(service->database, &outcome, &row, signer, pool));
    SR_TRY(sr_service_refusal(outcome, pool));
    *epoch = row->epoch;
    return NULL;
}

sr_error_t *sr_service_signing_boxes(const sr_service_t *service, sr_signing_t *signing, apr_pool_t *pool)
{
    sr_blobs_t *documents;
    SR_TRY(sr_blobs_folder(&documents, service->documents_root, pool));
    sr_blobs_own(documents, sr_owner_of(signing->organization_uuid, signing->environment, pool));
    for (int i = 0; i < signing->submission.documents->nelts; i++) {
        sr_document_state_t *document = &APR_ARRAY_IDX(signing->submission.documents, i, sr_document_state_t);
        sr_pages_t *pages;
        SR_TRY(sr_service_pages(&pages, documents, document->base_sha256, pool));
        document->boxes = pages;
    }
    return NULL;
}
