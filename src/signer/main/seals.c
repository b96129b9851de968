/* SPDX-License-Identifier: Apache-2.0 */
/* seals.c: the keys, and the answers to requests. The signed attributes of a seal differ only in the digest of the
 * document. So they are made once, when the key is loaded, and the digest is inserted for each signature. */
#include "signer/main/seals.h"
#include "signer/main/pkcs11.h"

#include <apr_hash.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_ATTRIBUTES 1024

/* One seal. */
typedef struct seal_t {
    const sr_cms_identity_t *identity;
    const char *pem;
    unsigned char fingerprint[SR_SIGND_FINGERPRINT];
    unsigned char attributes[MAX_ATTRIBUTES]; /* of the digest that begins at `at` */
    apr_size_t length, at, digest_size;
    int hash;
} seal_t;

/* The own seal of an organisation. */
typedef struct own_t {
    unsigned char id[SR_SIGND_FINGERPRINT]; /* sr_signd_organization */
    sr_cms_own_t about;
    seal_t seal; /* without an identity it cannot be used */
} own_t;

struct sr_signd_keys_t {
    seal_t seals[SR_SIGND_SEALS];       /* without an identity it cannot be used */
    const char *faults[SR_SIGND_SEALS]; /* or NULL */
    own_t *own;
    int own_count;
    apr_hash_t *organizations, *certificates; /* id → own_t, SHA-256 → seal_t; not changed after loading */
};

/* Makes the attributes of a random digest, which shows where the digest is. */
static sr_error_t *make_attributes(seal_t *seal, apr_pool_t *pool)
{
    unsigned char digest[SR_CMS_MAX_DIGEST];
    sr_cms_bytes_t made;
    seal->hash = sr_signd_hash(sr_cms_identity_hash(seal->identity), &seal->digest_size);
    sr_random_fill(digest, sizeof digest);
    SR_TRY(sr_cms_attributes_of(&made, seal->identity, digest, pool));
    const unsigned char *found = memmem(made.data, made.length, digest, seal->digest_size);
    if (!found || made.length > sizeof seal->attributes)
        return sr_error(pool, SR_EINTERNAL, "its signed attributes cannot be made");
    memcpy(seal->attributes, made.data, made.length);
    seal->length = made.length;
    seal->at = (apr_size_t)(found - made.data);
    return NULL;
}

static sr_error_t *complete(seal_t *seal, const char *certificate, apr_pool_t *pool)
{
    seal->pem = sr_cms_identity_pem(seal->identity, pool);
    if (!sr_cipher_unhex(seal->fingerprint, sr_cms_identity_certificate(seal->identity)->sha256,
                         2 * (apr_size_t)SR_SIGND_FINGERPRINT)
        || strlen(seal->pem) > SR_SIGND_MAX_RESPONSE - SR_SIGND_RESPONSE)
        return sr_error(pool, SR_EINTERNAL, "%s: its certificates are too large", certificate);
    return make_attributes(seal, pool);
}

/* `number` is that of the seal. */
static sr_error_t *seals_load(seal_t *seal, int number, const json_t *setup, sr_cms_when_t when, apr_pool_t *pool)
{
    const char *certificate = sr_json_string(setup, "certificate"), *key = sr_json_string(setup, "key");
    if (certificate && key && sr_text_is_token(key))
        SR_TRY(sr_signd_token_identity(&seal->identity, certificate, key, number, when, pool));
    else if (certificate && key) SR_TRY(sr_cms_identity_load_when(&seal->identity, certificate, key, when, pool));
    else SR_TRY(sr_cms_issue_identity(&seal->identity, SR_CMS_ISSUE_NAME SR_CMS_ISSUE_TEST, SR_CMS_ISSUE_DAYS, pool));
    return complete(seal, certificate, pool);
}

/* Completes the seal of an organisation. A fault is noted, and the seal is not used. */
static void complete_own(sr_signd_keys_t *keys, own_t *own, apr_pool_t *pool)
{
    seal_t *seal = &own->seal;
    if (!own->about.identity) return;
    seal->identity = own->about.identity;
    sr_error_t *error = complete(seal, sr_cms_identity_certificate(seal->identity)->name, pool);
    if (error) {
        own->about.fault = error->message;
        *seal = (seal_t){0};
    } else apr_hash_set(keys->certificates, seal->fingerprint, sizeof seal->fingerprint, seal);
}

