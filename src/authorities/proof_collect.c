/* SPDX-License-Identifier: Apache-2.0 */
/* proof_collect.c: collects the proofs of a chain. Each certificate below the anchor needs one: an OCSP response, or
 * else a CRL. If the first one cannot be used, the next one is tried. */
#include "authorities/proof_private.h"

#include <string.h>

#define PEM_LIMIT (1 << 20)

/* The collection of one chain. */
typedef struct collection_t {
    sr_proof_keeper_t *keeper;
    STACK_OF(X509) * chain;
    apr_array_header_t *certificates; /* sr_cms_bytes_t */
    apr_array_header_t *files;        /* sr_proof_file_t */
    /* A validator that goes back in time from proof to proof needs those of an authority to end after the proof of what
     * it has issued. So every other proof must not end before that of the first certificate (0: not known yet). */
    apr_time_t needed;
    apr_time_t since, until, next;
    const char *missing, *revoked;
    apr_pool_t *pool;
} collection_t;

static sr_proof_item_t obtain(collection_t *collection, bool crl, const char *url, X509 *certificate, X509 *issuer)
{
    sr_proof_item_t item = sr_proof_item(crl, url, certificate, issuer, collection->pool);
    const apr_time_t again =
        sr_proof_obtain(&item, collection->keeper, collection->chain, collection->needed, collection->pool);
    if (!collection->next || again < collection->next) collection->next = again;
    return item;
}

/* ------------------------------------------------------------------------------------------ a certificate */

static void take_certificate(collection_t *collection, X509 *certificate)
{
    APR_ARRAY_PUSH(collection->certificates, sr_cms_bytes_t) = sr_proof_der(certificate, collection->pool);
}

static void proof_collect_take(collection_t *collection, const sr_proof_item_t *item)
{
    const apr_time_t since = item->judged.from, until = item->judged.until;
    APR_ARRAY_PUSH(collection->files, sr_proof_file_t) = (sr_proof_file_t){item->name, item->crl, item->bytes};
    if (!collection->until || until < collection->until) collection->until = until;
    if (!collection->since || since < collection->since) collection->since = since;
    if (!collection->needed) collection->needed = until;
}

static void proof_collect_note_revocation(collection_t *collection, const sr_proof_item_t *item)
{
    apr_pool_t *pool = collection->pool;
    proof_collect_take(collection, item);
    collection->revoked =
        apr_psprintf(pool, "the certificate \"%s\" was revoked at %s%s%s", sr_proof_name(item->certificate, pool),
                     sr_time_format(item->judged.revoked_at, pool), item->judged.reason ? ": " : "",
                     item->judged.reason ? item->judged.reason : "");
}

static const char *proof_collect_say(const sr_proof_item_t *item, apr_pool_t *pool)
{
    const char *why = item->fault ? item->fault : item->judged.why;
    return apr_psprintf(pool, "%s of %s: %s", item->crl ? "CRL" : "OCSP", item->url, why ? why : "unusable");
}

/* Looks for a CRL. Returns true if one says that the certificate is good. */
static bool prove_by_crl(collection_t *collection, const char **why, X509 *certificate, X509 *issuer)
{
    const apr_array_header_t *urls = sr_proof_crl_urls(certificate, collection->pool);
    for (int i = 0; i < urls->nelts && !collection->revoked; i++) {
        const sr_proof_item_t item =
            obtain(collection, true, APR_ARRAY_IDX(urls, i, const char *), certificate, issuer);
        if (item.judged.state == SR_REVOCATION_GOOD) {
            proof_collect_take(collection, &item);
            return true;
        }
        if (item.judged.state == SR_REVOCATION_REVOKED) proof_collect_note_revocation(collection, &item);
        else *why = proof_collect_say(&item, collection->pool);
    }
    return false;
}

/* A responder without ocsp-nocheck needs a proof, too. It is a CRL, because it cannot speak for itself. If the
 * responder was revoked, only its response is not usable. */
static bool prove_responder(collection_t *collection, const char **why, const sr_proof_item_t *item)
{
    X509 *responder = item->judged.responder;
    if (!responder) return true;
    collection_t own = *collection;
    if (!own.needed) own.needed = item->judged.until;
    const bool good = item->judged.excused || prove_by_crl(&own, why, responder, item->issuer);
    collection->next = own.next;
    if (!good) {
        *why = apr_psprintf(collection->pool, "OCSP of %s: its responder has no ocsp-nocheck, and no CRL proves it",
                            item->url);
        collection->files->nelts -= own.revoked ? 1 : 0;
        return false;
    }
    if (own.until && (!collection->until || own.until < collection->until)) collection->until = own.until;
    if (own.since && (!collection->since || own.since < collection->since)) collection->since = own.since;
    take_certificate(collection, responder);
    return true;
}

static bool prove_by_ocsp(collection_t *collection, const char **why, X509 *certificate, X509 *issuer)
{
    const apr_array_header_t *urls = sr_proof_ocsp_urls(certificate, collection->pool);
    for (int i = 0; i < urls->nelts && !collection->revoked; i++) {
        const sr_proof_item_t item =
            obtain(collection, false, APR_ARRAY_IDX(urls, i, const char *), certificate, issuer);
        if (!sr_proof_is_usable(&item)) *why = proof_collect_say(&item, collection->pool);
        else if (!prove_responder(collection, why, &item)) continue;
        else if (item.judged.state == SR_REVOCATION_REVOKED) proof_collect_note_revocation(collection, &item);
        else {
            proof_collect_take(collection, &item);
            return true;
        }
    }
    return false;
}

