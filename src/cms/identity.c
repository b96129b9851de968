/* SPDX-License-Identifier: Apache-2.0 */
/* identity.c: loads the certificate and the key that seal documents. Every defect that would make validators refuse the
 * signatures is found here, before httpd answers its first request, and reported in one line. */
#include "cms/certificate.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <string.h>

#define MIN_RSA_BITS 2048
#define MAX_RSA_BITS 8192 /* a signature with 16384 bits takes a third of a second */

static apr_status_t identity_release(void *data)
{
    sr_cms_identity_t *identity = data;
    EVP_PKEY_free(identity->key);
    X509_free(identity->certificate);
    sk_X509_pop_free(identity->chain, X509_free);
    return APR_SUCCESS;
}

sr_cms_identity_t *sr_cms_identity_new(apr_pool_t *pool)
{
    sr_cms_identity_t *made = apr_pcalloc(pool, sizeof *made);
    apr_pool_cleanup_register(pool, made, identity_release, apr_pool_cleanup_null);
    return made;
}

/* Takes the first certificate out of the chain, and describes it. */
static void identity_describe(sr_cms_identity_t *identity, apr_pool_t *pool)
{
    identity->certificate = sk_X509_shift(identity->chain);
    identity->about = sr_cms_describe(identity->certificate, pool);
    for (int i = sk_X509_num(identity->chain) - 1; i >= 0; i--) { /* OpenSSL refuses duplicates */
        X509 *one = sk_X509_value(identity->chain, i);
        bool again = !X509_cmp(one, identity->certificate);
        for (int j = 0; j < i; j++) again = again || !X509_cmp(one, sk_X509_value(identity->chain, j));
        if (again) X509_free(sk_X509_delete(identity->chain, i));
    }
}

/* Without this callback, OpenSSL would ask for the passphrase on the terminal that started httpd, or wait forever if
 * there is no terminal. */
static int refuse_passphrase(char *buffer, int size, int writing, void *asked)
{
    *(bool *)asked = true;
    return -1;
}

/* A file may have several keys: `sigreqctl seal rotate` writes it with those of the old and the new certificate before
 * it replaces the certificate. The one that belongs to the certificate is used, or else the first one. */
static void choose_key(sr_cms_identity_t *identity, BIO *bio, bool *asked)
{
    for (EVP_PKEY *key; (key = PEM_read_bio_PrivateKey(bio, NULL, refuse_passphrase, asked)) != NULL;) {
        const bool matches = identity->certificate && X509_check_private_key(identity->certificate, key) == 1;
        if (matches || !identity->key) {
            EVP_PKEY_free(identity->key);
            identity->key = key;
        } else {
            EVP_PKEY_free(key);
        }
        if (matches) return;
    }
}

sr_error_t *sr_cms_identity_read_key(sr_cms_identity_t *identity, apr_pool_t *pool)
{
    static const char mark[] = "PRIVATE KEY-----";
    BIO *bio;
    char *text;
    bool asked = false;
    SR_TRY(sr_cms_open(&bio, identity->key_path, pool));
    long length = BIO_get_mem_data(bio, &text);
    bool there = length > 0 && memmem(text, (size_t)length, mark, sizeof mark - 1);
    if (there) choose_key(identity, bio, &asked);
    BIO_free(bio);
    const char *why = sr_cms_why(pool);
    if (!there) return sr_error(pool, SR_EINTERNAL, "%s: it holds no private key", identity->key_path);
    if (identity->key) return NULL;
    if (asked)
        return sr_error(pool, SR_EINTERNAL, "%s: its private key has a passphrase, which cannot be typed here",
                        identity->key_path);
    return sr_error(pool, SR_EINTERNAL, "%s: its private key cannot be read: %s", identity->key_path, why);
}

/* -------------------------------------------------------------------------------------------- judgements */

/* Each function returns NULL, or what is wrong with the certificate. */
static const char *judge_kind(const sr_cms_identity_t *identity, sr_cms_when_t when, apr_pool_t *pool)
{
    const char *name = identity->about->key;
    EVP_PKEY *key = X509_get0_pubkey(identity->certificate);
    if (key && EVP_PKEY_get_base_id(key) == EVP_PKEY_EC && !strncmp(name, "P-", 2)) return NULL;
    if (!key || EVP_PKEY_get_base_id(key) != EVP_PKEY_RSA)
        return apr_psprintf(pool, "its key is %s: PDF readers check P-256, P-384, P-521 and RSA", name);
    int bits = EVP_PKEY_get_bits(key);
    if (bits < MIN_RSA_BITS) return apr_psprintf(pool, "its key is %s: at least RSA %d is safe", name, MIN_RSA_BITS);
    return bits > MAX_RSA_BITS ? apr_psprintf(pool, "its key is %s: over RSA %d is slow", name, MAX_RSA_BITS) : NULL;
}

