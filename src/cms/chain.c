/* SPDX-License-Identifier: Apache-2.0 */
/* chain.c: the chain of a signer or of a timestamp authority at a certain time, and whether one of its certificates was
 * revoked by then. Only OCSP responses and CRLs of the document count, so nothing is fetched. revocation.c judges each
 * of them. This file decides at which times they count:
 * - A certificate was good at the time T if a proof was made at T or later, or if T is before its nextUpdate.
 * - A proof counts if its signer's certificate had not ended when the proof is known to exist. Somebody who gets that
 *   key later could make a proof with an earlier date.
 * - If two proofs disagree, the newer one counts. */
#include "cms/judge.h"

#include "cms/revocation.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <string.h>

#define SECURITY_LEVEL 2       /* of the chain: 112 bits, and no SHA-1 */
#define MAX_DEPTH 10           /* certificates of a chain between that of the signer and the anchor */
#define MAX_VERIFICATIONS 1000 /* of proofs in one request. An honest document needs some ten */
#define PAIR_BYTES ((apr_size_t)2 * SHA256_DIGEST_LENGTH)

typedef struct proof_t {
    sr_cms_proof_t given;
    apr_time_t existed; /* the earliest time at which it is known to exist */
} proof_t;

/* What one proof says of one certificate. */
typedef struct verdict_t {
    sr_revocation_t said;
    const proof_t *proof;
    apr_time_t signer_until; /* when the certificate of the proof's signer ends */
} verdict_t;

/* ------------------------------------------------------------------------------------------------- the DSS */

static apr_status_t chain_free_certificates(void *data)
{
    sk_X509_pop_free(data, X509_free);
    return APR_SUCCESS;
}

static void add_certificate(sr_cms_store_t *store, const sr_cms_bytes_t *der)
{
    const unsigned char *at = der->data;
    X509 *certificate = d2i_X509(NULL, &at, (long)der->length);
    if (!certificate || at != der->data + der->length || !sk_X509_push(store->certificates, certificate))
        X509_free(certificate);
}

sr_cms_store_t *sr_cms_store_new(const sr_cms_proof_t *proofs, int count, apr_time_t now, apr_pool_t *pool)
{
    sr_cms_store_t *store = apr_pcalloc(pool, sizeof *store);
    *store = (sr_cms_store_t){.certificates = sk_X509_new_null(),
                              .proofs = apr_pcalloc(pool, sizeof(proof_t) * (apr_size_t)(count + 1)),
                              .budget = MAX_VERIFICATIONS,
                              .verdicts = apr_hash_make(pool),
                              .now = now,
                              .pool = pool};
    apr_pool_cleanup_register(pool, store->certificates, chain_free_certificates, apr_pool_cleanup_null);
    for (int i = 0; i < count; i++)
        if (proofs[i].kind == SR_CMS_PROOF_CERTIFICATE) add_certificate(store, &proofs[i].der);
        else store->proofs[store->count++].given = proofs[i];
    sr_cms_store_reset(store);
    ERR_clear_error();
    return store;
}

void sr_cms_store_existed(sr_cms_store_t *store, apr_off_t end, apr_time_t time)
{
    for (int i = 0; i < store->count; i++)
        if (store->proofs[i].given.at < end && time < store->proofs[i].existed) store->proofs[i].existed = time;
}

void sr_cms_store_reset(sr_cms_store_t *store)
{
    for (int i = 0; i < store->count; i++) store->proofs[i].existed = store->now;
}

/* ---------------------------------------------------------------------------------------------- revocation */

static apr_time_t end_of(const X509 *certificate)
{
    return sr_cms_time(X509_get0_notAfter(certificate));
}

/* Returns false if the response cannot be about the certificate, because it does not contain its serial number. */
static bool may_be_about(const proof_t *proof, X509 *certificate)
{
    const ASN1_INTEGER *serial = X509_get0_serialNumber(certificate);
    return memmem(proof->given.der.data, proof->given.der.length, ASN1_STRING_get0_data(serial),
                  (size_t)ASN1_STRING_length(serial))
           != NULL;
}

