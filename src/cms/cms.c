/* SPDX-License-Identifier: Apache-2.0 */
/* cms.c: makes the signature of a PDF. OpenSSL's CMS_final always adds a signing-time, which PAdES forbids because a
 * PDF has the time in /M. So OpenSSL makes the signed attributes, and this file signs them. (ETSI EN 319 142-1, 6.3;
 * RFC 5652, 5.4; RFC 5035) */
#include "cms/certificate.h"

#include <openssl/err.h>
#include <string.h>

#define MAX_ATTRIBUTES 8

typedef struct part_t {
    unsigned char *der;
    int length;
} part_t;

/* DER orders the members of a SET OF by their encodings. If one is a prefix of the other, the shorter one is first. */
static int cms_compare(const void *a, const void *b)
{
    const part_t *one = a, *other = b;
    int order = memcmp(one->der, other->der, (size_t)(one->length < other->length ? one->length : other->length));
    return order ? order : one->length - other->length;
}

unsigned char *sr_cms_attributes(size_t *length, const CMS_SignerInfo *signer)
{
    part_t parts[MAX_ATTRIBUTES] = {{0}};
    unsigned char *set = NULL;
    int count = CMS_signed_get_attr_count(signer), total = 0;
    bool encoded = count > 0 && count <= MAX_ATTRIBUTES;
    for (int i = 0; encoded && i < count; i++) {
        parts[i].length = i2d_X509_ATTRIBUTE(CMS_signed_get_attr(signer, i), &parts[i].der);
        encoded = parts[i].length > 0;
        total += parts[i].length;
    }
    if (encoded) {
        qsort(parts, (size_t)count, sizeof *parts, cms_compare);
        *length = (size_t)ASN1_object_size(1, total, V_ASN1_SET);
        set = OPENSSL_malloc(*length);
    }
    if (set) {
        unsigned char *to = set;
        ASN1_put_object(&to, 1, total, V_ASN1_SET, V_ASN1_UNIVERSAL);
        for (int i = 0; i < count; to += parts[i++].length) memcpy(to, parts[i].der, (size_t)parts[i].length);
    }
    for (int i = 0; i < MAX_ATTRIBUTES; i++) OPENSSL_free(parts[i].der);
    return set;
}

static const EVP_MD *cms_hash_of(const sr_cms_identity_t *identity)
{
    return EVP_get_digestbyname(sr_cms_identity_hash(identity));
}

static sr_error_t *cms_cannot(apr_pool_t *pool, const char *cause)
{
    sr_error_t *error = sr_error(pool, SR_EUNAVAILABLE, "Documents cannot be sealed at the moment, try again later");
    return sr_error_because(error, pool, "%s", cause);
}

static sr_error_t *no_signature(apr_pool_t *pool)
{
    return cms_cannot(pool, apr_psprintf(pool, "no signature can be made: %s", sr_cms_why(pool)));
}

sr_error_t *sr_cms_sign_attributes(unsigned char *room, apr_size_t *length, const sr_cms_identity_t *identity,
                                   const unsigned char *digest, const sr_cms_bytes_t *attributes, apr_pool_t *pool)
{
    size_t size = *length = SR_CMS_MAX_SIGNATURE;
    if (identity->sign) return identity->sign(room, length, identity->baton, identity, digest, attributes, pool);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    const bool done = context && EVP_DigestSignInit(context, NULL, cms_hash_of(identity), NULL, identity->key) > 0
                      && EVP_DigestSign(context, room, &size, attributes->data, attributes->length) > 0;
    EVP_MD_CTX_free(context);
    *length = size;
    return done ? NULL : no_signature(pool);
}

/* Adds the signer with the attribute signing-certificate-v2 (CMS_CADES), and the two attributes that every signature
 * has. The public key is sufficient for that. Returns NULL on failure. */
