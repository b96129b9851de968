/* SPDX-License-Identifier: Apache-2.0 */
/* resolve.c: finds the documents and pages that the signers' fields refer to, and computes their placements. It runs
 * after all signers have been checked, because these errors come last in the contract's error table. */
#include "model/model.h"

#include <apr_hash.h>
#include <string.h>

/* A field may use a document's name decoded or as it was sent. A document whose decoded name matches has precedence.
 * The last attempt is for macOS, which decomposes the letters of file names. */
static const sr_document_t *find_document(const apr_array_header_t *documents, const char *name, apr_pool_t *pool)
{
    int i;
    for (i = 0; i < documents->nelts; i++) {
        const sr_document_t *document = &APR_ARRAY_IDX(documents, i, sr_document_t);
        if (strcmp(document->name, name) == 0) return document;
    }
    for (i = 0; i < documents->nelts; i++) {
        const sr_document_t *document = &APR_ARRAY_IDX(documents, i, sr_document_t);
        if (document->raw && strcmp(document->raw, name) == 0) return document;
    }
    name = sr_text_composed(name, pool);
    for (i = 0; i < documents->nelts; i++) {
        const sr_document_t *document = &APR_ARRAY_IDX(documents, i, sr_document_t);
        if (strcmp(sr_text_composed(document->name, pool), name) == 0) return document;
    }
    return NULL;
}

static sr_error_t *unknown_document(const apr_array_header_t *documents, const char *name, apr_pool_t *pool)
{
    sr_error_t *error = sr_error(pool, SR_EBADREQUEST, "Document %s not found", sr_text_printable(name, pool));
    const char *names = "";
    for (int i = 0; i < documents->nelts; i++)
        names = apr_pstrcat(pool, names, i ? ", " : "", APR_ARRAY_IDX(documents, i, sr_document_t).name, NULL);
    return sr_error_hint(error, pool, "the files are: %s", names);
}

static sr_error_t *resolve_refuse_signed(const sr_document_t *document, apr_pool_t *pool)
{
    return sr_error(pool, SR_EBADREQUEST, "Document %s is signed: only fields of type signature can be added",
                    sr_text_printable(document->name, pool));
}

static sr_error_t *resolve_signable(sr_field_t *field, const sr_document_t *document, apr_pool_t *pool)
{
    const char *name = sr_text_printable(field->existing, pool), *shown = sr_text_printable(document->name, pool);
    const sr_existing_t *existing = sr_existing_find(document->pages->existing, field->existing);
    if (!existing) return sr_error(pool, SR_EBADREQUEST, "Document %s has no signature field %s", shown, name);
    if (existing->fault)
        return sr_error(pool, SR_EBADREQUEST, "Document %s: signature field %s %s", shown, name,
                        sr_existing_sentence(existing->fault));
    field->area = sr_area_of(existing->rect, existing->page, sr_pages_at(document->pages, existing->page));
    return NULL;
}

/* `named` holds the existing fields that other fields refer to already, by document and name. */
static sr_error_t *resolve_existing(const char **fault, sr_field_t *field, const sr_document_t *document,
                                    apr_hash_t *named, apr_pool_t *pool)
{
    const char *key = apr_pstrcat(pool, document->uuid, "/", field->existing, NULL);
    if (field->sent) SR_TRY(sr_field_adopt(fault, field, document, pool));
    else SR_TRY(resolve_signable(field, document, pool));
    if (apr_hash_get(named, key, APR_HASH_KEY_STRING))
        return sr_error(pool, SR_EBADREQUEST, "Document %s: %s %s is named more than once",
                        sr_text_printable(document->name, pool), sr_field_noun(field),
                        sr_text_printable(field->existing, pool));
    apr_hash_set(named, key, APR_HASH_KEY_STRING, field);
    return NULL;
}

static sr_error_t *resolve_no_page(int page, bool from_end, const sr_document_t *document, apr_pool_t *pool)
{
    return sr_error_hint(sr_error(pool, SR_EBADREQUEST, "Index page unknown"), pool,
                         "page %d%s of %s: it has %d, counted from 0", page, from_end ? " from the end" : "",
                         document->name, document->pages->count);
}

static sr_error_t *resolve_page(const sr_page_t **page, sr_field_t *field, const sr_document_t *document,
                                apr_pool_t *pool)
{
    const int given = field->area.page, count = document->pages->count;
    field->placement.page = field->area.from_end ? count - 1 - given : given;
    *page = sr_pages_at(document->pages, field->placement.page);
    return *page ? NULL : resolve_no_page(given, field->area.from_end, document, pool);
}

