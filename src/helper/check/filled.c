/* SPDX-License-Identifier: Apache-2.0 */
/* filled.c: checks that an update with one signature contains this signature and nothing else. The check does not read
 * the document. The update may only rewrite the signer's own fields, which an earlier update of this service added, or
 * repeated if they are existing fields (existing.c), and the document security store (dss.c). All other objects must be
 * new and refer to new objects only. The content of a signature's appearance is not checked, but the appearance is
 * confined to the area of its field. An entry of the signer must have the requested value and content (entry.c). */
#include "helper/check/appended.h"
#include "helper/pdf.h"

#include <apr_hash.h>
#include <stdio.h>
#include <string.h>

static const char OTHER_DOCUMENT[] = "it does not continue the document as it stands";
static const char NO_SIGNATURE[] = "the signature dictionary is not the requested one";
static const char NEW_OBJECT[] = "it has an object that was not requested";
static const char OLD_OBJECT[] = "it changes an object that is not a field of this signer";
static const char NO_FIELD[] = "a field of the signer is changed otherwise than by its signature";
static const char NO_ENTRY[] = "a field that is filled in has another value than the requested one";

typedef struct check_t {
    const sr_pdf_appended_t *appended, *prepared;
    apr_int64_t first, end; /* the new numbers n, first <= n < end; the first is the number of the signature */
    apr_hash_t *own; /* object number (apr_int64_t) → the field of this signer as it was prepared (sr_pdf_object_t) */
    apr_hash_t *filled;   /* object number → the same: an entry that is filled in, or an object of its appearance */
    int fields;           /* number of fields of this signer that were not found yet */
    sr_pdf_added_t added; /* what was added to the document security store */
    apr_pool_t *pool;
} check_t;

/* ------------------------------------------------------------------------------------------------ new appearances */

/* Returns true for a reference ("9 0 R") to another new object. */
static bool is_new_reference(const check_t *check, const sr_pdf_span_t *value, const sr_pdf_object_t *from)
{
    sr_pdf_span_t left = *value;
    apr_int64_t number;
    return sr_pdf_take_number(&left, &number) && sr_pdf_span_is(&left, " 0 R") && number > check->first
           && number < check->end && (!from || number < from->number);
}

/* Resources may be empty, the colours of PDF/A, the font of a caption, or named images and forms. */
static bool are_resources(const check_t *check, const sr_pdf_span_t *value, const sr_pdf_object_t *object)
{
    sr_pdf_span_t left = *value, key, reference;
    if (sr_pdf_span_is(value, "<<>>") || sr_pdf_span_is(value, SR_PDF_RESOURCES)
        || sr_pdf_span_is(value, SR_PDF_CAPTION_RESOURCES) || sr_pdf_span_is(value, SR_PDF_CAPTION_ARCHIVAL))
        return true;
    if (!sr_pdf_take_text(&left, "<</XObject<<")) return false;
    while (!sr_pdf_span_is(&left, ">>>>"))
        if (!sr_pdf_take_entry(&left, &key, &reference) || !is_new_reference(check, &reference, object)) return false;
    return true;
}

static bool are_numbers(const sr_pdf_span_t *value, int wanted)
{
    sr_pdf_span_t left = *value, number;
    int count = 0;
    if (!sr_pdf_take_text(&left, "[")) return false;
    for (sr_pdf_span_t rest = left; sr_pdf_take_value(&rest, &number); left = rest, count++)
        if (!strchr("+-.0123456789", *number.at) || sr_pdf_span_ends(&number, "R")) return false;
    sr_pdf_take_text(&left, " ");
    return count == wanted && sr_pdf_span_is(&left, "]");
}

static bool is_count(const sr_pdf_span_t *value)
{
    sr_pdf_span_t left = *value;
    apr_int64_t number;
    return sr_pdf_take_number(&left, &number) && left.at == left.end;
}

typedef enum rule_t { IS, BOX, MATRIX, COUNT, RESOURCES, MASK } rule_t;

static const struct {
    const char *key;
    rule_t rule;
    const char *values[5]; /* the permitted values, for IS */
} ENTRIES[] = {
    {"/Type", IS, {"/XObject"}},
    {"/Subtype", IS, {"/Form", "/Image"}},
    {"/BBox", BOX, {NULL}},
    {"/Matrix", MATRIX, {NULL}},
    {"/Resources", RESOURCES, {NULL}},
    {"/Width", COUNT, {NULL}},
    {"/Height", COUNT, {NULL}},
    {"/ColorSpace", IS, {"/DeviceRGB", "/DeviceGray", SR_PDF_RGB, SR_PDF_GRAY}},
    {"/ImageMask", IS, {"true"}},
    {"/BitsPerComponent", IS, {"8", "1"}},
    {"/SMask", MASK, {NULL}},
    {"/Mask", MASK, {NULL}},
    {"/Filter", IS, {"/FlateDecode", "/DCTDecode"}},
    {"/Length", COUNT, {NULL}},
};
#define ENTRY_COUNT (sizeof ENTRIES / sizeof *ENTRIES)

