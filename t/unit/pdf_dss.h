/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_dss.h: signing with proofs, and archiving, for tests. The proofs are bytes without a meaning, because nothing
 * that is tested here parses them. */
#ifndef SR_TEST_PDF_DSS_H
#define SR_TEST_PDF_DSS_H

#include "pdf_seal.h"
#include "stamp_make.h"

/* Bytes that can be compressed, or not. */
static inline void dss_add(apr_array_header_t *proofs, sr_pdf_proof_kind_t kind, char seed, apr_size_t length,
                           apr_pool_t *pool)
{
    unsigned char *der = apr_palloc(pool, length), hash[32];
    for (apr_size_t i = 0; i < length; i += sizeof hash) {
        const char text[] = {seed, (char)(i >> 16), (char)(i >> 8), (char)i};
        EVP_Digest(text, sizeof text, hash, NULL, EVP_sha256(), NULL);
        const apr_size_t left = length - i < sizeof hash ? length - i : sizeof hash;
        if (i % 64) memset(der + i, seed, left);
        else memcpy(der + i, hash, left);
    }
    APR_ARRAY_PUSH(proofs, sr_pdf_proof_t) = (sr_pdf_proof_t){kind, der, length};
}

/* Two certificates, an OCSP response that depends on `seed`, and a CRL. */
static inline apr_array_header_t *dss_proofs(char seed, apr_pool_t *pool)
{
    apr_array_header_t *proofs = apr_array_make(pool, 4, sizeof(sr_pdf_proof_t));
    dss_add(proofs, SR_PDF_CERTIFICATE, 'c', 900, pool);
    dss_add(proofs, SR_PDF_OCSP, seed, 1700, pool);
    dss_add(proofs, SR_PDF_CRL, 'r', 3000, pool);
    dss_add(proofs, SR_PDF_CERTIFICATE, 'd', 31, pool);
    return proofs;
}

/* Adds proofs and a document timestamp. NULL, or why not. */
static inline const char *dss_archive(const seal_bench_t *bench, pdf_t *pdf, const char *id,
                                      const apr_array_header_t *proofs, apr_pool_t *pool)
{
    sr_pdf_revision_t revision;
    const sr_pdf_archival_t archival = {.id = id, .base_size = (apr_off_t)pdf->base, .proofs = proofs};
    int fd = help_descriptor(pdf->data, pdf->size);
    sr_error_t *error = sr_pdf_archive(&revision, bench->workers, fd, (apr_off_t)pdf->size, &archival, pool);
    close(fd);
    if (error) return error->cause;
    if (revision.fault) return revision.reason;
    unsigned char *der;
    int size = stamp_make_at(&der, bench->key.certificate, bench->key.key, revision.digest, time(NULL));
    error = sr_pdf_seal(&revision, der, (apr_size_t)size, pool);
    OPENSSL_free(der);
    if (error) return error->message;
    if (!revision.proven != !proofs) return "whether it has the proofs is wrong";
    pdf_add(pdf, revision.bytes, revision.length);
    return strcmp(revision.sha256, sr_sha256_hex(pdf->data, pdf->size, pool)) ? "a wrong hash afterwards" : NULL;
}

/* Fills with proofs, or NULL for none. */
static inline const char *dss_fill(const seal_bench_t *bench, pdf_t *pdf, const char *signer,
                                   const apr_array_header_t *proofs, apr_pool_t *pool)
{
    sr_pdf_signature_t signature = {.signer = signer, .name = "Ann (Lee)", .reason = "I agree", .proofs = proofs};
    signature.time = apr_time_from_sec(1800000000);
    signature.ink = seal_ink(SEAL_INK, pool);
    return seal_fill(bench, pdf, &signature, pool);
}

/* The sum of proofs as they are, which are written compressed where that makes them smaller. */
static inline apr_size_t dss_size(const apr_array_header_t *proofs)
{
    apr_size_t sum = 0;
    for (int i = 0; i < proofs->nelts; i++) sum += APR_ARRAY_IDX(proofs, i, sr_pdf_proof_t).length;
    return sum;
}

#endif