static void proof_collect_prove(collection_t *collection, X509 *certificate, X509 *issuer)
{
    const char *why = "it names neither an OCSP responder nor a CRL by http";
    if (prove_by_ocsp(collection, &why, certificate, issuer) || collection->revoked) return;
    if (prove_by_crl(collection, &why, certificate, issuer) || collection->revoked) return;
    if (!collection->missing)
        collection->missing = apr_psprintf(collection->pool, "no proof of the certificate \"%s\": %s",
                                           sr_proof_name(certificate, collection->pool), why);
}

/* ---------------------------------------------------------------------------------------------- the chain */

static sr_proofs_t *empty_set(const char *missing, apr_pool_t *pool)
{
    sr_proofs_t *proofs = apr_pcalloc(pool, sizeof *proofs);
    const apr_array_header_t **const arrays[] = {&proofs->certificates, &proofs->ocsps, &proofs->crls};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = apr_array_make(pool, 4, sizeof(sr_cms_bytes_t));
    proofs->missing = missing;
    return proofs;
}

static sr_proofs_t *proof_collect_proofs_of(const collection_t *collection)
{
    apr_pool_t *pool = collection->pool;
    sr_proofs_t own = *empty_set(NULL, pool), *proofs = empty_set(NULL, pool);
    own.certificates = collection->certificates;
    for (int i = 0; i < collection->files->nelts; i++) {
        const sr_proof_file_t *file = &APR_ARRAY_IDX(collection->files, i, sr_proof_file_t);
        APR_ARRAY_PUSH((apr_array_header_t *)(file->crl ? own.crls : own.ocsps), sr_cms_bytes_t) = file->bytes;
    }
    sr_proofs_join(proofs, &own, pool);
    proofs->since = collection->since;
    proofs->until = collection->until;
    proofs->missing = collection->missing;
    proofs->revoked = collection->revoked;
    return proofs;
}

/* Writes the set if it has changed, so that others read it again, and once a day, because old files are removed. */
static sr_error_t *write_set(const collection_t *collection, const sr_proofs_t *proofs)
{
    apr_pool_t *pool = collection->pool;
    const char *folder = sr_proof_keeper_options(collection->keeper)->folder;
    const sr_cms_bytes_t *first = &APR_ARRAY_IDX(collection->certificates, 0, sr_cms_bytes_t);
    const char *name = apr_pstrcat(pool, sr_sha256_hex(first->data, first->length, pool), ".json", NULL);
    const char *text = sr_proof_set_text(proofs, collection->files, pool);
    sr_cms_bytes_t old;
    apr_time_t written;
    const bool same = sr_proof_read(&old, &written, folder, name, PEM_LIMIT, pool) && old.length == strlen(text)
                      && !memcmp(old.data, text, old.length) && sr_time_now() - written < SR_PROOF_TOUCH_AFTER;
    return same ? NULL : sr_proof_write(folder, name, text, strlen(text), pool);
}

sr_error_t *sr_proof_collect(const sr_proofs_t **proofs, apr_time_t *next, sr_proof_keeper_t *keeper, const char *pem,
                             const char *anchors, apr_pool_t *pool)
{
    const char *fault;
    collection_t collection = {.keeper = keeper, .chain = sr_proof_chain(&fault, pem, anchors, pool), .pool = pool};
    *next = sr_time_now() + sr_proof_keeper_options(keeper)->longest;
    if (!collection.chain) {
        *proofs = empty_set(apr_pstrcat(pool, "its chain reaches no anchor: ", fault, NULL), pool);
        return NULL;
    }
    collection.certificates = apr_array_make(pool, 4, sizeof(sr_cms_bytes_t));
    collection.files = apr_array_make(pool, 4, sizeof(sr_proof_file_t));
    for (int i = 0; i < sk_X509_num(collection.chain); i++) {
        X509 *one = sk_X509_value(collection.chain, i);
        take_certificate(&collection, one);
        if (i + 1 < sk_X509_num(collection.chain) && !collection.revoked)
            proof_collect_prove(&collection, one, sk_X509_value(collection.chain, i + 1));
    }
    if (collection.next && collection.next < *next) *next = collection.next;
    const sr_proofs_t *made = *proofs = proof_collect_proofs_of(&collection);
    return write_set(&collection, made);
}

sr_error_t *sr_proof_collect_wanted(apr_time_t *earliest, const char **missing, apr_time_t *next,
                                    sr_proof_keeper_t *keeper, const char *anchors, apr_pool_t *pool)
{
    const char *folder = sr_proof_keeper_options(keeper)->folder;
    const apr_array_header_t *names = sr_proof_wanted(folder, true, pool);
    *earliest = 0;
    *missing = NULL;
    *next = sr_time_now() + sr_proof_keeper_options(keeper)->longest;
    for (int i = 0; anchors && i < names->nelts; i++) {
        const sr_proofs_t *proofs;
        apr_time_t own;
        sr_cms_bytes_t pem;
        const char *name = APR_ARRAY_IDX(names, i, const char *);
        if (!sr_proof_read(&pem, NULL, folder, name, PEM_LIMIT, pool)) continue;
        SR_TRY(sr_proof_collect(&proofs, &own, keeper, (const char *)pem.data, anchors, pool));
        if (own < *next) *next = own;
        if (proofs->until && (!*earliest || proofs->until < *earliest)) *earliest = proofs->until;
        if (!*missing) *missing = proofs->revoked ? proofs->revoked : proofs->missing;
    }
    return NULL;
}
