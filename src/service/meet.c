/* SPDX-License-Identifier: Apache-2.0 */
/* meet.c: a submission as a signer meets it: read, nothing is changed. */
#include "service/private.h"

sr_error_t *sr_service_signing(const sr_service_t *service, sr_signing_t **signing, const char *signer,
                               apr_pool_t *pool)
{
    const char *arguments[] = {signer, NULL}, *row;
    SR_TRY(sr_service_call_one(service, SR_OP_SIGNING_GET, &row, arguments, 2, pool));
    return sr_signing_parse(signing, row, signer, pool);
}

sr_error_t *sr_service_signing_refresh(const sr_service_t *service, sr_signing_t **signing, apr_pool_t *pool)
{
    const char *arguments[] = {(*signing)->signer->uuid, (*signing)->version};
    apr_array_header_t *rows;
    SR_TRY(sr_service_call(service, SR_OP_SIGNING_GET, &rows, NULL, arguments, 2, pool));
    const char *row = rows->nelts ? APR_ARRAY_IDX(rows, 0, sr_row_t).body : NULL;
    return row ? sr_signing_parse(signing, row, arguments[0], pool) : NULL;
}

sr_error_t *sr_service_access_epoch(const sr_service_t *service, apr_int64_t *epoch, const char *signer,
                                    apr_pool_t *pool)
{
    const char *text;
    SR_TRY(sr_service_call_one(service, SR_OP_SIGNING_ACCESS, &text, &signer, 1, pool));
    *epoch = apr_atoi64(text);
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
