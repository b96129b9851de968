/* SPDX-License-Identifier: Apache-2.0 */
/* prepare.c: the operation "prepare": one incremental update that adds every field of every signer. Each placement
 * becomes an unsigned signature field that is merged with its only widget, because a signature field never has two (ISO
 * 32000-2, 12.7.5.5). The fields of one signer later get the same signature as their value. All of them share one empty
 * appearance. An entry (entry.h) becomes a field with a value and an appearance, because a later revision may not add
 * keys to a widget. The signature fields of a signer with entries have a lock, which names these entries.
 *
 * The fields are added before anybody signs: validators reject a field that is added after a signature, but permit
 * filling an existing field (12.8.2.2). New fields of any other type would break signatures that the document already
 * has. So would structure elements and a tab order, which are only added to a document without signatures.
 *
 * Empty signature fields of the document are repeated unchanged, so that the check of the filled fields
 * (src/helper/check/filled.c) need not read the document. Other fields of the document that become entries get their
 * value and appearance, and keep the rest (sr_pdfd_entry_again).
 */
#include "helper/main/pdfd.h"

#include <apr_hash.h>
#include <ctype.h>
#include <math.h>
#include <string.h>

#define MAX_SIGNER 64 /* characters of the id of a signer */

static const char NO_EXISTING[] = "an empty signature field is not there, or elsewhere";
static const char NO_FORM_FIELD[] = "a field of its form cannot be filled in, or is elsewhere";
static const char NO_SUCH_PAGE[] = "a field is on a page that it does not have";
static const char SIGNED[] = "it is signed: only fields of type signature can be added";

/* A signer with added fields or entries. */
typedef struct owner_t {
    int places;              /* number of added signature fields */
    sr_pdfd_buffer_t *names; /* of the entries, as text strings; NULL if there are none */
    int64_t lock;            /* the object that locks them, or 0 */
} owner_t;

typedef struct widget_t {
    const char *signer, *name;
    owner_t *owner; /* NULL for an existing signature field */
    int ordinal;    /* of a signature field. 1: the first one of the signer */
    int page;
    double rect[4];
    int64_t number;
    const char *existing;   /* the name of a field of the document; NULL if the field is added */
    sr_pdfd_entry_t *entry; /* NULL: a signature field */
    int64_t look;           /* of an entry: its appearance */
} widget_t;

/* The greatest difference between a requested place and that of an existing field, because numbers are rounded. */
#define CLOSE 0.001

typedef struct prepare_t {
    sr_pdfd_document_t document;
    sr_pdfd_update_t update;
    widget_t *widgets;
    int count;
    widget_t *existing;
    int existing_count;
    const apr_array_header_t *signable, *fillable; /* fields that the document has (sr_pdfd_empty_t) */
    apr_array_header_t *owners;                    /* owner_t *, in the order of their first fields */
    bool has_entries;
    apr_hash_t *pages; /* page index (int) → references to its widgets (sr_pdfd_buffer_t) */
    int64_t empty;     /* the appearance that all fields share */
    sr_pdfd_tags_t tags;
    sr_pdfd_buffer_t *elements,
        *numbers; /* references to the structure elements, and the same with their keys for the number tree */
    int64_t leaf;
    sr_pdfd_catalog_t catalog;
    apr_pool_t *pool;
} prepare_t;

bool sr_pdfd_is_signer(const char *name)
{
    size_t length = name ? strlen(name) : 0;
    if (!length || length > MAX_SIGNER) return false;
    while (*name && (isalnum((unsigned char)*name) || *name == '-')) name++;
    return !*name;
}

/* The buttons of a group keep their appearances. */
static bool prepare_is_group(const widget_t *widget)
{
    return widget->entry && widget->entry->entry.kind == SR_PDF_ENTRY_RADIO;
}

static bool prepare_draws(const widget_t *widget)
{
    return widget->entry && !prepare_is_group(widget);
}

static bool prepare_read_entry(widget_t *widget, sr_pdf_contents_t *left, const json_t *given, apr_pool_t *pool)
{
    if (!given) return true;
    widget->entry = apr_palloc(pool, sizeof *widget->entry);
    return sr_pdf_entry_read(&widget->entry->entry, &widget->entry->content, left, given, pool);
}