/* Returns false if the proof says nothing, or if no more proofs may be verified. */
static bool ask_proof(sr_revocation_t *said, const proof_t *proof, X509 *certificate, X509 *issuer,
                      sr_cms_store_t *store)
{
    const sr_cms_bytes_t *der = &proof->given.der;
    const bool crl = proof->given.kind == SR_CMS_PROOF_CRL;
    if ((!crl && !may_be_about(proof, certificate)) || store->budget-- <= 0) return false;
    if (crl) sr_revocation_crl(said, der->data, der->length, certificate, issuer, 0, store->pool);
    else sr_revocation_ocsp(said, der->data, der->length, certificate, issuer, store->certificates, 0, store->pool);
    return said->state == SR_REVOCATION_GOOD || said->state == SR_REVOCATION_REVOKED;
}

/* Returns true if the responder could sign at that time: its certificate was valid, and it is excused from a proof of
 * its own, or a CRL has one. */
static bool may_respond(const sr_revocation_t *said, X509 *issuer, sr_cms_store_t *store)
{
    sr_revocation_t about;
    X509 *responder = said->responder;
    if (sr_cms_time(X509_get0_notBefore(responder)) > said->from || end_of(responder) < said->from) return false;
    for (int i = 0; !said->excused && i < store->count; i++)
        if (store->proofs[i].given.kind == SR_CMS_PROOF_CRL
            && ask_proof(&about, &store->proofs[i], responder, issuer, store))
            return about.state == SR_REVOCATION_GOOD ? about.until >= said->from : about.revoked_at > said->from;
    return said->excused;
}

/* Returns what all proofs say of a certificate (verdict_t). */
static const apr_array_header_t *verdicts_of(X509 *certificate, X509 *issuer, sr_cms_store_t *store)
{
    unsigned char *key = apr_palloc(store->pool, PAIR_BYTES);
    if (!X509_digest(certificate, EVP_sha256(), key, NULL)
        || !X509_digest(issuer, EVP_sha256(), key + SHA256_DIGEST_LENGTH, NULL))
        return apr_array_make(store->pool, 0, sizeof(verdict_t));
    apr_array_header_t *verdicts = apr_hash_get(store->verdicts, key, PAIR_BYTES);
    if (verdicts) return verdicts;
    verdicts = apr_array_make(store->pool, 4, sizeof(verdict_t));
    for (int i = 0; i < store->count; i++) {
        verdict_t verdict = {.proof = &store->proofs[i]};
        if (!ask_proof(&verdict.said, verdict.proof, certificate, issuer, store)) continue;
        if (verdict.said.from > store->now + SR_REVOCATION_AHEAD) continue;
        if (verdict.said.responder && !may_respond(&verdict.said, issuer, store)) continue;
        verdict.signer_until = end_of(verdict.said.responder ? verdict.said.responder : issuer);
        APR_ARRAY_PUSH(verdicts, verdict_t) = verdict;
    }
    apr_hash_set(store->verdicts, key, PAIR_BYTES, verdicts);
    return verdicts;
}

static bool counts(const verdict_t *verdict, const sr_cms_how_t *how, apr_time_t until)
{
    const sr_revocation_t *said = &verdict->said;
    if (how->before && verdict->proof->given.at >= how->before) return false;
    if (!how->past && verdict->signer_until < verdict->proof->existed) return false;
    /* an issuer may forget the revocation of a certificate that has ended */
    return said->state == SR_REVOCATION_REVOKED || (said->until >= how->at && said->from <= until);
}

/* Returns GOOD, REVOKED with *when, or UNUSABLE if nothing is proved. */
static sr_revocation_state_t state_of(X509 *certificate, X509 *issuer, const sr_cms_how_t *how, sr_cms_store_t *store,
                                      apr_time_t *when)
{
    const apr_array_header_t *verdicts = verdicts_of(certificate, issuer, store);
    const sr_revocation_t *newest = NULL;
    for (int i = 0; i < verdicts->nelts; i++) {
        const verdict_t *verdict = &APR_ARRAY_IDX(verdicts, i, verdict_t);
        if (counts(verdict, how, end_of(certificate)) && (!newest || verdict->said.from > newest->from))
            newest = &verdict->said;
    }
    if (!newest) return SR_REVOCATION_UNUSABLE;
    *when = newest->revoked_at;
    return newest->state == SR_REVOCATION_REVOKED && newest->revoked_at > how->at ? SR_REVOCATION_GOOD : newest->state;
}

