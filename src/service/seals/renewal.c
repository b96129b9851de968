/* SPDX-License-Identifier: Apache-2.0 */
/* renewal.c: what must be proven when a document gets another document timestamp: that the chain of the newest one was
 * not revoked. Which authority made it is read from the document, because the authorities that are asked today may be
 * others. */
#include "service/seals/seal_document.h"

#include <string.h>

/* Reads the timestamp of the last revision of a document. *token is NULL if that revision has none. */
static sr_error_t *renewal_read_token(const void **token, apr_size_t *length, sr_blobs_t *documents,
                                      const sr_document_state_t *document, apr_pool_t *pool)
{
    const apr_array_header_t *revisions = document->revisions;
    const sr_revised_t *last = revisions->nelts ? &APR_ARRAY_IDX(revisions, revisions->nelts - 1, sr_revised_t) : NULL;
    sr_joined_t joined;
    *token = NULL;
    if (!last || !last->archives) return NULL;
    apr_array_header_t *key = apr_array_make(pool, 1, sizeof(const char *));
    APR_ARRAY_PUSH(key, const char *) = last->key;
    SR_TRY(sr_blobs_join(&joined, documents, key, false, pool));
    if (strcmp(joined.sha256, last->sha256) != 0)
        return sr_seal_failed(pool, document->uuid, "the SHA-256 of the stored document is wrong");
    char *bytes = apr_palloc(pool, (apr_size_t)joined.size);
    if (sr_descriptor_read(joined.descriptor, bytes, (apr_size_t)joined.size, 0) != joined.size)
        return sr_seal_failed(pool, document->uuid, "its last revision cannot be read");
    *token = sr_pdf_archived_token(length, bytes, (apr_size_t)joined.size, pool);
    return NULL;
}

sr_error_t *sr_renewal_proofs(const sr_service_t *service, const apr_array_header_t **proofs, bool *complete,
                              sr_blobs_t *documents, const sr_signing_t *signing, apr_pool_t *pool)
{
    const apr_array_header_t *all = signing->submission.documents;
    sr_proofs_t found = {0};
    *proofs = NULL;
    *complete = true;
    if (!sr_sealing_proves(service)) return NULL;
    for (int i = 0; i < all->nelts; i++) {
        const void *token;
        apr_size_t length;
        SR_TRY(renewal_read_token(&token, &length, documents, &APR_ARRAY_IDX(all, i, sr_document_state_t), pool));
        if (token && !sr_sealing_prove(service, &found, token, length, pool)) *complete = false;
    }
    if (found.certificates) *proofs = sr_sealing_list(&found, pool);
    return NULL;
}