static bool prepare_read_widget(widget_t *widget, sr_pdf_contents_t *left, const json_t *field, apr_pool_t *pool)
{
    const json_t *rect = json_object_get(field, "rect"), *page = json_object_get(field, "page");
    widget->signer = sr_json_string(field, "signer");
    widget->existing = sr_json_string(field, "existing");
    if (!sr_pdfd_is_signer(widget->signer) || !json_is_integer(page) || json_array_size(rect) != 4) return false;
    if (json_integer_value(page) < 0 || json_integer_value(page) > INT32_MAX) return false;
    widget->page = (int)json_integer_value(page);
    for (size_t i = 0; i < 4; i++) {
        if (!json_is_number(json_array_get(rect, i))) return false;
        widget->rect[i] = json_number_value(json_array_get(rect, i));
    }
    if (!prepare_read_entry(widget, left, json_object_get(field, "entry"), pool)) return false;
    if (prepare_is_group(widget) && !widget->existing) return false;
    return widget->rect[0] < widget->rect[2] && widget->rect[1] < widget->rect[3];
}

static owner_t *owner_of(prepare_t *p, apr_hash_t *known, const char *signer)
{
    owner_t *owner = apr_hash_get(known, signer, APR_HASH_KEY_STRING);
    if (owner) return owner;
    owner = apr_pcalloc(p->pool, sizeof *owner);
    apr_hash_set(known, signer, APR_HASH_KEY_STRING, owner);
    return APR_ARRAY_PUSH(p->owners, owner_t *) = owner;
}

/* Returns false if the fields are not valid. */
static bool read_widgets(prepare_t *p, const sr_pdfd_request_t *request)
{
    const json_t *fields = json_object_get(request->text, "fields");
    sr_pdf_contents_t left = request->contents;
    apr_hash_t *known = apr_hash_make(p->pool);
    const size_t count = json_array_size(fields);
    p->widgets = apr_pcalloc(p->pool, (count + 1) * sizeof *p->widgets);
    p->existing = apr_pcalloc(p->pool, (count + 1) * sizeof *p->existing);
    for (size_t i = 0; i < count; i++) {
        widget_t read = {0};
        if (!prepare_read_widget(&read, &left, json_array_get(fields, i), p->pool)) return false;
        widget_t *widget = read.existing ? &p->existing[p->existing_count++] : &p->widgets[p->count++];
        *widget = read;
        if (read.existing && !read.entry) continue;
        widget->owner = owner_of(p, known, widget->signer);
        if (!widget->entry) widget->ordinal = ++widget->owner->places;
        else if (!widget->owner->names) widget->owner->names = sr_pdfd_buffer(p->pool);
        p->has_entries |= widget->entry != NULL;
    }
    return count > 0;
}

/* ------------------------------------------------------------------------------------------------------ the names */

/* Adds the names of the fields that the document has. */
static void names_take(sr_pdfd_names_t *names, qpdf_data q)
{
    qpdf_oh form = qpdf_oh_get_key(q, qpdf_get_root(q), "/AcroForm");
    qpdf_oh fields = qpdf_oh_is_dictionary(q, form) ? qpdf_oh_get_key(q, form, "/Fields") : form;
    for (int i = 0; i < sr_pdfd_items(q, fields); i++) {
        qpdf_oh field = qpdf_oh_get_array_item(q, fields, i);
        qpdf_oh name = qpdf_oh_is_dictionary(q, field) ? qpdf_oh_get_key(q, field, "/T") : field;
        if (qpdf_oh_is_string(q, name)) sr_pdfd_names_add(names, qpdf_oh_get_utf8_value(q, name));
        qpdf_oh_release(q, field);
    }
}

