/* SPDX-License-Identifier: Apache-2.0 */
/* proof_chain.c: the chain of a certificate, and where its certificates say that proofs are. */
#include "authorities/proof_private.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <string.h>
#include <strings.h>

#define URLS_MOST 2
#define URL_LONGEST 1000
#define CERTIFICATES_MOST 32

static apr_status_t free_chain(void *data)
{
    sk_X509_pop_free(data, X509_free);
    return APR_SUCCESS;
}

static STACK_OF(X509) * read_pem(const char *pem)
{
    STACK_OF(X509) *found = sk_X509_new_null();
    BIO *bio = BIO_new_mem_buf(pem, -1);
    for (X509 *one;
         found && bio && sk_X509_num(found) < CERTIFICATES_MOST && (one = PEM_read_bio_X509(bio, NULL, NULL, NULL));)
        if (!sk_X509_push(found, one)) X509_free(one);
    BIO_free(bio);
    ERR_clear_error();
    return found;
}

/* An anchor need not be a root: a chain may end at each of them. */
static X509_STORE *proof_chain_store_of(const char *anchors)
{
    X509_STORE *store = X509_STORE_new();
    STACK_OF(X509) *all = read_pem(anchors);
    for (int i = 0; store && i < sk_X509_num(all); i++) X509_STORE_add_cert(store, sk_X509_value(all, i));
    if (store) X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
    sk_X509_pop_free(all, X509_free);
    return store;
}

STACK_OF(X509) * sr_proof_chain(const char **fault, const char *pem, const char *anchors, apr_pool_t *pool)
{
    STACK_OF(X509) *all = read_pem(pem), *chain = NULL;
    X509_STORE *store = proof_chain_store_of(anchors);
    X509_STORE_CTX *context = X509_STORE_CTX_new();
    *fault = "no certificate can be read";
    if (store && context && sk_X509_num(all) > 0 && X509_STORE_CTX_init(context, store, sk_X509_value(all, 0), all)) {
        X509_VERIFY_PARAM *how = X509_STORE_CTX_get0_param(context);
        X509_VERIFY_PARAM_set_purpose(how, X509_PURPOSE_ANY);
        X509_VERIFY_PARAM_set_time(how, (time_t)apr_time_sec(sr_time_now()));
        if (X509_verify_cert(context) == 1) chain = X509_STORE_CTX_get1_chain(context);
        *fault = chain ? NULL : X509_verify_cert_error_string(X509_STORE_CTX_get_error(context));
    }
    X509_STORE_CTX_free(context);
    X509_STORE_free(store);
    sk_X509_pop_free(all, X509_free);
    if (chain) apr_pool_cleanup_register(pool, chain, free_chain, apr_pool_cleanup_null);
    ERR_clear_error();
    return chain;
}

const char *sr_proof_chain_fault(const char *pem, const char *anchors, apr_pool_t *pool)
{
    const char *fault;
    (void)sr_proof_chain(&fault, pem, anchors, pool);
    return fault;
}

/* Adds a URL if it is http. OCSP and CRLs are signed, so https would add nothing (RFC 5280, 8). */
static void add_url(apr_array_header_t *urls, const char *url, size_t length)
{
    if (urls->nelts >= URLS_MOST || length > URL_LONGEST || strncasecmp(url, "http://", 7) != 0) return;
    for (size_t i = 0; i < length; i++)
        if (url[i] <= ' ' || url[i] > '~') return;
    APR_ARRAY_PUSH(urls, const char *) = apr_pstrmemdup(urls->pool, url, length);
}

apr_array_header_t *sr_proof_ocsp_urls(X509 *certificate, apr_pool_t *pool)
{
    apr_array_header_t *urls = apr_array_make(pool, URLS_MOST, sizeof(const char *));
    STACK_OF(OPENSSL_STRING) *all = X509_get1_ocsp(certificate);
    for (int i = 0; i < sk_OPENSSL_STRING_num(all); i++)
        add_url(urls, sk_OPENSSL_STRING_value(all, i), strlen(sk_OPENSSL_STRING_value(all, i)));
    X509_email_free(all);
    ERR_clear_error();
    return urls;
}

/* A distribution point for some reasons, or of another issuer, is left out. */
apr_array_header_t *sr_proof_crl_urls(X509 *certificate, apr_pool_t *pool)
{
    apr_array_header_t *urls = apr_array_make(pool, URLS_MOST, sizeof(const char *));
    CRL_DIST_POINTS *points = X509_get_ext_d2i(certificate, NID_crl_distribution_points, NULL, NULL);
    for (int i = 0; i < sk_DIST_POINT_num(points); i++) {
        const DIST_POINT *point = sk_DIST_POINT_value(points, i);
        const DIST_POINT_NAME *name = point->distpoint;
        if (!name || name->type != 0 || point->reasons || point->CRLissuer) continue;
        for (int j = 0; j < sk_GENERAL_NAME_num(name->name.fullname); j++) {
            const GENERAL_NAME *one = sk_GENERAL_NAME_value(name->name.fullname, j);
            if (one->type != GEN_URI) continue;
            const ASN1_STRING *text = one->d.uniformResourceIdentifier;
            if (ASN1_STRING_length(text) < 8) continue;
            add_url(urls, (const char *)ASN1_STRING_get0_data(text), (size_t)ASN1_STRING_length(text));
        }
    }
    CRL_DIST_POINTS_free(points);
    ERR_clear_error();
    return urls;
}

sr_cms_bytes_t sr_proof_der(X509 *certificate, apr_pool_t *pool)
{
    unsigned char *der = NULL;
    const int length = i2d_X509(certificate, &der);
    sr_cms_bytes_t bytes = {NULL, 0};
    if (length > 0) bytes = (sr_cms_bytes_t){apr_pmemdup(pool, der, (apr_size_t)length), (apr_size_t)length};
    OPENSSL_free(der);
    return bytes;
}

const char *sr_proof_pem(const apr_array_header_t *chain, apr_pool_t *pool)
{
    char *text;
    BIO *bio = BIO_new(BIO_s_mem());
    for (int i = 0; bio && i < chain->nelts; i++) {
        const sr_cms_bytes_t *one = &APR_ARRAY_IDX(chain, i, sr_cms_bytes_t);
        if (!PEM_write_bio(bio, PEM_STRING_X509, "", one->data, (long)one->length)) break;
    }
    const long length = bio ? BIO_get_mem_data(bio, &text) : 0;
    const char *pem = length > 0 ? apr_pstrmemdup(pool, text, (apr_size_t)length) : "";
    BIO_free(bio);
    ERR_clear_error();
    return pem;
}

const char *sr_proof_name(X509 *certificate, apr_pool_t *pool)
{
    return sr_cms_describe(certificate, pool)->name;
}
