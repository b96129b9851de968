/* SPDX-License-Identifier: Apache-2.0 */
/* stamped.c: adds a timestamp to a signature that is complete: PAdES baseline B-T (ETSI EN 319 142-1, 6.3). The token
 * stamps the signature value, and is an unsigned attribute, so the signature stays as it is. */
#include "cms/certificate.h"

#include <string.h>

static sr_error_t *stamped_cannot(apr_pool_t *pool, const char *cause)
{
    sr_error_t *error = sr_error(pool, SR_EUNAVAILABLE, "Documents cannot be sealed at the moment, try again later");
    return sr_error_because(error, pool, "%s", cause);
}

static CMS_SignerInfo *stamped_signer_of(CMS_ContentInfo *cms)
{
    STACK_OF(CMS_SignerInfo) *signers = cms ? CMS_get0_SignerInfos(cms) : NULL;
    return sk_CMS_SignerInfo_num(signers) == 1 ? sk_CMS_SignerInfo_value(signers, 0) : NULL;
}

sr_error_t *sr_cms_stamped_digest(unsigned char *sha256, const void *der, apr_size_t length, apr_pool_t *pool)
{
    const unsigned char *at = der;
    CMS_ContentInfo *cms = d2i_CMS_ContentInfo(NULL, &at, (long)length);
    CMS_SignerInfo *signer = stamped_signer_of(cms);
    const ASN1_OCTET_STRING *value = signer ? CMS_SignerInfo_get0_signature(signer) : NULL;
    const bool done = value
                      && EVP_Digest(ASN1_STRING_get0_data(value), (size_t)ASN1_STRING_length(value), sha256, NULL,
                                    EVP_sha256(), NULL);
    CMS_ContentInfo_free(cms);
    const char *why = sr_cms_why(pool);
    return done ? NULL : stamped_cannot(pool, apr_psprintf(pool, "the signature cannot be read: %s", why));
}

sr_error_t *sr_cms_stamp(const unsigned char **stamped, apr_size_t *stamped_length, const void *der, apr_size_t length,
                         const void *token, apr_size_t token_length, apr_pool_t *pool)
{
    const unsigned char *at = der;
    unsigned char *encoded = NULL;
    int size = 0;
    CMS_ContentInfo *cms = d2i_CMS_ContentInfo(NULL, &at, (long)length);
    CMS_SignerInfo *signer = stamped_signer_of(cms);
    if (signer
        && CMS_unsigned_add1_attr_by_NID(signer, NID_id_smime_aa_timeStampToken, V_ASN1_SEQUENCE, token,
                                         (int)token_length))
        size = i2d_CMS_ContentInfo(cms, &encoded);
    CMS_ContentInfo_free(cms);
    const char *why = sr_cms_why(pool);
    if (size <= 0) return stamped_cannot(pool, apr_psprintf(pool, "the timestamp cannot be added: %s", why));
    *stamped = apr_pmemdup(pool, encoded, (apr_size_t)size);
    *stamped_length = (apr_size_t)size;
    OPENSSL_free(encoded);
    if (size <= SR_CMS_MAX_BYTES) return NULL;
    return stamped_cannot(
        pool, apr_psprintf(pool,
                           "a signature of %d bytes with a timestamp of %d bytes takes %d bytes, and there is "
                           "room for %d",
                           (int)length, (int)token_length, size, SR_CMS_MAX_BYTES));
}
