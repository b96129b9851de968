/* SPDX-License-Identifier: Apache-2.0 */
/* revocation.c: judges one OCSP response or one CRL. OpenSSL parses them, verifies their signatures and judges the
 * scope of a CRL. Times are compared here, so that both kinds have the same rules, and so that a caller can judge a
 * proof at another time than now. */
#include "cms/revocation.h"

#include "cms/certificate.h"

#include <openssl/err.h>
#include <openssl/ocsp.h>
#include <openssl/x509v3.h>
#include <string.h>

static void unusable(sr_revocation_t *result, const char *why)
{
    result->state = SR_REVOCATION_UNUSABLE;
    result->why = why;
}

static apr_status_t free_certificate(void *data)
{
    X509_free(data);
    return APR_SUCCESS;
}

/* Sets the times, and returns false if the proof cannot be used at the time `at`. */
static bool is_in_time(sr_revocation_t *result, const ASN1_TIME *from, const ASN1_TIME *until, apr_time_t at)
{
    result->from = sr_cms_time(from);
    result->until = sr_cms_time(until);
    if (!result->from) unusable(result, "it has no thisUpdate");
    else if (!result->until) unusable(result, "it has no nextUpdate");
    else if (result->until < result->from) unusable(result, "its nextUpdate is before its thisUpdate");
    else if (at && result->from > at + SR_REVOCATION_AHEAD) unusable(result, "its time has not begun");
    else if (at && result->until < at) unusable(result, "its time is over");
    else return true;
    return false;
}

static void good(sr_revocation_t *result)
{
    result->state = SR_REVOCATION_GOOD;
    result->why = NULL;
}

static void revocation_revoked(sr_revocation_t *result, const ASN1_TIME *when, int reason)
{
    result->state = SR_REVOCATION_REVOKED;
    result->why = NULL;
    result->revoked_at = sr_cms_time(when);
    result->reason = reason < 0 ? NULL : OCSP_crl_reason_str(reason);
}

/* Returns a store in which a chain ends at the issuer. The issuer is trusted here because the caller has verified it.
 * Its own validity, and that of a responder, is compared with the time `at`. */
static X509_STORE *revocation_store_of(X509 *issuer, apr_time_t at)
{
    X509_STORE *store = X509_STORE_new();
    X509_VERIFY_PARAM *how = store ? X509_STORE_get0_param(store) : NULL;
    if (!store) return NULL;
    X509_VERIFY_PARAM_set_flags(how, X509_V_FLAG_PARTIAL_CHAIN);
    if (at) X509_VERIFY_PARAM_set_time(how, (time_t)apr_time_sec(at));
    else X509_VERIFY_PARAM_set_flags(how, X509_V_FLAG_NO_CHECK_TIME);
    if (X509_STORE_add_cert(store, issuer)) return store;
    X509_STORE_free(store);
    return NULL;
}

/* -------------------------------------------------------------------------------------------------- OCSP */

/* Returns true if a CertID means the certificate. The responder has chosen the hash function. */
static bool means(const OCSP_CERTID *named, X509 *certificate, X509 *issuer)
{
    ASN1_OBJECT *algorithm;
    OCSP_id_get0_info(NULL, &algorithm, NULL, NULL, (OCSP_CERTID *)named);
    const EVP_MD *hash = EVP_get_digestbyobj(algorithm);
    OCSP_CERTID *own = hash ? OCSP_cert_to_id(hash, certificate, issuer) : NULL;
    const bool equal = own && !OCSP_id_cmp(own, named);
    OCSP_CERTID_free(own);
    return equal;
}

/* Returns the newest answer about the certificate, or NULL. */
static OCSP_SINGLERESP *answer_of(OCSP_BASICRESP *basic, X509 *certificate, X509 *issuer)
{
    OCSP_SINGLERESP *found = NULL;
    apr_time_t newest = 0;
    for (int i = 0; i < OCSP_resp_count(basic); i++) {
        OCSP_SINGLERESP *one = OCSP_resp_get0(basic, i);
        ASN1_GENERALIZEDTIME *from = NULL;
        if (!means(OCSP_SINGLERESP_get0_id(one), certificate, issuer)) continue;
        OCSP_single_get0_status(one, NULL, NULL, &from, NULL);
        if (found && sr_cms_time(from) <= newest) continue;
        found = one;
        newest = sr_cms_time(from);
    }
    return found;
}