static void set_names(prepare_t *p)
{
    sr_pdfd_names_t *names = sr_pdfd_names_make(p->pool);
    for (int i = 0; i < p->count; i++) {
        widget_t *widget = &p->widgets[i];
        const char *number = widget->ordinal > 1 ? apr_psprintf(p->pool, "_%d", widget->ordinal) : "";
        widget->name = widget->entry ? sr_pdf_entry_name(&widget->entry->entry, p->pool)
                                     : apr_pstrcat(p->pool, SR_PDFD_FIELD, widget->signer, number, NULL);
        if (!p->has_entries) continue;
        if (widget->entry) sr_pdfd_names_want(names, widget->name);
        else sr_pdfd_names_add(names, widget->name);
    }
    if (!p->has_entries) return;
    names_take(names, p->document.q);
    sr_pdfd_names_add(names, "Timestamp_"); /* SR_PDF_STAMP_BEGIN */
    for (int i = 0; i < p->count; i++) {
        widget_t *widget = &p->widgets[i];
        if (!widget->entry) continue;
        widget->name = sr_pdfd_names_give(names, widget->name);
        sr_pdfd_put_string(widget->owner->names, widget->name);
    }
    for (int i = 0; i < p->existing_count; i++)
        if (p->existing[i].entry) sr_pdfd_put_string(p->existing[i].owner->names, p->existing[i].existing);
}

/* -------------------------------------------------------------------------------------------------- the new objects */

/* `index` is the position of the widget among all. */
static void put_widget(prepare_t *p, const widget_t *widget, int index, qpdf_oh page)
{
    qpdf_data q = p->document.q;
    sr_pdfd_buffer_t *out = p->update.out;
    const sr_pdf_entry_t *entry = widget->entry ? &widget->entry->entry : NULL;
    const int64_t lock = entry ? 0 : widget->owner->lock;
    int rotate = sr_pdfd_page_rotation(q, page);
    sr_pdfd_object_begin(&p->update, widget->number, 0);
    sr_pdfd_put_text(out, SR_PDF_WIDGET); /* flags Print and Locked */
    sr_pdfd_put_string(out, widget->name);
    sr_pdfd_put_text(out, "/TU");
    sr_pdfd_put_string(out, entry ? entry->label : SR_PDF_FIELD_LABEL);
    if (p->tags.tagged) sr_pdfd_print(out, "/StructParent %lld", (long long)p->tags.next + index);
    sr_pdfd_put_text(out, entry ? sr_pdf_entry_type(entry, p->pool) : "/FT/Sig");
    sr_pdfd_print(out, "/P %d %d R/Rect[", qpdf_oh_get_object_id(q, page), qpdf_oh_get_generation(q, page));
    sr_pdfd_put_numbers(out, widget->rect, 4);
    sr_pdfd_put_text(out, "]");
    if (rotate) sr_pdfd_print(out, "/MK<</R %d>>", rotate);
    if (lock) sr_pdfd_print(out, "/Lock %lld 0 R", (long long)lock);
    if (entry)
        sr_pdfd_print(out, "%s%s>>", sr_pdf_entry_value(entry, p->pool),
                      sr_pdf_entry_appearance(entry, widget->look, p->empty, p->pool));
    else sr_pdfd_print(out, "/AP<</N %lld 0 R>>>>", (long long)p->empty);
    sr_pdfd_object_end(&p->update);
}

static bool prepare_is_there(const widget_t *widget, const sr_pdfd_empty_t *empty)
{
    for (int i = 0; i < 4; i++)
        if (!(fabs(widget->rect[i] - empty->field.rect[i]) <= CLOSE)) return false;
    return widget->page == empty->field.page;
}

static const sr_pdfd_empty_t *prepare_existing(const prepare_t *p, const widget_t *widget)
{
    return sr_pdfd_empty_named(widget->entry ? p->fillable : p->signable, widget->existing);
}

/* An entry that is apart from its widget is merged with it when the document is rewritten. */
static const char *prepare_check_existing(const prepare_t *p, const widget_t *widget)
{
    const sr_pdfd_empty_t *empty = prepare_existing(p, widget);
    if (empty && prepare_is_group(widget))
        return sr_pdfd_radio_is(p->document.q, empty, &widget->entry->entry, p->pool) ? NULL : NO_FORM_FIELD;
    if (!empty || empty->buttons || !prepare_is_there(widget, empty))
        return widget->entry ? NO_FORM_FIELD : NO_EXISTING;
    return widget->entry && empty->apart ? SR_PDFD_DAMAGED : NULL;
}

