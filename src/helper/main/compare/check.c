/* SPDX-License-Identifier: Apache-2.0 */
/* check.c: the operation "check": checks the signatures and timestamps of a document with src/cms/judge.c. */
#include "cms/cms.h"
#include "helper/main/pdfd.h"

#include <apr_encode.h>
#include <string.h>

static json_t *check_encode(const sr_cms_bytes_t *bytes, apr_pool_t *pool)
{
    if (!bytes->length) return json_string("");
    return json_string(apr_pencode_base64_binary(pool, bytes->data, (apr_ssize_t)bytes->length, APR_ENCODE_NONE, NULL));
}

static json_t *check_describe(const sr_cms_certificate_t *signer, apr_pool_t *pool)
{
    json_t *object = json_object();
    json_object_set_new(object, "name", json_string(signer->name));
    json_object_set_new(object, "subject", json_string(signer->subject));
    json_object_set_new(object, "issuer", json_string(signer->issuer));
    json_object_set_new(object, "serial", json_string(apr_pstrndup(pool, signer->serial, SR_CMS_MAX_SERIAL)));
    json_object_set_new(object, "sha256", json_string(signer->sha256));
    json_object_set_new(object, "key", json_string(signer->key));
    json_object_set_new(object, "from", json_integer(apr_time_sec(signer->from)));
    json_object_set_new(object, "until", json_integer(apr_time_sec(signer->until)));
    return object;
}

static void check_set_text(json_t *object, const char *key, const char *text)
{
    if (text) json_object_set_new(object, key, json_string(text));
}

static json_t *write_stamp(const sr_cms_stamp_t *stamp)
{
    static const char *const states[] = SR_CMS_STAMP_NAMES;
    json_t *object = json_object();
    json_object_set_new(object, "state", json_string(states[stamp->state]));
    json_object_set_new(object, "time", json_integer(apr_time_sec(stamp->time)));
    check_set_text(object, "authority", stamp->authority);
    check_set_text(object, "fault", stamp->fault);
    return object;
}

static json_t *write_result(const sr_cms_result_t *result, apr_pool_t *pool)
{
    static const char *const states[] = SR_CMS_STATE_NAMES, *const trusts[] = SR_CMS_TRUST_NAMES,
                             *const levels[] = SR_CMS_LEVEL_NAMES;
    json_t *object = json_object();
    json_object_set_new(object, "state", json_string(states[result->state]));
    json_object_set_new(object, "trust", json_string(trusts[result->trust]));
    check_set_text(object, "fault", result->fault);
    check_set_text(object, "algorithm", result->algorithm);
    check_set_text(object, "distrust", result->distrust);
    check_set_text(object, "hash", result->hash);
    json_object_set_new(object, "bound", json_boolean(result->bound));
    json_object_set_new(object, "expired", json_boolean(result->expired));
    json_object_set_new(object, "premature", json_boolean(result->premature));
    json_object_set_new(object, "timestamp", json_boolean(result->timestamp));
    json_object_set_new(object, "time", json_integer(apr_time_sec(result->signing_time)));
    json_object_set_new(object, "level", json_string(levels[result->level]));
    json_object_set_new(object, "proven", json_integer(apr_time_sec(result->proven_until)));
    json_object_set_new(object, "stamp", write_stamp(&result->stamp));
    if (result->signer) json_object_set_new(object, "signer", check_describe(result->signer, pool));
    if (result->state != SR_CMS_INTACT) return object;
    json_object_set_new(object, "digest", check_encode(&result->digest, pool));
    json_object_set_new(object, "attributes", check_encode(&result->attributes, pool));
    json_object_set_new(object, "signature", check_encode(&result->signature, pool));
    return object;
}

typedef struct asked_t {
    sr_cms_asked_t *signatures;
    sr_cms_proof_t *proofs;
    int count, proof_count;
    apr_pool_t *pool;
} asked_t;

static bool check_decode(sr_cms_bytes_t *bytes, const json_t *object, apr_pool_t *pool)
{
    const char *text = sr_json_string(object, "der");
    *bytes = (sr_cms_bytes_t){0};
    if (text && *text)
        bytes->data = apr_pdecode_base64_binary(pool, text, APR_ENCODE_STRING, APR_ENCODE_NONE, &bytes->length);
    return text && (!*text || bytes->data);
}

