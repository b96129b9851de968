/* SPDX-License-Identifier: Apache-2.0 */
/* listing.c: lists the signatures that a reader of the document shows: those of the signature fields of its form,
 * with what the ByteRange of each covers. Keys and hashes are checked by the client. A signature with a fault is listed
 * with the fault and never left out, so that damage cannot make a document look unsigned. */
#include "helper/main/compare/changes.h"
#include "helper/main/pdfd.h"

#include <apr_encode.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_DEPTH 32
#define MAX_FIELDS 50000
/* Limits of processor time for comparing revisions. What is not compared by then is unknown. */
#define COMPARE_SECONDS 1.5
#define PROBE_SECONDS 0.7
#define COVERED_SECONDS 1.0 /* for drawing widgets. Those that are not drawn by then count as covering something */

#define MAX_TEXT_BYTES 500 /* of the name of a field, the name of a signer and a reason */

static const char TOO_LARGE[] = "its form has too many fields, or too deeply nested ones";
static const char TOO_MANY[] = "it has more than 500 signatures";
static const char DAMAGED[] = "it is damaged, so that signatures in it may not be found";
static const char NO_DICTIONARY[] = "its value is no signature";
static const char NO_RANGE[] = "it has no ByteRange of four numbers";
static const char NO_CONTENTS[] = "it has no Contents";

typedef struct list_t {
    const sr_pdfd_bytes_t *bytes;
    sr_pdfd_chain_t sections;
    const sr_pdfd_chain_t *chain; /* NULL, or `sections` */
    qpdf_data q;
    sr_cipher_t cipher; /* how the document is encrypted */
    json_t *found;
    int64_t end[SR_PDF_MAX_SIGNATURES]; /* end of the revision that each signature in `found` covers; 0: none */
    struct {
        int object, generation;
    } seen[SR_PDF_MAX_SIGNATURES];
    int seen_count, budget;
    double seconds; /* processor time for comparing revisions */
    bool draws;     /* widgets are drawn to find out what they cover */
    apr_pool_t *pool;
} list_t;

typedef struct field_t {
    qpdf_oh dictionary;
    int object, generation; /* of the innermost indirect object, which may be the field itself */
    const char *name;
    bool is_signature;
    bool is_widget; /* of the field that has the name */
} field_t;

static void listing_set_text(json_t *response, const char *key, const char *text, apr_pool_t *pool)
{
    apr_size_t size = strlen(text);
    if (size > MAX_TEXT_BYTES)
        for (size = MAX_TEXT_BYTES; size > 0 && ((unsigned char)text[size] & 0xc0) == 0x80;) size--;
    text = sr_text_printable(apr_pstrmemdup(pool, text, size), pool);
    json_object_set_new(response, key, json_string(text));
}

/* Sets a string that is encrypted with the key of the object that contains the signature. */
static void set_secret(json_t *response, const char *key, const sr_pdfd_signed_t *signature,
                       const sr_pdfd_bytes_t *value, list_t *list)
{
    sr_pdfd_buffer_t *secret = sr_pdfd_buffer(list->pool);
    apr_size_t size;
    sr_pdfd_string_decode(secret, value->data, value->data + value->size);
    unsigned char *plain = apr_palloc(list->pool, secret->size + 1);
    if (!secret->size
        || !sr_cipher_decrypt(plain, &size, &list->cipher, signature->object, signature->generation, secret->data,
                              secret->size))
        return;
    qpdf_oh string = qpdf_oh_new_binary_string(list->q, (const char *)plain, size);
    listing_set_text(response, key, qpdf_oh_get_utf8_value(list->q, string), list->pool);
}

/* Sets the text of a string or name in the file. NUL bytes are replaced by escape sequences, because qpdf's parser
 * stops at a NUL. */