/* Checks that the fields can be there, and finds the first number for a new object. */
static const char *check_places(prepare_t *p)
{
    int pages = qpdf_get_num_pages(p->document.q);
    if (qpdf_has_error(p->document.q)) return SR_PDFD_DAMAGED;
    for (int i = 0; i < p->existing_count; i++) {
        const char *reason = prepare_check_existing(p, &p->existing[i]);
        if (reason) return reason;
    }
    for (int i = 0; i < p->count; i++) {
        const int *index = &p->widgets[i].page;
        if (*index >= pages) return NO_SUCH_PAGE;
        if (!apr_hash_get(p->pages, index, sizeof *index))
            apr_hash_set(p->pages, index, sizeof *index, sr_pdfd_buffer(p->pool));
    }
    sr_pdfd_update_avoid(&p->update);
    return p->update.next < (int64_t)SR_PDFD_MAX_OBJECT / 16 * 15
               ? NULL
               : SR_PDFD_DAMAGED; /* leaves numbers for the updates of the signers */
}

/* Gives numbers to the added fields, then to the appearances of the entries, then to the locks. */
static const char *number_objects(prepare_t *p)
{
    qpdf_data q = p->document.q;
    for (int i = 0; i < p->count; i++) {
        widget_t *widget = &p->widgets[i];
        int id = qpdf_oh_get_object_id(q, qpdf_get_page_n(q, (size_t)widget->page));
        if (id <= 0 || id > p->document.xref.highest) return SR_PDFD_DAMAGED; /* qpdf has made up this page */
        widget->number = sr_pdfd_object_number(&p->update);
        sr_pdfd_buffer_t *references = apr_hash_get(p->pages, &widget->page, sizeof widget->page);
        sr_pdfd_print(references, "%lld 0 R ", (long long)widget->number);
    }
    for (int i = 0; i < p->count; i++)
        if (p->widgets[i].entry) p->widgets[i].look = sr_pdfd_object_number(&p->update);
    for (int i = 0; i < p->existing_count; i++)
        if (prepare_draws(&p->existing[i])) p->existing[i].look = sr_pdfd_object_number(&p->update);
    for (int i = 0; i < p->owners->nelts; i++) {
        owner_t *owner = APR_ARRAY_IDX(p->owners, i, owner_t *);
        if (owner->names && owner->places) owner->lock = sr_pdfd_object_number(&p->update);
    }
    return NULL;
}

static void put_look(prepare_t *p, const widget_t *widget)
{
    qpdf_data q = p->document.q;
    sr_pdfd_widget_t shown = {.rotate = sr_pdfd_page_rotation(q, qpdf_get_page_n(q, (size_t)widget->page))};
    sr_pdf_entry_size(&shown.width, &shown.height, widget->rect, shown.rotate);
    sr_pdfd_entry_put(&p->update, widget->entry, &shown, widget->look);
}

static void put_lock(prepare_t *p, const owner_t *owner)
{
    if (!owner->lock) return;
    sr_pdfd_object_begin(&p->update, owner->lock, 0);
    sr_pdfd_print(p->update.out, SR_PDF_LOCK "%s" SR_PDF_LOCK_END, (const char *)owner->names->data);
    sr_pdfd_object_end(&p->update);
}

static const char *prepare_add_widgets(prepare_t *p)
{
    if (!p->count && !p->has_entries) return NULL;
    p->empty = sr_pdfd_object_number(&p->update);
    sr_pdfd_stream(&p->update, p->empty, "/Type/XObject/Subtype/Form/BBox[0 0 1 1]/Resources<<>>", "", 0);
    const char *reason = number_objects(p);
    if (reason) return reason;
    set_names(p);
    for (int i = 0; i < p->count; i++)
        put_widget(p, &p->widgets[i], i, qpdf_get_page_n(p->document.q, (size_t)p->widgets[i].page));
    for (int i = 0; i < p->count; i++)
        if (p->widgets[i].entry) put_look(p, &p->widgets[i]);
    for (int i = 0; i < p->existing_count; i++)
        if (prepare_draws(&p->existing[i])) put_look(p, &p->existing[i]);
    for (int i = 0; i < p->owners->nelts; i++) put_lock(p, APR_ARRAY_IDX(p->owners, i, owner_t *));
    return NULL;
}