static CMS_SignerInfo *add_signer(CMS_ContentInfo *cms, const sr_cms_identity_t *identity, const unsigned char *digest)
{
    const EVP_MD *hash = cms_hash_of(identity);
    CMS_SignerInfo *signer = CMS_add1_signer(cms, identity->certificate, X509_get0_pubkey(identity->certificate), hash,
                                             CMS_PARTIAL | CMS_BINARY | CMS_NOSMIMECAP | CMS_CADES);
    const bool done =
        signer
        && CMS_signed_add1_attr_by_NID(signer, NID_pkcs9_contentType, V_ASN1_OBJECT, OBJ_nid2obj(NID_pkcs7_data), -1)
        && CMS_signed_add1_attr_by_NID(signer, NID_pkcs9_messageDigest, V_ASN1_OCTET_STRING, digest,
                                       EVP_MD_get_size(hash));
    return done ? signer : NULL;
}

/* Makes a CMS without certificates of issuers and without a signature. The caller frees it. */
static CMS_ContentInfo *cms_begin(CMS_SignerInfo **signer, const sr_cms_identity_t *identity,
                                  const unsigned char *digest)
{
    CMS_ContentInfo *cms = CMS_sign(NULL, NULL, NULL, NULL, CMS_PARTIAL | CMS_DETACHED | CMS_BINARY);
    *signer = cms ? add_signer(cms, identity, digest) : NULL;
    return cms;
}

/* The result is in `pool`; without data if it fails. */
static sr_cms_bytes_t attributes_of(const CMS_SignerInfo *signer, apr_pool_t *pool)
{
    size_t length = 0;
    unsigned char *set = signer ? sr_cms_attributes(&length, signer) : NULL;
    const sr_cms_bytes_t bytes = {set ? apr_pmemdup(pool, set, length) : NULL, length};
    OPENSSL_free(set);
    return bytes;
}

sr_error_t *sr_cms_attributes_of(sr_cms_bytes_t *attributes, const sr_cms_identity_t *identity,
                                 const unsigned char *digest, apr_pool_t *pool)
{
    CMS_SignerInfo *signer;
    CMS_ContentInfo *cms = cms_begin(&signer, identity, digest);
    *attributes = attributes_of(signer, pool);
    CMS_ContentInfo_free(cms);
    return attributes->data ? NULL : no_signature(pool);
}

static sr_error_t *cms_sign(CMS_SignerInfo *signer, const sr_cms_identity_t *identity, const unsigned char *digest,
                            apr_pool_t *pool)
{
    unsigned char room[SR_CMS_MAX_SIGNATURE];
    apr_size_t length;
    const sr_cms_bytes_t attributes = attributes_of(signer, pool);
    if (!attributes.data) return no_signature(pool);
    SR_TRY(sr_cms_sign_attributes(room, &length, identity, digest, &attributes, pool));
    return ASN1_STRING_set(CMS_SignerInfo_get0_signature(signer), room, (int)length) ? NULL : no_signature(pool);
}

static bool add_chain(CMS_ContentInfo *cms, const sr_cms_identity_t *identity)
{
    for (int i = 0; i < sk_X509_num(identity->chain); i++)
        if (!CMS_add1_cert(cms, sk_X509_value(identity->chain, i))) return false;
    return true;
}

sr_error_t *sr_cms_sign(const unsigned char **der, apr_size_t *length, const sr_cms_identity_t *identity,
                        const unsigned char *digest, apr_pool_t *pool)
{
    if (sr_time_now() > identity->about->until)
        return cms_cannot(pool, apr_psprintf(pool, "the certificate in %s expired at %s", identity->certificate_path,
                                             sr_time_format(identity->about->until, pool)));
    unsigned char *encoded = NULL;
    CMS_SignerInfo *signer;
    CMS_ContentInfo *cms = cms_begin(&signer, identity, digest);
    const bool begun = signer && add_chain(cms, identity);
    sr_error_t *error = begun ? cms_sign(signer, identity, digest, pool) : no_signature(pool);
    const int size = error ? 0 : i2d_CMS_ContentInfo(cms, &encoded);
    CMS_ContentInfo_free(cms);
    if (error) return error;
    if (size <= 0) return no_signature(pool);
    *der = apr_pmemdup(pool, encoded, (apr_size_t)size);
    *length = (apr_size_t)size;
    OPENSSL_free(encoded);
    if (size <= SR_CMS_MAX_BYTES) return NULL;
    return cms_cannot(pool, apr_psprintf(pool,
                                         "a signature with its %d certificates takes %d bytes, and there is room "
                                         "for %d",
                                         1 + sk_X509_num(identity->chain), size, SR_CMS_MAX_BYTES));
}
