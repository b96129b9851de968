/* prepared.c: whether an update that should add the fields of all signers does that, as far as this can be told without
 * reading the document. New objects are the shared empty appearance, a field for each placement, and perhaps a form;
 * each has one form. Objects of the document that are written again must end as ours do: with the references. */
#include "pdf/appended.h"

#include <apr_hash.h>
#include <math.h>
#include <string.h>

#define FURTHER 8 /* objects besides a field and a page for each placement */
#define SCALE 10000
#define FARTHEST 1e9 /* as sr_pdfd_put_number writes numbers */

static const char NO_APPEARANCE[] = "it has not the empty appearance of fields";
static const char NO_FIELD[] = "a field is not what was asked for";
static const char OTHER_PAGE[] = "fields of one page are on several";
static const char NEW_OBJECT[] = "it has an object that nobody asked for";
static const char OLD_OBJECT[] = "an object of the document ends otherwise than with the new fields";

typedef struct text_t {
    char *at;
    apr_size_t length, room;
} text_t;

typedef struct check_t {
    const sr_pdf_appended_t *appended;
    const apr_array_header_t *fields; /* sr_pdf_field_t */
    apr_int64_t first;                /* the lowest new number */
    apr_hash_t *pages;                /* int, index → sr_pdf_span_t, the reference to it */
    apr_hash_t *references;           /* the same → text_t, references to the fields on it */
    const char *all;                  /* references to all fields */
    apr_pool_t *pool;
} check_t;

