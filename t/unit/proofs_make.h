/* SPDX-License-Identifier: Apache-2.0 */
/* proofs_make.h: OCSP responses and CRLs for tests, good and bad ones, beside the certificates of cms_make.h. */
#ifndef SR_TEST_PROOFS_MAKE_H
#define SR_TEST_PROOFS_MAKE_H

#include "cms_make.h"
#include "cms/revocation.h"

#include <openssl/ocsp.h>
#include <time.h>

typedef struct proof_der_t {
    unsigned char *data;
    apr_size_t length;
} proof_der_t;

/* Seconds by which a test has put the clock forward (sr_time_forward). Times of proofs are counted from there. */
static long proof_ahead;

#define PROOF_CA_USAGE "critical,keyCertSign,cRLSign"

/* Adds an extension to a certificate and signs it again. */
static inline void proof_extend(made_t *made, const made_t *issuer, int nid, const char *value)
{
    make_extension(made->certificate, issuer->certificate, nid, value);
    if (!X509_sign(made->certificate, issuer->key, EVP_sha256())) abort();
}

typedef struct proof_ocsp_t {
    const made_t *certificate, *issuer; /* whom the answer is about */
    const made_t *signer;               /* NULL: the issuer */
    int status;                         /* V_OCSP_CERTSTATUS_… */
    int reason;                         /* of a revocation; 0: unspecified */
    long from, until;                   /* seconds from now; both 0: an hour ago to an hour later */
    bool endless;                       /* without nextUpdate */
    const EVP_MD *hash;                 /* of the CertID; NULL: SHA-1 */
    const made_t *second;               /* it is about this one, too, which is good */
    const char *error;                  /* "tryLater": a response without an answer */
} proof_ocsp_t;

static inline void proof_answer(OCSP_BASICRESP *basic, const proof_ocsp_t *what, const made_t *about, int status)
{
    const bool hour = !what->from && !what->until;
    ASN1_TIME *from = X509_gmtime_adj(NULL, proof_ahead + (hour ? -3600 : what->from));
    ASN1_TIME *until = X509_gmtime_adj(NULL, proof_ahead + (hour ? 3600 : what->until)),
              *when = X509_gmtime_adj(NULL, -7200);
    OCSP_CERTID *id =
        OCSP_cert_to_id(what->hash ? what->hash : EVP_sha1(), about->certificate, what->issuer->certificate);
    if (!OCSP_basic_add1_status(basic, id, status, what->reason, when, from, what->endless ? NULL : until)) abort();
    OCSP_CERTID_free(id);
    ASN1_TIME_free(from);
    ASN1_TIME_free(until);
    ASN1_TIME_free(when);
}

/* Makes an OCSP response. Free its data with OPENSSL_free. */
static inline proof_der_t proof_ocsp(const proof_ocsp_t *what)
{
    proof_der_t der = {NULL, 0};
    const made_t *signer = what->signer ? what->signer : what->issuer;
    OCSP_BASICRESP *basic = OCSP_BASICRESP_new();
    proof_answer(basic, what, what->certificate, what->status);
    if (what->second) proof_answer(basic, what, what->second, V_OCSP_CERTSTATUS_GOOD);
    if (!OCSP_basic_sign(basic, signer->certificate, signer->key, EVP_sha256(), NULL, 0)) abort();
    OCSP_RESPONSE *response = what->error ? OCSP_response_create(OCSP_RESPONSE_STATUS_TRYLATER, NULL)
                                          : OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic);
    int length = i2d_OCSP_RESPONSE(response, &der.data);
    if (length <= 0) abort();
    der.length = (apr_size_t)length;
    OCSP_RESPONSE_free(response);
    OCSP_BASICRESP_free(basic);
    return der;
}

typedef struct proof_crl_t {
    const made_t *issuer;
    const made_t *signer;  /* NULL: the issuer */
    const made_t *revoked; /* or NULL */
    const char *reason;    /* of the revocation, such as "keyCompromise"; or NULL */
    long from, until;      /* seconds from now; both 0: an hour ago to an hour later */
    bool endless;          /* without nextUpdate */
    bool delta;
    const char *scope; /* issuing distribution point, as in openssl.cnf; or NULL */
    int padding;       /* bytes of an extension that means nothing */
} proof_crl_t;