/* *fault is a fault of the field, or NULL. */
static sr_error_t *resolve_field(const char **fault, sr_field_t *field, const apr_array_header_t *documents,
                                 apr_hash_t *named, apr_pool_t *pool)
{
    const sr_document_t *document = find_document(documents, field->document, pool);
    const sr_page_t *page;
    *fault = NULL;
    if (!document) return unknown_document(documents, field->document, pool);
    if (field->sent && document->pages->signatures) return resolve_refuse_signed(document, pool);
    if (field->existing) SR_TRY(resolve_existing(fault, field, document, named, pool));
    SR_TRY(resolve_page(&page, field, document, pool));
    if (field->entry && document->pages->signatures) return resolve_refuse_signed(document, pool);
    field->document = document->name;
    field->document_uuid = document->uuid;
    sr_area_place(&field->placement, &field->area, page);
    return NULL;
}

/* How much of a page's box an area may leave out before it is remarked on, in points: less than what is shown. */
#define SLACK 0.01
/* The smallest size of an area, as displayed, that is not remarked on, in points. A check box needs no width of a text.
 */
#define SMALL_WIDTH 20
#define SMALL_HEIGHT 8

/* Remarks on an area that may have another unit or another origin than the caller thinks. */
static void remark_area(sr_remarks_t *remarks, int signer, const sr_field_t *field, const sr_page_t *page)
{
    const double *rect = field->placement.rect;
    const int across = page->rotate % 180 ? 1 : 0;
    const int width = field->entry && field->type->widget == SR_WIDGET_CHECKBOX ? SMALL_HEIGHT : SMALL_WIDTH;
    if (rect[across + 2] - rect[across] < width || rect[3 - across] - rect[1 - across] < SMALL_HEIGHT)
        sr_remark(remarks, "Signer %d, Field %d: the area is less than %d points wide or %d points high", signer,
                  field->number, width, SMALL_HEIGHT);
    if (page->rotate && field->area.origin == SR_ORIGIN_USER_SPACE && !json_object_get(field->area_sent, "origin"))
        sr_remark(remarks, "Signer %d, Field %d: page %d is rotated by %d degrees, and the area counts before that",
                  signer, field->number, field->placement.page, page->rotate);
}

static void remark_field(sr_remarks_t *remarks, int signer, const sr_field_t *field,
                         const apr_array_header_t *documents)
{
    const double *rect = field->placement.rect;
    const sr_document_t *document = find_document(documents, field->document, documents->pool);
    const sr_page_t *page = document ? sr_pages_at(document->pages, field->placement.page) : NULL;
    if (!page) return;
    const sr_existing_t *existing =
        field->existing ? sr_existing_find(document->pages->existing, field->existing) : NULL;
    if (existing && existing->seed)
        sr_remark(remarks,
                  "Signer %d, Field %d: the field has preferences for its signature (SV) that are not "
                  "followed",
                  signer, field->number);
    const double *box = page->box;
    const bool outside = rect[2] <= box[0] || rect[0] >= box[2] || rect[3] <= box[1] || rect[1] >= box[3];
    const bool crosses =
        rect[0] < box[0] - SLACK || rect[2] > box[2] + SLACK || rect[1] < box[1] - SLACK || rect[3] > box[3] + SLACK;
    if (outside || crosses)
        sr_remark(remarks, "Signer %d, Field %d: the area lies %soutside of page %d", signer, field->number,
                  outside ? "" : "partly ", field->placement.page);
    if (!field->existing) remark_area(remarks, signer, field, page);
    const int side = page->rotate % 180 ? 0 : 1;
    if (field->caption && *field->caption && sr_caption_line(rect[side + 2] - rect[side]) == 0)
        sr_remark(remarks, "Signer %d, Field %d: the area is too low for a caption", signer, field->number);
}

void sr_signers_remark(sr_remarks_t *remarks, const apr_array_header_t *signers, const apr_array_header_t *documents)
{
    for (int i = 0; i < signers->nelts; i++) {
        const apr_array_header_t *fields = APR_ARRAY_IDX(signers, i, sr_signer_t).fields;
        for (int j = 0; j < fields->nelts; j++)
            remark_field(remarks, i + 1, &APR_ARRAY_IDX(fields, j, sr_field_t), documents);
    }
}

/* Adds a copy of a field, whose value is its own. */
static sr_field_t *resolve_add(apr_array_header_t *fields, const sr_field_t *field, apr_pool_t *pool)
{
    sr_field_t *added = apr_array_push(fields);
    *added = *field;
    if (field->entry) added->entry = apr_pmemdup(pool, field->entry, sizeof *field->entry);
    return added;
}

