/* SPDX-License-Identifier: Apache-2.0 */
/* check.c: the operation "check": checks signatures with src/pdf/check.c. */
#include "pdf/cms.h"
#include "pdfd/pdfd.h"

#include <apr_encode.h>
#include <string.h>

static json_t *encode(const sr_cms_bytes_t *bytes, apr_pool_t *pool)
{
    if (!bytes->length) return json_string("");
    return json_string(apr_pencode_base64_binary(pool, bytes->data, (apr_ssize_t)bytes->length, APR_ENCODE_NONE, NULL));
}

static json_t *describe(const sr_cms_certificate_t *signer, apr_pool_t *pool)
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

static void set_text(json_t *object, const char *key, const char *text)
{
    if (text) json_object_set_new(object, key, json_string(text));
}

static json_t *write_result(const sr_cms_result_t *result, apr_pool_t *pool)
{
    static const char *const states[] = SR_CMS_STATE_NAMES, *const trusts[] = SR_CMS_TRUST_NAMES;
    json_t *object = json_object();
    json_object_set_new(object, "state", json_string(states[result->state]));
    json_object_set_new(object, "trust", json_string(trusts[result->trust]));
    set_text(object, "fault", result->fault);
    set_text(object, "algorithm", result->algorithm);
    set_text(object, "distrust", result->distrust);
    set_text(object, "hash", result->hash);
    json_object_set_new(object, "bound", json_boolean(result->bound));
    json_object_set_new(object, "expired", json_boolean(result->expired));
    json_object_set_new(object, "premature", json_boolean(result->premature));
    json_object_set_new(object, "timestamp", json_boolean(result->timestamp));
    json_object_set_new(object, "time", json_integer(apr_time_sec(result->signing_time)));
    if (result->signer) json_object_set_new(object, "signer", describe(result->signer, pool));
    if (result->state != SR_CMS_INTACT) return object;
    json_object_set_new(object, "digest", encode(&result->digest, pool));
    json_object_set_new(object, "attributes", encode(&result->attributes, pool));
    json_object_set_new(object, "signature", encode(&result->signature, pool));
    return object;
}

/* Returns false if the request is not valid. */
static bool add_result(json_t *results, const json_t *asked, const sr_cms_context_t *context, apr_pool_t *pool)
{
    const char *text = sr_json_string(asked, "der");
    const json_int_t length = json_integer_value(json_object_get(asked, "length"));
    apr_size_t sent = 0;
    sr_cms_result_t result;
    const void *bytes =
        text && *text ? apr_pdecode_base64_binary(pool, text, APR_ENCODE_STRING, APR_ENCODE_NONE, &sent) : NULL;
    if (!text || (*text && !bytes) || length < (json_int_t)sent || length > SR_PDF_MAX_REQUEST) return false;
    unsigned char *der = apr_pcalloc(pool, (apr_size_t)length + 1);
    if (sent) memcpy(der, bytes, sent);
    sr_cms_check(&result, der, (apr_size_t)length, context, pool);
    json_array_append_new(results, write_result(&result, pool));
    return true;
}

json_t *sr_pdfd_check(const sr_pdfd_request_t *request, apr_pool_t *pool)
{
    const char *pem = sr_json_string(request->text, "anchors");
    sr_cms_anchors_t *anchors = NULL;
    if (pem && sr_cms_anchors_parse(&anchors, pem, pool)) return NULL;
    const sr_cms_context_t context = {.anchors = anchors,
                                      .now = json_integer_value(json_object_get(request->text, "now"))};
    const json_t *one;
    size_t i;
    json_t *results = json_array();
    apr_pool_t *each;
    apr_pool_create(&each, pool);
    bool good = true;
    json_array_foreach (json_object_get(request->text, "signatures"), i, one) {
        apr_pool_clear(each);
        good = good && add_result(results, one, &context, each);
    }
    json_t *response = json_object();
    json_object_set_new(response, "results", results);
    if (good) return response;
    json_decref(response);
    return NULL;
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
