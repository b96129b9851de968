/* SPDX-License-Identifier: Apache-2.0 */
/* chain_order.c: the certificates that an authority has sent for a key. Authorities send them in any order, with a root
 * or without, in one file or in several that are joined. The file of a seal begins with the certificate of the key, and
 * each one is followed by that of its issuer. The root is left out, because validators use their own. */
#include "cms/certificate.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <string.h>

/* What is in work. */
typedef struct arranging_t {
    sr_cms_identity_t *identity;
    STACK_OF(X509) * sent;
    apr_array_header_t *faults, *remarks;
    apr_pool_t *pool;
} arranging_t;

static apr_status_t chain_order_release(void *sent)
{
    sk_X509_pop_free(sent, X509_free);
    return APR_SUCCESS;
}

static const char *chain_order_name_of(X509 *certificate, apr_pool_t *pool)
{
    return sr_cms_describe(certificate, pool)->name;
}

static bool is_issued_by(X509 *certificate, X509 *issuer)
{
    const bool issued =
        X509_check_issued(issuer, certificate) == X509_V_OK && X509_verify(certificate, X509_get0_pubkey(issuer)) == 1;
    ERR_clear_error();
    return issued;
}

/* Takes the certificate of the key out of those that were sent, or else the first one. */
static void find_leaf(arranging_t *work)
{
    sr_cms_identity_t *identity = work->identity;
    int found = 0;
    for (int i = sk_X509_num(work->sent) - 1; i >= 0; i--)
        if (X509_check_private_key(sk_X509_value(work->sent, i), identity->key) == 1) found = i;
    ERR_clear_error();
    identity->certificate = sk_X509_delete(work->sent, found);
    identity->about = sr_cms_describe(identity->certificate, work->pool);
}

static void judge_issuer(arranging_t *work, X509 *issuer)
{
    const sr_cms_certificate_t *about = sr_cms_describe(issuer, work->pool);
    if (sr_time_now() <= about->until) return;
    APR_ARRAY_PUSH(work->faults, const char *) =
        apr_psprintf(work->pool, "the certificate of its issuer \"%s\" expired at %s", about->name,
                     sr_time_format(about->until, work->pool));
}

/* Takes the certificate of an issuer out of those that were sent. Returns NULL if it is not among them. */
static X509 *take_issuer(arranging_t *work, X509 *certificate)
{
    for (int i = 0; i < sk_X509_num(work->sent); i++)
        if (is_issued_by(certificate, sk_X509_value(work->sent, i))) return sk_X509_delete(work->sent, i);
    return NULL;
}

/* The last issuer in the file is often one whose own issuer is a root, so only a certificate without any is noted. */
static void chain_order_note_missing(arranging_t *work)
{
    const sr_cms_certificate_t *about = work->identity->about;
    if (sk_X509_num(work->identity->chain)) return;
    APR_ARRAY_PUSH(work->remarks, const char *) = apr_psprintf(
        work->pool,
        "the certificate of its issuer, %s, is not in the file: if that is not a root that validators have, ask the "
        "authority for it, and import all certificates together",
        about->issuer);
}

/* Moves the issuers to the chain, one after the other, and drops the root. */
static void follow(arranging_t *work)
{
    X509 *last = work->identity->certificate;
    work->identity->chain = sk_X509_new_null();
    while (!is_issued_by(last, last)) {
        X509 *issuer = take_issuer(work, last);
        if (!issuer) {
            chain_order_note_missing(work);
            return;
        }
        judge_issuer(work, issuer);
        const bool root = is_issued_by(issuer, issuer);
        if (root || !sk_X509_push(work->identity->chain, issuer)) X509_free(issuer);
        if (root) return;
        last = sk_X509_value(work->identity->chain, sk_X509_num(work->identity->chain) - 1);
        if (!last) return;
    }
}

static void note_rest(arranging_t *work)
{
    for (int i = 0; i < sk_X509_num(work->sent); i++)
        APR_ARRAY_PUSH(work->remarks, const char *) =
            apr_psprintf(work->pool, "the certificate \"%s\" is not in its chain and was left out",
                         chain_order_name_of(sk_X509_value(work->sent, i), work->pool));
}

/* Reads the public key of a request for a certificate, or the private key of a file. */
static sr_error_t *chain_order_read_key(sr_cms_identity_t *identity, apr_pool_t *pool)
{
    BIO *bio;
    SR_TRY(sr_cms_open(&bio, identity->key_path, pool));
    X509_REQ *request = PEM_read_bio_X509_REQ(bio, NULL, NULL, NULL);
    identity->key = request ? X509_REQ_get_pubkey(request) : NULL;
    identity->elsewhere = identity->key != NULL;
    X509_REQ_free(request);
    BIO_free(bio);
    ERR_clear_error();
    return identity->key ? NULL : sr_cms_identity_read_key(identity, pool);
}

sr_error_t *sr_cms_chain_order(sr_cms_arranged_t **arranged, const char *certificates_path, const char *key_path,
                               sr_cms_when_t when, apr_pool_t *pool)
{
    arranging_t work = {.identity = sr_cms_identity_new(pool),
                        .faults = apr_array_make(pool, 4, sizeof(const char *)),
                        .remarks = apr_array_make(pool, 4, sizeof(const char *)),
                        .pool = pool};
    work.identity->certificate_path = certificates_path;
    work.identity->key_path = key_path;
    SR_TRY(sr_cms_certificates_read(&work.sent, certificates_path, pool));
    apr_pool_cleanup_register(pool, work.sent, chain_order_release, apr_pool_cleanup_null);
    SR_TRY(chain_order_read_key(work.identity, pool));
    find_leaf(&work);
    follow(&work);
    note_rest(&work);
    apr_array_cat(work.faults, sr_cms_identity_faults(work.identity, when, pool));
    *arranged = apr_palloc(pool, sizeof **arranged);
    **arranged =
        (sr_cms_arranged_t){sr_cms_identity_pem(work.identity, pool), work.identity->about, work.faults, work.remarks};
    return NULL;
}
