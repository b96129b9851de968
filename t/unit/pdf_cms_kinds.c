/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_cms_kinds.c: signatures of rare kinds: EdDSA, SHA-3, and those without the certificate of their signer. Nothing
 * is said against a kind that is not checked here. OpenSSL's CMS cannot make all of them, so some are signatures of
 * P-256 that were changed. */
#include "cms_make.h"
#include "cms/certificate.h"

#include <apr_general.h>
#include <openssl/cms.h>

static apr_pool_t *root;
static const char text[] = "what is signed";

static const char *say(const unsigned char *der, int length)
{
    static const char *const states[] = {"intact", "broken", "unchecked"};
    static const sr_cms_context_t nobody;
    unsigned char digest[SR_CMS_DIGEST_BYTES];
    sr_cms_result_t result;
    SHA256((const unsigned char *)text, sizeof text - 1, digest);
    cms_check(&result, der, (apr_size_t)length, digest, sizeof digest, &nobody, root);
    return apr_pstrcat(root, states[result.state], result.fault ? ": " : "", result.fault ? result.fault : "", NULL);
}

/* A signature with the key of `made`, which contains another certificate of the same name and number. */
static int sign_with(unsigned char **der, const made_t *made, X509 *shown)
{
    BIO *content = BIO_new_mem_buf(text, sizeof text - 1);
    CMS_ContentInfo *cms =
        CMS_sign(made->certificate, made->key, NULL, content, CMS_DETACHED | CMS_BINARY | CMS_NOCERTS | CMS_NOSMIMECAP);
    if (!cms || !CMS_add1_cert(cms, shown)) abort();
    const int length = i2d_CMS_ContentInfo(cms, der);
    CMS_ContentInfo_free(cms);
    BIO_free(content);
    return length;
}

/* A certificate with another key that has the name and number of another certificate. */
static X509 *twin(const made_t *made, EVP_PKEY *key)
{
    X509 *shown = X509_dup(made->certificate);
    if (!shown || !key || !X509_set_pubkey(shown, key) || !X509_sign(shown, made->key, EVP_sha256())) abort();
    return shown;
}

/* Makes the signature of a key over the signed attributes. `hash` is NULL for a key that signs without a hash function
 * (RFC 8419); the document is then hashed by SHA-512, and otherwise by `hash`, which has 64 bytes, too. */
static int sign_plain(unsigned char **der, const made_t *made, X509 *shown, EVP_PKEY *key, int named,
                      const EVP_MD *hash)
{
    static const unsigned flags = CMS_DETACHED | CMS_BINARY | CMS_NOCERTS | CMS_NOSMIMECAP;
    unsigned char digest[64], value[200];
    size_t length = 0, size = sizeof value;
    X509_ALGOR *algorithm;
    CMS_ContentInfo *cms = CMS_sign(NULL, NULL, NULL, NULL, flags | CMS_PARTIAL);
    CMS_SignerInfo *signer =
        CMS_add1_signer(cms, made->certificate, made->key, EVP_sha512(), flags | CMS_PARTIAL | CMS_CADES);
    const int old = CMS_signed_get_attr_by_NID(signer, NID_id_smime_aa_signingCertificateV2, -1);
    X509_ATTRIBUTE *deleted = CMS_signed_delete_attr(signer, old);
    EVP_Digest(text, sizeof text - 1, digest, NULL, hash ? hash : EVP_sha512(), NULL);
    if (!deleted
        || !CMS_signed_add1_attr_by_NID(signer, NID_pkcs9_contentType, V_ASN1_OBJECT, OBJ_nid2obj(NID_pkcs7_data), -1)
        || !CMS_signed_add1_attr_by_NID(signer, NID_pkcs9_messageDigest, V_ASN1_OCTET_STRING, digest, sizeof digest)
        || !CMS_add1_cert(cms, shown))
        abort();
    CMS_SignerInfo_get0_algs(signer, NULL, NULL, NULL, &algorithm);
    X509_ALGOR_set0(algorithm, OBJ_nid2obj(named), V_ASN1_UNDEF, NULL);
    unsigned char *attributes = sr_cms_attributes(&length, signer);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (!attributes || EVP_DigestSignInit(context, NULL, hash, NULL, key) != 1
        || EVP_DigestSign(context, value, &size, attributes, length) != 1
        || !ASN1_STRING_set(CMS_SignerInfo_get0_signature(signer), value, (int)size))
        abort();
    const int made_bytes = i2d_CMS_ContentInfo(cms, der);
    X509_ATTRIBUTE_free(deleted);
    EVP_MD_CTX_free(context);
    OPENSSL_free(attributes);
    CMS_ContentInfo_free(cms);
    return made_bytes;
}

