/* SPDX-License-Identifier: Apache-2.0 */
/* prepared.c: checks that an update adds the fields of all signers, as far as this is possible without reading the
 * document. The new objects have fixed forms: the shared empty appearance, a field for each placement, the appearances
 * of the fields that are filled in, a lock for each signer who has such fields, in a tagged document a structure
 * element for each field and an optional leaf of its number tree, and an optional form. After the fields, elements and
 * leaf come the existing fields that are named (existing.c). Other objects of the document that are rewritten must end
 * with the references to the new objects. */
#include "helper/check/appended.h"
#include "helper/pdf.h"

#include <apr_hash.h>
#include <string.h>

#define FURTHER 16 /* objects other than a field, an element and a page for each placement */

static const char NO_APPEARANCE[] = "it does not have the empty appearance of fields";
static const char NO_FIELD[] = "a field is not the requested one";
static const char OTHER_PAGE[] = "fields of one page are on several";
static const char NO_LOOK[] = "a field that is filled in has another appearance than the requested one";
static const char NO_LOCK[] = "the lock of a signature is not that of the signer's fields";
static const char NO_ELEMENT[] = "an element of the structure is not that of a field";
static const char NO_EXISTING[] = "an existing field is not the requested one";
static const char NEW_OBJECT[] = "it has an object that was not requested";
static const char OLD_OBJECT[] = "an object of the document ends otherwise than with the new fields";

typedef struct text_t {
    char *at;
    apr_size_t length, room;
} text_t;

/* A signer with added fields. */
typedef struct owner_t {
    int places;       /* number of signature fields that were found */
    apr_int64_t lock; /* the object that locks the signer's entries, or 0 */
    text_t names;     /* of the entries, as they were found */
    bool signs, has_entries;
} owner_t;

typedef struct check_t {
    const sr_pdf_appended_t *appended;
    const apr_array_header_t *fields; /* the fields that are added (sr_pdf_field_t) */
    int existing;                     /* number of existing fields */
    apr_int64_t first;                /* the lowest new object number */
    apr_int64_t looks, elements;      /* the first numbers of the entries' appearances, and of the structure elements */
    apr_hash_t *owners;               /* signer → owner_t */
    apr_array_header_t *signers;      /* owner_t *, in the order of their first fields */
    apr_hash_t *names;                /* the names of all fields, as they were found */
    apr_hash_t *pages;                /* page index (int) → reference to the page (sr_pdf_span_t) */
    apr_hash_t *references;           /* page index (int) → references to its fields (text_t) */
    const char *all;                  /* references to all fields */
    bool tagged;
    apr_int64_t key;      /* in a tagged document: the key of the first field in the number tree */
    sr_pdf_span_t parent; /* the reference to the parent of the new elements */
    apr_int64_t leaf;     /* the number of a new leaf of the tree, or 0 */
    int fixed;            /* number of new objects before the rewritten ones */
    apr_pool_t *pool;
} check_t;

int sr_pdf_prepared_most(const apr_array_header_t *fields)
{
    int entries = 0;
    for (int i = 0; i < fields->nelts; i++) entries += APR_ARRAY_IDX(fields, i, sr_pdf_field_t).entry != NULL;
    return 3 * fields->nelts + 2 * entries + FURTHER;
}

static const sr_pdf_object_t *object_at(const check_t *check, int index)
{
    return index < check->appended->objects->nelts ? &APR_ARRAY_IDX(check->appended->objects, index, sr_pdf_object_t)
                                                   : NULL;
}

static bool is_new(const check_t *check, const sr_pdf_object_t *object, int ordinal)
{
    return object && object->number == check->first + ordinal && !object->generation;
}

static bool is_old(const check_t *check, const sr_pdf_object_t *object)
{
    return object && !object->is_stream && object->number < check->first;
}

/* Returns true if the dictionary has this entry ("/Key value"). */
static bool has_key(const check_t *check, const sr_pdf_object_t *object, const char *entry)
{
    sr_pdf_span_t value;
    const char *space = strchr(entry, ' ');
    return sr_pdf_find_entry(&value, &object->body, apr_pstrmemdup(check->pool, entry, (apr_size_t)(space - entry)))
           && sr_pdf_span_is(&value, space + 1);
}

static bool is_empty_appearance(const sr_pdf_object_t *object)
{
    return object->is_stream && object->data.at == object->data.end
           && sr_pdf_span_is(&object->body, "<</Type/XObject/Subtype/Form/BBox[0 0 1 1]/Resources<<>>/Length 0>>");
}

