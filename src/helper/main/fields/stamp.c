/* SPDX-License-Identifier: Apache-2.0 */
/* stamp.c: the operation "archive": one incremental update with proofs (dss.c) and a document timestamp, which covers
 * everything before it (ISO 32000-2, 12.8.5). Its field is invisible and among no page's annotations, and validators
 * permit that it is added after signatures. Two workers make this update, and the client compares the bytes. */
#include "helper/main/pdfd.h"

#include <string.h>

#define MAX_DEPTH 64

static const char NO_FORM[] = "it has no form";
static const char TAKEN[] = "it has a field of this name already";

typedef struct stamp_t {
    sr_pdfd_document_t document;
    sr_pdfd_update_t update;
    const char *id;
    int64_t timestamp, field; /* object numbers */
    sr_pdfd_room_t room;
    sr_pdfd_dss_t dss;
    sr_pdfd_catalog_t catalog;
} stamp_t;

/* Returns true if a field of the form has the name of the new one. */
static bool is_taken(const stamp_t *stamp, qpdf_oh fields)
{
    qpdf_data q = stamp->document.q;
    const int count = sr_pdfd_items(q, fields);
    const char *name = apr_pstrcat(stamp->update.pool, "Timestamp_", stamp->id, NULL);
    bool taken = false;
    for (int i = 0; !taken && i < count; i++) {
        qpdf_oh field = qpdf_oh_get_array_item(q, fields, i);
        qpdf_oh own = qpdf_oh_is_dictionary(q, field) ? qpdf_oh_get_key(q, field, "/T") : field;
        taken = qpdf_oh_is_string(q, own) && !strcmp(qpdf_oh_get_utf8_value(q, own), name);
        qpdf_oh_release(q, field);
    }
    return taken;
}

static const char *check_form(const stamp_t *stamp)
{
    qpdf_data q = stamp->document.q;
    qpdf_oh form = qpdf_oh_get_key(q, qpdf_get_root(q), "/AcroForm");
    if (!qpdf_oh_is_dictionary(q, form)) return NO_FORM;
    return is_taken(stamp, qpdf_oh_get_key(q, form, "/Fields")) ? TAKEN : NULL;
}

/* Returns the first page, or the last node on the way to it. */
static qpdf_oh first_page(qpdf_data q)
{
    qpdf_oh node = qpdf_oh_get_key(q, qpdf_get_root(q), "/Pages");
    for (int depth = 0; depth < MAX_DEPTH && qpdf_oh_is_dictionary(q, node); depth++) {
        qpdf_oh kids = qpdf_oh_get_key(q, node, "/Kids");
        if (sr_pdfd_items(q, kids) < 1) break;
        node = qpdf_oh_get_array_item(q, kids, 0);
    }
    return node;
}

static void put_timestamp(stamp_t *stamp)
{
    sr_pdfd_buffer_t *out = stamp->update.out;
    sr_pdfd_object_begin(&stamp->update, stamp->timestamp, 0);
    sr_pdfd_put_text(out, SR_PDF_STAMP);
    stamp->room.bytes = SR_PDF_CONTENTS_BYTES;
    sr_pdfd_room_put(&stamp->room, &stamp->update);
    sr_pdfd_object_begin(&stamp->update, stamp->field, 0);
    sr_pdfd_print(out, SR_PDF_STAMP_BEGIN "%s" SR_PDF_STAMP_END "%lld 0 R", stamp->id, (long long)stamp->timestamp);
    qpdf_data q = stamp->document.q;
    qpdf_oh page = first_page(q);
    if (qpdf_oh_is_name_and_equals(q, qpdf_oh_get_key(q, page, "/Type"), "/Page") && qpdf_oh_is_indirect(q, page))
        sr_pdfd_print(out, SR_PDF_STAMP_PAGE "%d %d R", qpdf_oh_get_object_id(q, page),
                      qpdf_oh_get_generation(q, page));
    sr_pdfd_put_text(out, ">>");
    sr_pdfd_object_end(&stamp->update);
}

static const char *stamp_make_update(stamp_t *stamp)
{
    sr_pdfd_update_t *update = &stamp->update;
    const char *reason = check_form(stamp);
    if (reason) return reason;
    stamp->timestamp = update->signature = sr_pdfd_object_number(update);
    stamp->field = sr_pdfd_object_number(update);
    reason = sr_pdfd_dss_put(&stamp->dss, update, &stamp->catalog);
    if (reason) return reason;
    put_timestamp(stamp);
    sr_pdfd_form_refer(update, &stamp->catalog, apr_psprintf(update->pool, "%" APR_INT64_T_FMT " 0 R ", stamp->field));
    if (*stamp->catalog.dss) sr_pdfd_catalog_put(update, &stamp->catalog, "");
    reason = sr_pdfd_update_end(update);
    sr_pdfd_room_end(&stamp->room, update);
    return reason;
}

json_t *sr_pdfd_stamp(const sr_pdfd_request_t *request, apr_pool_t *pool)
{
    stamp_t stamp = {.id = sr_json_string(request->text, "id"), .catalog = {"", ""}};
    if (!sr_pdfd_is_signer(stamp.id) || !sr_pdfd_dss_read(&stamp.dss, request->text)) return NULL;
    const char *reason = sr_pdfd_document_open(&stamp.document, &request->bytes, pool);
    if (reason) return sr_pdfd_document_fault(reason);
    sr_pdfd_update_begin(&stamp.update, &stamp.document, pool);
    reason = stamp_make_update(&stamp);
    if (reason) return sr_pdfd_document_fault(reason);
    json_t *response = sr_pdfd_result(request, stamp.update.out->data, stamp.update.out->size);
    json_object_set_new(response, "contents", json_integer((json_int_t)stamp.room.contents));
    sr_pdfd_cipher_tell(response, &stamp.document.cipher, pool);
    return response;
}