static void repeat_existing(prepare_t *p)
{
    for (int i = 0; i < p->existing_count; i++) {
        const widget_t *widget = &p->existing[i];
        const sr_pdfd_empty_t *empty = prepare_existing(p, widget);
        if (prepare_is_group(widget))
            sr_pdfd_radio_again(&p->update, &widget->entry->entry, empty->object, empty->flags, p->empty);
        else if (widget->entry)
            sr_pdfd_entry_again(&p->update, &widget->entry->entry, empty->object, widget->rect, empty->flags,
                                widget->look, p->empty);
        else sr_pdfd_object_again(&p->update, empty->object, qpdf_oh_unparse_resolved(p->document.q, empty->object));
    }
}

static void add_tags(prepare_t *p)
{
    p->elements = sr_pdfd_buffer(p->pool);
    p->numbers = sr_pdfd_buffer(p->pool);
    for (int i = 0; p->tags.tagged && i < p->count; i++) {
        const widget_t *widget = &p->widgets[i];
        qpdf_oh page = qpdf_get_page_n(p->document.q, (size_t)widget->page);
        const int64_t number = sr_pdfd_tags_put_element(&p->update, &p->tags, page, widget->number);
        sr_pdfd_print(p->elements, "%lld 0 R ", (long long)number);
        sr_pdfd_print(p->numbers, "%lld %lld 0 R ", (long long)p->tags.next + i, (long long)number);
    }
    if (p->tags.tagged) p->leaf = sr_pdfd_tags_put_leaf(&p->update, &p->tags, (const char *)p->numbers->data, p->count);
}

/* ------------------------------------------------------------------------------ where the document refers to them */

/* Returns true if something else also refers to this array of annotations. Such an array is not rewritten, and the page
 * gets an array of its own. */
static bool is_shared(prepare_t *p, int id, int page, int fields_id)
{
    qpdf_data q = p->document.q;
    int pages = qpdf_get_num_pages(q);
    if (id == fields_id) return true;
    for (int i = 0; i < pages; i++) {
        qpdf_oh other = qpdf_get_page_n(q, (size_t)i), annotations = qpdf_oh_get_key(q, other, "/Annots");
        bool same = i != page && sr_pdfd_array_id(q, annotations) == id;
        qpdf_oh_release(q, annotations);
        qpdf_oh_release(q, other);
        if (same) return true;
    }
    return false;
}

static void refer_from_page(prepare_t *p, int index, const char *references, int fields_id)
{
    qpdf_data q = p->document.q;
    qpdf_oh page = qpdf_get_page_n(q, (size_t)index), annotations = qpdf_oh_get_key(q, page, "/Annots");
    const char *array = sr_pdfd_with_more(q, annotations, references, p->pool);
    int id = sr_pdfd_array_id(q, annotations);
    const bool tabs =
        p->tags.tagged && !qpdf_oh_has_key(q, page, "/Tabs"); /* the tab order that ISO 14289-1, 7.18.3, requires */
    if (id && !tabs && !is_shared(p, id, index, fields_id)) {
        sr_pdfd_object_again(&p->update, annotations, array);
        return;
    }
    qpdf_oh_remove_key(q, page, "/Annots");
    array = apr_pstrcat(p->pool, tabs ? "/Tabs/S" : "", "/Annots", array, NULL);
    sr_pdfd_object_again(&p->update, page, sr_pdfd_spliced(q, page, array, p->pool));
}