static void listing_set_value(json_t *response, const char *key, const sr_pdfd_signed_t *signature, sr_pdfd_key_t which,
                              list_t *list)
{
    const sr_pdfd_bytes_t *value = &signature->values[which];
    if (!value->data || value->size > (apr_size_t)MAX_TEXT_BYTES * 16) return;
    if (list->cipher.method && *value->data != '/') {
        set_secret(response, key, signature, value, list);
        return;
    }
    char *text = apr_palloc(list->pool, value->size * 4 + 1), *to = text;
    for (apr_size_t i = 0; i < value->size; i++) {
        if (value->data[i]) *to++ = (char)value->data[i];
        else to = strcpy(to, "\\000") + 4;
    }
    *to = '\0';
    qpdf_oh parsed = qpdf_oh_parse(list->q, text);
    if (qpdf_has_error(list->q)) qpdf_get_error(list->q);
    else if (qpdf_oh_is_string(list->q, parsed))
        listing_set_text(response, key, qpdf_oh_get_utf8_value(list->q, parsed), list->pool);
    else if (qpdf_oh_is_name(list->q, parsed))
        listing_set_text(response, key, qpdf_oh_get_name(list->q, parsed) + 1, list->pool);
}

static bool listing_read_range(int64_t *range, qpdf_data q, qpdf_oh signature)
{
    qpdf_oh array = qpdf_oh_get_key(q, signature, "/ByteRange");
    if (!qpdf_oh_is_array(q, array) || qpdf_oh_get_array_n_items(q, array) != 4) return false;
    for (int i = 0; i < 4; i++) {
        qpdf_oh item = qpdf_oh_get_array_item(q, array, i);
        if (!qpdf_oh_is_integer(q, item)) return false;
        range[i] = qpdf_oh_get_int_value(q, item);
    }
    return true;
}

/* The Contents of a signature are never encrypted (ISO 32000-2, 7.6.2). qpdf decrypts them all the same if /Type is not
 * /Sig, as in document timestamps. They are then read where the ByteRange says that they are. */
static bool listing_read_contents(sr_pdfd_signed_t *signature, list_t *list, qpdf_oh value)
{
    qpdf_data q = list->q;
    const int64_t *range = signature->range;
    qpdf_oh contents = qpdf_oh_get_key(q, value, "/Contents");
    if (!qpdf_oh_is_string(q, contents)) return false;
    if (!list->cipher.method || qpdf_oh_is_name_and_equals(q, qpdf_oh_get_key(q, value, "/Type"), "/Sig")) {
        signature->contents = qpdf_oh_get_binary_string_value(q, contents, &signature->contents_size);
        return true;
    }
    if (range[1] < 0 || range[2] < range[1] || range[2] > (int64_t)list->bytes->size) return false;
    sr_pdfd_buffer_t *decoded = sr_pdfd_buffer(list->pool);
    sr_pdfd_string_decode(decoded, list->bytes->data + range[1], list->bytes->data + range[2]);
    signature->contents = decoded->data ? (const char *)decoded->data : "";
    signature->contents_size = decoded->size;
    return true;
}

static const char *listing_read_signature(json_t *response, list_t *list, const field_t *field, qpdf_oh value)
{
    qpdf_data q = list->q;
    sr_pdfd_signed_t signature = {.object = field->object, .generation = field->generation};
    if (!qpdf_oh_is_dictionary(q, value)) return NO_DICTIONARY;
    if (qpdf_oh_is_indirect(q, value)) {
        signature.object = qpdf_oh_get_object_id(q, value);
        signature.generation = qpdf_oh_get_generation(q, value);
    }
    if (!listing_read_range(signature.range, q, value)) return NO_RANGE;
    if (!listing_read_contents(&signature, list, value)) return NO_CONTENTS;
    int later = -1;
    const char *fault = sr_pdfd_covers_itself(&signature, list->bytes);
    if (fault) return fault;
    fault = sr_pdfd_covers_revision(&later, signature.range[2] + signature.range[3], list->chain, list->bytes);
    if (!fault) list->end[json_array_size(list->found) - 1] = signature.range[2] + signature.range[3];
    json_object_set_new(response, "later", json_integer(later));
    json_object_set_new(response, "range",
                        json_pack("[I,I,I,I]", (json_int_t)signature.range[0], (json_int_t)signature.range[1],
                                  (json_int_t)signature.range[2], (json_int_t)signature.range[3]));
    /* other programs do not look for a value in a widget, so this is a signature of no known kind */
    if (!field->is_widget) listing_set_value(response, "subfilter", &signature, SR_PDFD_KEY_SUBFILTER, list);
    listing_set_value(response, "time", &signature, SR_PDFD_KEY_TIME, list);
    listing_set_value(response, "name", &signature, SR_PDFD_KEY_NAME, list);
    listing_set_value(response, "reason", &signature, SR_PDFD_KEY_REASON, list);
    listing_set_value(response, "contact", &signature, SR_PDFD_KEY_CONTACT, list);
    return fault;
}

