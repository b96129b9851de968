/* cms.c: the CMS of a foreign signature, as it is checked for POST /verify. Any bytes have a result, and a result that
 * is not intact has a reason. Nothing is ours or trusted here. */
#include "fuzz.h"
#include "pdf/pdf.h"

#include <openssl/evp.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned char DIGEST[64] = {0};
    apr_pool_t *pool = fuzz_pool();
    sr_cms_t *cms = sr_cms_read(data, size, pool);
    if (cms) {
        const sr_cms_context_t context = {.now = apr_time_from_sec(1800000000)};
        const char *name = sr_cms_digest_name(cms);
        const EVP_MD *digest = name ? EVP_get_digestbyname(name) : NULL;
        sr_cms_result_t result;
        sr_cms_check(&result, cms, DIGEST, digest ? (apr_size_t)EVP_MD_get_size(digest) : 32, &context, pool);
        fuzz_must(result.state == SR_CMS_INTACT || (result.fault && *result.fault));
        fuzz_must(!result.ours && result.trust == SR_CMS_TRUST_UNKNOWN);
        if (result.signer) fuzz_must(sr_text_is_utf8(result.signer->subject, strlen(result.signer->subject)));
    }
    apr_pool_destroy(pool);
    return 0;
}