static void load_one(sr_signd_keys_t *keys, own_t *own, const char *folder, const char *organization, apr_pool_t *pool)
{
    sr_cms_own_load(&own->about, folder, organization, pool);
    complete_own(keys, own, pool);
    sr_signd_organization(own->id, organization);
    apr_hash_set(keys->organizations, own->id, sizeof own->id, own);
}

/* Loads the own seals of organisations. If the folder cannot be read when the process is started again, it has none of
 * them, so that it has the others. */
static sr_error_t *load_own(sr_signd_keys_t *keys, const json_t *setup, apr_pool_t *pool)
{
    const char *folder = sr_json_string(setup, SR_SIGND_OWN_SEALS);
    apr_array_header_t *names, *strangers;
    keys->organizations = apr_hash_make(pool);
    keys->certificates = apr_hash_make(pool);
    if (!folder) return NULL;
    sr_error_t *error = sr_cms_own_list(&names, &strangers, folder, pool);
    if (error && !json_is_true(json_object_get(setup, "again"))) return error;
    if (error) fprintf(stderr, "sigreq-signd: no organization's own seal can be used: %s\n", error->message);
    keys->own_count = error ? 0 : names->nelts;
    keys->own = apr_pcalloc(pool, sizeof *keys->own * (apr_size_t)(keys->own_count + 1));
    for (int i = 0; i < keys->own_count; i++)
        load_one(keys, &keys->own[i], folder, APR_ARRAY_IDX(names, i, const char *), pool);
    return NULL;
}

/* Returns true if a fault of this seal is no reason to end. At the first start it concerns this seal alone. A process
 * that is started again needs the seals that children have: it ends, and is started until their files are good. */
bool sr_signd_tolerates(const json_t *setup, int seal)
{
    if (json_is_true(json_object_get(setup, "check"))) return false;
    if (!json_is_true(json_object_get(setup, "again"))) return true;
    return json_is_string(json_array_get(json_object_get(setup, SR_SIGND_FAULTS), (size_t)seal));
}

/* A certificate that has expired is loaded, as one that expires while the process runs: it signs nothing. `httpd -t`
 * reports it. */
sr_error_t *sr_signd_keys_load(sr_signd_keys_t **keys, int *seal, const json_t *setup, apr_pool_t *pool)
{
    const json_t *seals = json_object_get(setup, "seals");
    const bool check = json_is_true(json_object_get(setup, "check"));
    const sr_cms_when_t when = check ? SR_CMS_NOW : SR_CMS_NOW_OR_BEFORE;
    *keys = apr_pcalloc(pool, sizeof **keys);
    *seal = -1;
    SR_TRY(load_own(*keys, setup, pool));
    for (*seal = 0; *seal < SR_SIGND_SEALS; ++*seal) {
        seal_t *one = &(*keys)->seals[*seal];
        sr_error_t *error = seals_load(one, *seal, json_array_get(seals, (size_t)*seal), when, pool);
        if (error && !sr_signd_tolerates(setup, *seal)) return error;
        if (error) sr_signd_keys_fault(*keys, *seal, error->message, true);
    }
    return NULL;
}

void sr_signd_keys_fault(sr_signd_keys_t *keys, int seal, const char *fault, bool forget)
{
    if (forget) keys->seals[seal] = (seal_t){0};
    keys->faults[seal] = fault;
}

static json_t *own_json(const own_t *own)
{
    json_t *answer = json_object();
    json_object_set_new(answer, "organization", json_string(own->about.organization));
    json_object_set_new(answer, SR_SIGND_PEM, sr_json_string_or_null(own->seal.pem));
    json_object_set_new(answer, SR_SIGND_FAULT, sr_json_string_or_null(own->about.fault));
    return answer;
}

const char *sr_signd_keys_answer(const sr_signd_keys_t *keys, apr_pool_t *pool)
{
    json_t *answer = json_object(), *list = json_array();
    for (int i = 0; i < SR_SIGND_SEALS; i++) json_array_append_new(list, sr_json_string_or_null(keys->seals[i].pem));
    json_object_set_new(answer, SR_SIGND_PEM, list);
    list = json_array();
    for (int i = 0; i < SR_SIGND_SEALS; i++) json_array_append_new(list, sr_json_string_or_null(keys->faults[i]));
    json_object_set_new(answer, SR_SIGND_FAULTS, list);
    list = json_array();
    for (int i = 0; i < keys->own_count; i++) json_array_append_new(list, own_json(&keys->own[i]));
    json_object_set_new(answer, SR_SIGND_OWN_SEALS, list);
    const char *text = sr_json_text(answer, pool);
    json_decref(answer);
    return text;
}

