/* SPDX-License-Identifier: Apache-2.0 */
/* existing.c: how a prepared update repeats the existing fields that are to be signed or filled in, after the new
 * objects and before all others, in the order in which the fields were requested. Signature fields are unchanged. Only
 * the document can show that it is the field of that name at that place, so a second worker confirms this (confirm.c).
 */
#include "helper/check/appended.h"

static bool existing_has(const sr_pdf_object_t *object, const char *key)
{
    sr_pdf_span_t value;
    return sr_pdf_find_entry(&value, &object->body, key);
}

const sr_pdf_object_t *sr_pdf_existing_at(const sr_pdf_appended_t *prepared, int index)
{
    if (index >= prepared->objects->nelts) return NULL;
    const sr_pdf_object_t *object = &APR_ARRAY_IDX(prepared->objects, index, sr_pdf_object_t);
    const bool is_widget = !object->is_stream && existing_has(object, "/Rect");
    return is_widget && !existing_has(object, "/V") && !existing_has(object, "/Kids") ? object : NULL;
}

bool sr_pdf_existing_adds(const sr_pdf_field_t *field)
{
    return !field->existing || field->entry;
}

int sr_pdf_existing_objects(const sr_pdf_field_t *field)
{
    return field->entry && field->entry->kind == SR_PDF_ENTRY_RADIO ? 1 + field->entry->buttons->nelts : 1;
}

int sr_pdf_existing_begin(const sr_pdf_appended_t *prepared, const apr_array_header_t *fields)
{
    const apr_array_header_t *objects = prepared->objects;
    int index = 0;
    bool adds = false;
    for (int i = 0; i < fields->nelts; i++) adds |= sr_pdf_existing_adds(&APR_ARRAY_IDX(fields, i, sr_pdf_field_t));
    if (!adds || !objects->nelts) return 0;
    const apr_int64_t first = APR_ARRAY_IDX(objects, 0, sr_pdf_object_t).number; /* the lowest number of a new object */
    while (index < objects->nelts && APR_ARRAY_IDX(objects, index, sr_pdf_object_t).number >= first) index++;
    return index;
}
