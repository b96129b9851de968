/* SPDX-License-Identifier: Apache-2.0 */
/* prepared.c: checks that an update adds the fields of all signers, as far as this is possible without reading the
 * document. The new objects have fixed forms: the shared empty appearance, a field for each placement, the appearances
 * of the fields that are filled in, a lock for each signer who has such fields, in a tagged document a structure
 * element for each field and an optional leaf of its number tree, and an optional form. After these come the existing
 * fields that are named (existing.c). Other objects of the document that are rewritten must end
 * with the references to the new objects. */
#include "helper/check/prepared.h"

#include <string.h>

#define FURTHER 16 /* objects other than a field, an element and a page for each placement */

static const char NO_APPEARANCE[] = "it does not have the empty appearance of fields";
static const char NO_FIELD[] = "a field is not the requested one";
static const char OTHER_PAGE[] = "fields of one page are on several";
static const char NO_LOOK[] = "a field that is filled in has another appearance than the requested one";
static const char NO_LOCK[] = "the lock of a signature is not that of the signer's fields";
static const char NO_EXISTING[] = "an existing field is not the requested one";
static const char NEW_OBJECT[] = "it has an object that was not requested";

int sr_pdf_prepared_most(const apr_array_header_t *fields)
{
    int more = 0;
    for (int i = 0; i < fields->nelts; i++) {
        const sr_pdf_field_t *field = &APR_ARRAY_IDX(fields, i, sr_pdf_field_t);
        more += (field->entry ? 2 : 0) + sr_pdf_existing_objects(field);
    }
    return 3 * fields->nelts + more + FURTHER;
}

static bool is_empty_appearance(const sr_pdf_object_t *object)
{
    return object->is_stream && object->data.at == object->data.end
           && sr_pdf_span_is(&object->body, "<</Type/XObject/Subtype/Form/BBox[0 0 1 1]/Resources<<>>/Length 0>>");
}

/* Takes the key of a field in the number tree of a tagged document. The keys of the fields are consecutive. */
static bool prepared_take_key(check_t *check, int index, sr_pdf_span_t *left)
{
    apr_int64_t key;
    const bool tagged = sr_pdf_take_text(left, "/StructParent ");
    if (tagged && !sr_pdf_take_number(left, &key)) return false;
    if (!index) {
        check->tagged = tagged;
        check->key = tagged ? key : 0;
    }
    return tagged == check->tagged && (!tagged || key == check->key + index);
}

/* Notes the name of a field. No other field has it. `owner`: of an entry, or NULL. */
static bool note_name(const check_t *check, owner_t *owner, const char *name)
{
    if (apr_hash_get(check->names, name, APR_HASH_KEY_STRING)) return false;
    apr_hash_set(check->names, name, APR_HASH_KEY_STRING, name);
    if (owner) prepared_add_text(&owner->names, name, check->pool);
    return true;
}

/* Takes the name of a field. */
static bool prepared_take_name(check_t *check, const sr_pdf_field_t *field, owner_t *owner, sr_pdf_span_t *left)
{
    const char *from = left->at;
    if (field->entry) {
        if (!sr_pdf_take_entry_name(left, field->entry, check->pool)) return false;
    } else {
        const int ordinal = ++owner->places;
        const char *end = ordinal > 1 ? apr_psprintf(check->pool, "_%d)", ordinal) : ")";
        if (!sr_pdf_take_text(left, apr_pstrcat(check->pool, "(" SR_PDF_FIELD_PREFIX, field->signer, end, NULL)))
            return false;
    }
    return note_name(check, field->entry ? owner : NULL,
                     apr_pstrmemdup(check->pool, from, (apr_size_t)(left->at - from)));
}

/* Takes the rotation of the page. That of a signature field may be any multiple of 90 degrees. */
static bool take_rotation(const sr_pdf_entry_t *entry, sr_pdf_span_t *left, apr_pool_t *pool)
{
    if (entry) return !entry->rotate || sr_pdf_take_text(left, apr_psprintf(pool, "/MK<</R %d>>", entry->rotate));
    return !sr_pdf_take_text(left, "/MK<</R ") || sr_pdf_take_text(left, "90>>") || sr_pdf_take_text(left, "180>>")
           || sr_pdf_take_text(left, "270>>");
}