static const char *judge_match(const sr_cms_identity_t *identity, sr_cms_when_t when, apr_pool_t *pool)
{
    if (!identity->key || X509_check_private_key(identity->certificate, identity->key) == 1) return NULL;
    return apr_psprintf(pool, "it is not the certificate of the key in %s", identity->key_path);
}

static const char *judge_time(const sr_cms_identity_t *identity, sr_cms_when_t when, apr_pool_t *pool)
{
    apr_time_t now = sr_time_now();
    if (now < identity->about->from && when != SR_CMS_NOW_OR_LATER)
        return apr_psprintf(pool, "it is not valid before %s", sr_time_format(identity->about->from, pool));
    if (now > identity->about->until && when != SR_CMS_NOW_OR_BEFORE)
        return apr_psprintf(pool, "it expired at %s", sr_time_format(identity->about->until, pool));
    return NULL;
}

/* Returns true if all extended key usages are for TLS, timestamps or OCSP. There are many other usages, also private
 * ones, and each of them may be for signing documents. */
static bool is_for_something_else(X509 *certificate)
{
    static const int elsewhere[] = {NID_server_auth, NID_client_auth, NID_time_stamp, NID_OCSP_sign};
    EXTENDED_KEY_USAGE *uses = X509_get_ext_d2i(certificate, NID_ext_key_usage, NULL, NULL);
    bool other = uses && sk_ASN1_OBJECT_num(uses) > 0;
    for (int i = 0; other && i < sk_ASN1_OBJECT_num(uses); i++) {
        int use = OBJ_obj2nid(sk_ASN1_OBJECT_value(uses, i));
        other = false;
        for (size_t j = 0; j < sizeof elsewhere / sizeof *elsewhere; j++) other = other || elsewhere[j] == use;
    }
    sk_ASN1_OBJECT_pop_free(uses, ASN1_OBJECT_free);
    return other;
}

static const char *judge_usage(const sr_cms_identity_t *identity, sr_cms_when_t when, apr_pool_t *pool)
{
    if (!(X509_get_key_usage(identity->certificate) & (KU_DIGITAL_SIGNATURE | KU_NON_REPUDIATION)))
        return "its key usage allows neither digitalSignature nor nonRepudiation";
    return NULL;
}

static const char *judge_purpose(const sr_cms_identity_t *identity, sr_cms_when_t when, apr_pool_t *pool)
{
    return is_for_something_else(identity->certificate) ? "its extended key usage is not for signing documents" : NULL;
}

/* Makes a trial signature. It also verifies that the signature and its chain fit into the reserved room. */
static const char *identity_judge_signature(const sr_cms_identity_t *identity, sr_cms_when_t when, apr_pool_t *pool)
{
    const unsigned char *der, digest[SR_CMS_MAX_DIGEST] = {0};
    apr_size_t length;
    if (when == SR_CMS_NOW_OR_BEFORE && sr_time_now() > identity->about->until) return NULL; /* it signs nothing */
    sr_error_t *error = sr_cms_sign(&der, &length, identity, digest, pool);
    return error ? error->cause : NULL;
}

/* Returns all faults of the certificate. */
static apr_array_header_t *identity_judge(const sr_cms_identity_t *identity, sr_cms_when_t when, apr_pool_t *pool)
{
    static const char *(*const judges[])(const sr_cms_identity_t *, sr_cms_when_t, apr_pool_t *) = {
        judge_kind, judge_match, judge_time, judge_usage, judge_purpose};
    apr_array_header_t *faults = apr_array_make(pool, 4, sizeof(const char *));
    for (size_t i = 0; i < sizeof judges / sizeof *judges; i++) {
        const char *wrong = judges[i](identity, when, pool);
        ERR_clear_error();
        if (wrong) APR_ARRAY_PUSH(faults, const char *) = wrong;
    }
    return faults;
}

/* Returns the first fault as an error, or NULL. */
static sr_error_t *identity_refuse(const sr_cms_identity_t *identity, const apr_array_header_t *faults,
                                   apr_pool_t *pool)
{
    if (!faults->nelts) return NULL;
    return sr_error(pool, SR_EINTERNAL, "%s: %s", identity->certificate_path, APR_ARRAY_IDX(faults, 0, const char *));
}