static bool keeps(const check_t *check, size_t row, const sr_pdf_span_t *value, const sr_pdf_object_t *object)
{
    switch (ENTRIES[row].rule) {
    case BOX: return are_numbers(value, 4);
    case MATRIX: return are_numbers(value, 6);
    case COUNT: return is_count(value);
    case RESOURCES: return are_resources(check, value, object);
    case MASK: return is_new_reference(check, value, NULL);
    case IS: break;
    }
    for (size_t i = 0; i < 5 && ENTRIES[row].values[i]; i++)
        if (sr_pdf_span_is(value, ENTRIES[row].values[i])) return true;
    return false;
}

/* Returns true for a stream whose dictionary has only entries of the table, each at most once. */
static bool is_appearance(const check_t *check, const sr_pdf_object_t *object)
{
    sr_pdf_span_t left = object->body, key, value;
    unsigned int seen = 0;
    if (!object->is_stream || object->generation || !sr_pdf_take_text(&left, "<<")) return false;
    while (!sr_pdf_span_is(&left, ">>")) {
        size_t row = 0;
        if (!sr_pdf_take_entry(&left, &key, &value)) return false;
        while (row < ENTRY_COUNT && !sr_pdf_span_is(&key, ENTRIES[row].key)) row++;
        if (row == ENTRY_COUNT || seen & 1u << row || !keeps(check, row, &value, object)) return false;
        seen |= 1u << row;
    }
    return (seen & 3) == 3;
}

/* --------------------------------------------------------------------------------------------------- the signature */

/* Returns the key that locks the entries, or "". */
static const char *reference_text(const apr_array_header_t *entries, apr_pool_t *pool)
{
    apr_array_header_t *names = apr_array_make(pool, 4, sizeof(char *));
    sr_pdf_span_t name;
    for (int i = 0; entries && i < entries->nelts; i++) {
        const sr_pdf_own_entry_t *entry = &APR_ARRAY_IDX(entries, i, sr_pdf_own_entry_t);
        const bool named = entry->before && sr_pdf_find_entry(&name, &entry->before->body, "/T");
        if (!named && !entry->field->existing) continue; /* it is refused later */
        APR_ARRAY_PUSH(names, const char *) = entry->field->existing
                                                  ? sr_pdf_string(entry->field->existing, pool)
                                                  : apr_pstrmemdup(pool, name.at, (apr_size_t)(name.end - name.at));
    }
    if (!names->nelts) return "";
    return apr_pstrcat(pool, SR_PDF_REFERENCE, apr_array_pstrcat(pool, names, 0), SR_PDF_REFERENCE_END, NULL);
}

const char *sr_pdf_signature_text(const sr_pdf_signature_t *signature, const apr_array_header_t *entries,
                                  const char *time, apr_pool_t *pool)
{
    const char *reason =
        signature->reason ? apr_pstrcat(pool, "/Reason", sr_pdf_string(signature->reason, pool), NULL) : "";
    const char *contact =
        signature->contact ? apr_pstrcat(pool, "/ContactInfo", sr_pdf_string(signature->contact, pool), NULL) : "";
    return apr_pstrcat(pool, "<</Type/Sig/Filter/Adobe.PPKLite/SubFilter/ETSI.CAdES.detached/Name",
                       sr_pdf_string(signature->name, pool), reason, contact, "/M(", time, ")",
                       reference_text(entries, pool), "/ByteRange", NULL);
}

/* fill.c has compared the byte ranges and the digits between them. This function verifies that they belong to this
 * object. */
static bool is_signature(const sr_pdf_object_t *object, const sr_pdf_filled_t *wanted)
{
    static const char between[] = "/Contents", end[] = ">>";
    const char *contents = object->body.at + strlen(wanted->dictionary) + SR_PDF_RANGE_WIDTH + sizeof between - 1;
    return !object->is_stream && !object->generation && sr_pdf_span_begins(&object->body, wanted->dictionary)
           && contents == wanted->contents && object->body.end == contents + 2 * wanted->room + 2 + strlen(end)
           && sr_pdf_span_ends(&object->body, end);
}

/* ---------------------------------------------------------------------------------------------------- the widgets */