/* Returns the end of a field. `look` is the appearance of an entry. */
static const char *prepared_end(const check_t *check, const sr_pdf_entry_t *entry, const owner_t *owner,
                                apr_int64_t look)
{
    const char *lock = owner->lock ? apr_psprintf(check->pool, "/Lock %" APR_INT64_T_FMT " 0 R", owner->lock) : "";
    if (!entry) return apr_psprintf(check->pool, "%s/AP<</N %" APR_INT64_T_FMT " 0 R>>>>", lock, check->first);
    return apr_pstrcat(check->pool, sr_pdf_entry_value(entry, check->pool),
                       sr_pdf_entry_appearance(entry, look, check->first, check->pool), ">>", NULL);
}

/* Checks all of a field. The reference to its page must be the same for all fields of that page. `look` is the
 * appearance of an entry. */
static const char *check_field(check_t *check, const sr_pdf_field_t *field, int index, apr_int64_t look,
                               const sr_pdf_object_t *object)
{
    const sr_pdf_entry_t *entry = field->entry;
    owner_t *owner = apr_hash_get(check->owners, field->signer, APR_HASH_KEY_STRING);
    const char *label = sr_pdf_string(entry ? entry->label : SR_PDF_FIELD_LABEL, check->pool);
    sr_pdf_span_t left = object->body, page;
    if (object->is_stream || !sr_pdf_take_text(&left, SR_PDF_WIDGET)) return NO_FIELD;
    if (!prepared_take_name(check, field, owner, &left) || !sr_pdf_take_text(&left, "/TU")) return NO_FIELD;
    if (!sr_pdf_take_text(&left, label) || !prepared_take_key(check, index, &left)) return NO_FIELD;
    if (!sr_pdf_take_text(&left, entry ? sr_pdf_entry_type(entry, check->pool) : "/FT/Sig")) return NO_FIELD;
    if (!sr_pdf_take_text(&left, "/P ")) return NO_FIELD;
    if (!sr_pdf_take_value(&left, &page) || !sr_pdf_span_ends(&page, " R") || !sr_pdf_take_text(&left, "/Rect["))
        return NO_FIELD;
    for (int i = 0; i < 4; i++)
        if (!sr_pdf_take_decimal(&left, field->rect[i])) return NO_FIELD;
    if (!sr_pdf_take_text(&left, "]") || !take_rotation(entry, &left, check->pool)) return NO_FIELD;
    if (!sr_pdf_span_is(&left, prepared_end(check, entry, owner, look))) return NO_FIELD;
    const sr_pdf_span_t *known = apr_hash_get(check->pages, &field->page, sizeof field->page);
    if (known && !sr_pdf_span_same(known, &page)) return OTHER_PAGE;
    if (!known)
        apr_hash_set(check->pages, &field->page, sizeof field->page, apr_pmemdup(check->pool, &page, sizeof page));
    return NULL;
}

static const char *check_fields(check_t *check)
{
    apr_int64_t look = check->looks;
    for (int i = 0; i < check->fields->nelts; i++) {
        const sr_pdf_field_t *field = &APR_ARRAY_IDX(check->fields, i, sr_pdf_field_t);
        const sr_pdf_object_t *object = object_at(check, 1 + i);
        if (!is_new(check, object, 1 + i)) return NO_FIELD;
        const char *reason = check_field(check, field, i, look, object);
        if (reason) return reason;
        look += field->entry != NULL;
    }
    return NULL;
}

/* ------------------------------------------------------------------------------------------------------ the entries */

/* The buttons of a group keep their appearances. */
static bool prepared_draws(const sr_pdf_field_t *field)
{
    return field->entry->kind != SR_PDF_ENTRY_RADIO;
}

