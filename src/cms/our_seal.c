/* SPDX-License-Identifier: Apache-2.0 */
/* our_seal.c: completes the result of a worker with what httpd can verify itself: that the signature is of this
 * document, and whether a key of this service made it. The worker has read hostile bytes, so its claim is not enough. A
 * key of this service signs only attributes that this service made (cms.c), so no hostile bytes are parsed here. The
 * public key verifies the signature over the attribute bytes, which must contain the digest of the document. */
#include "cms/cms.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <string.h>

#define UNPROVED "it names the certificate of this service, and it cannot be confirmed that its key made it"

/* Searches for the attribute message-digest (RFC 5652, 11.2): a sequence of its identifier and a set with an octet
 * string. */
static bool names_digest(const sr_cms_bytes_t *attributes, const unsigned char *digest, apr_size_t length)
{
    static const unsigned char head[] = {0x30, 0, 0x06, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 4, 0x31, 0, 4, 0};
    unsigned char wanted[sizeof head + EVP_MAX_MD_SIZE];
    memcpy(wanted, head, sizeof head);
    wanted[1] = (unsigned char)(length + 15);
    wanted[14] = (unsigned char)(length + 2);
    wanted[16] = (unsigned char)length;
    memcpy(wanted + sizeof head, digest, length);
    return memmem(attributes->data, attributes->length, wanted, sizeof head + length) != NULL;
}

static bool our_seal_is_proved(const sr_cms_result_t *result, const sr_cms_certificate_t *ours)
{
    const unsigned char *at = ours->public_key.data;
    if (!at || !result->attributes.length || !result->signature.length) return false;
    EVP_PKEY *key = d2i_PUBKEY(NULL, &at, (long)ours->public_key.length);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool good = key && context
                && EVP_DigestVerifyInit(context, NULL, EVP_get_digestbyname(result->hash), NULL, key) == 1
                && EVP_DigestVerify(context, result->signature.data, result->signature.length, result->attributes.data,
                                    result->attributes.length)
                       == 1;
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(key);
    ERR_clear_error();
    return good;
}

static void our_seal_fail(sr_cms_result_t *result, sr_cms_state_t state, const char *fault)
{
    result->state = state;
    result->fault = fault;
    result->trust = SR_CMS_TRUST_UNKNOWN;
    result->distrust = NULL;
}

void sr_cms_is_our_seal(sr_cms_result_t *result, const unsigned char *digest, apr_size_t length,
                        const sr_cms_context_t *context)
{
    result->ours = false;
    if (result->state != SR_CMS_INTACT) return;
    if (result->digest.length != length || length > EVP_MAX_MD_SIZE
        || memcmp(result->digest.data, digest, length) != 0) {
        our_seal_fail(result, SR_CMS_BROKEN, SR_CMS_OTHER_DOCUMENT);
        return;
    }
    const sr_cms_certificate_t *const *ours = context->ours;
    while (ours && *ours && strcmp((*ours)->sha256, result->signer->sha256) != 0) ours++;
    if (!ours || !*ours) return;
    if (!our_seal_is_proved(result, *ours) || !names_digest(&result->attributes, digest, length)) {
        our_seal_fail(result, SR_CMS_UNCHECKED, UNPROVED);
        return;
    }
    const apr_time_t now = context->now ? context->now : sr_time_now();
    result->ours = true;
    result->signer = *ours; /* the loaded certificate, instead of the worker's description */
    result->expired = now > (*ours)->until;
    result->premature = now < (*ours)->from;
}