static void refer(prepare_t *p)
{
    qpdf_data q = p->document.q;
    qpdf_oh form = qpdf_oh_get_key(q, qpdf_get_root(q), "/AcroForm");
    int fields_id = qpdf_oh_is_dictionary(q, form) ? sr_pdfd_array_id(q, qpdf_oh_get_key(q, form, "/Fields")) : 0;
    sr_pdfd_buffer_t *all = sr_pdfd_buffer(p->pool);
    for (int i = 0; i < p->count; i++) {
        int page = p->widgets[i].page;
        const sr_pdfd_buffer_t *references = apr_hash_get(p->pages, &page, sizeof page);
        sr_pdfd_print(all, "%lld 0 R ", (long long)p->widgets[i].number);
        if (!references) continue; /* the page is already written */
        refer_from_page(p, page, (const char *)references->data, fields_id);
        apr_hash_set(p->pages, &p->widgets[i].page, sizeof page, NULL);
    }
    if (p->tags.tagged)
        sr_pdfd_tags_refer(&p->update, &p->tags, (const char *)p->elements->data, (const char *)p->numbers->data,
                           p->count, p->leaf);
    sr_pdfd_form_refer(&p->update, &p->catalog, p->count ? (const char *)all->data : NULL);
    if (*p->catalog.extensions) sr_pdfd_catalog_put(&p->update, &p->catalog, "");
}

/* Finds out what may be added besides fields: nothing if the document already has signatures. A structure that cannot
 * be read remains unchanged and is not a reason to refuse or to repair the document. */
static const char *prepare_read_document(prepare_t *p, const sr_pdfd_form_t *form)
{
    const char *extensions = form->signatures ? "" : sr_pdfd_catalog_extensions(&p->document, false, p->pool);
    p->catalog = (sr_pdfd_catalog_t){extensions, ""};
    const char *reason = sr_pdfd_document_check(&p->document);
    if (reason || form->signatures || !p->count) return reason;
    sr_pdfd_tags_read(&p->tags, p->document.q);
    if (sr_pdfd_document_check(&p->document)) p->tags = (sr_pdfd_tags_t){.tagged = false};
    qpdf_get_error(p->document.q);
    return NULL;
}

static const char *prepare_read_form(prepare_t *p, sr_pdfd_form_t *form)
{
    const char *reason = sr_pdfd_form_read(form, p->document.q, p->pool);
    if (!reason && p->has_entries && form->signatures) return SIGNED;
    if (!reason && p->has_entries) reason = sr_pdfd_archive_read(&p->update.archival, &p->document, p->pool);
    if (reason || !form->fixed || !p->count) return reason;
    return apr_pstrcat(p->pool, form->fixed, ": only its empty ones can be signed", NULL);
}

static const char *prepare_make_update(prepare_t *p)
{
    sr_pdfd_form_t form;
    const char *reason = prepare_read_form(p, &form);
    if (!reason) reason = prepare_read_document(p, &form);
    if (!reason && p->existing_count) p->signable = sr_pdfd_empty_find(p->document.q, &form, false, p->pool);
    if (!reason && p->has_entries) p->fillable = sr_pdfd_empty_find(p->document.q, &form, true, p->pool);
    if (!reason) reason = check_places(p);
    if (!reason) reason = prepare_add_widgets(p);
    if (reason) return reason;
    add_tags(p);
    repeat_existing(p);
    refer(p);
    return sr_pdfd_update_end(&p->update);
}

bool sr_pdfd_prepare_update(sr_pdfd_buffer_t **update, sr_cipher_t *cipher, const char **reason,
                            const sr_pdfd_bytes_t *document, const sr_pdfd_request_t *request, apr_pool_t *pool)
{
    prepare_t p = {.pool = pool, .pages = apr_hash_make(pool)};
    p.owners = apr_array_make(pool, 4, sizeof(owner_t *));
    if (!read_widgets(&p, request)) return false;
    *reason = sr_pdfd_document_open(&p.document, document, pool);
    if (*reason) return true;
    sr_pdfd_update_begin(&p.update, &p.document, pool);
    *reason = prepare_make_update(&p);
    *update = p.update.out;
    *cipher = p.document.cipher;
    return true;
}

json_t *sr_pdfd_prepare(const sr_pdfd_request_t *request, apr_pool_t *pool)
{
    sr_pdfd_buffer_t *update;
    sr_cipher_t cipher;
    const char *reason;
    if (!sr_pdfd_prepare_update(&update, &cipher, &reason, &request->bytes, request, pool)) return NULL;
    if (reason) return sr_pdfd_document_fault(reason);
    json_t *response = sr_pdfd_result(request, update->data, update->size);
    sr_pdfd_cipher_tell(response, &cipher, pool);
    return response;
}