static void filled_add_own(check_t *check, const sr_pdf_object_t *object)
{
    apr_hash_set(check->own, &object->number, sizeof object->number, object);
    check->fields++;
}

/* `name` is the beginning of the names of the signer's new fields, including the "(". */
static bool is_own(const sr_pdf_object_t *object, const char *name)
{
    sr_pdf_span_t left;
    if (object->is_stream || !sr_pdf_find_entry(&left, &object->body, "/FT") || !sr_pdf_span_is(&left, "/Sig"))
        return false;
    if (!sr_pdf_find_entry(&left, &object->body, "/T") || !sr_pdf_take_text(&left, name)) return false;
    return sr_pdf_span_is(&left, ")") || sr_pdf_span_begins(&left, "_");
}

/* Finds the fields of this signer. Added fields are found by their names, existing fields by their order. Returns false
 * if there are none. */
static bool find_own(check_t *check, const sr_pdf_filled_t *wanted)
{
    const apr_array_header_t *objects = check->prepared->objects, *fields = wanted->fields;
    const char *name = apr_pstrcat(check->pool, "(" SR_PDF_FIELD_PREFIX, wanted->signer, NULL);
    const int end = fields ? sr_pdf_existing_begin(check->prepared, fields) : objects->nelts;
    for (int i = 0; i < end; i++) {
        const sr_pdf_object_t *object = &APR_ARRAY_IDX(objects, i, sr_pdf_object_t);
        if (is_own(object, name)) filled_add_own(check, object);
    }
    for (int i = 0, index = end; fields && i < fields->nelts; i++) {
        const sr_pdf_field_t *field = &APR_ARRAY_IDX(fields, i, sr_pdf_field_t);
        if (!field->existing) continue;
        const int at = index;
        index += sr_pdf_existing_objects(field);
        if (field->entry) continue;
        const sr_pdf_object_t *object = sr_pdf_existing_at(check->prepared, at);
        if (!object) return false;
        if (!strcmp(field->signer, wanted->signer)) filled_add_own(check, object);
    }
    return check->fields > 0; /* with a wrong key, no field is found */
}

static bool is_appearance_entry(const check_t *check, const sr_pdf_span_t *value)
{
    sr_pdf_span_t left = *value, reference;
    if (!sr_pdf_take_text(&left, "<</N ") || !sr_pdf_span_ends(&left, ">>")) return false;
    reference = (sr_pdf_span_t){left.at, left.end - 2};
    return is_new_reference(check, &reference, NULL);
}

static int count_entries(const sr_pdf_span_t *body)
{
    sr_pdf_span_t left = *body, key, value;
    int count = 0;
    sr_pdf_take_text(&left, "<<");
    while (sr_pdf_take_entry(&left, &key, &value)) count++;
    return count;
}

/* Returns true if the field has its prepared entries, in any order, a new /AP, and the signature as its value. */
static bool is_filled(const check_t *check, const sr_pdf_object_t *object, const sr_pdf_object_t *before)
{
    const char *signature = apr_psprintf(check->pool, "%" APR_INT64_T_FMT " 0 R", check->first);
    sr_pdf_span_t left = before->body, key, was, now;
    const bool looks = sr_pdf_find_entry(&was, &before->body, "/AP");
    if (object->is_stream || object->generation != before->generation || !sr_pdf_take_text(&left, "<<")) return false;
    if (count_entries(&object->body) != count_entries(&before->body) + 1 + !looks) return false;
    while (sr_pdf_take_entry(&left, &key, &was)) {
        const char *name = apr_pstrmemdup(check->pool, key.at, (apr_size_t)(key.end - key.at));
        if (!sr_pdf_find_entry(&now, &object->body, name)) return false;
        if (strcmp(name, "/AP") != 0 && !sr_pdf_span_same(&was, &now)) return false;
    }
    return sr_pdf_find_entry(&now, &object->body, "/AP") && is_appearance_entry(check, &now)
           && sr_pdf_find_entry(&now, &object->body, "/V") && sr_pdf_span_is(&now, signature);
}

/* ---------------------------------------------------------------------------------------------------- the entries */

static const sr_pdf_object_t *filled_object(const check_t *check, apr_hash_t *objects, apr_int64_t number)
{
    const sr_pdf_object_t *object = apr_hash_get(objects, &number, sizeof number);
    if (object) apr_hash_set(check->filled, &object->number, sizeof object->number, object);
    return object;
}

