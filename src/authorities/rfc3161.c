/* SPDX-License-Identifier: Apache-2.0 */
/* rfc3161.c: queries to timestamp authorities, and the checks of what they answer (RFC 3161, 2.4.2). A token that is
 * wrong would ruin a signature silently, and can never be replaced. So everything that a validator will check later is
 * checked before a token is used, and its time is compared with the clock of this host. */
#include "authorities/rfc3161.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if OPENSSL_VERSION_NUMBER >= 0x30400000L /* the same function, whose old name is deprecated since */
#define TS_VERIFY_CTX_set_store TS_VERIFY_CTX_set0_store
#endif

#define NONCE_BYTES 8
#define CLOCK_MOST apr_time_from_sec(300) /* the largest difference between the two clocks */

/* --- queries */

static apr_status_t query_free(void *data)
{
    sr_token_query_t *query = data;
    TS_REQ_free(query->request);
    OPENSSL_free(query->der);
    return APR_SUCCESS;
}

static bool set_imprint(TS_REQ *request, const unsigned char *digest)
{
    TS_MSG_IMPRINT *imprint = TS_MSG_IMPRINT_new();
    X509_ALGOR *algorithm = X509_ALGOR_new();
    const bool set = imprint && algorithm && X509_ALGOR_set0(algorithm, OBJ_nid2obj(NID_sha256), V_ASN1_NULL, NULL)
                     && TS_MSG_IMPRINT_set_algo(imprint, algorithm)
                     && TS_MSG_IMPRINT_set_msg(imprint, (unsigned char *)(uintptr_t)digest, SR_TIMESTAMP_DIGEST)
                     && TS_REQ_set_msg_imprint(request, imprint);
    TS_MSG_IMPRINT_free(imprint);
    X509_ALGOR_free(algorithm);
    return set;
}

static bool set_nonce(TS_REQ *request)
{
    unsigned char random[NONCE_BYTES];
    ASN1_INTEGER *nonce = ASN1_INTEGER_new();
    sr_random_fill(random, sizeof random);
    random[0] = (unsigned char)((random[0] & 0x7f) | 1); /* positive, and of full length */
    const bool set = nonce && ASN1_STRING_set(nonce, random, sizeof random) && TS_REQ_set_nonce(request, nonce);
    ASN1_INTEGER_free(nonce);
    return set;
}

bool sr_token_query(sr_token_query_t *query, const unsigned char *digest, apr_pool_t *pool)
{
    *query = (sr_token_query_t){.request = TS_REQ_new()};
    apr_pool_cleanup_register(pool, query, query_free, apr_pool_cleanup_null);
    /* without its certificate a token could be checked only by those who have the certificate */
    if (query->request && TS_REQ_set_version(query->request, 1) && set_imprint(query->request, digest)
        && set_nonce(query->request) && TS_REQ_set_cert_req(query->request, 1))
        query->length = i2d_TS_REQ(query->request, &query->der);
    ERR_clear_error();
    return query->length > 0;
}

/* --- anchors */

static apr_status_t anchors_free(void *data)
{
    X509_STORE_free(data);
    return APR_SUCCESS;
}

X509_STORE *sr_token_anchors(const char *pem, apr_pool_t *pool)
{
    BIO *bio = BIO_new_mem_buf(pem, -1);
    X509_STORE *anchors = X509_STORE_new();
    int count = 0;
    if (anchors) apr_pool_cleanup_register(pool, anchors, anchors_free, apr_pool_cleanup_null);
    for (X509 *one; bio && anchors && (one = PEM_read_bio_X509(bio, NULL, NULL, NULL)) != NULL; X509_free(one))
        count += X509_STORE_add_cert(anchors, one);
    if (anchors) X509_STORE_set_flags(anchors, X509_V_FLAG_PARTIAL_CHAIN); /* a chain may end at each of them */
    BIO_free(bio);
    ERR_clear_error();
    return count ? anchors : NULL;
}

/* --- checks, in their order. Each returns NULL, or what is wrong. */

