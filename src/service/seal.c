/* SPDX-License-Identifier: Apache-2.0 */
/* seal.c: seals a document. A helper fills it, httpd signs the digest of the result and inserts the CMS. */
#include "service/seal.h"

#include "metrics/metrics.h"

sr_error_t *sr_seal_failed(apr_pool_t *pool, const char *what, const char *why)
{
    return sr_error_because(sr_error(pool, SR_EUNAVAILABLE, "The document could not be sealed, try again later"), pool,
                            "%s: %s", what, why);
}

static sr_error_t *fill_and_sign(const sr_service_t *service, sr_pdf_revision_t *revision, const sr_joined_t *joined,
                                 const sr_pdf_signature_t *what, sr_environment_t environment, apr_pool_t *pool)
{
    const unsigned char *cms;
    apr_size_t length;
    sr_pdf_signature_t signature = *what;
    signature.hash = sr_cms_identity_hash(service->child->seal[environment]);
    signature.digest = joined->digest;
    SR_TRY(sr_pdf_fill(revision, service->pdf, joined->descriptor, joined->size, &signature, pool));
    if (revision->fault == SR_PDF_SIGNATURE_AT_FAULT) return sr_error(pool, SR_EBADREQUEST, "%s", revision->reason);
    if (revision->fault != SR_PDF_DONE) return sr_seal_failed(pool, "filling", revision->reason);
    SR_TRY(sr_cms_sign(&cms, &length, service->child->seal[environment], revision->digest, pool));
    return sr_pdf_seal(revision, cms, length, pool);
}

sr_error_t *sr_seal(const sr_service_t *service, sr_pdf_revision_t *revision, const sr_joined_t *joined,
                    const sr_pdf_signature_t *what, apr_pool_t *pool)
{
    const sr_environment_t environment = what->test ? SR_TEST : SR_PRODUCTION;
    const apr_time_t begun = sr_time_steady();
    sr_error_t *error = fill_and_sign(service, revision, joined, what, environment, pool);
    if (error && error->code == SR_EBADREQUEST) return error; /* nothing was sealed, so this does not count */
    sr_metrics_count(SR_METRIC_SEALS, environment, error ? SR_RESULT_FAILED : SR_RESULT_SEALED, 1);
    if (!error) sr_metrics_observe(SR_METRIC_SEAL_SECONDS, 0, sr_time_steady() - begun);
    return error;
}