/* A critical extension that is not known may change the meaning of the answer. */
static bool has_unknown_extension(const OCSP_SINGLERESP *one, const OCSP_BASICRESP *basic)
{
    return OCSP_SINGLERESP_get_ext_by_critical((OCSP_SINGLERESP *)one, 1, -1) >= 0
           || OCSP_BASICRESP_get_ext_by_critical((OCSP_BASICRESP *)basic, 1, -1) >= 0;
}

static void find_responder(sr_revocation_t *result, OCSP_BASICRESP *basic, X509 *issuer, STACK_OF(X509) * others,
                           apr_pool_t *pool)
{
    X509 *signer = NULL;
    if (OCSP_resp_get0_signer(basic, &signer, others) != 1 || !X509_cmp(signer, issuer)) return;
    X509_up_ref(signer);
    apr_pool_cleanup_register(pool, signer, free_certificate, apr_pool_cleanup_null);
    result->responder = signer;
    result->excused = X509_get_ext_by_NID(signer, NID_id_pkix_OCSP_noCheck, -1) >= 0;
}

/* OCSP_basic_verify checks the signature, the chain of the responder, and that it may answer for the issuer. */
static bool is_signed(OCSP_BASICRESP *basic, X509 *issuer, STACK_OF(X509) * others, apr_time_t at)
{
    X509_STORE *store = revocation_store_of(issuer, at);
    STACK_OF(X509) *all = others ? sk_X509_dup(others) : sk_X509_new_null();
    const bool verified = store && all && sk_X509_push(all, issuer) && OCSP_basic_verify(basic, all, store, 0) == 1;
    sk_X509_free(all);
    X509_STORE_free(store);
    return verified;
}

static void judge_answer(sr_revocation_t *result, OCSP_BASICRESP *basic, X509 *certificate, X509 *issuer, apr_time_t at)
{
    ASN1_GENERALIZEDTIME *when = NULL, *from = NULL, *until = NULL;
    int reason = -1;
    OCSP_SINGLERESP *one = answer_of(basic, certificate, issuer);
    if (!one) {
        unusable(result, "it is about another certificate");
        return;
    }
    const int status = OCSP_single_get0_status(one, &reason, &when, &from, &until);
    if (has_unknown_extension(one, basic)) unusable(result, "it has a critical extension that is not known");
    else if (!is_in_time(result, from, until, at)) return;
    else if (status == V_OCSP_CERTSTATUS_GOOD) good(result);
    else if (status == V_OCSP_CERTSTATUS_REVOKED) revocation_revoked(result, when, reason);
    else {
        result->state = SR_REVOCATION_UNKNOWN;
        result->why = "the responder does not know the certificate";
    }
}

void sr_revocation_ocsp(sr_revocation_t *result, const void *der, apr_size_t length, X509 *certificate, X509 *issuer,
                        STACK_OF(X509) * others, apr_time_t at, apr_pool_t *pool)
{
    const unsigned char *from = der, *end = from + length;
    *result = (sr_revocation_t){.state = SR_REVOCATION_UNUSABLE, .why = "it is not an OCSP response"};
    if (length > SR_REVOCATION_MAX_OCSP) {
        unusable(result, "it is too large");
        return;
    }
    OCSP_RESPONSE *response = d2i_OCSP_RESPONSE(NULL, &from, (long)length);
    const int status = response && from == end ? OCSP_response_status(response) : -1;
    OCSP_BASICRESP *basic = status == OCSP_RESPONSE_STATUS_SUCCESSFUL ? OCSP_response_get1_basic(response) : NULL;
    if (status > 0)
        unusable(result, apr_pstrcat(pool, "the responder reports ", OCSP_response_status_str(status), NULL));
    if (basic && !is_signed(basic, issuer, others, at))
        unusable(result, "it is not signed by the issuer, or by a responder of the issuer");
    else if (basic) {
        judge_answer(result, basic, certificate, issuer, at);
        find_responder(result, basic, issuer, others, pool);
    }
    OCSP_BASICRESP_free(basic);
    OCSP_RESPONSE_free(response);
    ERR_clear_error();
}

/* --------------------------------------------------------------------------------------------------- CRL */

