/* SPDX-License-Identifier: Apache-2.0 */
/* proof_item.c: one OCSP response or one CRL: reads it from the folder, and fetches it when that is due. It is fetched
 * again after half of the time that was left when it was fetched. If that fails, the old one serves until its end. */
#include "authorities/proof_private.h"

#include <apr_base64.h>
#include <apr_hash.h>
#include <openssl/ocsp.h>
#include <string.h>

#define CONNECT_LIMIT apr_time_from_sec(3)
#define OCSP_LIMIT apr_time_from_sec(8)
#define CRL_LIMIT apr_time_from_sec(30)
#define GET_LONGEST 255 /* of the request in the URL (RFC 5019, 5) */
#define ATTEMPTS_MOST 1000

struct sr_proof_keeper_t {
    sr_proof_options_t options;
    apr_pool_t *pool;
    apr_hash_t *attempts; /* name of a proof → apr_time_t: when it was last requested */
};

sr_proof_keeper_t *sr_proof_keeper_create(const sr_proof_options_t *options, apr_pool_t *pool)
{
    sr_proof_keeper_t *keeper = apr_pcalloc(pool, sizeof *keeper);
    *keeper = (sr_proof_keeper_t){.options = *options};
    apr_pool_create(&keeper->pool, pool);
    keeper->attempts = apr_hash_make(keeper->pool);
    return keeper;
}

const sr_proof_options_t *sr_proof_keeper_options(const sr_proof_keeper_t *keeper)
{
    return &keeper->options;
}

/* ----------------------------------------------------------------------------------------------- attempts */

static apr_time_t last_attempt(const sr_proof_keeper_t *keeper, const char *name)
{
    const apr_time_t *at = apr_hash_get(keeper->attempts, name, APR_HASH_KEY_STRING);
    return at ? *at : 0;
}

static void note_attempt(sr_proof_keeper_t *keeper, const char *name)
{
    if (apr_hash_count(keeper->attempts) >= ATTEMPTS_MOST) {
        apr_pool_clear(keeper->pool);
        keeper->attempts = apr_hash_make(keeper->pool);
    }
    apr_time_t *at = apr_hash_get(keeper->attempts, name, APR_HASH_KEY_STRING);
    if (!at) {
        at = apr_palloc(keeper->pool, sizeof *at);
        apr_hash_set(keeper->attempts, apr_pstrdup(keeper->pool, name), APR_HASH_KEY_STRING, at);
    }
    *at = sr_time_now();
}

static apr_interval_time_t shortest(const sr_proof_keeper_t *keeper)
{
    const apr_interval_time_t longest = keeper->options.longest;
    return longest < SR_PROOF_SHORTEST ? longest : SR_PROOF_SHORTEST;
}

/* Up to a tenth of the time is taken off, so that the requests of many hosts are spread. It depends on the proof and on
 * the time at which it was fetched. */
static apr_interval_time_t spread(apr_interval_time_t time, const sr_proof_item_t *item)
{
    unsigned sum = (unsigned)(item->fetched / 1000);
    for (const char *at = item->name; *at; at++) sum = sum * 31 + (unsigned char)*at;
    return time - time / 10 * (apr_interval_time_t)(sum % 1000) / 1000;
}

bool sr_proof_is_usable(const sr_proof_item_t *item)
{
    return item->judged.state == SR_REVOCATION_GOOD || item->judged.state == SR_REVOCATION_REVOKED;
}

/* Returns when the proof is to be fetched again. */
static apr_time_t due(const sr_proof_item_t *item, const sr_proof_keeper_t *keeper, apr_time_t needed)
{
    const apr_interval_time_t least = shortest(keeper);
    apr_interval_time_t wait = (item->judged.until - item->fetched) / 2;
    if (wait > keeper->options.longest) wait = keeper->options.longest;
    wait = spread(wait, item);
    if (wait < least || item->judged.until < needed) wait = least;
    apr_time_t when = sr_proof_is_usable(item) ? item->fetched + wait : 0;
    const apr_time_t tried = last_attempt(keeper, item->name);
    const apr_interval_time_t pause = sr_proof_is_usable(item) || least < SR_PROOF_HASTY ? least : SR_PROOF_HASTY;
    if (tried && when < tried + pause) when = tried + pause;
    return when;
}

/* ------------------------------------------------------------------------------------------------- a proof */

static void item_judge(sr_proof_item_t *item, sr_revocation_t *judged, sr_cms_bytes_t bytes, STACK_OF(X509) * others,
                       apr_time_t at, apr_pool_t *pool)
{
    if (item->crl) sr_revocation_crl(judged, bytes.data, bytes.length, item->certificate, item->issuer, at, pool);
    else sr_revocation_ocsp(judged, bytes.data, bytes.length, item->certificate, item->issuer, others, at, pool);
}

/* Returns the DER of the request, or of the CertID. OCSP is asked without a nonce, because the response is to be kept
 * and shown to others (RFC 5019). SHA-1 in the CertID is what every responder knows. */
static sr_cms_bytes_t certid_der(const sr_proof_item_t *item, bool request, apr_pool_t *pool)
{
    unsigned char *der = NULL;
    int length;
    OCSP_CERTID *id = OCSP_cert_to_id(EVP_sha1(), item->certificate, item->issuer);
    OCSP_REQUEST *asked = request ? OCSP_REQUEST_new() : NULL;
    if (asked) {
        OCSP_request_add0_id(asked, id); /* which frees it */
        length = i2d_OCSP_REQUEST(asked, &der);
        OCSP_REQUEST_free(asked);
    } else {
        length = i2d_OCSP_CERTID(id, &der);
        OCSP_CERTID_free(id);
    }
    sr_cms_bytes_t bytes = {NULL, 0};
    if (length > 0) bytes = (sr_cms_bytes_t){apr_pmemdup(pool, der, (apr_size_t)length), (apr_size_t)length};
    OPENSSL_free(der);
    return bytes;
}

