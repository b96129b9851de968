/* SPDX-License-Identifier: Apache-2.0 */
/* dss.c: the proofs in the document security store of a document: which are there, and whether an update adds exactly
 * the others (src/helper/main/write/dss.c writes it). The new streams must have the bytes of the proofs that were
 * requested, and the store must have the references that it had, followed by those to the new streams. If the store is
 * new, the catalog is rewritten, which cannot be checked without parsing the document. Another worker then makes the
 * same update (fill.c).
 */
#include "helper/check/appended.h"

#include <apr_encode.h>
#include <libdeflate.h>
#include <string.h>

#define LEVEL 6
#define FILTER "/Filter/FlateDecode"
#define BEGINNING "<</Type/DSS"
#define MAX_DICTIONARY ((apr_size_t)1 << 20) /* bytes of a catalog or store; a larger one is made again */
#define HEAD 128                             /* bytes of a stream besides its data */

static const char NO_PROOF[] = "a proof is not in it as it was requested";
static const char NO_STORE[] = "its document security store has something else than the proofs";
static const char NO_CATALOG[] = "the catalog does not refer to the document security store";

static const char *const KEYS[SR_PDF_PROOF_KINDS] = SR_PDF_PROOF_KEYS;

static apr_size_t dss_length_of(const sr_pdf_span_t *span)
{
    return (apr_size_t)(span->end - span->at);
}

static bool is_equal(const sr_pdf_span_t *a, const sr_pdf_span_t *b)
{
    return dss_length_of(a) == dss_length_of(b) && !memcmp(a->at, b->at, dss_length_of(a));
}

/* -------------------------------------------------------------------------------------------------------- packing */

static void dss_pack(sr_pdf_packed_t *packed, const sr_pdf_proof_t *proof, struct libdeflate_compressor *compressor,
                     apr_pool_t *pool)
{
    const apr_size_t room = proof->length > sizeof FILTER ? proof->length - sizeof FILTER : 0;
    char *smaller = apr_palloc(pool, room + 1);
    const apr_size_t length =
        compressor && room ? libdeflate_zlib_compress(compressor, proof->der, proof->length, smaller, room) : 0;
    const char *data = length ? smaller : proof->der;
    *packed = (sr_pdf_packed_t){proof->kind, length > 0, {data, data + (length ? length : proof->length)}};
}

static bool dss_is_listed(const apr_array_header_t *list, const sr_pdf_packed_t *proof)
{
    for (int i = 0; i < list->nelts; i++) {
        const sr_pdf_packed_t *other = &APR_ARRAY_IDX(list, i, sr_pdf_packed_t);
        if (other->kind == proof->kind && other->packed == proof->packed && is_equal(&other->data, &proof->data))
            return true;
    }
    return false;
}

const apr_array_header_t *sr_pdf_proofs_pack(const apr_array_header_t *proofs, apr_pool_t *pool)
{
    apr_size_t total = 0;
    if (!proofs || !proofs->nelts || proofs->nelts > SR_PDF_MAX_PROOFS) return NULL;
    for (int i = 0; i < proofs->nelts; i++) {
        const apr_size_t length = APR_ARRAY_IDX(proofs, i, sr_pdf_proof_t).length;
        if (!length || length > SR_PDF_MAX_PROOFS_BYTES - total) return NULL;
        total += length;
    }
    apr_array_header_t *list = apr_array_make(pool, proofs->nelts, sizeof(sr_pdf_packed_t));
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(LEVEL);
    for (int i = 0; i < proofs->nelts; i++) {
        sr_pdf_packed_t packed;
        dss_pack(&packed, &APR_ARRAY_IDX(proofs, i, sr_pdf_proof_t), compressor, pool);
        if (!dss_is_listed(list, &packed)) APR_ARRAY_PUSH(list, sr_pdf_packed_t) = packed;
    }
    if (compressor) libdeflate_free_compressor(compressor);
    return list;
}

json_t *sr_pdf_dss_json(const sr_pdf_dss_t *dss, apr_pool_t *pool)
{
    json_t *json = json_object(), *list = json_array();
    if (dss->number) json_object_set_new(json, "number", json_integer(dss->number));
    json_object_set_new(json, "proofs", list);
    for (int i = 0; i < dss->proofs->nelts; i++) {
        const sr_pdf_packed_t *proof = &APR_ARRAY_IDX(dss->proofs, i, sr_pdf_packed_t);
        json_t *one = json_object();
        json_object_set_new(one, "kind", json_integer(proof->kind));
        json_object_set_new(one, "packed", json_boolean(proof->packed));
        const char *data = apr_pencode_base64_binary(pool, (const unsigned char *)proof->data.at,
                                                     (apr_ssize_t)dss_length_of(&proof->data), APR_ENCODE_NONE, NULL);
        json_object_set_new(one, "data", json_string(data));
        json_array_append_new(list, one);
    }
    return json;
}

/* ------------------------------------------------------------------------------------------- what the document has */