/* ----------------------------------------------------------------------------------------------- the chain */

static const char *chain_revoked(bool leaf, apr_time_t when, apr_pool_t *pool)
{
    return apr_psprintf(pool, "%s was revoked at %s", leaf ? "its certificate" : "a certificate of its chain",
                        sr_time_format(when, pool));
}

/* Returns NULL if a chain leads to an anchor. */
static const char *build(STACK_OF(X509) * *chain, const sr_cms_checked_t *checked, const sr_cms_how_t *how,
                         const sr_cms_store_t *store, apr_pool_t *pool)
{
    const char *wrong = NULL;
    const uint32_t usage = X509_get_key_usage(checked->certificate);
    if (!(usage & (KU_DIGITAL_SIGNATURE | KU_NON_REPUDIATION))) return "its certificate is not for signing";
    STACK_OF(X509) *others = sk_X509_dup(checked->others ? checked->others : store->certificates);
    for (int i = 0; others && checked->others && i < sk_X509_num(store->certificates); i++)
        sk_X509_push(others, sk_X509_value(store->certificates, i));
    X509_STORE_CTX *context = X509_STORE_CTX_new();
    if (!context || !others || !X509_STORE_CTX_init(context, how->anchors, checked->certificate, others)) {
        wrong = sr_cms_why(pool);
    } else {
        X509_VERIFY_PARAM *parameters = X509_STORE_CTX_get0_param(context);
        X509_VERIFY_PARAM_set_purpose(parameters, how->authority ? X509_PURPOSE_TIMESTAMP_SIGN : X509_PURPOSE_ANY);
        X509_VERIFY_PARAM_set_flags(
            parameters,
            X509_V_FLAG_PARTIAL_CHAIN); /* an anchor need not be a root, and may be the certificate itself */
        X509_VERIFY_PARAM_set_auth_level(parameters, SECURITY_LEVEL);
        X509_VERIFY_PARAM_set_depth(parameters, MAX_DEPTH);
        X509_VERIFY_PARAM_set_time(parameters, (time_t)apr_time_sec(how->at));
        if (X509_verify_cert(context) == 1) *chain = X509_STORE_CTX_get1_chain(context);
        else wrong = apr_pstrdup(pool, X509_verify_cert_error_string(X509_STORE_CTX_get_error(context)));
    }
    X509_STORE_CTX_free(context);
    sk_X509_free(others);
    return wrong;
}

void sr_cms_chain_judge(sr_cms_chain_t *chain, const sr_cms_checked_t *checked, const sr_cms_how_t *how,
                        sr_cms_store_t *store, apr_pool_t *pool)
{
    STACK_OF(X509) *all = NULL;
    *chain = (sr_cms_chain_t){.trust = SR_CMS_UNTRUSTED};
    chain->distrust = build(&all, checked, how, store, pool);
    if (chain->distrust) return;
    chain->trust = SR_CMS_TRUSTED;
    chain->proved = true;
    chain->until = end_of(checked->certificate);
    for (int i = 1; i < sk_X509_num(all); i++) {
        X509 *certificate = sk_X509_value(all, i - 1), *issuer = sk_X509_value(all, i);
        apr_time_t when = 0;
        const sr_revocation_state_t state = state_of(certificate, issuer, how, store, &when);
        if (end_of(issuer) < chain->until) chain->until = end_of(issuer);
        if (state == SR_REVOCATION_UNUSABLE) chain->proved = false;
        if (state != SR_REVOCATION_REVOKED || chain->trust == SR_CMS_REVOKED) continue;
        chain->trust = SR_CMS_REVOKED;
        chain->distrust = chain_revoked(i == 1, when, pool);
    }
    sk_X509_pop_free(all, X509_free);
    ERR_clear_error();
}