/* ------------------------------------------------------------------------------------------------- requests */

static apr_size_t seals_finish(unsigned char *response, sr_signd_status_t status, apr_size_t attributes,
                               apr_size_t rest)
{
    memset(response, 0, SR_SIGND_RESPONSE);
    memcpy(response, SR_SIGND_MAGIC, 4);
    response[4] = (unsigned char)status;
    response[6] = (unsigned char)(attributes >> 8);
    response[7] = (unsigned char)attributes;
    response[8] = (unsigned char)(rest >> 8);
    response[9] = (unsigned char)rest;
    return SR_SIGND_RESPONSE + attributes + rest;
}

static apr_size_t seals_sign(unsigned char *response, const seal_t *seal, const unsigned char *digest, apr_pool_t *pool)
{
    unsigned char *attributes = response + SR_SIGND_RESPONSE;
    apr_size_t length;
    const sr_cms_certificate_t *about = sr_cms_identity_certificate(seal->identity);
    const apr_time_t now = sr_time_now();
    if (now < about->from || now > about->until) return seals_finish(response, SR_SIGND_FAILED, 0, 0);
    memcpy(attributes, seal->attributes, seal->length);
    memcpy(attributes + seal->at, digest, seal->digest_size);
    const sr_cms_bytes_t bytes = {attributes, seal->length};
    if (sr_cms_sign_attributes(attributes + seal->length, &length, seal->identity, digest, &bytes, pool))
        return seals_finish(response, SR_SIGND_FAILED, 0, 0);
    return seals_finish(response, SR_SIGND_DONE, seal->length, length);
}

static apr_size_t seals_show(unsigned char *response, const seal_t *seal)
{
    const apr_size_t length = seal->pem ? strlen(seal->pem) : 0;
    if (length) memcpy(response + SR_SIGND_RESPONSE, seal->pem, length);
    return seals_finish(response, SR_SIGND_DONE, 0, length);
}

/* Returns the seal of the certificate that a request names. NULL: the seal has another certificate. */
static const seal_t *seals_find(const sr_signd_keys_t *keys, int number, const unsigned char *fingerprint)
{
    if (number == SR_SIGND_OWN) return apr_hash_get(keys->certificates, fingerprint, SR_SIGND_FINGERPRINT);
    const seal_t *seal = &keys->seals[number];
    return seal->identity && !memcmp(fingerprint, seal->fingerprint, SR_SIGND_FINGERPRINT) ? seal : NULL;
}

/* Returns the seal whose certificates a request asks for. */
static const seal_t *find_shown(const sr_signd_keys_t *keys, int number, const unsigned char *organization)
{
    static const seal_t nothing = {0};
    if (number < SR_SIGND_SEALS) return &keys->seals[number];
    const own_t *own = apr_hash_get(keys->organizations, organization, SR_SIGND_FINGERPRINT);
    return own ? &own->seal : &nothing;
}

apr_size_t sr_signd_keys_respond(unsigned char *response, const sr_signd_keys_t *keys, const unsigned char *request,
                                 apr_size_t length, apr_pool_t *pool)
{
    const apr_size_t fixed = SR_SIGND_HEADER + SR_SIGND_FINGERPRINT;
    if (length < fixed || memcmp(request, SR_SIGND_MAGIC, 4) != 0 || request[5] > SR_SIGND_OWN || request[7])
        return seals_finish(response, SR_SIGND_INVALID, 0, 0);
    if (request[4] == SR_SIGND_CERTIFICATES && length == fixed && !request[6])
        return seals_show(response, find_shown(keys, request[5], request + SR_SIGND_HEADER));
    if (request[4] != SR_SIGND_SIGN) return seals_finish(response, SR_SIGND_INVALID, 0, 0);
    const seal_t *seal = seals_find(keys, request[5], request + SR_SIGND_HEADER);
    if (!seal) return seals_finish(response, SR_SIGND_OTHER, 0, 0);
    if (request[6] != seal->hash || length != fixed + seal->digest_size)
        return seals_finish(response, SR_SIGND_INVALID, 0, 0);
    return seals_sign(response, seal, request + fixed, pool);
}