static inline void proof_crl_extension(X509_CRL *crl, int nid, const char *value)
{
    X509V3_CTX context;
    BIO *bio = BIO_new(BIO_s_mem());
    CONF *conf = NCONF_new(NULL);
    long line;
    BIO_puts(bio, "[s]\n");
    if (NCONF_load_bio(conf, bio, &line) <= 0) abort();
    X509V3_set_ctx(&context, NULL, NULL, NULL, crl, 0);
    X509V3_set_nconf(&context, conf);
    X509_EXTENSION *extension = X509V3_EXT_nconf_nid(conf, &context, nid, value);
    if (!extension || !X509_CRL_add_ext(crl, extension, -1)) abort();
    X509_EXTENSION_free(extension);
    NCONF_free(conf);
    BIO_free(bio);
}

static inline void proof_revoke(X509_CRL *crl, const ASN1_INTEGER *serial, const char *reason)
{
    X509_REVOKED *entry = X509_REVOKED_new();
    ASN1_TIME *when = X509_gmtime_adj(NULL, -7200);
    if (!X509_REVOKED_set_serialNumber(entry, (ASN1_INTEGER *)serial) || !X509_REVOKED_set_revocationDate(entry, when))
        abort();
    if (reason) {
        ASN1_ENUMERATED *code = ASN1_ENUMERATED_new();
        if (!ASN1_ENUMERATED_set(code, strcmp(reason, "keyCompromise") ? OCSP_REVOKED_STATUS_CERTIFICATEHOLD
                                                                       : OCSP_REVOKED_STATUS_KEYCOMPROMISE)
            || !X509_REVOKED_add1_ext_i2d(entry, NID_crl_reason, code, 0, 0))
            abort();
        ASN1_ENUMERATED_free(code);
    }
    ASN1_TIME_free(when);
    if (!X509_CRL_add0_revoked(crl, entry)) abort();
}

static inline void proof_pad(X509_CRL *crl, int length)
{
    ASN1_OCTET_STRING *value = ASN1_OCTET_STRING_new();
    ASN1_OBJECT *type = OBJ_txt2obj("1.3.6.1.4.1.99999.1", 1);
    unsigned char *bytes = calloc(1, (size_t)length);
    ASN1_STRING_set0(value, bytes, length);
    X509_EXTENSION *extension = X509_EXTENSION_create_by_OBJ(NULL, type, 0, value);
    if (!extension || !X509_CRL_add_ext(crl, extension, -1)) abort();
    X509_EXTENSION_free(extension);
    ASN1_OBJECT_free(type);
    ASN1_OCTET_STRING_free(value);
}

/* Makes a CRL. Free its data with OPENSSL_free. */
static inline proof_der_t proof_crl(const proof_crl_t *what)
{
    proof_der_t der = {NULL, 0};
    const bool hour = !what->from && !what->until;
    ASN1_TIME *from = X509_gmtime_adj(NULL, proof_ahead + (hour ? -3600 : what->from));
    ASN1_TIME *until = X509_gmtime_adj(NULL, proof_ahead + (hour ? 3600 : what->until));
    const made_t *signer = what->signer ? what->signer : what->issuer;
    X509_CRL *crl = X509_CRL_new();
    X509_CRL_set_version(crl, X509_CRL_VERSION_2);
    X509_CRL_set_issuer_name(crl, X509_get_subject_name(what->issuer->certificate));
    X509_CRL_set1_lastUpdate(crl, from);
    if (!what->endless) X509_CRL_set1_nextUpdate(crl, until);
    ASN1_INTEGER *base = ASN1_INTEGER_new();
    if (what->delta && (!ASN1_INTEGER_set(base, 1) || !X509_CRL_add1_ext_i2d(crl, NID_delta_crl, base, 1, 0))) abort();
    ASN1_INTEGER_free(base);
    if (what->scope) proof_crl_extension(crl, NID_issuing_distribution_point, what->scope);
    if (what->revoked) proof_revoke(crl, X509_get0_serialNumber(what->revoked->certificate), what->reason);
    if (what->padding) proof_pad(crl, what->padding);
    if (!X509_CRL_sort(crl) || !X509_CRL_sign(crl, signer->key, EVP_sha256())) abort();
    int length = i2d_X509_CRL(crl, &der.data);
    if (length <= 0) abort();
    der.length = (apr_size_t)length;
    ASN1_TIME_free(from);
    ASN1_TIME_free(until);
    X509_CRL_free(crl);
    return der;
}

#endif