/* OpenSSL has one word for most defects: it finds no CRL that fits. */
static const char *crl_fault(int code)
{
    switch (code) {
    case X509_V_ERR_UNABLE_TO_GET_CRL:
    case X509_V_ERR_UNABLE_TO_GET_CRL_ISSUER:
    case X509_V_ERR_DIFFERENT_CRL_SCOPE: return "it is not about certificates of this kind or of this issuer";
    case X509_V_ERR_CRL_SIGNATURE_FAILURE:
    case X509_V_ERR_KEYUSAGE_NO_CRL_SIGN:
    case X509_V_ERR_UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY: return "it is not signed by the issuer";
    case X509_V_ERR_UNHANDLED_CRITICAL_CRL_EXTENSION: return "it has a critical extension that is not known";
    default: return X509_verify_cert_error_string(code);
    }
}

/* Lets OpenSSL verify the chain of certificate and issuer with this CRL alone. Its time is checked by the caller. */
static int verify_with(X509_CRL *crl, X509 *certificate, X509 *issuer)
{
    int code = X509_V_ERR_OUT_OF_MEM;
    X509_STORE *store = revocation_store_of(issuer, 0);
    X509_STORE_CTX *context = X509_STORE_CTX_new();
    STACK_OF(X509_CRL) *list = sk_X509_CRL_new_null();
    if (store && context && list && sk_X509_CRL_push(list, crl)
        && X509_STORE_CTX_init(context, store, certificate, NULL)) {
        X509_VERIFY_PARAM_set_flags(X509_STORE_CTX_get0_param(context), X509_V_FLAG_CRL_CHECK);
        X509_STORE_CTX_set0_crls(context, list);
        code = X509_verify_cert(context) == 1 ? X509_V_OK : X509_STORE_CTX_get_error(context);
    }
    X509_STORE_CTX_free(context);
    sk_X509_CRL_free(list);
    X509_STORE_free(store);
    return code;
}

static int revocation_reason_of(const X509_REVOKED *entry)
{
    ASN1_ENUMERATED *given = X509_REVOKED_get_ext_d2i(entry, NID_crl_reason, NULL, NULL);
    const int reason = given ? (int)ASN1_ENUMERATED_get(given) : -1;
    ASN1_ENUMERATED_free(given);
    return reason;
}

static void judge_crl(sr_revocation_t *result, X509_CRL *crl, X509 *certificate, X509 *issuer, apr_time_t at)
{
    X509_REVOKED *entry = NULL;
    if (X509_CRL_get_ext_by_NID(crl, NID_delta_crl, -1) >= 0) {
        unusable(result, "it is a delta CRL");
        return;
    }
    if (X509_NAME_cmp(X509_CRL_get_issuer(crl), X509_get_subject_name(issuer)) != 0) {
        unusable(result, "it is not signed by the issuer");
        return;
    }
    if (!is_in_time(result, X509_CRL_get0_lastUpdate(crl), X509_CRL_get0_nextUpdate(crl), at)) return;
    if (result->from < sr_cms_time(X509_get0_notBefore(certificate))) {
        unusable(result, "it is older than the certificate");
        return;
    }
    const int code = verify_with(crl, certificate, issuer);
    if (code == X509_V_OK) good(result);
    else if (code == X509_V_ERR_CERT_REVOKED && X509_CRL_get0_by_cert(crl, &entry, certificate) > 0)
        revocation_revoked(result, X509_REVOKED_get0_revocationDate(entry), revocation_reason_of(entry));
    else unusable(result, crl_fault(code));
}

void sr_revocation_crl(sr_revocation_t *result, const void *der, apr_size_t length, X509 *certificate, X509 *issuer,
                       apr_time_t at, apr_pool_t *pool)
{
    const unsigned char *from = der, *end = from + length;
    *result = (sr_revocation_t){.state = SR_REVOCATION_UNUSABLE, .why = "it is not a CRL"};
    if (length > SR_REVOCATION_MAX_CRL) {
        unusable(result, "it is too large");
        return;
    }
    X509_CRL *crl = d2i_X509_CRL(NULL, &from, (long)length);
    if (crl && from == end) judge_crl(result, crl, certificate, issuer, at);
    X509_CRL_free(crl);
    ERR_clear_error();
}