/* Adds the field once for each page of its document. */
static sr_error_t *add_on_pages(apr_array_header_t *fields, const sr_field_t *field,
                                const apr_array_header_t *documents, int room, const sr_resolving_t *resolving,
                                apr_pool_t *pool)
{
    const sr_document_t *document = find_document(documents, field->document, pool);
    if (!document) return unknown_document(documents, field->document, pool);
    if (document->pages->count > room)
        return sr_error(pool, SR_EBADREQUEST, "At most %d fields can be provided", resolving->max_fields);
    for (int i = 0; i < document->pages->count; i++) {
        sr_field_t *added = resolve_add(fields, field, pool);
        added->on_all_pages = false;
        added->area.page = i;
    }
    return NULL;
}

/* Adds the field once for each place of its anchor. It may be missing, if the field permits it. */
static sr_error_t *add_at_anchor(apr_array_header_t *fields, const sr_field_t *field,
                                 const apr_array_header_t *documents, int room, const sr_resolving_t *resolving,
                                 apr_pool_t *pool)
{
    const sr_document_t *document = find_document(documents, field->document, pool);
    apr_array_header_t *areas;
    json_int_t count;
    if (!document) return unknown_document(documents, field->document, pool);
    if (field->anchor->page >= document->pages->count)
        return resolve_no_page(field->anchor->page, false, document, pool);
    SR_TRY(sr_anchor_areas(&areas, &count, field->anchor, document, pool));
    if (!areas->nelts)
        sr_remark(resolving->remarks, "%s does not have the text \"%s\": the field %s was left out",
                  sr_text_printable(document->name, pool), sr_remark_name(field->anchor->text, pool),
                  sr_remark_name(field->name, pool));
    if (areas->nelts > room || (field->anchor->occurrence == SR_ANCHOR_ALL && count > room))
        return sr_error(pool, SR_EBADREQUEST, "At most %d fields can be provided", resolving->max_fields);
    for (int i = 0; i < areas->nelts; i++) {
        sr_field_t *added = resolve_add(fields, field, pool);
        added->anchor = NULL;
        added->area = APR_ARRAY_IDX(areas, i, sr_area_t);
    }
    return NULL;
}

/* Replaces fields that stand for several by these. `*room`: the number of fields that may be added. */
static sr_error_t *resolve_places(sr_signer_t *signer, const apr_array_header_t *documents, int *room,
                                  const sr_resolving_t *resolving, apr_pool_t *pool)
{
    apr_array_header_t *fields = apr_array_make(pool, signer->fields->nelts, sizeof(sr_field_t));
    for (int i = 0; i < signer->fields->nelts; i++) {
        const sr_field_t *field = &APR_ARRAY_IDX(signer->fields, i, sr_field_t);
        const int before = fields->nelts;
        if (field->anchor) SR_TRY(add_at_anchor(fields, field, documents, *room + 1, resolving, pool));
        else if (field->on_all_pages) SR_TRY(add_on_pages(fields, field, documents, *room + 1, resolving, pool));
        else APR_ARRAY_PUSH(fields, sr_field_t) = *field;
        *room -= fields->nelts - before - 1;
    }
    signer->fields = fields;
    return NULL;
}

static bool seals_document(const sr_signer_t *signer, const char *document)
{
    for (int i = 0; i < signer->fields->nelts; i++) {
        const sr_field_t *field = &APR_ARRAY_IDX(signer->fields, i, sr_field_t);
        if (!field->entry && !strcmp(field->document, document)) return true;
    }
    return false;
}

/* The signature of a signer seals the values of their fields in the same document. */
const sr_field_t *sr_signer_unsealed(const sr_signer_t *signer)
{
    for (int i = 0; i < signer->fields->nelts; i++) {
        const sr_field_t *field = &APR_ARRAY_IDX(signer->fields, i, sr_field_t);
        if (field->entry && !seals_document(signer, field->document)) return field;
    }
    return NULL;
}

static sr_error_t *check_sealed(const sr_signer_t *signer, int number, apr_pool_t *pool)
{
    const sr_field_t *field = sr_signer_unsealed(signer);
    if (!field) return NULL;
    const char *fault = apr_psprintf(pool, SR_UNSEALED, sr_text_printable(field->document, pool));
    return sr_signers_refuse(signer, number, field->number, fault, pool);
}

static int count_fields(const apr_array_header_t *signers)
{
    int count = 0;
    for (int i = 0; i < signers->nelts; i++) count += APR_ARRAY_IDX(signers, i, sr_signer_t).fields->nelts;
    return count;
}