typedef struct judged_t {
    TS_RESP *response;
    const sr_token_query_t *query;
    X509_STORE *anchors;
    apr_pool_t *pool;
} judged_t;

/* Returns the reason of OpenSSL's last error, with its details. */
static const char *last_error(apr_pool_t *pool)
{
    const char *data = NULL;
    int flags = 0;
    const unsigned long code = ERR_peek_last_error_data(&data, &flags);
    const char *reason = ERR_reason_error_string(code);
    const bool detailed = data && *data && (flags & ERR_TXT_STRING);
    const char *text = apr_pstrcat(pool, reason ? reason : "it is wrong", detailed ? ": " : NULL, data, NULL);
    return sr_text_printable(text, pool);
}

/* Lets OpenSSL do those of its checks that `flags` names. */
static const char *rfc3161_verify(const judged_t *judged, unsigned int flags)
{
    TS_VERIFY_CTX *context = TS_REQ_to_TS_VERIFY_CTX(judged->query->request, NULL);
    bool right = false;
    if (context) {
        TS_VERIFY_CTX_set_flags(context, (int)flags);
        X509_STORE_up_ref(judged->anchors); /* the context frees it */
        TS_VERIFY_CTX_set_store(context, judged->anchors);
        right = TS_RESP_verify_token(context, TS_RESP_get_token(judged->response)) == 1;
    }
    TS_VERIFY_CTX_free(context);
    return right ? NULL : last_error(judged->pool);
}

static const char *judge_status(const judged_t *judged)
{
    const ASN1_INTEGER *status = TS_STATUS_INFO_get0_status(TS_RESP_get_status_info(judged->response));
    const long number = ASN1_INTEGER_get(status);
    if (number != TS_STATUS_GRANTED && number != TS_STATUS_GRANTED_WITH_MODS)
        return apr_psprintf(judged->pool, "it refuses, with status %ld", number);
    return TS_RESP_get_token(judged->response) && TS_RESP_get_tst_info(judged->response) ? NULL : "it sent no token";
}

static const char *judge_imprint(const judged_t *judged)
{
    return rfc3161_verify(judged, TS_VFY_VERSION | TS_VFY_IMPRINT);
}

static const char *judge_nonce(const judged_t *judged)
{
    return rfc3161_verify(judged, TS_VFY_NONCE);
}

/* The signature, the certificate that the token names (ESSCertID, ESSCertIDv2), and its chain to the anchors for the
 * purpose timestampsign: the extended key usage must be critical, and timeStamping alone. */
static const char *rfc3161_judge_signature(const judged_t *judged)
{
    return rfc3161_verify(judged, TS_VFY_SIGNATURE);
}

static apr_time_t rfc3161_time_of(const judged_t *judged)
{
    struct tm time;
    if (!ASN1_TIME_to_tm(TS_TST_INFO_get_time(TS_RESP_get_tst_info(judged->response)), &time)) return 0;
    return apr_time_from_sec(timegm(&time));
}

static const char *judge_clock(const judged_t *judged)
{
    const apr_time_t difference = rfc3161_time_of(judged) - sr_time_now();
    if (difference <= CLOCK_MOST && difference >= -CLOCK_MOST) return NULL;
    return apr_psprintf(judged->pool, "its clock differs from ours by %" APR_TIME_T_FMT " s", apr_time_sec(difference));
}

static const struct {
    const char *(*judge)(const judged_t *judged);
    sr_stamp_fault_t fault;
} judges[] = {{judge_status, SR_STAMP_REJECTED},
              {judge_imprint, SR_STAMP_IMPRINT},
              {judge_nonce, SR_STAMP_NONCE},
              {rfc3161_judge_signature, SR_STAMP_UNTRUSTED},
              {judge_clock, SR_STAMP_CLOCK}};

/* --- a good token */

/* Returns the certificate that signed a token, which belongs to the token. */
static X509 *rfc3161_signer_of(PKCS7 *token)
{
    STACK_OF(X509) *signers = PKCS7_get0_signers(token, NULL, 0);
    X509 *signer = sk_X509_num(signers) == 1 ? sk_X509_value(signers, 0) : NULL;
    sk_X509_free(signers);
    return signer;
}

