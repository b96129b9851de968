/* SPDX-License-Identifier: Apache-2.0 */
/* issue.c: makes a key and a request for a certificate, or a self-signed certificate, for the test environment, for
 * trials, and for operators who distribute their own certificate. The certificate contains nothing but a name. */
#include "cms/certificate.h"

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#define SERIAL_BYTES 16

static bool add_extension(X509 *certificate, int nid, const char *value)
{
    X509V3_CTX context;
    X509V3_set_ctx(&context, certificate, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    bool added = extension && X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    return added;
}

static bool set_serial(X509 *certificate)
{
    unsigned char bytes[SERIAL_BYTES];
    if (RAND_bytes(bytes, sizeof bytes) != 1) return false;
    bytes[0] = (unsigned char)((bytes[0] & 0x7f) | 0x40); /* positive, and always of the same length */
    BIGNUM *number = BN_bin2bn(bytes, sizeof bytes, NULL);
    bool set = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate));
    BN_free(number);
    return set;
}

static bool issue_fill(X509 *certificate, EVP_PKEY *key, const char *name, int days)
{
    X509_NAME *subject = X509_get_subject_name(certificate);
    return X509_set_version(certificate, X509_VERSION_3) && set_serial(certificate)
           && X509_NAME_add_entry_by_NID(subject, NID_commonName, MBSTRING_UTF8, (const unsigned char *)name, -1, -1, 0)
           && X509_set_issuer_name(certificate, subject) && X509_gmtime_adj(X509_getm_notBefore(certificate), 0)
           && X509_time_adj_ex(X509_getm_notAfter(certificate), days, 0, NULL) && X509_set_pubkey(certificate, key)
           && add_extension(certificate, NID_basic_constraints, "critical,CA:FALSE")
           && add_extension(certificate, NID_key_usage, "critical,digitalSignature,nonRepudiation")
           && add_extension(certificate, NID_subject_key_identifier, "hash")
           && add_extension(certificate, NID_authority_key_identifier, "keyid:always")
           && X509_sign(certificate, key, EVP_sha256()) > 0;
}

static const char *issue_take_text(BIO *bio, bool written, apr_pool_t *pool)
{
    char *data;
    long length = written ? BIO_get_mem_data(bio, &data) : 0;
    return length > 0 ? apr_pstrmemdup(pool, data, (apr_size_t)length) : NULL;
}

static sr_error_t *issue_check_name(const char *name, apr_pool_t *pool)
{
    if (sr_text_length(name) <= SR_CMS_MAX_NAME) return NULL;
    return sr_error(pool, SR_EBADREQUEST, "A certificate's name has at most %d characters: \"%s\" has more",
                    SR_CMS_MAX_NAME, name);
}

static sr_error_t *issue(sr_cms_identity_t **identity, const char *name, int days, apr_pool_t *pool)
{
    SR_TRY(issue_check_name(name, pool));
    sr_cms_identity_t *made = sr_cms_identity_new(pool);
    made->key = EVP_EC_gen(SN_X9_62_prime256v1);
    made->certificate = X509_new();
    bool done = made->key && made->certificate && issue_fill(made->certificate, made->key, name, days);
    const char *why = sr_cms_why(pool);
    if (!done) return sr_error(pool, SR_EINTERNAL, "No certificate can be made: %s", why);
    *identity = made;
    return NULL;
}

/* Returns NULL on failure. */
static const char *key_text(EVP_PKEY *key, apr_pool_t *pool)
{
    BIO *secret = BIO_new(BIO_s_secmem());
    const char *text =
        issue_take_text(secret, secret && PEM_write_bio_PrivateKey(secret, key, NULL, NULL, 0, NULL, NULL), pool);
    BIO_free(secret);
    return text;
}

static sr_error_t *issue_to_pem(const char **certificate, const char **key, const sr_cms_identity_t *identity,
                                apr_pool_t *pool)
{
    BIO *text = BIO_new(BIO_s_mem());
    *certificate = issue_take_text(text, text && PEM_write_bio_X509(text, identity->certificate), pool);
    *key = key_text(identity->key, pool);
    BIO_free(text);
    const char *why = sr_cms_why(pool);
    return *certificate && *key ? NULL : sr_error(pool, SR_EINTERNAL, "No certificate can be made: %s", why);
}

/* Certificate authorities decide about extensions themselves, so a request has a name and a key, and nothing else. */
static bool request_fill(X509_REQ *request, EVP_PKEY *key, const char *name)
{
    return request && key && X509_REQ_set_version(request, X509_REQ_VERSION_1)
           && X509_NAME_add_entry_by_NID(X509_REQ_get_subject_name(request), NID_commonName, MBSTRING_UTF8,
                                         (const unsigned char *)name, -1, -1, 0)
           && X509_REQ_set_pubkey(request, key);
}

