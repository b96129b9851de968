/* SPDX-License-Identifier: Apache-2.0 */
/* entry.c: the appearance of a form field that a signer fills in (ISO 32000-2, 12.5.5), and its new value. The content
 * of the appearance was drawn by a worker that has read no document, and is copied verbatim. */
#include "helper/main/pdfd.h"

#include <string.h>

static const char NO_ENTRY[] = "it has no field of this signer";

/* The keys of a prepared field between its name and its value, in their order. */
static const char *const KEYS[] = {"/TU",  "/StructParent", "/FT", "/Ff",   "/MaxLen",
                                   "/Opt", "/DA",           "/P",  "/Rect", "/MK"};
#define KEY_COUNT (sizeof KEYS / sizeof *KEYS)

#define READ_ONLY 1
#define RICH_TEXT (1 << 25)

void sr_pdfd_entry_put(sr_pdfd_update_t *update, const sr_pdfd_entry_t *entry, const sr_pdfd_widget_t *widget,
                       int64_t number)
{
    sr_pdfd_buffer_t *keys = sr_pdfd_buffer(update->pool);
    sr_pdfd_put_form(keys, widget);
    sr_pdfd_print(keys, "/Resources%s%s", update->archival ? SR_PDF_CAPTION_ARCHIVAL : SR_PDF_CAPTION_RESOURCES,
                  entry->content.packed ? SR_PDF_PACKED : "");
    sr_pdfd_stream_packed(update, number, (const char *)keys->data, entry->content.data, entry->content.size);
}

/* The keys that this service writes come last, so that httpd finds them without reading the others. */
void sr_pdfd_entry_again(sr_pdfd_update_t *update, const sr_pdf_entry_t *entry, qpdf_oh field, const double rect[4],
                         int flags, int64_t look, int64_t off)
{
    static const char *const keys[] = {"/Rect", "/Ff", "/V", "/AS", "/AP", "/RV", "/I"};
    qpdf_data q = update->document->q;
    sr_pdfd_buffer_t *more = sr_pdfd_buffer(update->pool);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) qpdf_oh_remove_key(q, field, keys[i]);
    sr_pdfd_put_text(more, "/Rect[");
    sr_pdfd_put_numbers(more, rect, 4);
    sr_pdfd_print(more, "]/Ff %d%s%s", (flags | READ_ONLY) & ~RICH_TEXT, sr_pdf_entry_value(entry, update->pool),
                  sr_pdf_entry_appearance(entry, look, off, update->pool));
    sr_pdfd_object_again(update, field, sr_pdfd_spliced(q, field, (const char *)more->data, update->pool));
}

/* ----------------------------------------------------------------------------------------------------------- filling
 */

typedef struct filled_t {
    sr_pdfd_entry_t entry;
    int number, generation; /* of the field */
    const char *existing;   /* the name of a field of the document, or NULL */
    qpdf_oh field;
    const char *name;
    double rect[4];
    sr_pdfd_widget_t widget;
    int64_t off;
} filled_t;

static const char *entry_find(filled_t *filled, qpdf_data q, apr_pool_t *pool)
{
    filled->field = qpdf_get_object_by_id(q, filled->number, filled->generation);
    if (!qpdf_oh_is_dictionary(q, filled->field)) return NO_ENTRY;
    if (filled->entry.entry.kind == SR_PDF_ENTRY_RADIO) {
        filled->name = filled->existing;
        return filled->existing ? NULL : NO_ENTRY;
    }
    qpdf_oh name = qpdf_oh_get_key(q, filled->field, "/T"), rect = qpdf_oh_get_key(q, filled->field, "/Rect");
    qpdf_oh turn = qpdf_oh_get_key(q, filled->field, "/MK"), look = qpdf_oh_get_key(q, filled->field, "/AP");
    if (!qpdf_oh_is_string(q, name) || sr_pdfd_items(q, rect) != 4 || !qpdf_oh_is_dictionary(q, look)) return NO_ENTRY;
    for (int i = 0; i < 4; i++)
        if (!qpdf_oh_get_value_as_number(q, qpdf_oh_get_array_item(q, rect, i), &filled->rect[i])) return NO_ENTRY;
    filled->name = filled->existing ? filled->existing : apr_pstrdup(pool, qpdf_oh_get_utf8_value(q, name));
    if (filled->existing) filled->widget.rotate = filled->entry.entry.rotate;
    else if (qpdf_oh_is_dictionary(q, turn))
        qpdf_oh_get_value_as_int(q, qpdf_oh_get_key(q, turn, "/R"), &filled->widget.rotate);
    sr_pdf_entry_size(&filled->widget.width, &filled->widget.height, filled->rect, filled->widget.rotate);
    qpdf_oh states = qpdf_oh_get_key(q, look, "/N");
    if (filled->entry.entry.kind == SR_PDF_ENTRY_CHECKBOX && qpdf_oh_is_dictionary(q, states))
        filled->off = qpdf_oh_get_object_id(q, qpdf_oh_get_key(q, states, "/Off"));
    return NULL;
}