/* Finds the signers, and the numbers that their new objects must have. */
static void find_owners(check_t *check)
{
    check->looks = check->first + 1 + check->fields->nelts;
    check->elements = check->looks;
    for (int i = 0; i < check->entries->nelts; i++)
        check->elements += prepared_draws(APR_ARRAY_IDX(check->entries, i, const sr_pdf_field_t *));
    for (int i = 0; i < check->given->nelts; i++) {
        const sr_pdf_field_t *field = &APR_ARRAY_IDX(check->given, i, sr_pdf_field_t);
        if (!sr_pdf_existing_adds(field)) continue;
        owner_t *owner = apr_hash_get(check->owners, field->signer, APR_HASH_KEY_STRING);
        if (!owner) {
            owner = apr_pcalloc(check->pool, sizeof *owner);
            apr_hash_set(check->owners, field->signer, APR_HASH_KEY_STRING, owner);
            APR_ARRAY_PUSH(check->signers, owner_t *) = owner;
        }
        owner->signs |= !field->entry;
        owner->has_entries |= field->entry != NULL;
    }
    for (int i = 0; i < check->signers->nelts; i++) {
        owner_t *owner = APR_ARRAY_IDX(check->signers, i, owner_t *);
        if (owner->signs && owner->has_entries) owner->lock = check->elements++;
    }
}

static const char *check_looks(const check_t *check)
{
    int ordinal = (int)(check->looks - check->first);
    for (int i = 0; i < check->entries->nelts; i++) {
        const sr_pdf_field_t *field = APR_ARRAY_IDX(check->entries, i, const sr_pdf_field_t *);
        const sr_pdf_object_t *object = object_at(check, ordinal);
        if (!prepared_draws(field)) continue;
        if (!is_new(check, object, ordinal++) || !sr_pdf_entry_is_shown(field, object, check->pool)) return NO_LOOK;
    }
    return NULL;
}

/* Gives each name to the owner of the entry. */
static const char *name_existing(const check_t *check)
{
    for (int i = check->added; i < check->entries->nelts; i++) {
        const sr_pdf_field_t *field = APR_ARRAY_IDX(check->entries, i, const sr_pdf_field_t *);
        owner_t *owner = apr_hash_get(check->owners, field->signer, APR_HASH_KEY_STRING);
        if (!note_name(check, owner, sr_pdf_string(field->existing, check->pool))) return NO_EXISTING;
    }
    return NULL;
}

static const char *check_locks(const check_t *check)
{
    for (int i = 0; i < check->signers->nelts; i++) {
        const owner_t *owner = APR_ARRAY_IDX(check->signers, i, owner_t *);
        const int ordinal = (int)(owner->lock - check->first);
        const sr_pdf_object_t *object = owner->lock ? object_at(check, ordinal) : NULL;
        if (!owner->lock) continue;
        if (!is_new(check, object, ordinal) || object->is_stream) return NO_LOCK;
        if (!sr_pdf_span_is(&object->body,
                            apr_pstrcat(check->pool, SR_PDF_LOCK, owner->names.at, SR_PDF_LOCK_END, NULL)))
            return NO_LOCK;
    }
    return NULL;
}

/* -------------------------------------------------------------------------------------------------- the references */

/* Writes the references that the arrays must contain: for each page, and for all fields. */
static void write_references(check_t *check)
{
    text_t all = {0};
    for (int i = 0; i < check->fields->nelts; i++) {
        const int *page = &APR_ARRAY_IDX(check->fields, i, sr_pdf_field_t).page;
        text_t *own = apr_hash_get(check->references, page, sizeof *page);
        if (!own) {
            own = apr_pcalloc(check->pool, sizeof *own);
            apr_hash_set(check->references, page, sizeof *page, own);
        }
        prepared_add_reference(own, check->first + 1 + i, check->pool);
        prepared_add_reference(&all, check->first + 1 + i, check->pool);
    }
    check->all = all.at;
}

/* -------------------------------------------------------------------------------------------- what is written again */

/* Returns true if the object ends with the references. It may be the form, the catalog, an array of fields, or the
 * object with the annotations of a page. */
