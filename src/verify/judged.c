/* SPDX-License-Identifier: Apache-2.0 */
/* judged.c: has a worker check the signatures of a document. They are as hostile as the document, and OpenSSL in this
 * process has the key of the seal, so they are not parsed here. The response is validated as untrusted input. */
#include "verify/judged.h"
#include "cms/certificate.h"
#include "helper/client/listing.h"
#include "helper/client/worker.h"

#include <apr_encode.h>
#include <string.h>

#define MAX_NAME_BYTES 2000 /* a worker sends 500 bytes, before characters that cannot be shown are replaced */
#define MAX_SECONDS INT64_C(253402300799) /* the year 9999 */
#define MIN_SECONDS INT64_C(-62167219200) /* the year 0 */

static const char FAILED[] = "it could not be checked within the limits";

typedef struct response_t {
    sr_cms_result_t *results;
    size_t count;
    bool anchored; /* the request has trust anchors */
} response_t;

static bool read_flag(bool *flag, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    *flag = json_is_true(value);
    return json_is_boolean(value);
}

static bool judged_read_time(apr_time_t *time, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    const json_int_t seconds = json_integer_value(value);
    *time = apr_time_from_sec(seconds >= MIN_SECONDS && seconds <= MAX_SECONDS ? seconds : 0);
    return json_is_integer(value) && apr_time_sec(*time) == seconds;
}

/* Reads a text that pdfd wrote. *words is NULL if the member is missing. */
static bool judged_read_words(const char **words, const json_t *object, const char *key, apr_pool_t *pool)
{
    *words = NULL;
    if (!json_object_get(object, key)) return true;
    const char *text = sr_json_string(object, key);
    if (!sr_pdf_is_plain(text)) return false;
    *words = apr_pstrdup(pool, text);
    return true;
}

/* Reads a name that the issuer of the certificate chose. */
static bool judged_read_name(const char **name, const json_t *object, const char *key, apr_pool_t *pool)
{
    const char *text = sr_json_string(object, key);
    if (!text || strlen(text) > MAX_NAME_BYTES) return false;
    *name = apr_pstrdup(pool, sr_text_printable(text, pool));
    return true;
}

static bool read_hex(const char **hex, const json_t *object, const char *key, size_t most, apr_pool_t *pool)
{
    const char *text = sr_json_string(object, key);
    if (!text || strlen(text) > most || !sr_text_is_hex(text, strlen(text))) return false;
    *hex = apr_pstrdup(pool, text);
    return true;
}

static bool read_bytes(sr_cms_bytes_t *bytes, const json_t *object, const char *key, apr_size_t most, apr_pool_t *pool)
{
    const char *text = sr_json_string(object, key);
    if (!text || strlen(text) > 2 * most + 4) return false;
    bytes->data = apr_pdecode_base64_binary(pool, text, APR_ENCODE_STRING, APR_ENCODE_NONE, &bytes->length);
    return bytes->data && bytes->length <= most;
}

static bool read_name_of(size_t *index, const json_t *object, const char *key, const char *const *names)
{
    const char *name = sr_json_string(object, key);
    for (*index = 0; name && names[*index]; ++*index)
        if (!strcmp(name, names[*index])) return true;
    return false;
}

static bool judged_read_signer(sr_cms_result_t *result, const json_t *object, apr_pool_t *pool)
{
    sr_cms_certificate_t *signer = apr_pcalloc(pool, sizeof *signer);
    if (!object) return true;
    result->signer = signer;
    return judged_read_name(&signer->name, object, "name", pool)
           && judged_read_name(&signer->subject, object, "subject", pool)
           && judged_read_name(&signer->issuer, object, "issuer", pool)
           && read_hex(&signer->serial, object, "serial", SR_CMS_MAX_SERIAL, pool)
           && read_hex(&signer->sha256, object, "sha256", SR_SHA256_HEX_LENGTH, pool)
           && strlen(signer->sha256) == SR_SHA256_HEX_LENGTH && judged_read_words(&signer->key, object, "key", pool)
           && signer->key && judged_read_time(&signer->from, object, "from")
           && judged_read_time(&signer->until, object, "until");
}

/* Reads the members that only an intact signature has. */
static bool read_intact(sr_cms_result_t *result, const json_t *object, apr_pool_t *pool)
{
    const EVP_MD *hash = result->hash ? EVP_get_digestbyname(result->hash) : NULL;
    if (!hash || !result->signer || !result->algorithm || result->fault) return false;
    return read_bytes(&result->digest, object, "digest", EVP_MAX_MD_SIZE, pool)
           && result->digest.length == (apr_size_t)EVP_MD_get_size(hash)
           && read_bytes(&result->attributes, object, "attributes", SR_CMS_MAX_PROOF, pool)
           && read_bytes(&result->signature, object, "signature", SR_CMS_MAX_PROOF, pool);
}