/* Returns false if the request is not valid. */
static bool check_read_signature(asked_t *asked, const json_t *given)
{
    const json_int_t length = json_integer_value(json_object_get(given, "length"));
    sr_cms_bytes_t sent;
    if (!check_decode(&sent, given, asked->pool) || length < (json_int_t)sent.length || length > SR_PDF_MAX_REQUEST)
        return false;
    unsigned char *der = apr_pcalloc(asked->pool, (apr_size_t)length + 1);
    if (sent.length) memcpy(der, sent.data, sent.length);
    asked->signatures[asked->count++] = (sr_cms_asked_t){.der = der,
                                                         .length = (apr_size_t)length,
                                                         .covers = json_integer_value(json_object_get(given, "covers")),
                                                         .refuted = json_is_true(json_object_get(given, "refuted"))};
    return true;
}

static bool check_read_proof(asked_t *asked, const json_t *given)
{
    static const char *const kinds[] = SR_CMS_PROOF_NAMES;
    const char *name = sr_json_string(given, "kind");
    sr_cms_proof_t *proof = &asked->proofs[asked->proof_count++];
    size_t kind = 0;
    while (name && kinds[kind] && strcmp(kinds[kind], name) != 0) kind++;
    proof->kind = (sr_cms_proof_kind_t)kind;
    proof->at = json_integer_value(json_object_get(given, "at"));
    return name && kinds[kind] && check_decode(&proof->der, given, asked->pool);
}

static bool read_asked(asked_t *asked, const json_t *request, apr_pool_t *pool)
{
    const json_t *signatures = json_object_get(request, "signatures"), *proofs = json_object_get(request, "proofs");
    const json_t *one;
    size_t i;
    bool good = true;
    *asked = (asked_t){.signatures = apr_pcalloc(pool, sizeof(sr_cms_asked_t) * (json_array_size(signatures) + 1)),
                       .proofs = apr_pcalloc(pool, sizeof(sr_cms_proof_t) * (json_array_size(proofs) + 1)),
                       .pool = pool};
    json_array_foreach (signatures, i, one) good = good && check_read_signature(asked, one);
    json_array_foreach (proofs, i, one) good = good && check_read_proof(asked, one);
    return good;
}

json_t *sr_pdfd_check(const sr_pdfd_request_t *request, apr_pool_t *pool)
{
    const char *pem = sr_json_string(request->text, "anchors");
    sr_cms_anchors_t *anchors = NULL;
    asked_t asked;
    if (pem && sr_cms_anchors_parse(&anchors, pem, pool)) return NULL;
    if (!read_asked(&asked, request->text, pool)) return NULL;
    const sr_cms_context_t context = {.anchors = anchors,
                                      .now = json_integer_value(json_object_get(request->text, "now"))};
    sr_cms_result_t *results = apr_pcalloc(pool, sizeof *results * (apr_size_t)(asked.count + 1));
    sr_cms_check_all(results, asked.signatures, asked.count, asked.proofs, asked.proof_count, &context, pool);
    json_t *all = json_array(), *response = json_object();
    for (int i = 0; i < asked.count; i++) json_array_append_new(all, write_result(&results[i], pool));
    json_object_set_new(response, "results", all);
    return response;
}

/* Makes and checks a sample signature. With the first signature, OpenSSL reads its configuration, loads its algorithms
 * and computes its tables. */
bool sr_pdfd_check_warm_up(apr_pool_t *pool)
{
    static const unsigned char digest[SR_CMS_MAX_DIGEST];
    const sr_cms_identity_t *identity;
    const unsigned char *der;
    apr_size_t length;
    const char *certificate, *key;
    sr_cms_anchors_t *anchors;
    sr_cms_result_t result;
    if (sr_cms_issue(&certificate, &key, SR_CMS_ISSUE_NAME, 1, pool)
        || sr_cms_anchors_parse(&anchors, certificate, pool)
        || sr_cms_issue_identity(&identity, SR_CMS_ISSUE_NAME, 1, pool)
        || sr_cms_sign(&der, &length, identity, digest, pool))
        return false;
    sr_cms_check(&result, der, length, &(sr_cms_context_t){.anchors = anchors}, pool);
    return result.state == SR_CMS_INTACT && result.trust == SR_CMS_UNTRUSTED;
}
