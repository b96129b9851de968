/* SPDX-License-Identifier: Apache-2.0 */
/* entry.c: checks the parts of an update that belong to a form field that a signer fills in: its name, and the objects
 * of its appearance, which must have the content that this process has sent (src/helper/main/fields/entry.c). */
#include "helper/check/appended.h"

#include <math.h>
#include <string.h>

#define SCALE 10000
#define FARTHEST 1e9 /* the limit of sr_pdfd_put_number */
#define MAX_NUMBER 9 /* digits after a name */

bool sr_pdf_take_decimal(sr_pdf_span_t *left, double wanted)
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

bool sr_pdf_take_entry_name(sr_pdf_span_t *left, const sr_pdf_entry_t *entry, apr_pool_t *pool)
{
    const char *whole = sr_pdf_string(sr_pdf_entry_name(entry, pool), pool), *end = strchr(whole, '\0') - 1;
    const bool wide = *whole == '<';
    if (!sr_pdf_take_text(left, apr_pstrmemdup(pool, whole, (apr_size_t)(end - whole)))) return false;
    if (sr_pdf_take_text(left, end)) return true;
    if (!sr_pdf_take_text(left, wide ? "005F" : "_")) return false;
    int digits = 0;
    for (; digits < MAX_NUMBER && !sr_pdf_span_begins(left, end); digits++) {
        if (wide && !sr_pdf_take_text(left, "003")) return false;
        if (left->at == left->end || *left->at < '0' || *left->at > '9') return false;
        left->at++;
    }
    return digits && sr_pdf_take_text(left, end);
}

static bool entry_take_numbers(sr_pdf_span_t *left, const double *wanted, int count)
{
    for (int i = 0; i < count; i++)
        if (!sr_pdf_take_decimal(left, wanted[i])) return false;
    return true;
}

bool sr_pdf_entry_is_shown(const sr_pdf_field_t *field, const sr_pdf_object_t *object, apr_pool_t *pool)
{
    sr_pdf_content_t content;
    sr_pdf_span_t left = object->body;
    double box[4] = {0}, matrix[6];
    sr_pdf_entry_size(&box[2], &box[3], field->rect, field->entry->rotate);
    sr_pdf_upright(matrix, box[2], box[3], field->entry->rotate);
    if (!sr_pdf_content_read(&content, field->entry->content, pool)) return false;
    if (!object->is_stream || object->generation || !sr_pdf_take_text(&left, "<</Type/XObject/Subtype/Form/BBox["))
        return false;
    if (!entry_take_numbers(&left, box, 4) || !sr_pdf_take_text(&left, "]/Matrix[")) return false;
    if (!entry_take_numbers(&left, matrix, 6) || !sr_pdf_take_text(&left, "]/Resources")) return false;
    if (!sr_pdf_take_text(&left, SR_PDF_CAPTION_RESOURCES) && !sr_pdf_take_text(&left, SR_PDF_CAPTION_ARCHIVAL))
        return false;
    const char *end =
        apr_psprintf(pool, "%s/Length %" APR_SIZE_T_FMT ">>", content.packed ? SR_PDF_PACKED : "", content.size);
    return sr_pdf_span_is(&left, end) && (apr_size_t)(object->data.end - object->data.at) == content.size
           && !memcmp(object->data.at, content.data, content.size);
}

bool sr_pdf_entry_is_set(const sr_pdf_field_t *field, const sr_pdf_object_t *object, apr_int64_t look, apr_int64_t off,
                         apr_pool_t *pool)
{
    static const char *const keys[] = {"/Ff", "/V", "/AS", "/AP"};
    const char *end = apr_pstrcat(pool, sr_pdf_entry_value(field->entry, pool),
                                  sr_pdf_entry_appearance(field->entry, look, off, pool), ">>", NULL);
    sr_pdf_span_t rect, value;
    apr_int64_t flags;
    if (object->is_stream || sr_pdf_find_entry(&value, &object->body, "/Kids")
        || !sr_pdf_find_entry(&rect, &object->body, "/Rect"))
        return false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (sr_pdf_find_entry(&value, &object->body, keys[i]) && value.at < rect.at) return false;
    sr_pdf_span_t left = {rect.at, object->body.end};
    if (!sr_pdf_take_text(&left, "[")) return false;
    for (int i = 0; i < 4; i++)
        if (!sr_pdf_take_decimal(&left, field->rect[i])) return false;
    if (!sr_pdf_take_text(&left, "]/Ff ") || !sr_pdf_take_number(&left, &flags) || !(flags & 1)) return false;
    return sr_pdf_span_is(&left, end);
}

/* ---------------------------------------------------------------------------------------------------------- filled */

/* `index` is that of the object of the first added or existing field. */
static void entry_add(apr_array_header_t *entries, const sr_pdf_appended_t *prepared, const char *signer,
                      const apr_array_header_t *fields, bool existing, int index)
{
    const apr_array_header_t *objects = prepared->objects;
    for (int i = 0; i < fields->nelts; i++) {
        const sr_pdf_field_t *field = &APR_ARRAY_IDX(fields, i, sr_pdf_field_t);
        if ((field->existing != NULL) != existing) continue;
        const sr_pdf_object_t *before = &APR_ARRAY_IDX(objects, index, sr_pdf_object_t);
        index += sr_pdf_existing_objects(field);
        if (index > objects->nelts) before = NULL;
        if (!field->entry || strcmp(field->signer, signer) != 0) continue;
        APR_ARRAY_PUSH(entries, sr_pdf_own_entry_t) = (sr_pdf_own_entry_t){field, before};
    }
}

const apr_array_header_t *sr_pdf_entries_of(const sr_pdf_appended_t *prepared, const char *signer,
                                            const apr_array_header_t *fields, apr_pool_t *pool)
{
    apr_array_header_t *entries = apr_array_make(pool, 4, sizeof(sr_pdf_own_entry_t));
    if (!fields) return entries;
    entry_add(entries, prepared, signer, fields, false, 1); /* the first object is the empty appearance */
    entry_add(entries, prepared, signer, fields, true, sr_pdf_existing_begin(prepared, fields));
    return entries;
}

bool sr_pdf_entry_is_filled(apr_int64_t *look, const sr_pdf_own_entry_t *entry, const sr_pdf_object_t *object,
                            apr_int64_t off, apr_pool_t *pool)
{
    const sr_pdf_object_t *before = entry->before;
    const sr_pdf_entry_t *wanted = entry->field->entry;
    const bool is_box = wanted->kind == SR_PDF_ENTRY_CHECKBOX;
    sr_pdf_span_t left = object->body, value;
    if (object->is_stream || object->generation != before->generation) return false;
    if (!sr_pdf_find_entry(&value, &before->body, "/V")) return false;
    const char *from = before->body.at, *same = apr_pstrmemdup(pool, from, (apr_size_t)(value.at - from));
    const char *now = sr_pdf_entry_value(wanted, pool);
    if (!sr_pdf_take_text(&left, same) || !sr_pdf_take_text(&left, now + strlen("/V"))) return false;
    sr_pdf_span_t number = left;
    if (!sr_pdf_take_text(&number, is_box ? "/AP<</N<</On " : "/AP<</N ") || !sr_pdf_take_number(&number, look))
        return false;
    return sr_pdf_span_is(&left, apr_pstrcat(pool, sr_pdf_entry_appearance(wanted, *look, off, pool), ">>", NULL));
}