static bool judged_read_stamp(sr_cms_stamp_t *stamp, const json_t *object, apr_pool_t *pool)
{
    static const char *const states[] = SR_CMS_STAMP_NAMES;
    size_t state;
    if (!read_name_of(&state, object, "state", states) || !judged_read_time(&stamp->time, object, "time")
        || !judged_read_words(&stamp->fault, object, "fault", pool))
        return false;
    stamp->state = (sr_cms_stamp_state_t)state;
    if (json_object_get(object, "authority") && !judged_read_name(&stamp->authority, object, "authority", pool))
        return false;
    const bool faulty = stamp->state == SR_CMS_STAMP_BROKEN || stamp->state == SR_CMS_STAMP_UNTRUSTED;
    if (faulty != (stamp->fault != NULL)) return false;
    return stamp->state != SR_CMS_STAMP_VALID || (stamp->authority && stamp->time);
}

/* Reads what was judged about an intact signature. `anchored` tells whether the request has trust anchors. */
static bool read_judgement(sr_cms_result_t *result, const json_t *object, bool anchored, apr_pool_t *pool)
{
    static const char *const levels[] = SR_CMS_LEVEL_NAMES;
    size_t level;
    if (!read_name_of(&level, object, "level", levels) || !judged_read_time(&result->proven_until, object, "proven")
        || !judged_read_stamp(&result->stamp, json_object_get(object, "stamp"), pool))
        return false;
    result->level = (sr_cms_level_t)level;
    const bool intact = result->state == SR_CMS_INTACT;
    if ((level == SR_CMS_LEVEL_NONE) != (!intact || result->timestamp)) return false;
    if (!anchored && result->stamp.state == SR_CMS_STAMP_VALID) return false;
    return (result->trust == SR_CMS_TRUSTED || !result->proven_until)
           && (intact || result->stamp.state == SR_CMS_STAMP_NONE);
}

static bool read_result(sr_cms_result_t *result, const json_t *object, bool anchored, apr_pool_t *pool)
{
    static const char *const states[] = SR_CMS_STATE_NAMES, *const trusts[] = SR_CMS_TRUST_NAMES,
                             *const hashes[] = SR_CMS_HASH_NAMES;
    size_t state, trust, hash;
    *result = (sr_cms_result_t){0};
    if (!read_name_of(&state, object, "state", states) || !read_name_of(&trust, object, "trust", trusts)) return false;
    result->state = (sr_cms_state_t)state;
    result->trust = (sr_cms_trust_t)trust;
    if (json_object_get(object, "hash")) {
        if (!read_name_of(&hash, object, "hash", hashes)) return false;
        result->hash = hashes[hash];
    }
    if (!judged_read_words(&result->fault, object, "fault", pool)
        || !judged_read_words(&result->algorithm, object, "algorithm", pool)
        || !judged_read_words(&result->distrust, object, "distrust", pool)
        || !read_flag(&result->bound, object, "bound") || !read_flag(&result->expired, object, "expired")
        || !read_flag(&result->premature, object, "premature") || !read_flag(&result->timestamp, object, "timestamp")
        || !judged_read_time(&result->signing_time, object, "time")
        || !judged_read_signer(result, json_object_get(object, "signer"), pool)
        || !read_judgement(result, object, anchored, pool))
        return false;
    const bool distrusted = result->trust == SR_CMS_UNTRUSTED || result->trust == SR_CMS_REVOKED;
    if (distrusted != (result->distrust != NULL)) return false;
    if (result->state != SR_CMS_INTACT) return result->fault && result->trust == SR_CMS_TRUST_UNKNOWN;
    return anchored == (result->trust != SR_CMS_TRUST_UNKNOWN) && read_intact(result, object, pool);
}

static bool judged_read_answer(void *data, const json_t *object, apr_pool_t *pool)
{
    const response_t *response = data;
    const json_t *all = json_object_get(object, "results");
    if (!json_is_array(all) || json_array_size(all) != response->count) return false;
    for (size_t i = 0; i < response->count; i++)
        if (!read_result(&response->results[i], json_array_get(all, i), response->anchored, pool)) return false;
    return true;
}

sr_error_t *sr_cms_ask(sr_cms_result_t *results, sr_pdf_pool_t *workers, const json_t *signatures, const json_t *proofs,
                       const sr_cms_context_t *context, apr_pool_t *pool)
{
    /* A new worker, which has not read the document. */
    sr_pdf_pool_t fresh = {.shared = workers->shared, .latest = workers->latest, .lane = workers->lane};
    response_t response = {results, json_array_size(signatures), context->anchors != NULL};
    const apr_time_t now = context->now ? context->now : sr_time_now();
    bool failed = false;
    if (!response.count) return NULL;
    json_t *request = sr_json_own(json_object(), pool);
    json_object_set_new(request, "op", json_string(SR_PDF_OP_CHECK));
    json_object_set_new(request, "now", json_integer(now));
    if (context->anchors) json_object_set_new(request, "anchors", json_string(context->anchors->pem));
    json_object_set_new(request, "signatures", json_incref((json_t *)signatures));
    if (proofs) json_object_set_new(request, "proofs", json_incref((json_t *)proofs));
    const sr_pdf_request_t put = {.op = SR_PDF_OP_CHECK,
                                  .text = sr_json_text(request, pool),
                                  .descriptor = -1,
                                  .read = judged_read_answer,
                                  .result = &response};
    SR_TRY(sr_pdf_put(&failed, &fresh, &put, pool));
    for (size_t i = 0; failed && i < response.count; i++)
        results[i] = (sr_cms_result_t){.state = SR_CMS_UNCHECKED, .fault = FAILED};
    return NULL;
}