int sr_pdf_prepared_most(const apr_array_header_t *fields)
{
    return 2 * fields->nelts + FURTHER;
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

static bool is_empty_appearance(const sr_pdf_object_t *object)
{
    return object->is_stream && object->data.at == object->data.end
           && sr_pdf_span_is(&object->body, "<</Type/XObject/Subtype/Form/BBox[0 0 1 1]/Resources<<>>/Length 0>>");
}

/* A number as sr_pdfd_put_number writes it, with the space behind it. */
static bool take_decimal(sr_pdf_span_t *left, double wanted)
{
    const long long scaled = llround(fmax(-FARTHEST, fmin(FARTHEST, wanted)) * SCALE);
    const bool negative = sr_pdf_take_text(left, "-");
    apr_int64_t whole, fraction = 0;
    if (!sr_pdf_take_number(left, &whole)) return false;
    if (sr_pdf_take_text(left, ".")) {
        const char *from = left->at;
        if (!sr_pdf_take_number(left, &fraction) || left->at - from > 4) return false;
        for (apr_size_t digits = (apr_size_t)(left->at - from); digits < 4; digits++) fraction *= 10;
    }
    const long long found = whole * SCALE + fraction;
    return (negative ? -found : found) == scaled && sr_pdf_take_text(left, " ");
}

/* All of a field but where it says what page it is on and how that is turned, which must be the same for all. */
static const char *check_field(check_t *check, const sr_pdf_field_t *field, int ordinal, const sr_pdf_object_t *object)
{
    sr_pdf_span_t left = object->body, page;
    const char *head =
        apr_psprintf(check->pool, "<</Type/Annot/Subtype/Widget/F 132/T(" SR_PDF_FIELD_PREFIX "%s", field->signer);
    if (object->is_stream || !sr_pdf_take_text(&left, head)) return NO_FIELD;
    if (ordinal > 1 && !sr_pdf_take_text(&left, apr_psprintf(check->pool, "_%d", ordinal))) return NO_FIELD;
    if (!sr_pdf_take_text(&left, ")/FT/Sig/P ")) return NO_FIELD;
    if (!sr_pdf_take_value(&left, &page) || !sr_pdf_span_ends(&page, " R") || !sr_pdf_take_text(&left, "/Rect["))
        return NO_FIELD;
    for (int i = 0; i < 4; i++)
        if (!take_decimal(&left, field->rect[i])) return NO_FIELD;
    if (!sr_pdf_take_text(&left, "]")) return NO_FIELD;
    if (sr_pdf_take_text(&left, "/MK<</R ") && !sr_pdf_take_text(&left, "90>>") && !sr_pdf_take_text(&left, "180>>")
        && !sr_pdf_take_text(&left, "270>>"))
        return NO_FIELD;
    if (!sr_pdf_span_is(&left, apr_psprintf(check->pool, "/AP<</N %" APR_INT64_T_FMT " 0 R>>>>", check->first)))
        return NO_FIELD;
    const sr_pdf_span_t *known = apr_hash_get(check->pages, &field->page, sizeof field->page);
    if (known && !sr_pdf_span_same(known, &page)) return OTHER_PAGE;
    if (!known)
        apr_hash_set(check->pages, &field->page, sizeof field->page, apr_pmemdup(check->pool, &page, sizeof page));
    return NULL;
}

static const char *check_fields(check_t *check)
{
    apr_hash_t *ordinals = apr_hash_make(check->pool);
    for (int i = 0; i < check->fields->nelts; i++) {
        const sr_pdf_field_t *field = &APR_ARRAY_IDX(check->fields, i, sr_pdf_field_t);
        const sr_pdf_object_t *object = object_at(check, 1 + i);
        int *ordinal = apr_hash_get(ordinals, field->signer, APR_HASH_KEY_STRING);
        if (!ordinal) {
            ordinal = apr_pcalloc(check->pool, sizeof *ordinal);
            apr_hash_set(ordinals, field->signer, APR_HASH_KEY_STRING, ordinal);
        }
        if (!is_new(check, object, 1 + i)) return NO_FIELD;
        const char *reason = check_field(check, field, ++*ordinal, object);
        if (reason) return reason;
    }
    return NULL;
}

static void add_reference(text_t *text, apr_int64_t number, apr_pool_t *pool)
{
    char reference[32];
    const int length = apr_snprintf(reference, sizeof reference, "%" APR_INT64_T_FMT " 0 R ", number);
    if (text->length + (apr_size_t)length + 1 > text->room) {
        char *larger = apr_palloc(pool, text->room = 2 * (text->room + sizeof reference));
        if (text->length) memcpy(larger, text->at, text->length);
        text->at = larger;
    }
    memcpy(text->at + text->length, reference, (apr_size_t)length + 1);
    text->length += (apr_size_t)length;
}

/* References as they stand in the arrays: of each page, and all. */
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

/* An object that was there before: the form, the catalog, an array of fields, or what a page's annotations are in. */
static bool ends_well(const check_t *check, const sr_pdf_object_t *object, const char *references)
{
    static const char *const ends[] = {"]", "]>>", "]>>>>"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (sr_pdf_span_ends(&object->body, apr_pstrcat(check->pool, references, ends[i], NULL))) return true;
    return false;
}

/* For each page one object: itself, or the array of its annotations. */
static const char *check_pages(const check_t *check, int *index)
{
    apr_hash_t *done = apr_hash_make(check->pool);
    for (int i = 0; i < check->fields->nelts; i++) {
        const int *page = &APR_ARRAY_IDX(check->fields, i, sr_pdf_field_t).page;
        if (apr_hash_get(done, page, sizeof *page)) continue;
        apr_hash_set(done, page, sizeof *page, page);
        const text_t *own = apr_hash_get(check->references, page, sizeof *page);
        const sr_pdf_object_t *object = object_at(check, (*index)++);
        if (!object || object->is_stream || object->number >= check->first) return NEW_OBJECT;
        if (!ends_well(check, object, own->at)) return OLD_OBJECT;
    }
    return NULL;
}

/* A form where there was none, and the catalog that refers to it now. */
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

/* "/SigFlags 3>>", or where the form is in the catalog "/SigFlags 3>>>>". */
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

/* The array of fields, or the form, or the catalog that the form is in; or the first of them, and one of the others
 * with the flags. */
static const char *check_old_form(const check_t *check, int index)
{
    const sr_pdf_object_t *fields = object_at(check, index), *flags = object_at(check, index + 1);
    if (!fields || object_at(check, index + 2)) return NEW_OBJECT;
    if (fields->is_stream || fields->number >= check->first || !ends_well(check, fields, check->all)) return OLD_OBJECT;
    if (!flags) return NULL;
    if (flags->is_stream || flags->number >= check->first || *fields->body.at != '[') return NEW_OBJECT;
    return ends_with_flags(flags) ? NULL : OLD_OBJECT;
}

static const char *check_old(const check_t *check)
{
    const int ordinal = 1 + check->fields->nelts;
    int index = ordinal;
    const char *reason = check_pages(check, &index);
    if (reason) return reason;
    const bool made = is_new(check, object_at(check, index), ordinal);
    const sr_pdf_trailer_t *trailer = &check->appended->trailer;
    if (trailer->size != check->first + ordinal + made + trailer->is_stream) return NEW_OBJECT;
    return made ? check_new_form(check, index) : check_old_form(check, index);
}

const char *sr_pdf_prepared_check(const sr_pdf_appended_t *appended, const apr_array_header_t *fields, apr_pool_t *pool)
{
    check_t check = {.appended = appended, .fields = fields, .pool = pool};
    const sr_pdf_object_t *empty = object_at(&check, 0);
    if (!empty || !is_empty_appearance(empty) || empty->generation) return NO_APPEARANCE;
    check.first = empty->number;
    check.pages = apr_hash_make(pool);
    check.references = apr_hash_make(pool);
    const char *reason = check_fields(&check);
    if (reason) return reason;
    write_references(&check);
    return check_old(&check);
}