const apr_array_header_t *sr_cms_identity_faults(const sr_cms_identity_t *identity, sr_cms_when_t when,
                                                 apr_pool_t *pool)
{
    apr_array_header_t *faults = identity_judge(identity, when, pool);
    const char *wrong = faults->nelts || identity->elsewhere ? NULL : identity_judge_signature(identity, when, pool);
    if (wrong) APR_ARRAY_PUSH(faults, const char *) = wrong;
    return faults;
}

sr_error_t *sr_cms_identity_load_when(const sr_cms_identity_t **identity, const char *certificate_path,
                                      const char *key_path, sr_cms_when_t when, apr_pool_t *pool)
{
    sr_cms_identity_t *made = sr_cms_identity_new(pool);
    made->certificate_path = apr_pstrdup(pool, certificate_path);
    made->key_path = apr_pstrdup(pool, key_path);
    SR_TRY(sr_cms_certificates_read(&made->chain, certificate_path, pool));
    identity_describe(made, pool);
    SR_TRY(sr_cms_identity_read_key(made, pool));
    SR_TRY(identity_refuse(made, sr_cms_identity_faults(made, when, pool), pool));
    *identity = made;
    return NULL;
}

sr_error_t *sr_cms_identity_load(const sr_cms_identity_t **identity, const char *certificate_path, const char *key_path,
                                 apr_pool_t *pool)
{
    return sr_cms_identity_load_when(identity, certificate_path, key_path, SR_CMS_NOW, pool);
}

sr_error_t *sr_cms_identity_without_key(const sr_cms_identity_t **identity, const char *pem, const char *path,
                                        sr_cms_sign_t *sign, void *baton, apr_pool_t *pool)
{
    sr_cms_identity_t *made = sr_cms_identity_new(pool);
    SR_TRY(sr_cms_certificates_parse(&made->chain, pem, path, pool));
    identity_describe(made, pool);
    made->certificate_path = apr_pstrdup(pool, path);
    made->sign = sign;
    made->baton = baton;
    *identity = made;
    return NULL;
}

sr_error_t *sr_cms_identity_remote(const sr_cms_identity_t **identity, const char *certificate_path, sr_cms_when_t when,
                                   sr_cms_sign_t *sign, void *baton, apr_pool_t *pool)
{
    sr_cms_identity_t *made = sr_cms_identity_new(pool);
    made->certificate_path = apr_pstrdup(pool, certificate_path);
    made->sign = sign;
    made->baton = baton;
    SR_TRY(sr_cms_certificates_read(&made->chain, certificate_path, pool));
    identity_describe(made, pool);
    SR_TRY(identity_refuse(made, identity_judge(made, when, pool), pool));
    *identity = made;
    return NULL;
}

const char *sr_cms_identity_pem(const sr_cms_identity_t *identity, apr_pool_t *pool)
{
    BIO *bio = BIO_new(BIO_s_mem());
    char *text;
    bool written = bio && PEM_write_bio_X509(bio, identity->certificate);
    for (int i = 0; written && i < sk_X509_num(identity->chain); i++)
        written = PEM_write_bio_X509(bio, sk_X509_value(identity->chain, i));
    const long length = written ? BIO_get_mem_data(bio, &text) : 0;
    const char *pem = apr_pstrmemdup(pool, length > 0 ? text : "", length > 0 ? (apr_size_t)length : 0);
    BIO_free(bio);
    return pem;
}

#define OTHERS 1024 /* more bytes than everything else in a signature takes: attributes, algorithms and lengths */

/* The signature has all certificates, and twice the name of the issuer, which is a part of the first one. */
apr_size_t sr_cms_identity_room(const sr_cms_identity_t *identity)
{
    int size = OTHERS + EVP_PKEY_get_size(X509_get0_pubkey(identity->certificate));
    size += 3 * i2d_X509(identity->certificate, NULL);
    for (int i = 0; i < sk_X509_num(identity->chain); i++) size += i2d_X509(sk_X509_value(identity->chain, i), NULL);
    return size < SR_CMS_MAX_BYTES ? (apr_size_t)size : SR_CMS_MAX_BYTES;
}

const sr_cms_certificate_t *sr_cms_identity_certificate(const sr_cms_identity_t *identity)
{
    return identity->about;
}