/* Takes the next reference of a list. Everything else in it is skipped. */
static bool take_next(sr_pdf_span_t *left, apr_int64_t *number)
{
    for (sr_pdf_span_t item; sr_pdf_take_value(left, &item);)
        if (sr_pdf_span_ends(&item, " 0 R") && sr_pdf_take_number(&item, number)) return true;
    return false;
}

/* Finds a list of the store, without its first bracket. */
static bool find_list(sr_pdf_span_t *list, const sr_pdf_span_t *store, int kind)
{
    return sr_pdf_find_entry(list, store, KEYS[kind]) && sr_pdf_take_text(list, "[");
}

static sr_error_t *find_streams(sr_pdf_dss_t *dss, apr_array_header_t *objects, sr_pdf_sections_t *sections)
{
    const sr_pdf_span_t store = APR_ARRAY_IDX(objects, 0, sr_pdf_object_t).body;
    apr_size_t most = 0;
    for (int i = 0; i < dss->proofs->nelts; i++) {
        const apr_size_t length = dss_length_of(&APR_ARRAY_IDX(dss->proofs, i, sr_pdf_packed_t).data);
        if (length > most) most = length;
    }
    for (int kind = 0; kind < SR_PDF_PROOF_KINDS; kind++) {
        sr_pdf_span_t left;
        apr_int64_t number;
        if (!find_list(&left, &store, kind)) continue;
        while (take_next(&left, &number)) {
            sr_pdf_object_t stream;
            bool found = false;
            if (number <= dss->number) continue; /* it was in the upload */
            SR_TRY(sr_pdf_sections_find(&stream, &found, sections, number, most + HEAD + SR_CIPHER_MORE));
            if (found && stream.is_stream) APR_ARRAY_PUSH(objects, sr_pdf_object_t) = stream;
        }
    }
    return NULL;
}

sr_error_t *sr_pdf_dss_find(sr_pdf_dss_t *dss, sr_pdf_sections_t *sections, const apr_array_header_t *proofs)
{
    sr_pdf_object_t object;
    sr_pdf_span_t value;
    apr_int64_t number;
    bool found;
    *dss = (sr_pdf_dss_t){.proofs = proofs};
    SR_TRY(sr_pdf_sections_find(&object, &found, sections, sections->last.root, MAX_DICTIONARY));
    if (!found || object.is_stream || !sr_pdf_find_entry(&value, &object.body, "/DSS")) return NULL;
    if (!sr_pdf_span_ends(&value, " 0 R") || !sr_pdf_take_number(&value, &number)) return NULL;
    SR_TRY(sr_pdf_sections_find(&object, &found, sections, number, MAX_DICTIONARY));
    if (!found || object.is_stream || !sr_pdf_span_begins(&object.body, BEGINNING)) return NULL;
    apr_array_header_t *objects = apr_array_make(sections->pool, 8, sizeof object);
    APR_ARRAY_PUSH(objects, sr_pdf_object_t) = object;
    dss->number = number;
    dss->known = (sr_pdf_appended_t){.objects = objects, .trailer = sections->last};
    return find_streams(dss, objects, sections);
}

/* ------------------------------------------------------------------------------------------------------- checking */

static const sr_pdf_object_t *find_object(const sr_pdf_appended_t *appended, apr_int64_t number)
{
    for (int i = 0; i < appended->objects->nelts; i++) {
        const sr_pdf_object_t *object = &APR_ARRAY_IDX(appended->objects, i, sr_pdf_object_t);
        if (object->number == number) return object;
    }
    return NULL;
}

static bool dss_is_proof(const sr_pdf_object_t *object, const sr_pdf_packed_t *proof, apr_pool_t *pool)
{
    const char *body = apr_psprintf(pool, "<<%s/Length %" APR_SIZE_T_FMT ">>", proof->packed ? FILTER : "",
                                    dss_length_of(&proof->data));
    return object && object->is_stream && !object->generation && sr_pdf_span_is(&object->body, body)
           && is_equal(&object->data, &proof->data);
}

/* Returns true if the store has the proof already. */
static bool dss_is_known(const sr_pdf_dss_t *dss, const sr_pdf_packed_t *proof, apr_pool_t *pool)
{
    sr_pdf_span_t left;
    apr_int64_t number;
    if (!dss->number) return false;
    if (!find_list(&left, &APR_ARRAY_IDX(dss->known.objects, 0, sr_pdf_object_t).body, proof->kind)) return false;
    while (take_next(&left, &number))
        if (number > dss->number && dss_is_proof(find_object(&dss->known, number), proof, pool)) return true;
    return false;
}

