/* SPDX-License-Identifier: Apache-2.0 */
/* cms.c: the CMS of a foreign signature, as it is checked for POST /verify. Any bytes have a result, and a result that
 * is not intact has a reason. Nothing is ours or trusted here. The bytes are also tried as proofs of a DSS. */
#include "fuzz.h"
#include "helper/pdf.h"

#include <openssl/evp.h>

/* The same bytes as signatures, of which one covers more, and as every kind of proof. */
static void check_all(const uint8_t *data, size_t size, apr_pool_t *pool)
{
    const sr_cms_context_t context = {.now = apr_time_from_sec(1800000000)};
    const sr_cms_asked_t asked[] = {{data, size, 100, false}, {data, size, 200, false}};
    const sr_cms_bytes_t bytes = {data, size};
    const sr_cms_proof_t proofs[] = {
        {SR_CMS_PROOF_CERTIFICATE, bytes, 50}, {SR_CMS_PROOF_OCSP, bytes, 50}, {SR_CMS_PROOF_CRL, bytes, 50}};
    sr_cms_result_t results[2];
    sr_cms_check_all(results, asked, 2, proofs, 3, &context, pool);
    for (int i = 0; i < 2; i++) {
        const sr_cms_result_t *one = &results[i];
        const bool intact = one->state == SR_CMS_INTACT;
        fuzz_must(intact || (one->fault && *one->fault));
        fuzz_must((one->level == SR_CMS_LEVEL_NONE) == (!intact || one->timestamp));
        fuzz_must(intact || one->stamp.state == SR_CMS_STAMP_NONE);
        fuzz_must(one->stamp.state != SR_CMS_STAMP_VALID && one->trust == SR_CMS_TRUST_UNKNOWN && !one->proven_until);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned char DIGEST[64] = {0};
    const sr_cms_context_t context = {.now = apr_time_from_sec(1800000000)};
    apr_pool_t *pool = fuzz_pool();
    sr_cms_result_t result;
    sr_cms_check(&result, data, size, &context, pool);
    fuzz_must(result.state == SR_CMS_INTACT ? result.hash && result.signer && !result.fault
                                            : result.fault && *result.fault);
    if (result.state == SR_CMS_INTACT)
        fuzz_must(result.digest.length == (apr_size_t)EVP_MD_get_size(EVP_get_digestbyname(result.hash)));
    sr_cms_is_our_seal(&result, DIGEST, result.digest.length ? result.digest.length : 32, &context);
    fuzz_must(result.state == SR_CMS_INTACT || (result.fault && *result.fault));
    fuzz_must(!result.ours && result.trust == SR_CMS_TRUST_UNKNOWN);
    if (result.signer) fuzz_must(sr_text_is_utf8(result.signer->subject, strlen(result.signer->subject)));
    check_all(data, size, pool);
    apr_pool_destroy(pool);
    return 0;
}
