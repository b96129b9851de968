/* SPDX-License-Identifier: Apache-2.0 */
/* fill.c: the operation "fill": one incremental update that gives the fields of one signer their appearance and their
 * value. The value of signature fields is one signature dictionary for added and existing fields, with room for the
 * CMS. It locks the entries of the signer (entry.c), which are filled in with it. Pages and form do not change, and the
 * catalog only if the update adds a document security store (dss.c). */
#include "helper/main/pdfd.h"

#include <stdio.h>
#include <string.h>

static const char NO_FIELD[] = "it has no field of this signer";
static const char NOT_EMPTY[] = "a signature field of it that this signer has is not empty";
static const char FILLED[] = "this signer has signed it already";

typedef struct fill_t {
    sr_pdfd_document_t document;
    sr_pdfd_update_t update;
    const char *signer, *name, *reason, *contact, *time; /* reason and contact may be NULL */
    const json_t *existing;       /* a name or null for each place of the signer; NULL if none is an existing field */
    apr_array_header_t *widgets;  /* sr_pdfd_widget_t */
    apr_array_header_t *captions; /* sr_pdfd_mark_t */
    apr_array_header_t *entries;  /* private to entry.c */
    sr_pdfd_mark_t mark, initials;
    const json_t *initialed; /* the places that show the initials, or NULL */
    int64_t signature;
    sr_pdfd_room_t room;
    sr_pdfd_dss_t dss;
    sr_pdfd_catalog_t catalog;
    apr_pool_t *pool;
} fill_t;

static bool is_date(const char *text)
{
    return text && strspn(text, "D:0123456789Z") == strlen(text);
}

static bool read_room(fill_t *fill, const json_t *parameters)
{
    const json_t *room = json_object_get(parameters, "room");
    const json_int_t bytes = room ? json_integer_value(room) : SR_PDF_CONTENTS_BYTES;
    fill->room.bytes = (apr_size_t)bytes;
    return bytes > 0 && bytes <= SR_PDF_CONTENTS_BYTES;
}

static bool read_parameters(fill_t *fill, const sr_pdfd_request_t *request)
{
    const json_t *parameters = request->text;
    fill->signer = sr_json_string(parameters, "signer");
    fill->name = sr_json_string(parameters, "name");
    fill->reason = sr_json_string(parameters, "reason");
    fill->contact = sr_json_string(parameters, "contact");
    fill->time = sr_json_string(parameters, "time");
    fill->existing = json_object_get(parameters, "existing");
    return sr_pdfd_is_signer(fill->signer) && fill->name && is_date(fill->time) && read_room(fill, parameters)
           && sr_pdfd_dss_read(&fill->dss, parameters) && sr_pdfd_entries_read(&fill->entries, request, fill->pool);
}

/* Returns 1 for the field of the signer's first placement, n for "…_n", and 0 for fields of other signers. */
static int read_ordinal(const fill_t *fill, qpdf_oh field)
{
    qpdf_data q = fill->document.q;
    qpdf_oh name = qpdf_oh_get_key(q, field, "/T");
    if (!qpdf_oh_is_name_and_equals(q, qpdf_oh_get_key(q, field, "/FT"), "/Sig")) return 0;
    const char *text = qpdf_oh_is_string(q, name) ? qpdf_oh_get_utf8_value(q, name) : "";
    size_t prefix = sizeof SR_PDFD_FIELD - 1, length = strlen(fill->signer);
    if (strncmp(text, SR_PDFD_FIELD, prefix) != 0 || strncmp(text + prefix, fill->signer, length) != 0) return 0;
    text += prefix + length;
    if (!*text) return 1;
    int ordinal = 0;
    if (*text == '_') sr_text_number(&ordinal, text + 1);
    return ordinal;
}

/* `side`: the sides of the rectangle. */
static const char *add_widget(fill_t *fill, sr_pdfd_widget_t *widget, const double side[4])
{
    widget->width = side[widget->rotate % 180 ? 3 : 2] - side[widget->rotate % 180 ? 1 : 0];
    widget->height = side[widget->rotate % 180 ? 2 : 3] - side[widget->rotate % 180 ? 0 : 1];
    if (!(widget->width > 0 && widget->height > 0)) return SR_PDFD_DAMAGED;
    APR_ARRAY_PUSH(fill->widgets, sr_pdfd_widget_t) = *widget;
    return NULL;
}

