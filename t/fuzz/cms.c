/* SPDX-License-Identifier: Apache-2.0 */
/* cms.c: the CMS of a foreign signature, as it is checked for POST /verify. Any bytes have a result, and a result that
 * is not intact has a reason. Nothing is ours or trusted here. */
#include "fuzz.h"
#include "pdf/pdf.h"

#include <openssl/evp.h>

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
    sr_cms_match(&result, DIGEST, result.digest.length ? result.digest.length : 32, &context);
    fuzz_must(result.state == SR_CMS_INTACT || (result.fault && *result.fault));
    fuzz_must(!result.ours && result.trust == SR_CMS_TRUST_UNKNOWN);
    if (result.signer) fuzz_must(sr_text_is_utf8(result.signer->subject, strlen(result.signer->subject)));
    apr_pool_destroy(pool);
    return 0;
}
