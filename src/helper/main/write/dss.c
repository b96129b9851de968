/* SPDX-License-Identifier: Apache-2.0 */
/* dss.c: the document security store (ISO 32000-2, 12.8.4.3): certificates, OCSP responses and CRLs as streams, by
 * which somebody can validate the signatures later. They are copied and never parsed.
 *
 * The store is extended and nothing is removed from it. A proof that is there is not written again. The first update
 * with proofs makes a new object for the store, with the entries of a store that the upload had, and rewrites the
 * catalog. Later updates rewrite only this object, whose number the client knows. Streams with a higher number were
 * written by this service, so only these are compared: the client can check them without parsing the document. */
#include "helper/main/pdfd.h"

#include <apr_encode.h>
#include <stdlib.h>
#include <string.h>

static const char NO_STORE[] = "its document security store is not where it was";

static const char *const KEYS[SR_PDF_PROOF_KINDS] = SR_PDF_PROOF_KEYS;

typedef struct proof_t {
    int kind;
    bool packed;
    unsigned char *data;
    apr_size_t size;
} proof_t;

bool sr_pdfd_dss_read(sr_pdfd_dss_t *dss, const json_t *parameters)
{
    const json_t *given = json_object_get(parameters, "dss"), *number = json_object_get(given, "number");
    *dss = (sr_pdfd_dss_t){.parameters = given, .number = json_integer_value(number)};
    if (!given) return true;
    return json_is_array(json_object_get(given, "proofs")) && dss->number >= 0 && dss->number <= SR_PDFD_MAX_OBJECT;
}

static bool dss_read_proof(proof_t *proof, const json_t *given, apr_pool_t *pool)
{
    const json_t *kind = json_object_get(given, "kind"), *data = json_object_get(given, "data");
    if (!json_is_integer(kind) || json_integer_value(kind) < 0 || json_integer_value(kind) >= SR_PDF_PROOF_KINDS
        || !json_is_string(data))
        return false;
    *proof = (proof_t){.kind = (int)json_integer_value(kind), .packed = json_is_true(json_object_get(given, "packed"))};
    proof->data = (unsigned char *)apr_pdecode_base64_binary(pool, json_string_value(data),
                                                             (apr_ssize_t)json_string_length(data), 0, &proof->size);
    return proof->data && proof->size;
}

/* Returns true if the stream has this data. */
static bool dss_is_proof(qpdf_data q, qpdf_oh stream, const proof_t *proof)
{
    unsigned char *data = NULL;
    size_t size = 0;
    qpdf_oh filter = qpdf_oh_get_key(q, qpdf_oh_get_dict(q, stream), "/Filter");
    if (qpdf_oh_is_name_and_equals(q, filter, "/FlateDecode") != proof->packed) return false;
    if (qpdf_oh_get_stream_data(q, stream, qpdf_dl_none, NULL, &data, &size) & QPDF_ERRORS) size = 0;
    const bool same = size == proof->size && !memcmp(data, proof->data, size);
    free(data);
    return same;
}

static qpdf_oh list_of(const sr_pdfd_dss_t *dss, qpdf_data q, int kind)
{
    return qpdf_oh_is_dictionary(q, dss->before) ? qpdf_oh_get_key(q, dss->before, KEYS[kind]) : dss->before;
}

/* Returns true if the store has this proof, and an update of this service has added it. */
static bool has_proof(const sr_pdfd_dss_t *dss, qpdf_data q, const proof_t *proof)
{
    qpdf_oh list = list_of(dss, q, proof->kind);
    const int count = dss->number ? sr_pdfd_items(q, list) : 0;
    bool found = false;
    for (int i = 0; !found && i < count; i++) {
        qpdf_oh stream = qpdf_oh_get_array_item(q, list, i);
        found = qpdf_oh_is_stream(q, stream) && qpdf_oh_get_object_id(q, stream) > dss->number
                && dss_is_proof(q, stream, proof);
        qpdf_oh_release(q, stream);
    }
    return found;
}

/* Writes the streams of a list that are there already. A store refers to nothing else. */
static void put_old(sr_pdfd_buffer_t *out, qpdf_data q, qpdf_oh list)
{
    const int count = sr_pdfd_items(q, list);
    for (int i = 0; i < count; i++) {
        qpdf_oh stream = qpdf_oh_get_array_item(q, list, i);
        if (qpdf_oh_is_stream(q, stream))
            sr_pdfd_print(out, "%d %d R ", qpdf_oh_get_object_id(q, stream), qpdf_oh_get_generation(q, stream));
        qpdf_oh_release(q, stream);
    }
}

/* `added`: references to the new streams, by kind. */
static void put_store(const sr_pdfd_dss_t *dss, sr_pdfd_update_t *update, int64_t number,
                      sr_pdfd_buffer_t *const *added)
{
    qpdf_data q = update->document->q;
    sr_pdfd_buffer_t *out = update->out;
    qpdf_oh entries =
        qpdf_oh_is_dictionary(q, dss->before) ? qpdf_oh_get_key(q, dss->before, "/VRI") : qpdf_oh_new_null(q);
    sr_pdfd_object_begin(update, number, 0);
    sr_pdfd_put_text(out, "<</Type/DSS");
    if (qpdf_oh_is_dictionary(q, entries)) sr_pdfd_print(out, "/VRI %s", qpdf_oh_unparse(q, entries));
    for (int i = 0; i < SR_PDF_PROOF_KINDS; i++) {
        qpdf_oh list = list_of(dss, q, i);
        if (!sr_pdfd_items(q, list) && !added[i]->size) continue;
        sr_pdfd_print(out, "%s[", KEYS[i]);
        put_old(out, q, list);
        sr_pdfd_put(out, added[i]->data, added[i]->size);
        sr_pdfd_put_text(out, "]");
    }
    sr_pdfd_put_text(out, ">>");
    sr_pdfd_object_end(update);
}

const char *sr_pdfd_dss_put(sr_pdfd_dss_t *dss, sr_pdfd_update_t *update, sr_pdfd_catalog_t *catalog)
{
    qpdf_data q = update->document->q;
    const json_t *proofs = json_object_get(dss->parameters, "proofs"), *given;
    sr_pdfd_buffer_t *added[SR_PDF_PROOF_KINDS];
    size_t i;
    bool adds = false;
    if (!json_array_size(proofs)) return NULL;
    dss->before = qpdf_oh_get_key(q, qpdf_get_root(q), "/DSS");
    if (dss->number && qpdf_oh_get_object_id(q, dss->before) != dss->number) return NO_STORE;
    const int64_t number = dss->number ? dss->number : sr_pdfd_object_number(update);
    for (int kind = 0; kind < SR_PDF_PROOF_KINDS; kind++) added[kind] = sr_pdfd_buffer(update->pool);
    json_array_foreach (proofs, i, given) {
        proof_t proof;
        if (!dss_read_proof(&proof, given, update->pool)) return NO_STORE;
        if (has_proof(dss, q, &proof)) continue;
        const int64_t stream = sr_pdfd_object_number(update);
        sr_pdfd_stream_packed(update, stream, proof.packed ? "/Filter/FlateDecode" : "", proof.data, proof.size);
        sr_pdfd_print(added[proof.kind], "%lld 0 R ", (long long)stream);
        adds = true;
    }
    if (adds) put_store(dss, update, number, added);
    if (dss->number) return NULL;
    catalog->dss = apr_psprintf(update->pool, "/DSS %" APR_INT64_T_FMT " 0 R", number);
    catalog->extensions = sr_pdfd_catalog_extensions(update->document, true, update->pool);
    return NULL;
}