/* Returns the position of a field among all places of the signer. Existing fields count too, but are not in the
 * ordinal. */
static int fill_number_of(const fill_t *fill, int ordinal)
{
    const int count = (int)json_array_size(fill->existing);
    int number = 0;
    if (!count) return ordinal;
    for (; number < count && ordinal > 0; number++) {
        const json_t *name = json_array_get(fill->existing, (size_t)number);
        if (json_is_null(name)) ordinal--;
    }
    return number;
}

static const char *fill_add_new(fill_t *fill, qpdf_oh field, int ordinal)
{
    qpdf_data q = fill->document.q;
    sr_pdfd_widget_t widget = {.field = field};
    qpdf_oh rect = qpdf_oh_get_key(q, field, "/Rect"), look = qpdf_oh_get_key(q, field, "/MK");
    double side[4];
    if (qpdf_oh_has_key(q, field, "/V")) return FILLED;
    if (!qpdf_oh_is_array(q, rect) || !qpdf_oh_is_indirect(q, field)) return SR_PDFD_DAMAGED;
    for (int i = 0; i < 4; i++)
        if (!qpdf_oh_get_value_as_number(q, qpdf_oh_get_array_item(q, rect, i), &side[i])) return SR_PDFD_DAMAGED;
    if (qpdf_oh_is_dictionary(q, look)) qpdf_oh_get_value_as_int(q, qpdf_oh_get_key(q, look, "/R"), &widget.rotate);
    widget.number = fill_number_of(fill, ordinal);
    return add_widget(fill, &widget, side);
}

/* Adds the existing fields. Their signature is upright on the displayed page, whatever /MK contains. */
static const char *find_existing(fill_t *fill)
{
    sr_pdfd_form_t form;
    if (!json_array_size(fill->existing)) return NULL;
    const char *reason = sr_pdfd_form_read(&form, fill->document.q, fill->pool);
    if (reason) return reason;
    const apr_array_header_t *fields = sr_pdfd_empty_find(fill->document.q, &form, false, fill->pool);
    for (size_t i = 0; !reason && i < json_array_size(fill->existing); i++) {
        const char *name = json_string_value(json_array_get(fill->existing, i));
        if (!name) continue; /* a field that was added */
        const sr_pdfd_empty_t *empty = sr_pdfd_empty_named(fields, name);
        if (!empty) return NOT_EMPTY;
        sr_pdfd_widget_t widget = {.field = empty->object, .rotate = empty->rotate, .number = (int)i + 1};
        reason = add_widget(fill, &widget, empty->field.rect);
    }
    return reason;
}

static const char *find_widgets(fill_t *fill)
{
    qpdf_data q = fill->document.q;
    const char *reason = find_existing(fill);
    qpdf_oh form = qpdf_oh_get_key(q, qpdf_get_root(q), "/AcroForm");
    qpdf_oh fields = qpdf_oh_is_dictionary(q, form) ? qpdf_oh_get_key(q, form, "/Fields") : form;
    int count = sr_pdfd_items(q, fields);
    bool has_signature = fill->widgets->nelts > 0;
    for (int i = 0; !reason && i < count; i++) {
        qpdf_oh field = qpdf_oh_get_array_item(q, fields, i);
        int ordinal = qpdf_oh_is_dictionary(q, field) ? read_ordinal(fill, field) : 0;
        if (ordinal > 0) reason = fill_add_new(fill, field, ordinal);
        else qpdf_oh_release(q, field);
        has_signature |= ordinal == 1;
    }
    return reason || has_signature ? reason : NO_FIELD;
}

static void rewrite_widget(fill_t *fill, const sr_pdfd_widget_t *widget, int64_t appearance)
{
    qpdf_data q = fill->document.q;
    const char *more = apr_psprintf(fill->pool, "/AP<</N %" APR_INT64_T_FMT " 0 R>>/V %" APR_INT64_T_FMT " 0 R",
                                    appearance, fill->signature);
    qpdf_oh_remove_key(q, widget->field, "/AP");
    sr_pdfd_object_again(&fill->update, widget->field, sr_pdfd_spliced(q, widget->field, more, fill->pool));
}