/* Returns true if another field has the same signature, which is then already listed. */
static bool was_seen(list_t *list, qpdf_oh value)
{
    int object = qpdf_oh_get_object_id(list->q, value), generation = qpdf_oh_get_generation(list->q, value);
    for (int i = 0; object && i < list->seen_count; i++)
        if (list->seen[i].object == object && list->seen[i].generation == generation) return true;
    list->seen[list->seen_count].object = object;
    list->seen[list->seen_count].generation = generation;
    return false;
}

static const char *add_signature(list_t *list, const field_t *field, qpdf_oh value)
{
    if (list->seen_count == SR_PDF_MAX_SIGNATURES) return TOO_MANY;
    if (was_seen(list, value)) return NULL;
    list->seen_count++;
    json_t *response = json_object();
    json_array_append_new(list->found, response);
    listing_set_text(response, "field", field->name, list->pool);
    const char *fault = listing_read_signature(response, list, field, value);
    if (fault) json_object_set_new(response, "fault", json_string(fault));
    return NULL;
}

static field_t listing_enter(list_t *list, const field_t *parent, qpdf_oh dictionary)
{
    qpdf_data q = list->q;
    field_t field = *parent;
    field.dictionary = dictionary;
    if (qpdf_oh_is_indirect(q, dictionary)) {
        field.object = qpdf_oh_get_object_id(q, dictionary);
        field.generation = qpdf_oh_get_generation(q, dictionary);
    }
    qpdf_oh type = qpdf_oh_get_key(q, dictionary, "/FT"), name = qpdf_oh_get_key(q, dictionary, "/T");
    field.is_widget = *field.name && !qpdf_oh_is_string(q, name);
    if (qpdf_oh_is_name(q, type)) field.is_signature = qpdf_oh_is_name_and_equals(q, type, "/Sig");
    if (qpdf_oh_is_string(q, name) && strlen(field.name) < MAX_TEXT_BYTES) {
        const char *own = apr_pstrndup(list->pool, qpdf_oh_get_utf8_value(q, name), MAX_TEXT_BYTES);
        field.name = apr_pstrcat(list->pool, field.name, *field.name ? "." : "", own, NULL);
    }
    return field;
}

// NOLINTNEXTLINE(misc-no-recursion): MAX_DEPTH
static const char *listing_read_fields(list_t *list, const field_t *parent, qpdf_oh fields, int depth)
{
    qpdf_data q = list->q;
    int count = sr_pdfd_items(q, fields);
    if (count > 0 && depth == MAX_DEPTH) return TOO_LARGE;
    const char *reason = NULL;
    for (int i = 0; !reason && i < count; i++) {
        if (list->budget-- == 0) return TOO_LARGE;
        qpdf_oh item = qpdf_oh_get_array_item(q, fields, i);
        if (qpdf_oh_is_dictionary(q, item)) {
            field_t field = listing_enter(list, parent, item);
            qpdf_oh value = qpdf_oh_get_key(q, item, "/V");
            if (field.is_signature && !qpdf_oh_is_null(q, value)) reason = add_signature(list, &field, value);
            if (!reason) reason = listing_read_fields(list, &field, qpdf_oh_get_key(q, item, "/Kids"), depth + 1);
        }
        qpdf_oh_release(q, item);
    }
    return reason;
}