static void prepared_add_text(text_t *text, const char *more, apr_pool_t *pool)
{
    const apr_size_t length = strlen(more);
    if (text->length + length + 1 > text->room) {
        char *larger = apr_palloc(pool, text->room = 2 * (text->room + length + 32));
        if (text->length) memcpy(larger, text->at, text->length);
        text->at = larger;
    }
    memcpy(text->at + text->length, more, length + 1);
    text->length += length;
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

/* Takes the name of a field. No other field has it. */
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
    const char *name = apr_pstrmemdup(check->pool, from, (apr_size_t)(left->at - from));
    if (apr_hash_get(check->names, name, APR_HASH_KEY_STRING)) return false;
    apr_hash_set(check->names, name, APR_HASH_KEY_STRING, name);
    if (field->entry) prepared_add_text(&owner->names, name, check->pool);
    return true;
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

/* Finds the signers, and the numbers that their new objects must have. */
static void find_owners(check_t *check)
{
    check->looks = check->elements = check->first + 1 + check->fields->nelts;
    for (int i = 0; i < check->fields->nelts; i++) {
        const sr_pdf_field_t *field = &APR_ARRAY_IDX(check->fields, i, sr_pdf_field_t);
        owner_t *owner = apr_hash_get(check->owners, field->signer, APR_HASH_KEY_STRING);
        if (!owner) {
            owner = apr_pcalloc(check->pool, sizeof *owner);
            apr_hash_set(check->owners, field->signer, APR_HASH_KEY_STRING, owner);
            APR_ARRAY_PUSH(check->signers, owner_t *) = owner;
        }
        owner->signs |= !field->entry;
        owner->has_entries |= field->entry != NULL;
        check->elements += field->entry != NULL;
    }
    for (int i = 0; i < check->signers->nelts; i++) {
        owner_t *owner = APR_ARRAY_IDX(check->signers, i, owner_t *);
        if (owner->signs && owner->has_entries) owner->lock = check->elements++;
    }
}

static const char *check_looks(const check_t *check)
{
    int ordinal = (int)(check->looks - check->first);
    for (int i = 0; i < check->fields->nelts; i++) {
        const sr_pdf_field_t *field = &APR_ARRAY_IDX(check->fields, i, sr_pdf_field_t);
        if (!field->entry) continue;
        const sr_pdf_object_t *object = object_at(check, ordinal);
        if (!is_new(check, object, ordinal++) || !sr_pdf_entry_is_shown(field, object, check->pool)) return NO_LOOK;
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

static void add_reference(text_t *text, apr_int64_t number, apr_pool_t *pool)
{
    char reference[32];
    apr_snprintf(reference, sizeof reference, "%" APR_INT64_T_FMT " 0 R ", number);
    prepared_add_text(text, reference, pool);
}

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
        add_reference(own, check->first + 1 + i, check->pool);
        add_reference(&all, check->first + 1 + i, check->pool);
    }
    check->all = all.at;
}

/* ----------------------------------------------------------------------------------------------------------- tags */

static bool is_element(const check_t *check, const sr_pdf_object_t *object, int index, sr_pdf_span_t *parent)
{
    const sr_pdf_field_t *field = &APR_ARRAY_IDX(check->fields, index, sr_pdf_field_t);
    const sr_pdf_span_t *page = apr_hash_get(check->pages, &field->page, sizeof field->page);
    const char *end =
        apr_psprintf(check->pool, "/K<</Type/OBJR/Obj %" APR_INT64_T_FMT " 0 R>>>>", check->first + 1 + index);
    sr_pdf_span_t left = object->body, own;
    if (object->is_stream || !sr_pdf_take_text(&left, "<</Type/StructElem/S/Form/P ")) return false;
    if (!sr_pdf_take_value(&left, parent) || !sr_pdf_span_ends(parent, " R")) return false;
    if (!sr_pdf_take_text(&left, "/Pg ") || !sr_pdf_take_value(&left, &own) || !sr_pdf_span_same(page, &own))
        return false;
    return sr_pdf_span_is(&left, end);
}

static const char *check_elements(check_t *check)
{
    check->fixed = (int)(check->elements - check->first);
    for (int i = 0; check->tagged && i < check->fields->nelts; i++, check->fixed++) {
        const sr_pdf_object_t *object = object_at(check, check->fixed);
        sr_pdf_span_t parent;
        if (!is_new(check, object, check->fixed) || !is_element(check, object, i, &parent)) return NO_ELEMENT;
        if (!i) check->parent = parent;
        if (!sr_pdf_span_same(&check->parent, &parent)) return NO_ELEMENT;
    }
    return NULL;
}

static const char *references_from(const check_t *check, apr_int64_t first, bool with_keys)
{
    text_t text = {0};
    for (int i = 0; i < check->fields->nelts; i++) {
        if (with_keys)
            prepared_add_text(&text, apr_psprintf(check->pool, "%" APR_INT64_T_FMT " ", check->key + i), check->pool);
        add_reference(&text, first + i, check->pool);
    }
    return text.at;
}

/* Checks the new leaf of the number tree, which follows the elements if the tree has leaves. */
static const char *check_leaf(check_t *check, const char *numbers)
{
    const sr_pdf_object_t *object = object_at(check, check->fixed);
    const char *leaf = apr_psprintf(check->pool, "<</Limits[%" APR_INT64_T_FMT " %" APR_INT64_T_FMT "]/Nums[%s]>>",
                                    check->key, check->key + check->fields->nelts - 1, numbers);
    if (!check->tagged || !is_new(check, object, check->fixed)) return NULL;
    if (object->is_stream || !sr_pdf_span_is(&object->body, leaf)) return NO_ELEMENT;
    check->leaf = object->number;
    check->fixed++;
    return NULL;
}

/* Checks the rewritten objects of the structure: the parent of the new elements, then the structure root unless it is
 * the parent, then the number tree. */
static const char *check_structure(const check_t *check, int *index)
{
    const char *kids = references_from(check, check->elements, false);
    const char *numbers = check->leaf ? apr_psprintf(check->pool, "%" APR_INT64_T_FMT " 0 R ", check->leaf)
                                      : references_from(check, check->elements, true);
    const char *next =
        apr_psprintf(check->pool, "/ParentTreeNextKey %" APR_INT64_T_FMT, check->key + check->fields->nelts);
    const sr_pdf_object_t *object = object_at(check, (*index)++);
    sr_pdf_span_t parent = check->parent;
    apr_int64_t number;
    if (!is_old(check, object) || !sr_pdf_take_number(&parent, &number) || number != object->number) return NO_ELEMENT;
    if (!sr_pdf_span_ends(&object->body, apr_pstrcat(check->pool, kids, "]>>", NULL))) return OLD_OBJECT;
    if (!has_key(check, object, next)) { /* the parent is not the root */
        object = object_at(check, (*index)++);
        if (!is_old(check, object)) return NO_ELEMENT;
        if (!sr_pdf_span_ends(&object->body, apr_pstrcat(check->pool, next, ">>", NULL))) return OLD_OBJECT;
    }
    object = object_at(check, (*index)++);
    if (!is_old(check, object)) return NO_ELEMENT;
    return sr_pdf_span_ends(&object->body, apr_pstrcat(check->pool, numbers, "]>>", NULL)) ? NULL : OLD_OBJECT;
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

static const char *check_existing(const check_t *check, int *index)
{
    for (int i = 0; i < check->existing; i++)
        if (!is_old(check, sr_pdf_existing_at(check->appended, (*index)++))) return NO_EXISTING;
    return NULL;
}

/* No field is added. The rewritten objects may be the form with new flags, and the catalog with the extension. */
static const char *check_flags(const check_t *check, int index)
{
    int end = check->appended->objects->nelts;
    if (end > index && prepared_is_extended(check, object_at(check, end - 1))) end--;
    const sr_pdf_object_t *flags = index < end ? object_at(check, index) : NULL;
    if (index + 1 < end) return NEW_OBJECT;
    return !flags || (is_old(check, flags) && ends_with_flags(flags)) ? NULL : OLD_OBJECT;
}

static const char *check_old(const check_t *check)
{
    const int ordinal = check->fixed;
    int index = ordinal;
    const char *reason = check_existing(check, &index);
    if (!reason && !check->fields->nelts) return check_flags(check, index);
    if (!reason) reason = prepared_check_pages(check, &index);
    if (!reason && check->tagged) reason = check_structure(check, &index);
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
    if (!reason) reason = check_looks(check);
    if (!reason) reason = check_locks(check);
    if (!reason) reason = check_elements(check);
    if (!reason) reason = check_leaf(check, references_from(check, check->elements, true));
    write_references(check);
    return reason;
}

const char *sr_pdf_prepared_check(const sr_pdf_appended_t *appended, const apr_array_header_t *fields, apr_pool_t *pool)
{
    apr_array_header_t *added = apr_array_make(pool, fields->nelts, sizeof(sr_pdf_field_t));
    check_t check = {.appended = appended, .fields = added, .pool = pool};
    for (int i = 0; i < fields->nelts; i++) {
        const sr_pdf_field_t *field = &APR_ARRAY_IDX(fields, i, sr_pdf_field_t);
        if (field->existing) check.existing++;
        else APR_ARRAY_PUSH(added, sr_pdf_field_t) = *field;
    }
    check.owners = apr_hash_make(pool);
    check.signers = apr_array_make(pool, 4, sizeof(owner_t *));
    check.names = apr_hash_make(pool);
    check.pages = apr_hash_make(pool);
    check.references = apr_hash_make(pool);
    check.first = appended->trailer.size - appended->trailer.is_stream;
    const char *reason = added->nelts ? prepared_check_new(&check) : NULL;
    return reason ? reason : check_old(&check);
}
