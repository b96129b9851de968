/* seal.c: the seal itself: the helper fills, we sign the digest that was made of what it wrote, and put that in. */
#include "service/seal.h"

sr_error_t *sr_seal_failed(apr_pool_t *pool, const char *what, const char *why)
{
    return sr_error_because(sr_error(pool, SR_EUNAVAILABLE, "The document could not be sealed, try again later"), pool,
                            "%s: %s", what, why);
}

sr_error_t *sr_seal(const sr_service_t *service, sr_pdf_revision_t *revision, const sr_joined_t *joined,
                    const sr_pdf_signature_t *what, apr_pool_t *pool)
{
    const sr_cms_identity_t *identity = service->seal[what->test ? SR_TEST : SR_PRODUCTION];
    const unsigned char *cms;
    apr_size_t length;
    SR_TRY(sr_pdf_fill(revision, service->pdf, joined->descriptor, joined->size, what, pool));
    if (revision->fault == SR_PDF_SIGNATURE_AT_FAULT) return sr_error(pool, SR_EBADREQUEST, "%s", revision->reason);
    if (revision->fault != SR_PDF_DONE) return sr_seal_failed(pool, "filling", revision->reason);
    SR_TRY(sr_cms_sign(&cms, &length, identity, revision->digest, pool));
    return sr_pdf_seal(revision, cms, length, pool);
}
