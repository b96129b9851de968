/* SPDX-License-Identifier: Apache-2.0 */
/* proof_set.c: the proofs of one chain as a file: the names and hashes of its proofs, and its certificates. */
#include "authorities/proof_private.h"

#include <apr_base64.h>
#include <string.h>

#define LIMIT (1 << 20)

static apr_array_header_t *bytes_array(apr_pool_t *pool)
{
    return apr_array_make(pool, 4, sizeof(sr_cms_bytes_t));
}

static void proof_set_add_new(const apr_array_header_t **array, sr_cms_bytes_t bytes, apr_pool_t *pool)
{
    apr_array_header_t *all = *array ? (apr_array_header_t *)*array : bytes_array(pool);
    *array = all;
    for (int i = 0; i < all->nelts; i++) {
        const sr_cms_bytes_t *one = &APR_ARRAY_IDX(all, i, sr_cms_bytes_t);
        if (one->length == bytes.length && !memcmp(one->data, bytes.data, bytes.length)) return;
    }
    APR_ARRAY_PUSH(all, sr_cms_bytes_t) = bytes;
}

static void add_all(const apr_array_header_t **array, const apr_array_header_t *more, apr_pool_t *pool)
{
    for (int i = 0; more && i < more->nelts; i++)
        proof_set_add_new(array, APR_ARRAY_IDX(more, i, sr_cms_bytes_t), pool);
}

void sr_proofs_join(sr_proofs_t *proofs, const sr_proofs_t *more, apr_pool_t *pool)
{
    add_all(&proofs->certificates, more->certificates, pool);
    add_all(&proofs->ocsps, more->ocsps, pool);
    add_all(&proofs->crls, more->crls, pool);
    if (!proofs->since || (more->since && more->since < proofs->since)) proofs->since = more->since;
    if (!proofs->until || (more->until && more->until < proofs->until)) proofs->until = more->until;
    if (!proofs->missing) proofs->missing = more->missing;
    if (!proofs->revoked) proofs->revoked = more->revoked;
}

const char *sr_proof_set_text(const sr_proofs_t *proofs, const apr_array_header_t *files, apr_pool_t *pool)
{
    json_t *set = sr_json_own(json_object(), pool), *certificates = json_array(), *listed = json_array();
    for (int i = 0; i < proofs->certificates->nelts; i++) {
        const sr_cms_bytes_t *one = &APR_ARRAY_IDX(proofs->certificates, i, sr_cms_bytes_t);
        char *text = apr_palloc(pool, (apr_size_t)apr_base64_encode_len((int)one->length));
        apr_base64_encode_binary(text, one->data, (int)one->length);
        json_array_append_new(certificates, json_string(text));
    }
    for (int i = 0; i < files->nelts; i++) {
        const sr_proof_file_t *file = &APR_ARRAY_IDX(files, i, sr_proof_file_t);
        const char *hash = sr_sha256_hex(file->bytes.data, file->bytes.length, pool);
        json_array_append_new(listed, json_pack("{s:s,s:b,s:s}", "file", file->name, "crl", file->crl, "sha256", hash));
    }
    json_object_set_new(set, "since", json_integer(proofs->since));
    json_object_set_new(set, "until", json_integer(proofs->until));
    json_object_set_new(set, "missing", sr_json_string_or_null(proofs->missing));
    json_object_set_new(set, "revoked", sr_json_string_or_null(proofs->revoked));
    json_object_set_new(set, "certificates", certificates);
    json_object_set_new(set, "proofs", listed);
    return sr_json_text(set, pool);
}

static bool proof_set_read_certificates(sr_proofs_t *proofs, const json_t *list, apr_pool_t *pool)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *text = json_string_value(json_array_get(list, i));
        if (!text) return false;
        unsigned char *der = apr_palloc(pool, (apr_size_t)apr_base64_decode_len(text));
        const int length = apr_base64_decode_binary(der, text);
        if (length <= 0) return false;
        proof_set_add_new(&proofs->certificates, (sr_cms_bytes_t){der, (apr_size_t)length}, pool);
    }
    return true;
}

static bool proof_set_read_proofs(sr_proofs_t *proofs, const json_t *list, const char *folder, apr_pool_t *pool)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        const char *name = sr_json_string(one, "file"), *hash = sr_json_string(one, "sha256");
        const bool crl = json_is_true(json_object_get(one, "crl"));
        sr_cms_bytes_t bytes;
        if (!name || !hash || strchr(name, '/')) return false;
        if (!sr_proof_read(&bytes, NULL, folder, name, SR_REVOCATION_MAX_CRL, pool)) return false;
        if (strcmp(sr_sha256_hex(bytes.data, bytes.length, pool), hash) != 0) return false;
        proof_set_add_new(crl ? &proofs->crls : &proofs->ocsps, bytes, pool);
    }
    return true;
}

const sr_proofs_t *sr_proof_set_read(const char *folder, const char *sha256, apr_pool_t *pool)
{
    sr_cms_bytes_t text;
    json_t *set;
    sr_proofs_t *proofs = apr_pcalloc(pool, sizeof *proofs);
    if (!sr_proof_read(&text, NULL, folder, apr_pstrcat(pool, sha256, ".json", NULL), LIMIT, pool)) return NULL;
    if (sr_json_read(&set, (const char *)text.data, pool)) return NULL;
    *proofs = (sr_proofs_t){.certificates = bytes_array(pool), .ocsps = bytes_array(pool), .crls = bytes_array(pool)};
    proofs->since = json_integer_value(json_object_get(set, "since"));
    proofs->until = json_integer_value(json_object_get(set, "until"));
    proofs->missing = sr_json_string(set, "missing");
    proofs->revoked = sr_json_string(set, "revoked");
    if (!proof_set_read_certificates(proofs, json_object_get(set, "certificates"), pool)
        || !proof_set_read_proofs(proofs, json_object_get(set, "proofs"), folder, pool))
        return NULL;
    return proofs;
}