bool sr_pdfd_entries_read(apr_array_header_t **entries, const sr_pdfd_request_t *request, apr_pool_t *pool)
{
    const json_t *list = json_object_get(request->text, "entries");
    sr_pdf_contents_t left = request->contents;
    *entries = apr_array_make(pool, (int)json_array_size(list), sizeof(filled_t));
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i), *object = json_object_get(one, "object");
        const json_int_t number = json_integer_value(object);
        filled_t *filled = apr_array_push(*entries);
        memset(filled, 0, sizeof *filled);
        if (number < 1 || number > SR_PDFD_MAX_OBJECT) return false;
        filled->number = (int)number;
        filled->generation = (int)json_integer_value(json_object_get(one, "generation"));
        filled->existing = sr_json_string(one, "existing");
        if (!sr_pdf_entry_read(&filled->entry.entry, &filled->entry.content, &left, one, pool)) return false;
    }
    return true;
}

const char *sr_pdfd_entries_find(const apr_array_header_t *entries, qpdf_data q, apr_pool_t *pool)
{
    const char *reason = NULL;
    for (int i = 0; !reason && i < entries->nelts; i++)
        reason = entry_find(&APR_ARRAY_IDX(entries, i, filled_t), q, pool);
    return reason;
}

/* Writes a value as prepare.c does. */
// NOLINTNEXTLINE(misc-no-recursion): values of a prepared field are not nested any deeper
static void entry_put_value(sr_pdfd_buffer_t *out, qpdf_data q, qpdf_oh value, bool is_item)
{
    double number;
    if (qpdf_oh_is_indirect(q, value))
        sr_pdfd_print(out, " %d %d R", qpdf_oh_get_object_id(q, value), qpdf_oh_get_generation(q, value));
    else if (qpdf_oh_is_name(q, value)) sr_pdfd_put_text(out, qpdf_oh_get_name(q, value));
    else if (qpdf_oh_is_string(q, value)) sr_pdfd_put_string(out, qpdf_oh_get_utf8_value(q, value));
    else if (is_item && qpdf_oh_get_value_as_number(q, value, &number)) sr_pdfd_put_number(out, number);
    else if (qpdf_oh_is_integer(q, value)) sr_pdfd_print(out, " %lld", qpdf_oh_get_int_value(q, value));
    else if (qpdf_oh_is_dictionary(q, value)) {
        sr_pdfd_put_text(out, "<</R");
        if (!is_item) entry_put_value(out, q, qpdf_oh_get_key(q, value, "/R"), false);
        sr_pdfd_put_text(out, ">>");
    } else if (!is_item) {
        sr_pdfd_put_text(out, "[");
        for (int i = 0; i < sr_pdfd_items(q, value); i++)
            entry_put_value(out, q, qpdf_oh_get_array_item(q, value, i), true);
        sr_pdfd_put_text(out, "]");
    }
}

void sr_pdfd_entries_fill(sr_pdfd_update_t *update, const apr_array_header_t *entries)
{
    qpdf_data q = update->document->q;
    sr_pdfd_buffer_t *out = update->out;
    for (int i = 0; i < entries->nelts; i++) {
        const filled_t *filled = &APR_ARRAY_IDX(entries, i, filled_t);
        const sr_pdf_entry_t *entry = &filled->entry.entry;
        int flags = 0;
        qpdf_oh_get_value_as_int(q, qpdf_oh_get_key(q, filled->field, "/Ff"), &flags);
        if (entry->kind == SR_PDF_ENTRY_RADIO) {
            sr_pdfd_radio_again(update, entry, filled->field, flags, 0);
            continue;
        }
        const int64_t look = sr_pdfd_object_number(update);
        sr_pdfd_entry_put(update, &filled->entry, &filled->widget, look);
        if (filled->existing) {
            sr_pdfd_entry_again(update, entry, filled->field, filled->rect, flags, look, filled->off);
            continue;
        }
        sr_pdfd_object_begin(update, filled->number, 0);
        sr_pdfd_put_text(out, SR_PDF_WIDGET);
        sr_pdfd_put_string(out, filled->name);
        for (size_t j = 0; j < KEY_COUNT; j++) {
            if (!qpdf_oh_has_key(q, filled->field, KEYS[j])) continue;
            sr_pdfd_put_text(out, KEYS[j]);
            entry_put_value(out, q, qpdf_oh_get_key(q, filled->field, KEYS[j]), false);
        }
        sr_pdfd_print(out, "%s%s>>", sr_pdf_entry_value(entry, update->pool),
                      sr_pdf_entry_appearance(entry, look, filled->off, update->pool));
        sr_pdfd_object_end(update);
    }
}

void sr_pdfd_entries_refer(sr_pdfd_buffer_t *out, const apr_array_header_t *entries)
{
    if (!entries->nelts) return;
    sr_pdfd_put_text(out, SR_PDF_REFERENCE);
    for (int i = 0; i < entries->nelts; i++) sr_pdfd_put_string(out, APR_ARRAY_IDX(entries, i, filled_t).name);
    sr_pdfd_put_text(out, SR_PDF_REFERENCE_END);
}