/* Frees the request. Returns NULL if it was not made. */
static const char *issue_request_text(X509_REQ *request, bool made, apr_pool_t *pool)
{
    BIO *bio = BIO_new(BIO_s_mem());
    const char *text = issue_take_text(bio, bio && made && PEM_write_bio_X509_REQ(bio, request), pool);
    BIO_free(bio);
    X509_REQ_free(request);
    return text;
}

sr_error_t *sr_cms_request(const char **request, const char **key, const char *name, apr_pool_t *pool)
{
    SR_TRY(issue_check_name(name, pool));
    EVP_PKEY *made = EVP_EC_gen(SN_X9_62_prime256v1);
    X509_REQ *asked = X509_REQ_new();
    *request = issue_request_text(
        asked, request_fill(asked, made, name) && X509_REQ_sign(asked, made, EVP_sha256()) > 0, pool);
    *key = made ? key_text(made, pool) : NULL;
    EVP_PKEY_free(made);
    const char *why = sr_cms_why(pool);
    return *request && *key ? NULL : sr_error(pool, SR_EINTERNAL, "No request can be made: %s", why);
}

/* Adds a signature that was made elsewhere, and verifies it. */
static bool request_finish(X509_REQ *request, EVP_PKEY *key, const char *hash, const unsigned char *signature,
                           apr_size_t length)
{
    int algorithm;
    const bool rsa = EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA;
    X509_ALGOR *named = X509_ALGOR_new();
    ASN1_BIT_STRING *bits = ASN1_BIT_STRING_new();
    bool set =
        named && bits
        && OBJ_find_sigid_by_algs(&algorithm, OBJ_sn2nid(hash), rsa ? NID_rsaEncryption : NID_X9_62_id_ecPublicKey)
        && X509_ALGOR_set0(named, OBJ_nid2obj(algorithm), rsa ? V_ASN1_NULL : V_ASN1_UNDEF, NULL)
        && ASN1_BIT_STRING_set(bits, (unsigned char *)(uintptr_t)signature, (int)length)
        && X509_REQ_set1_signature_algo(request, named);
    if (set) {
        bits->flags = (bits->flags & ~0x07L) | ASN1_STRING_FLAG_BITS_LEFT; /* no unused bits in the last byte */
        X509_REQ_set0_signature(request, bits);
        bits = NULL;
        set = X509_REQ_verify(request, key) == 1;
    }
    ASN1_BIT_STRING_free(bits);
    X509_ALGOR_free(named);
    return set;
}

/* Fills the request, and has it signed. */
static sr_error_t *issue_request_sign(X509_REQ *request, bool *made, EVP_PKEY *key, const char *hash, const char *name,
                                      sr_cms_request_sign_t *sign, void *baton, apr_pool_t *pool)
{
    unsigned char signature[SR_CMS_MAX_SIGNATURE], *der = NULL;
    apr_size_t length = sizeof signature;
    const int size = hash && request_fill(request, key, name) ? i2d_re_X509_REQ_tbs(request, &der) : 0;
    const sr_cms_bytes_t bytes = {apr_pmemdup(pool, der, size > 0 ? (apr_size_t)size : 0), (apr_size_t)size};
    OPENSSL_free(der);
    if (size <= 0) return NULL;
    SR_TRY(sign(signature, &length, baton, &bytes, pool));
    *made = request_finish(request, key, hash, signature, length);
    return NULL;
}

sr_error_t *sr_cms_request_remote(const char **request, const char *name, const sr_cms_bytes_t *public_key,
                                  sr_cms_request_sign_t *sign, void *baton, apr_pool_t *pool)
{
    bool made = false;
    SR_TRY(issue_check_name(name, pool));
    const unsigned char *at = public_key->data;
    EVP_PKEY *key = d2i_PUBKEY(NULL, &at, (long)public_key->length);
    X509_REQ *asked = X509_REQ_new();
    sr_error_t *error =
        issue_request_sign(asked, &made, key, sr_cms_public_key_hash(public_key), name, sign, baton, pool);
    *request = issue_request_text(asked, made, pool);
    EVP_PKEY_free(key);
    const char *why = sr_cms_why(pool);
    if (error) return error;
    return *request ? NULL : sr_error(pool, SR_EINTERNAL, "No request can be made: %s", why);
}

sr_error_t *sr_cms_issue(const char **certificate, const char **key, const char *name, int days, apr_pool_t *pool)
{
    sr_cms_identity_t *made;
    SR_TRY(issue(&made, name, days, pool));
    return issue_to_pem(certificate, key, made, pool);
}

sr_error_t *sr_cms_issue_identity(const sr_cms_identity_t **identity, const char *name, int days, apr_pool_t *pool)
{
    sr_cms_identity_t *made;
    SR_TRY(issue(&made, name, days, pool));
    made->about = sr_cms_describe(made->certificate, pool);
    made->certificate_path = made->key_path = "memory";
    *identity = made;
    return NULL;
}