static const char *rfc3161_name_of(X509 *certificate, apr_pool_t *pool)
{
    char *text;
    BIO *bio = BIO_new(BIO_s_mem());
    if (!bio || !certificate) return "";
    X509_NAME_print_ex(bio, X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
    const long length = BIO_get_mem_data(bio, &text);
    const char *name = sr_text_printable(apr_pstrmemdup(pool, text, length > 0 ? (apr_size_t)length : 0), pool);
    BIO_free(bio);
    return name;
}

/* Returns false if there is no memory. */
static bool take_token(sr_stamp_t *stamp, const judged_t *judged)
{
    unsigned char *der = NULL;
    PKCS7 *token = TS_RESP_get_token(judged->response);
    const int length = i2d_PKCS7(token, &der);
    if (length <= 0) return false;
    stamp->token = apr_pmemdup(judged->pool, der, (apr_size_t)length);
    stamp->length = (apr_size_t)length;
    stamp->time = rfc3161_time_of(judged);
    stamp->authority = rfc3161_name_of(rfc3161_signer_of(token), judged->pool);
    OPENSSL_free(der);
    return true;
}

static sr_stamp_fault_t judge_all(sr_stamp_t *stamp, const char **why, const judged_t *judged)
{
    for (size_t i = 0; i < sizeof judges / sizeof *judges; i++) {
        *why = judges[i].judge(judged);
        if (*why) return judges[i].fault;
    }
    return take_token(stamp, judged) ? SR_STAMP_GOOD : SR_STAMP_MALFORMED;
}

sr_stamp_fault_t sr_token_judge(sr_stamp_t *stamp, const char **why, const sr_token_query_t *query, X509_STORE *anchors,
                                const unsigned char *response, apr_size_t length, apr_pool_t *pool)
{
    const unsigned char *at = response;
    sr_stamp_fault_t fault = SR_STAMP_MALFORMED;
    const judged_t judged = {d2i_TS_RESP(NULL, &at, (long)length), query, anchors, pool};
    *why = "its answer is not a timestamp response";
    if (judged.response && at == response + length) fault = judge_all(stamp, why, &judged);
    TS_RESP_free(judged.response);
    ERR_clear_error(); /* other modules of httpd read the same queue */
    return fault;
}

/* --- the chain of a token */

static STACK_OF(X509) * chain_of(PKCS7 *token, X509_STORE *anchors)
{
    STACK_OF(X509) *chain = NULL;
    X509 *signer = PKCS7_type_is_signed(token) ? rfc3161_signer_of(token) : NULL;
    X509_STORE_CTX *context = signer ? X509_STORE_CTX_new() : NULL;
    if (context && X509_STORE_CTX_init(context, anchors, signer, token->d.sign->cert)
        && X509_STORE_CTX_set_purpose(context, X509_PURPOSE_TIMESTAMP_SIGN) && X509_verify_cert(context) == 1)
        chain = X509_STORE_CTX_get1_chain(context);
    X509_STORE_CTX_free(context);
    return chain;
}

bool sr_token_chain(apr_array_header_t *chain, X509_STORE *anchors, const void *token, apr_size_t length,
                    apr_pool_t *pool)
{
    const unsigned char *at = token;
    PKCS7 *read = d2i_PKCS7(NULL, &at, (long)length);
    STACK_OF(X509) *certificates = read ? chain_of(read, anchors) : NULL;
    for (int i = 0; i < sk_X509_num(certificates); i++) {
        unsigned char *der = NULL;
        const int size = i2d_X509(sk_X509_value(certificates, i), &der);
        if (size > 0)
            APR_ARRAY_PUSH(chain, sr_trust_der_t) =
                (sr_trust_der_t){apr_pmemdup(pool, der, (apr_size_t)size), (apr_size_t)size};
        OPENSSL_free(der);
    }
    sk_X509_pop_free(certificates, X509_free);
    PKCS7_free(read);
    ERR_clear_error();
    return chain->nelts > 0;
}