/* Checks the new streams. *references: the references to them, by kind. */
static const char *check_streams(sr_pdf_added_t *added, const char **references, const sr_pdf_dss_t *dss,
                                 const sr_pdf_appended_t *appended, apr_pool_t *pool)
{
    for (int i = 0; i < dss->proofs->nelts; i++) {
        const sr_pdf_packed_t *proof = &APR_ARRAY_IDX(dss->proofs, i, sr_pdf_packed_t);
        if (dss_is_known(dss, proof, pool)) continue;
        if (!dss_is_proof(find_object(appended, added->end), proof, pool)) return NO_PROOF;
        references[proof->kind] =
            apr_psprintf(pool, "%s%" APR_INT64_T_FMT " 0 R ", references[proof->kind], added->end++);
    }
    return NULL;
}

static const char *dss_text_of(const sr_pdf_span_t *span, apr_pool_t *pool)
{
    return apr_pstrmemdup(pool, span->at, dss_length_of(span));
}

/* Returns true if the store has what it had, and then the new references. */
static bool dss_is_extended(const sr_pdf_object_t *store, const char *const *references, const sr_pdf_dss_t *dss,
                            apr_pool_t *pool)
{
    const sr_pdf_span_t *before = &APR_ARRAY_IDX(dss->known.objects, 0, sr_pdf_object_t).body;
    const char *text = BEGINNING;
    sr_pdf_span_t value;
    if (sr_pdf_find_entry(&value, before, "/VRI"))
        text = apr_pstrcat(pool, text, "/VRI ", dss_text_of(&value, pool), NULL);
    for (int kind = 0; kind < SR_PDF_PROOF_KINDS; kind++) {
        const bool had = find_list(&value, before, kind) && value.end > value.at;
        if (!had && !*references[kind]) continue;
        const sr_pdf_span_t items = {value.at, value.end - 1};
        text = apr_pstrcat(pool, text, KEYS[kind], "[", had ? dss_text_of(&items, pool) : "", " ", references[kind],
                           "]", NULL);
    }
    text = apr_pstrcat(pool, text, ">>", NULL);
    const sr_pdf_span_t wanted = {text, text + strlen(text)};
    return sr_pdf_span_same(&wanted, &store->body);
}

static int dss_kind_of(const sr_pdf_span_t *key)
{
    int kind = 0;
    while (kind < SR_PDF_PROOF_KINDS && !sr_pdf_span_is(key, KEYS[kind])) kind++;
    return kind;
}

/* Returns true if a new store has only its lists, which end with the new references. */
static bool is_new_store(const sr_pdf_object_t *store, const char *const *references, apr_pool_t *pool)
{
    sr_pdf_span_t left = store->body, key, value;
    unsigned int seen = 0, wanted = 0;
    if (!sr_pdf_take_text(&left, BEGINNING)) return false;
    while (!sr_pdf_span_is(&left, ">>")) {
        if (!sr_pdf_take_entry(&left, &key, &value)) return false;
        const int kind = dss_kind_of(&key);
        if (seen & 1u << kind) return false;
        seen |= 1u << kind;
        if (kind == SR_PDF_PROOF_KINDS && !sr_pdf_span_is(&key, "/VRI")) return false;
        if (kind == SR_PDF_PROOF_KINDS) continue;
        if (!sr_pdf_span_begins(&value, "[")
            || !sr_pdf_span_ends(&value, apr_pstrcat(pool, references[kind], "]", NULL)))
            return false;
    }
    for (int kind = 0; kind < SR_PDF_PROOF_KINDS; kind++) wanted |= *references[kind] ? 1u << kind : 0;
    return (seen & wanted) == wanted;
}

const char *sr_pdf_dss_check(sr_pdf_added_t *added, const sr_pdf_dss_t *dss, const sr_pdf_appended_t *appended,
                             apr_int64_t first, apr_pool_t *pool)
{
    const char *references[SR_PDF_PROOF_KINDS] = {"", "", ""};
    const apr_int64_t number = dss->number ? dss->number : first;
    *added = (sr_pdf_added_t){.first = first, .end = first + !dss->number, .made = !dss->number};
    const char *reason = check_streams(added, references, dss, appended, pool);
    if (reason) return reason;
    if (!added->made && added->end == added->first) return NULL; /* every proof is there: the store stays as it is */
    const sr_pdf_object_t *store = find_object(appended, number);
    added->store = number;
    if (!store || store->is_stream || store->generation) return NO_STORE;
    if (!(added->made ? is_new_store(store, references, pool) : dss_is_extended(store, references, dss, pool)))
        return NO_STORE;
    if (!added->made) return NULL;
    sr_pdf_span_t value;
    added->catalog = appended->trailer.root;
    const sr_pdf_object_t *catalog = find_object(appended, added->catalog);
    const char *reference = apr_psprintf(pool, "%" APR_INT64_T_FMT " 0 R", number);
    return catalog && !catalog->is_stream && sr_pdf_find_entry(&value, &catalog->body, "/DSS")
                   && sr_pdf_span_is(&value, reference)
               ? NULL
               : NO_CATALOG;
}

bool sr_pdf_dss_has(const sr_pdf_added_t *added, const sr_pdf_object_t *object)
{
    return (object->number >= added->first && object->number < added->end)
           || (added->store && object->number == added->store) || (added->catalog && object->number == added->catalog);
}