/* Translates an exception of qpdf. SR_PDF_ACCEPTED: there was none. */
static sr_pdf_verdict_t listing_judge_error(const char **reason, qpdf_data q)
{
    if (!qpdf_has_error(q)) return SR_PDF_ACCEPTED;
    qpdf_error error = qpdf_get_error(q);
    enum qpdf_error_code_e code = qpdf_get_error_code(q, error);
    if (code == qpdf_e_password || code == qpdf_e_unsupported) return SR_PDF_PASSWORD;
    if (!strstr(qpdf_get_error_message_detail(q, error), SR_PDFD_NO_MEMORY_TEXT)) return SR_PDF_NOT_PDF;
    *reason = SR_PDF_LIMITS_REASON;
    return SR_PDF_REFUSED;
}

/* qpdf reads objects lazily. An object that it cannot read, or for which it has no memory, becomes null, so a signature
 * could be missing. If signatures were found, warnings do not matter, because what a signature covers is verified on
 * bytes. */
static const char *judge_warnings(const list_t *list)
{
    switch (sr_pdfd_warnings(list->q, list->bytes)) {
    case SR_PDFD_NO_MEMORY: return SR_PDF_LIMITS_REASON;
    case SR_PDFD_WARNINGS: return json_array_size(list->found) ? NULL : DAMAGED;
    default: return NULL;
    }
}

/* Reads the document and repairs it if necessary, as readers do. What a signature covers is verified on the bytes of
 * the file and not on what qpdf repaired. */
static sr_pdf_verdict_t listing_read_document(const char **reason, list_t *list)
{
    qpdf_data q = list->q;
    if (!list->bytes->size) return SR_PDF_NOT_PDF;
    qpdf_read_memory(q, SR_PDFD_INPUT, (const char *)list->bytes->data, list->bytes->size, NULL);
    sr_pdf_verdict_t verdict = listing_judge_error(reason, q);
    if (verdict != SR_PDF_ACCEPTED) return verdict;
    if (qpdf_is_encrypted(q) && !sr_pdfd_cipher_find(&list->cipher, list->bytes)) return SR_PDF_PASSWORD;
    qpdf_oh root = qpdf_get_root(q);
    if (!qpdf_oh_is_dictionary(q, root)) return SR_PDF_NOT_PDF;
    if (sr_pdfd_covers_chain(&list->sections, list->bytes)) list->chain = &list->sections;
    qpdf_oh form = qpdf_oh_get_key(q, root, "/AcroForm");
    if (qpdf_oh_is_dictionary(q, form))
        *reason = listing_read_fields(list, &(field_t){.name = ""}, qpdf_oh_get_key(q, form, "/Fields"), 0);
    if (!*reason) *reason = judge_warnings(list);
    return *reason ? SR_PDF_REFUSED : listing_judge_error(reason, q);
}

/* ----------------------------------------------------------------------------------------------------- changes */

static int by_end(const void *a, const void *b)
{
    size_t one = ((const sr_pdfd_revision_t *)a)->end, other = ((const sr_pdfd_revision_t *)b)->end;
    return (one > other) - (one < other);
}

static sr_pdfd_revision_t *find_revision(sr_pdfd_revision_t *revisions, int count, int64_t end)
{
    for (int i = 0; i < count; i++)
        if (revisions[i].end == (size_t)end) return &revisions[i];
    return NULL;
}

/* Returns the number of revisions that signatures cover, in their order. A signature that covers no revision is
 * skipped, because it is broken in any case. */
static int list_revisions(sr_pdfd_revision_t *revisions, list_t *list)
{
    int count = 0, signatures = (int)json_array_size(list->found);
    for (int i = 0; i < signatures; i++) {
        const char *kind = sr_json_string(json_array_get(list->found, (size_t)i), "subfilter");
        const bool stamp = kind && !strcmp(kind, SR_PDF_TIMESTAMP);
        sr_pdfd_revision_t *one = list->end[i] ? find_revision(revisions, count, list->end[i]) : NULL;
        if (one) one->stamp = one->stamp && stamp;
        else if (list->end[i]) revisions[count++] = (sr_pdfd_revision_t){.end = (size_t)list->end[i], .stamp = stamp};
    }
    qsort(revisions, (size_t)count, sizeof *revisions, by_end);
    return count;
}