sr_proof_item_t sr_proof_item(bool crl, const char *url, X509 *certificate, X509 *issuer, apr_pool_t *pool)
{
    sr_proof_item_t item = {.crl = crl, .url = url, .certificate = certificate, .issuer = issuer};
    sr_sha256_t *hash = sr_sha256_begin(pool);
    sr_sha256_update(hash, url, strlen(url) + 1);
    if (!crl) {
        const sr_cms_bytes_t id = certid_der(&item, false, pool);
        sr_sha256_update(hash, id.data, id.length);
    }
    item.name = apr_pstrcat(pool, sr_sha256_end_hex(hash, pool), ".der", NULL);
    return item;
}

/* Returns the URL of a request by GET, or NULL if the request is too long for that. */
static const char *get_url(const char *url, sr_cms_bytes_t request, apr_pool_t *pool)
{
    char *text = apr_palloc(pool, (apr_size_t)apr_base64_encode_len((int)request.length));
    const bool slash = url[strlen(url) - 1] == '/';
    apr_base64_encode_binary(text, request.data, (int)request.length);
    char *escaped = apr_palloc(pool, 3 * strlen(text) + 1), *to = escaped;
    for (const char *at = text; *at; at++) {
        const char *code = *at == '+' ? "%2B" : *at == '/' ? "%2F" : *at == '=' ? "%3D" : NULL;
        if (code) to = (char *)memcpy(to, code, 3) + 3;
        else *to++ = *at;
    }
    *to = '\0';
    return to - escaped > GET_LONGEST ? NULL : apr_pstrcat(pool, url, slash ? "" : "/", escaped, NULL);
}

static void proof_item_make_request(sr_proof_keeper_t *keeper, sr_fetch_t *request, apr_pool_t *pool)
{
    request->connect = CONNECT_LIMIT;
    keeper->options.fetch(keeper->options.baton, request, pool);
}

/* An OCSP request is made by GET, which caches can answer, and by POST if that fails. */
static sr_fetch_t item_request(const sr_proof_item_t *item, sr_proof_keeper_t *keeper, apr_pool_t *pool)
{
    sr_fetch_t request = {.url = item->url, .limit = SR_REVOCATION_MAX_CRL, .all = CRL_LIMIT};
    if (!item->crl) {
        const sr_cms_bytes_t asked = certid_der(item, true, pool);
        request = (sr_fetch_t){.url = get_url(item->url, asked, pool),
                               .limit = SR_REVOCATION_MAX_OCSP,
                               .all = OCSP_LIMIT,
                               .wanted = "application/ocsp-response"};
        if (request.url) proof_item_make_request(keeper, &request, pool);
        if (request.url
            && (request.state == SR_FETCH_DONE || request.state == SR_FETCH_UNREACHABLE
                || request.state == SR_FETCH_LATE))
            return request;
        request.url = item->url;
        request.body = asked.data;
        request.length = asked.length;
        request.type = "application/ocsp-request";
    }
    proof_item_make_request(keeper, &request, pool);
    return request;
}

/* Fetches the proof. What is not usable is not stored, so the old one stays. */
static void item_fetch(sr_proof_item_t *item, sr_proof_keeper_t *keeper, STACK_OF(X509) * others, apr_pool_t *pool)
{
    sr_revocation_t judged;
    note_attempt(keeper, item->name);
    const sr_fetch_t reply = item_request(item, keeper, pool);
    item->fault = reply.state == SR_FETCH_DONE ? NULL : reply.fault;
    if (item->fault) return;
    const sr_cms_bytes_t bytes = {reply.answer, reply.size};
    item_judge(item, &judged, bytes, others, sr_time_now(), pool);
    if (judged.state != SR_REVOCATION_GOOD && judged.state != SR_REVOCATION_REVOKED) {
        item->fault = judged.why;
        return;
    }
    const sr_error_t *error = sr_proof_write(keeper->options.folder, item->name, bytes.data, bytes.length, pool);
    if (error) item->fault = error->message;
    item->bytes = bytes;
    item->judged = judged;
    item->fetched = sr_time_now();
}

/* Reads the proof of the folder. One that has said "revoked" is still usable when its time is over, because a
 * certificate stays revoked. Only a newer proof can say otherwise. */
static void item_read(sr_proof_item_t *item, const sr_proof_keeper_t *keeper, STACK_OF(X509) * others, apr_pool_t *pool)
{
    const apr_size_t limit = item->crl ? SR_REVOCATION_MAX_CRL : SR_REVOCATION_MAX_OCSP;
    const char *folder = keeper->options.folder;
    item->judged.why = "it was not fetched yet";
    if (!sr_proof_read(&item->bytes, &item->fetched, folder, item->name, limit, pool)) return;
    item_judge(item, &item->judged, item->bytes, others, sr_time_now(), pool);
    if (sr_proof_is_usable(item)) return;
    sr_revocation_t then;
    item_judge(item, &then, item->bytes, others, 0, pool);
    if (then.state == SR_REVOCATION_REVOKED) item->judged = then;
}

apr_time_t sr_proof_obtain(sr_proof_item_t *item, sr_proof_keeper_t *keeper, STACK_OF(X509) * others, apr_time_t needed,
                           apr_pool_t *pool)
{
    item_read(item, keeper, others, pool);
    if (sr_time_now() >= due(item, keeper, needed)) item_fetch(item, keeper, others, pool);
    return due(item, keeper, needed);
}