static const char *state(const unsigned char *der, int length, const unsigned char *digest)
{
    sr_cms_result_t result;
    cms_check(&result, der, (apr_size_t)length, digest, 64, &(sr_cms_context_t){0}, root);
    return apr_psprintf(root, "%s%s%s", sr_cms_state_name(result.state), result.fault ? ": " : "",
                        result.fault ? result.fault : "");
}

static void test_keys(const made_t *made)
{
    static const char *const types[] = {"ED25519", "ED448"};
    unsigned char digest[64], other[64] = {0};
    SHA512((const unsigned char *)text, sizeof text - 1, digest);
    for (int i = 0; i < 2; i++) {
        unsigned char *der = NULL;
        EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, types[i]);
        X509 *shown = twin(made, key);
        int length = sign_with(&der, made, shown);
        is_str(say(der, length), "broken: its algorithms do not go together", "%s, signed by another kind", types[i]);
        OPENSSL_free(der);
        der = NULL;
        length = sign_plain(&der, made, shown, key, EVP_PKEY_get_base_id(key), NULL);
        is_str(state(der, length, digest), "intact", "%s", types[i]);
        is_str(state(der, length, other), "broken: the document is not the one that was signed", "another document");
        der[length - 1] ^= 1;
        is_str(state(der, length, digest), "broken: it was not made by the key of its certificate", "another value");
        OPENSSL_free(der);
        EVP_PKEY_free(key);
        X509_free(shown);
    }
}

/* The hash function that the signer names: the last but those of the signature and of the certificate. */
static void test_hashes(const made_t *made)
{
    static const unsigned char sha256[] = {0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1};
    unsigned char *der = NULL;
    const int length = sign_with(&der, made, made->certificate);
    is_str(say(der, length), "intact", "SHA-256");
    unsigned char *at = der, *named[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++, at++) named[i] = at = memmem(at, (size_t)(der + length - at), sha256, sizeof sha256);
    if (!named[0] || !named[1]) abort();
    named[0][8] = named[1][8] = 8;
    is_str(say(der, length), "broken: its algorithms do not go together", "SHA3-256, signed with another one");
    named[0][8] = named[1][8] = 11;
    is_str(say(der, length), "unchecked: its hash function is not checked here", "SHAKE128");
    OPENSSL_free(der);
}

/* ECDSA with SHA3-512. OpenSSL's CMS cannot make it, so SHA-512 is replaced where the hash function is named. */
static void test_sha3(const made_t *made)
{
    static const unsigned char sha512[] = {0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 3};
    unsigned char digest[64], *der = NULL;
    EVP_Digest(text, sizeof text - 1, digest, NULL, EVP_sha3_512(), NULL);
    const int length = sign_plain(&der, made, made->certificate, made->key, NID_ecdsa_with_SHA3_512, EVP_sha3_512());
    for (unsigned char *at = der; (at = memmem(at, (size_t)(der + length - at), sha512, sizeof sha512)); at += 9)
        at[8] = 10;
    is_str(state(der, length, digest), "intact", "ECDSA with SHA3-512");
    der[length - 1] ^= 1;
    is_str(state(der, length, digest), "broken: it was not made by the key of its certificate", "another value");
    OPENSSL_free(der);
}

/* The certificate of the signer is not in the CMS. */
static void test_missing(const made_t *made, const made_t *another)
{
    unsigned char *der = NULL, *certificate = NULL;
    sr_cms_result_t result;
    const int length = sign_with(&der, made, another->certificate);
    is_str(say(der, length), "unchecked: it does not hold the certificate of its signer", "missing");
    const int size = i2d_X509(made->certificate, &certificate);
    const sr_cms_proof_t store = {SR_CMS_PROOF_CERTIFICATE, {certificate, (apr_size_t)size}, 1};
    const sr_cms_asked_t asked = {der, (apr_size_t)length, 0, false};
    sr_cms_check_all(&result, &asked, 1, &store, 1, &(sr_cms_context_t){0}, root);
    is_str(sr_cms_state_name(result.state), "intact", "and in the document security store");
    is_str(result.signer ? result.signer->name : NULL, "plain", "it is shown");
    OPENSSL_free(der);
    OPENSSL_free(certificate);
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&root, NULL);
    make_begin();
    made_t *made = make_certificate(&(make_t){.name = "plain"}, root);
    test_keys(made);
    test_hashes(made);
    test_sha3(made);
    made_t *another = make_certificate(&(make_t){.name = "another"}, root);
    test_missing(made, another);
    make_free(another);
    make_free(made);
    make_end();
    apr_pool_destroy(root);
    return done();
}