static json_t *widget_json(json_t *place, size_t end, bool covers)
{
    return json_pack("{s:O,s:O,s:O,s:b,s:I}", "field", json_object_get(place, "field"), "text",
                     json_object_get(place, "text"), "signature", json_object_get(place, "signature"), "covers", covers,
                     "end", (json_int_t)end);
}

/* Adds what was drawn in another way between revisions. Form fields are only named, so not all are listed. */
static void listing_add_widgets(json_t *response, const list_t *list, const sr_pdfd_revision_t *revisions, int count)
{
    const clock_t limit = clock() + (clock_t)(COVERED_SECONDS * CLOCKS_PER_SEC);
    json_t *widgets = json_array(), *place;
    size_t k;
    apr_pool_t *scratch;
    apr_pool_create(&scratch, list->pool);
    for (int i = 0; i + 1 < count; i++) {
        const sr_pdfd_pair_t *pair = NULL;
        apr_pool_clear(scratch);
        const sr_pdfd_bytes_t before = {list->bytes->data, revisions[i].end};
        const sr_pdfd_bytes_t after = {list->bytes->data, revisions[i + 1].end};
        json_array_foreach (revisions[i].widgets, k, place) {
            const bool signature = json_is_true(json_object_get(place, "signature"));
            const size_t listed = json_array_size(widgets);
            if (listed >= (signature ? SR_PDF_MAX_WIDGETS : SR_PDF_MAX_WIDGETS / 2)) continue;
            double area[4];
            for (size_t side = 0; side < 4; side++)
                area[side] = json_number_value(json_array_get(json_object_get(place, "area"), side));
            const int page = (int)json_integer_value(json_object_get(place, "page"));
            const bool late = clock() > limit || listed + 1 == SR_PDF_MAX_WIDGETS;
            if (signature && !late && !pair) pair = sr_pdfd_pair_open(&before, &after, scratch);
            const bool covers = signature && (late || sr_pdfd_covers_content(pair, page, area));
            json_array_append_new(widgets, widget_json(place, revisions[i].end, covers));
        }
    }
    apr_pool_destroy(scratch);
    json_object_set_new(response, "widgets", widgets);
}

/* Adds the changes between revisions to the response. */
static void compare_revisions(list_t *list, json_t *response)
{
    sr_pdfd_revision_t *revisions = apr_pcalloc(list->pool, sizeof *revisions * SR_PDF_MAX_SIGNATURES);
    const int count = list_revisions(revisions, list), signatures = (int)json_array_size(list->found);
    if (!count) return;
    sr_pdfd_changes_find(revisions, count, list->bytes->data, list->bytes->size, list->seconds);
    const sr_pdfd_revision_t *last = &revisions[sr_pdfd_changes_last(revisions, count)];
    for (int i = 0; i < signatures; i++) {
        const sr_pdfd_revision_t *one = find_revision(revisions, count, list->end[i]);
        json_t *signature = json_array_get(list->found, (size_t)i);
        if (!one || !one->changes || one == last) continue;
        json_object_set(signature, one > last ? "since" : "changes", one->changes);
        if (one < last) json_object_set(signature, "filled", one->filled);
    }
    if (last->changes) json_object_set(response, "appended", last->changes);
    if (last->validation) json_object_set_new(response, "validation", json_true());
    if (last->locked) json_object_set_new(response, "locked", json_true());
    if (list->draws) listing_add_widgets(response, list, revisions, (int)(last - revisions) + 1);
    for (int i = 0; i < count; i++) {
        json_decref(revisions[i].changes);
        json_decref(revisions[i].filled);
        json_decref(revisions[i].widgets);
    }
}

