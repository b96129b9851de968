/* open.c: a signer opens their link. That and the time are recorded once. */
#include <string.h>

#include "service/step.h"

sr_error_t *sr_service_signing(const sr_service_t *service, sr_signing_t **signing, const char *signer,
                               apr_pool_t *pool)
{
    const char *row;
    SR_TRY(sr_service_call_one(service, SR_OP_SIGNING_GET, &row, &signer, 1, pool));
    return sr_signing_parse(signing, row, signer, pool);
}

static sr_error_t *open(const sr_service_t *service, sr_step_t *step, void *baton)
{
    sr_step_open(step);
    return NULL;
}

sr_error_t *sr_service_signing_open(const sr_service_t *service, sr_signing_t **signing, const char *signer,
                                    const sr_client_t *client, apr_pool_t *pool)
{
    SR_TRY(sr_service_signing(service, signing, signer, pool));
    if ((*signing)->state != SR_SIGNING_SENT) return NULL;
    return sr_step_take(service, signing, client, open, NULL, pool);
}

sr_error_t *sr_service_signing_boxes(const sr_service_t *service, sr_signing_t *signing, apr_pool_t *pool)
{
    sr_documents_t *documents;
    SR_TRY(sr_documents_open(&documents, service->documents_root, pool));
    sr_documents_own(documents, sr_owner_of(signing->organization_uuid, signing->environment, pool));
    for (int i = 0; i < signing->documents->nelts; i++) {
        sr_signed_document_t *document = &APR_ARRAY_IDX(signing->documents, i, sr_signed_document_t);
        sr_pages_t *pages;
        SR_TRY(sr_documents_pages(&pages, documents, document->base_sha256, pool));
        document->boxes = pages;
    }
    return NULL;
}