sr_error_t *sr_signers_resolve(apr_array_header_t *signers, const apr_array_header_t *documents,
                               const sr_resolving_t *resolving, apr_pool_t *pool)
{
    apr_hash_t *named = apr_hash_make(pool);
    int room = resolving->max_fields - count_fields(signers);
    for (int i = 0; i < signers->nelts; i++) {
        sr_signer_t *signer = &APR_ARRAY_IDX(signers, i, sr_signer_t);
        const char *fault = NULL;
        const int sent = signer->fields->nelts;
        bool adopts = false;
        SR_TRY(resolve_places(signer, documents, &room, resolving, pool));
        for (int j = 0; j < signer->fields->nelts; j++) {
            sr_field_t *field = &APR_ARRAY_IDX(signer->fields, j, sr_field_t);
            SR_TRY(resolve_field(&fault, field, documents, named, pool));
            if (fault) return sr_signers_refuse(signer, i + 1, field->number, fault, pool);
            adopts |= field->sent != NULL;
        }
        if (adopts || signer->fields->nelts < sent) fault = sr_entries_fault(signer, resolving->draft, pool);
        if (fault) return sr_signers_refuse(signer, i + 1, 0, fault, pool);
        if (!resolving->draft) SR_TRY(check_sealed(signer, i + 1, pool));
    }
    return NULL;
}

bool sr_signers_use_form(const apr_array_header_t *signers, const apr_array_header_t *documents, int index)
{
    for (int i = 0; i < signers->nelts; i++) {
        const apr_array_header_t *fields = APR_ARRAY_IDX(signers, i, sr_signer_t).fields;
        for (int j = 0; j < fields->nelts; j++) {
            const sr_field_t *field = &APR_ARRAY_IDX(fields, j, sr_field_t);
            if (field->sent
                && find_document(documents, field->document, documents->pool)
                       == &APR_ARRAY_IDX(documents, index, sr_document_t))
                return true;
        }
    }
    return false;
}

/* The text of more pages takes too long to read. */
#define MOST_PAGES 500

sr_error_t *sr_signers_anchors(apr_array_header_t *documents, int index, const apr_array_header_t *signers,
                               apr_pool_t *pool)
{
    sr_document_t *document = &APR_ARRAY_IDX(documents, index, sr_document_t);
    for (int i = 0; i < signers->nelts; i++) {
        const apr_array_header_t *fields = APR_ARRAY_IDX(signers, i, sr_signer_t).fields;
        for (int j = 0; j < fields->nelts; j++) {
            const sr_field_t *field = &APR_ARRAY_IDX(fields, j, sr_field_t);
            if (!field->anchor || find_document(documents, field->document, pool) != document) continue;
            if (field->anchor->page == SR_ANCHOR_ANY_PAGE && document->pages->count > MOST_PAGES)
                return sr_error(pool, SR_EBADREQUEST,
                                "Document %s has more than %d pages: an anchor in it needs a page",
                                sr_text_printable(document->name, pool), MOST_PAGES);
            if (!document->anchors.texts)
                document->anchors = (sr_anchors_t){sr_json_own(json_array(), pool), apr_hash_make(pool), NULL};
            sr_anchor_want(document->anchors.texts, document->anchors.numbers, field->anchor, pool);
        }
    }
    return NULL;
}

static apr_size_t entry_size(const sr_entry_t *entry)
{
    const char *value = json_string_value(entry->value);
    apr_size_t size = (value ? strlen(value) : 0) + (entry->group ? strlen(entry->group) : 0);
    for (size_t i = 0; i < json_array_size(entry->options); i++)
        size += json_string_length(json_array_get(entry->options, i))
                + json_string_length(json_array_get(entry->labels, i));
    return size;
}

sr_error_t *sr_signers_check_texts(const char *name, const apr_array_header_t *signers,
                                   const apr_array_header_t *documents, apr_pool_t *pool)
{
    apr_size_t size = strlen(name);
    for (int i = 0; i < documents->nelts; i++) size += strlen(APR_ARRAY_IDX(documents, i, sr_document_t).name);
    for (int i = 0; i < signers->nelts; i++) {
        const sr_signer_t *signer = &APR_ARRAY_IDX(signers, i, sr_signer_t);
        size += strlen(signer->firstname) + strlen(signer->lastname) + (signer->email ? strlen(signer->email) : 0);
        for (int j = 0; j < signer->fields->nelts; j++) {
            const sr_field_t *field = &APR_ARRAY_IDX(signer->fields, j, sr_field_t);
            size += strlen(field->name) + strlen(field->document) + (field->existing ? strlen(field->existing) : 0);
            if (field->entry) size += entry_size(field->entry);
        }
    }
    if (size <= SR_SIGNERS_TEXTS_MAX) return NULL;
    return sr_error(pool, SR_EBADREQUEST, "All names and emails together must have at most %d bytes",
                    SR_SIGNERS_TEXTS_MAX);
}