/* Returns the number of objects of a group that are filled in, or 0 if one of them is not. */
static unsigned int check_group(const check_t *check, const sr_pdf_own_entry_t *entry, apr_hash_t *objects)
{
    const int count = sr_pdf_existing_objects(entry->field);
    for (int i = 0; i < count; i++) {
        const sr_pdf_object_t *object = filled_object(check, objects, entry->before[i].number);
        if (!object || !sr_pdf_radio_is_filled(entry, i, object, check->pool)) return 0;
    }
    return (unsigned int)count;
}

/* Returns 2 if a field and its appearance are filled in, or else 0. */
static unsigned int check_entry(const check_t *check, const sr_pdf_own_entry_t *entry, apr_hash_t *objects)
{
    const apr_int64_t off = APR_ARRAY_IDX(check->prepared->objects, 0, sr_pdf_object_t).number;
    const sr_pdf_object_t *field = filled_object(check, objects, entry->before->number);
    apr_int64_t number;
    if (!field || !sr_pdf_entry_is_filled(&number, entry, field, off, check->pool)) return 0;
    const sr_pdf_object_t *look = number > check->first ? filled_object(check, objects, number) : NULL;
    return look && sr_pdf_entry_is_shown(entry->field, look, check->pool) ? 2 : 0;
}

/* Checks the fields of the entries and their appearances, which are objects of no other field. */
static const char *check_entries(const check_t *check, const apr_array_header_t *entries)
{
    const apr_array_header_t *all = check->appended->objects;
    apr_hash_t *objects = apr_hash_make(check->pool);
    unsigned int used = 0;
    for (int i = 0; entries && entries->nelts && i < all->nelts; i++) {
        const sr_pdf_object_t *object = &APR_ARRAY_IDX(all, i, sr_pdf_object_t);
        apr_hash_set(objects, &object->number, sizeof object->number, object);
    }
    for (int i = 0; entries && i < entries->nelts; i++) {
        const sr_pdf_own_entry_t *entry = &APR_ARRAY_IDX(entries, i, sr_pdf_own_entry_t);
        const bool is_group = entry->field->entry->kind == SR_PDF_ENTRY_RADIO;
        const unsigned int count = !entry->before ? 0 : (is_group ? check_group : check_entry)(check, entry, objects);
        if (!count) return NO_ENTRY;
        used += count;
    }
    return apr_hash_count(check->filled) == used ? NULL : NO_ENTRY;
}

/* ------------------------------------------------------------------------------------------------------------ all */

static const char *filled_check_object(check_t *check, const sr_pdf_object_t *object, const sr_pdf_filled_t *wanted)
{
    if (object->number == check->first) return is_signature(object, wanted) ? NULL : NO_SIGNATURE;
    if (apr_hash_get(check->filled, &object->number, sizeof object->number)) return NULL;
    if (sr_pdf_dss_has(&check->added, object)) return NULL;
    if (object->number > check->first) return is_appearance(check, object) ? NULL : NEW_OBJECT;
    const sr_pdf_object_t *before = apr_hash_get(check->own, &object->number, sizeof object->number);
    if (!before) return OLD_OBJECT;
    check->fields--;
    return is_filled(check, object, before) ? NULL : NO_FIELD;
}

const char *sr_pdf_filled_check(const sr_pdf_appended_t *appended, const sr_pdf_appended_t *prepared,
                                const sr_pdf_trailer_t *before, sr_pdf_filled_t *wanted, apr_pool_t *pool)
{
    const sr_pdf_trailer_t *trailer = &appended->trailer;
    check_t check = {.appended = appended, .prepared = prepared, .pool = pool};
    check.own = apr_hash_make(pool);
    check.filled = apr_hash_make(pool);
    check.first = before->size;
    check.end = trailer->size;
    if (trailer->previous != wanted->start || !sr_pdf_span_same(&trailer->keys, &before->keys)) return OTHER_DOCUMENT;
    if (!find_own(&check, wanted)) return NO_FIELD;
    const char *reason = check_entries(&check, wanted->entries);
    if (reason) return reason;
    if (wanted->dss) {
        reason = sr_pdf_dss_check(&check.added, wanted->dss, appended, check.first + 1, pool);
        if (reason) return reason;
        wanted->made = check.added.made;
    }
    int left = (int)(check.end - check.first) - trailer->is_stream;
    for (int i = 0; i < appended->objects->nelts; i++) {
        const sr_pdf_object_t *object = &APR_ARRAY_IDX(appended->objects, i, sr_pdf_object_t);
        reason = filled_check_object(&check, object, wanted);
        if (reason) return reason;
        left -= object->number >= check.first;
    }
    if (left) return NEW_OBJECT; /* an object number that is counted but not used */
    return check.fields ? NO_FIELD : NULL;
}