static void put_signature(fill_t *fill)
{
    sr_pdfd_buffer_t *out = fill->update.out;
    sr_pdfd_object_begin(&fill->update, fill->signature, 0);
    sr_pdfd_put_text(out, "<</Type/Sig/Filter/Adobe.PPKLite/SubFilter/ETSI.CAdES.detached/Name");
    sr_pdfd_put_string(out, fill->name);
    if (fill->reason) {
        sr_pdfd_put_text(out, "/Reason");
        sr_pdfd_put_string(out, fill->reason);
    }
    if (fill->contact) {
        sr_pdfd_put_text(out, "/ContactInfo");
        sr_pdfd_put_string(out, fill->contact);
    }
    sr_pdfd_print(out, "/M(%s)", fill->time);
    sr_pdfd_entries_refer(out, fill->entries);
    sr_pdfd_room_put(&fill->room, &fill->update);
}

/* Adds what the widgets show. */
static const char *fill_put_marks(fill_t *fill, const json_t *parameters)
{
    const json_t *initials = json_object_get(parameters, "initials");
    const char *reason = sr_pdfd_mark(&fill->mark, &fill->update, parameters);
    if (!reason && initials) reason = sr_pdfd_mark(&fill->initials, &fill->update, initials);
    fill->initialed = json_object_get(initials, "places");
    return reason ? reason : sr_pdfd_captions(&fill->captions, &fill->update, parameters);
}

static const sr_pdfd_mark_t *fill_mark_of(const fill_t *fill, const sr_pdfd_widget_t *widget)
{
    for (size_t i = 0; i < json_array_size(fill->initialed); i++)
        if (json_integer_value(json_array_get(fill->initialed, i)) == widget->number) return &fill->initials;
    return &fill->mark;
}

static const char *fill_put_all(fill_t *fill, const json_t *parameters)
{
    int64_t warning = json_is_true(json_object_get(parameters, "test")) ? sr_pdfd_test_form(&fill->update) : 0;
    for (int i = 0; i < fill->widgets->nelts; i++) {
        const sr_pdfd_widget_t *widget = &APR_ARRAY_IDX(fill->widgets, i, sr_pdfd_widget_t);
        const sr_pdfd_mark_t *caption = sr_pdfd_caption_of(fill->captions, widget, parameters);
        const sr_pdfd_mark_t *mark = fill_mark_of(fill, widget);
        rewrite_widget(fill, widget, sr_pdfd_appearance(&fill->update, widget, mark, warning, caption));
    }
    sr_pdfd_entries_fill(&fill->update, fill->entries);
    put_signature(fill);
    if (*fill->catalog.dss) sr_pdfd_catalog_put(&fill->update, &fill->catalog, "");
    const char *reason = sr_pdfd_update_end(&fill->update);
    sr_pdfd_room_end(&fill->room, &fill->update);
    return reason;
}

json_t *sr_pdfd_fill(const sr_pdfd_request_t *request, apr_pool_t *pool)
{
    fill_t fill = {.pool = pool, .catalog = {"", ""}};
    fill.widgets = apr_array_make(pool, 4, sizeof(sr_pdfd_widget_t));
    if (!read_parameters(&fill, request)) return NULL;
    bool archival = false;
    const char *reason = sr_pdfd_document_open(&fill.document, &request->bytes, pool);
    if (!reason) reason = sr_pdfd_archive_read(&archival, &fill.document, pool);
    if (!reason) reason = find_widgets(&fill);
    if (!reason) reason = sr_pdfd_entries_find(fill.entries, fill.document.q, pool);
    if (reason) return sr_pdfd_document_fault(reason);

    sr_pdfd_update_begin(&fill.update, &fill.document, pool);
    fill.update.archival = archival;
    fill.signature = fill.update.signature = sr_pdfd_object_number(&fill.update);
    reason = sr_pdfd_dss_put(&fill.dss, &fill.update, &fill.catalog);
    if (reason) return sr_pdfd_document_fault(reason);
    reason = fill_put_marks(&fill, request->text);
    if (reason) return sr_pdfd_fault(SR_PDF_FAULT_SIGNATURE, reason);
    reason = fill_put_all(&fill, request->text);
    if (reason) return sr_pdfd_document_fault(reason);
    json_t *response = sr_pdfd_result(request, fill.update.out->data, fill.update.out->size);
    json_object_set_new(response, "contents", json_integer((json_int_t)fill.room.contents));
    sr_pdfd_cipher_tell(response, &fill.document.cipher, pool);
    return response;
}