static bool ends_well(const check_t *check, const sr_pdf_object_t *object, const char *references)
{
    static const char *const ends[] = {"]", "]>>", "]>>>>"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (sr_pdf_span_ends(&object->body, apr_pstrcat(check->pool, references, ends[i], NULL))) return true;
    return false;
}

/* For each page one object is rewritten: the page itself, or its array of annotations. */
static const char *prepared_check_pages(const check_t *check, int *index)
{
    apr_hash_t *done = apr_hash_make(check->pool);
    for (int i = 0; i < check->fields->nelts; i++) {
        const int *page = &APR_ARRAY_IDX(check->fields, i, sr_pdf_field_t).page;
        if (apr_hash_get(done, page, sizeof *page)) continue;
        apr_hash_set(done, page, sizeof *page, page);
        const text_t *own = apr_hash_get(check->references, page, sizeof *page);
        const sr_pdf_object_t *object = object_at(check, (*index)++);
        if (!is_old(check, object)) return NEW_OBJECT;
        if (!ends_well(check, object, own->at)) return OLD_OBJECT;
    }
    return NULL;
}

/* The document had no form: checks the new form, and the catalog that refers to it. */
static const char *check_new_form(const check_t *check, int index)
{
    const sr_pdf_object_t *form = object_at(check, index), *catalog = object_at(check, index + 1);
    const char *fields = apr_pstrcat(check->pool, "<</SigFlags 3/Fields[", check->all, "]>>", NULL);
    const char *end = apr_psprintf(check->pool, "/AcroForm %" APR_INT64_T_FMT " 0 R>>", form->number);
    if (form->is_stream || !sr_pdf_span_is(&form->body, fields)) return NEW_OBJECT;
    if (!catalog || object_at(check, index + 2)) return NEW_OBJECT;
    if (catalog->is_stream || catalog->number != check->appended->trailer.root) return OLD_OBJECT;
    return sr_pdf_span_ends(&catalog->body, end) ? NULL : OLD_OBJECT;
}

/* Returns true for "/SigFlags 3>>", or "/SigFlags 3>>>>" if the form is in the catalog. */
static bool ends_with_flags(const sr_pdf_object_t *object)
{
    static const char key[] = "/SigFlags ";
    sr_pdf_span_t left = {object->body.at, object->body.end};
    apr_int64_t flags;
    while (sr_pdf_span_ends(&left, ">>")) left.end -= 2;
    const char *from = left.end;
    while (from > left.at && from[-1] >= '0' && from[-1] <= '9') from--;
    sr_pdf_span_t digits = {from, left.end};
    left.end = from;
    return sr_pdf_span_ends(&left, key) && sr_pdf_take_number(&digits, &flags) && (flags & 3) == 3;
}

/* Returns true if the object is the catalog and ends with the extension. */
static bool prepared_is_extended(const check_t *check, const sr_pdf_object_t *object)
{
    return is_old(check, object) && object->number == check->appended->trailer.root
           && sr_pdf_span_ends(&object->body, SR_PDF_EXTENSION ">>>>");
}

/* The document has a form. The rewritten objects are the array of fields, or the form, or the catalog that contains the
 * form. If it is the array, the form or the catalog may follow with the flags. Finally the catalog may follow, if it
 * was not rewritten yet. */
static const char *check_old_form(const check_t *check, int index)
{
    int end = check->appended->objects->nelts;
    if (end > index + 1 && prepared_is_extended(check, object_at(check, end - 1))) end--;
    const sr_pdf_object_t *fields = object_at(check, index);
    const sr_pdf_object_t *flags = index + 1 < end ? object_at(check, index + 1) : NULL;
    if (!fields || index + 2 < end) return NEW_OBJECT;
    if (!is_old(check, fields) || !ends_well(check, fields, check->all)) return OLD_OBJECT;
    if (!flags) return NULL;
    if (!is_old(check, flags) || *fields->body.at != '[') return NEW_OBJECT;
    return ends_with_flags(flags) ? NULL : OLD_OBJECT;
}

/* Checks an existing field at this index. `look` is the next appearance of an entry. */
static bool check_existing_field(const check_t *check, const sr_pdf_field_t *field, int index, apr_int64_t *look)
{
    for (int i = sr_pdf_existing_objects(field) - 1; i >= 0; i--)
        if (!is_old(check, object_at(check, index + i))) return false;
    const sr_pdf_object_t *object = object_at(check, index);
    if (!field->entry) return sr_pdf_existing_at(check->appended, index) != NULL;
    if (!prepared_draws(field)) return sr_pdf_radio_is_set(field->entry, object, check->pool);
    return sr_pdf_entry_is_set(field, object, (*look)++, check->first, check->pool);
}

static const char *check_existing(const check_t *check, int *index)
{
    apr_int64_t look = check->looks + check->added;
    for (int i = 0; i < check->given->nelts; i++) {
        const sr_pdf_field_t *field = &APR_ARRAY_IDX(check->given, i, sr_pdf_field_t);
        if (!field->existing) continue;
        if (!check_existing_field(check, field, *index, &look)) return NO_EXISTING;
        *index += sr_pdf_existing_objects(field);
    }
    return NULL;
}

/* No field is added. The rewritten objects may be the form with new flags, and the catalog with the extension. */
static const char *check_flags(const check_t *check, int index)
{
    int end = check->appended->objects->nelts;
    if (end > index && prepared_is_extended(check, object_at(check, end - 1))) end--;
    const sr_pdf_object_t *flags = index < end ? object_at(check, index) : NULL;
    const sr_pdf_trailer_t *trailer = &check->appended->trailer;
    if (index + 1 < end || trailer->size != check->first + check->fixed + trailer->is_stream) return NEW_OBJECT;
    return !flags || (is_old(check, flags) && ends_with_flags(flags)) ? NULL : OLD_OBJECT;
}

static const char *check_old(const check_t *check)
{
    const int ordinal = check->fixed;
    int index = ordinal;
    const char *reason = check_existing(check, &index);
    if (!reason && !check->fields->nelts) return check_flags(check, index);
    if (!reason) reason = prepared_check_pages(check, &index);
    if (!reason && check->tagged) reason = sr_pdf_elements_check_old(check, &index);
    if (reason) return reason;
    const bool made = is_new(check, object_at(check, index), ordinal);
    const sr_pdf_trailer_t *trailer = &check->appended->trailer;
    if (trailer->size != check->first + ordinal + made + trailer->is_stream) return NEW_OBJECT;
    return made ? check_new_form(check, index) : check_old_form(check, index);
}

static const char *prepared_check_new(check_t *check)
{
    const sr_pdf_object_t *empty = object_at(check, 0);
    if (!empty || !is_empty_appearance(empty) || empty->generation) return NO_APPEARANCE;
    check->first = empty->number;
    find_owners(check);
    const char *reason = check_fields(check);
    if (!reason) reason = name_existing(check);
    if (!reason) reason = check_looks(check);
    if (!reason) reason = check_locks(check);
    if (!reason) reason = sr_pdf_elements_check(check);
    write_references(check);
    return reason;
}

/* Returns the added or the existing fields (sr_pdf_field_t), and collects their entries. */
static const apr_array_header_t *prepared_pick(apr_array_header_t *entries, const apr_array_header_t *fields,
                                               bool existing, apr_pool_t *pool)
{
    apr_array_header_t *picked = apr_array_make(pool, fields->nelts, sizeof(sr_pdf_field_t));
    for (int i = 0; i < fields->nelts; i++) {
        const sr_pdf_field_t *field = &APR_ARRAY_IDX(fields, i, sr_pdf_field_t);
        if ((field->existing != NULL) != existing) continue;
        APR_ARRAY_PUSH(picked, sr_pdf_field_t) = *field;
        if (field->entry) APR_ARRAY_PUSH(entries, const sr_pdf_field_t *) = field;
    }
    return picked;
}

const char *sr_pdf_prepared_check(const sr_pdf_appended_t *appended, const apr_array_header_t *fields, apr_pool_t *pool)
{
    check_t check = {.appended = appended, .given = fields, .pool = pool};
    check.entries = apr_array_make(pool, 8, sizeof(sr_pdf_field_t *));
    check.fields = prepared_pick(check.entries, fields, false, pool);
    check.added = check.entries->nelts;
    prepared_pick(check.entries, fields, true, pool);
    check.owners = apr_hash_make(pool);
    check.signers = apr_array_make(pool, 4, sizeof(owner_t *));
    check.names = apr_hash_make(pool);
    check.pages = apr_hash_make(pool);
    check.references = apr_hash_make(pool);
    check.first = appended->trailer.size - appended->trailer.is_stream;
    const bool adds = check.fields->nelts || check.entries->nelts;
    const char *reason = adds ? prepared_check_new(&check) : NULL;
    return reason ? reason : check_old(&check);
}