static json_t *list_signatures(const sr_pdfd_bytes_t *bytes, double seconds, bool draws, apr_pool_t *pool)
{
    static const char *const names[] = SR_PDF_VERDICT_NAMES;
    list_t *list = apr_pcalloc(pool, sizeof *list);
    apr_pool_t *scratch;
    apr_pool_create(&scratch, pool);
    *list = (list_t){.bytes = bytes,
                     .q = sr_pdfd_qpdf(scratch),
                     .found = json_array(),
                     .budget = MAX_FIELDS,
                     .seconds = seconds,
                     .draws = draws,
                     .pool = pool};
    const char *reason = NULL;
    sr_pdf_verdict_t verdict = listing_read_document(&reason, list);
    apr_pool_destroy(scratch); /* before revisions are compared, which also needs memory */

    json_t *response = json_object();
    json_object_set_new(response, "verdict", json_string(names[verdict]));
    if (verdict == SR_PDF_REFUSED) json_object_set_new(response, "reason", json_string(reason));
    if (verdict == SR_PDF_ACCEPTED) json_object_set(response, "signatures", list->found);
    if (verdict == SR_PDF_ACCEPTED) compare_revisions(list, response);
    json_decref(list->found);
    return response;
}

/* --------------------------------------------------------------------------------------------------- proofs */

typedef struct store_t {
    json_t *proofs;
    apr_pool_t *pool;
} store_t;

static void add_proof(sr_pdfd_proofs_t *proofs, int kind, int64_t at, const unsigned char *data, size_t size)
{
    static const char *const kinds[] = SR_CMS_PROOF_NAMES;
    const store_t *store = proofs->baton;
    const char *der = apr_pencode_base64_binary(store->pool, data, (apr_ssize_t)size, APR_ENCODE_NONE, NULL);
    json_array_append_new(store->proofs,
                          json_pack("{s:s,s:I,s:s}", "kind", kinds[kind], "at", (json_int_t)at, "der", der));
}

json_t *sr_pdfd_signatures(const sr_pdfd_request_t *request, apr_pool_t *pool)
{
    static const char *const keys[] = {"/Certs", "/OCSPs", "/CRLs", NULL};
    json_t *response = list_signatures(&request->bytes, COMPARE_SECONDS, true, pool);
    if (!json_array_size(json_object_get(response, "signatures"))) return response;
    store_t store = {json_array(), pool};
    sr_pdfd_proofs_t proofs = {
        .keys = keys, .room = SR_CMS_MAX_PROOF_BYTES, .count = SR_CMS_MAX_PROOFS, .add = add_proof, .baton = &store};
    sr_pdfd_proofs_read(&proofs, request->bytes.data, request->bytes.size);
    if (json_array_size(store.proofs)) json_object_set(response, "proofs", store.proofs);
    json_decref(store.proofs);
    return response;
}

/* Derives warnings. `changes` of each signature except the last are what was changed until the last one, and `appended`
 * is what was changed after it. */
unsigned int sr_pdfd_signed_warnings(const sr_pdfd_bytes_t *bytes, apr_pool_t *pool)
{
    const json_t *response = sr_json_own(list_signatures(bytes, PROBE_SECONDS, false, pool), pool), *one;
    const json_t *all = json_object_get(response, "signatures"), *appended = json_object_get(response, "appended");
    unsigned int found = all && appended ? 0 : SR_WARNING_BIT(SR_WARNING_SIGNED_UNKNOWN);
    size_t i, uncompared = 0;
    json_array_foreach (all, i, one) {
        const json_t *changes = json_object_get(one, "changes");
        if (json_object_get(one, "fault")) found |= SR_WARNING_BIT(SR_WARNING_SIGNED_BROKEN);
        else if (!changes && !json_object_get(one, "since")) uncompared++;
        if (json_array_size(changes)) found |= SR_WARNING_BIT(SR_WARNING_SIGNED_CHANGED);
    }
    if (uncompared > 1) found |= SR_WARNING_BIT(SR_WARNING_SIGNED_UNKNOWN);
    if (found & SR_WARNING_BIT(SR_WARNING_SIGNED_BROKEN)) found &= ~SR_WARNING_BIT(SR_WARNING_SIGNED_UNKNOWN);
    if (json_array_size(appended)) found |= SR_WARNING_BIT(SR_WARNING_SIGNED_EXTENDED);
    return found;
}
