/* SPDX-License-Identifier: Apache-2.0 */
/* normalise.c: the operation "normalise": a document is rewritten from what qpdf could read. Damage is repaired, pages
 * get copies of inherited attributes, signature fields are merged with their widgets, and the fields that a form leaves
 * to readers are drawn. Afterwards the document can be continued. This is done once, at upload, and never for a
 * document with signatures. Its pages must look the same as before (compare.c). */
#include "helper/main/rewrite/drawform.h"
#include "helper/main/pdfd.h"

#include <stdlib.h>
#include <string.h>

static const char UNRECOVERABLE[] = "it is damaged beyond repair";
static const char SIGNED[] = "it is signed already and damaged: repairing it would break its signatures";
static const char UNDRAWABLE[] = "its form leaves its fields to be drawn, and they cannot be";

/* Returns why a document cannot be opened or written. */
static const char *normalise_why(qpdf_data q)
{
    qpdf_error error = qpdf_get_error(q);
    const char *text = error ? qpdf_get_error_message_detail(q, error) : "";
    if (error && qpdf_get_error_code(q, error) == qpdf_e_password) return SR_PDFD_ENCRYPTED;
    return strstr(text, SR_PDFD_NO_MEMORY_TEXT) ? SR_PDF_LIMITS_REASON : UNRECOVERABLE;
}

static const char *read_again(qpdf_data q, const sr_pdfd_bytes_t *bytes, sr_pdfd_form_t *form, apr_pool_t *pool)
{
    *form = (sr_pdfd_form_t){0};
    if (qpdf_read_memory(q, "document", (const char *)bytes->data, bytes->size, NULL) & QPDF_ERRORS)
        return normalise_why(q);
    if (qpdf_is_encrypted(q)) return SR_PDFD_ENCRYPTED;
    if (!qpdf_oh_is_dictionary(q, qpdf_get_root(q))) return UNRECOVERABLE;
    const char *reason = sr_pdfd_form_read(form, q, pool);
    if (reason) return reason;
    if (form->signatures) return SIGNED;
    sr_pdfd_pages_unshare(q, pool);
    sr_pdfd_fields_merge(q, pool);
    sr_pdfd_usage_rights(q, true);
    if (qpdf_get_num_pages(q) < 1 || qpdf_has_error(q)) return UNRECOVERABLE; /* this call repairs the page tree */
    sr_pdfd_pages_stray(q, true);
    return NULL;
}

static const char *normalise_write_again(qpdf_data q)
{
    qpdf_oh trailer = qpdf_get_trailer(q); /* qpdf writes the right /Size, but only if there was one */
    if (!qpdf_oh_has_key(q, trailer, "/Size")) qpdf_oh_replace_key(q, trailer, "/Size", qpdf_oh_new_integer(q, 1));
    qpdf_update_all_pages_cache(q);
    qpdf_push_inherited_attributes_to_page(q);
    if (qpdf_init_write_memory(q) & QPDF_ERRORS) return normalise_why(q);
    qpdf_set_deterministic_ID(q, QPDF_TRUE); /* the same upload then gives the same document, which is stored once */
    qpdf_set_object_stream_mode(q, qpdf_o_preserve);
    qpdf_set_stream_data_mode(q, qpdf_s_preserve);
    return qpdf_write(q) & QPDF_ERRORS ? normalise_why(q) : NULL;
}

static apr_status_t normalise_release(void *data)
{
    free(data);
    return APR_SUCCESS;
}

/* Repairs the document without drawing its form. */
static const char *repair(qpdf_data q, const sr_pdfd_bytes_t *bytes, apr_pool_t *pool)
{
    const char *reason = normalise_write_again(q);
    if (reason) return reason;
    const sr_pdfd_bytes_t made = {qpdf_get_buffer(q), qpdf_get_buffer_length(q)};
    return sr_pdfd_compare(bytes, &made, pool);
}

json_t *sr_pdfd_rewrite(const sr_pdfd_request_t *request, apr_pool_t *pool)
{
    sr_pdfd_bytes_t bytes = sr_pdfd_trimmed(&request->bytes);
    sr_pdfd_form_t form;
    qpdf_data q = sr_pdfd_qpdf(pool);
    const char *reason = read_again(q, &bytes, &form, pool);
    if (!reason) reason = repair(q, &bytes, pool);
    if (!reason && form.need_appearances) {
        unsigned char *drawn = sr_pdfd_form_draw(&bytes.size, bytes.data, bytes.size);
        if (!drawn) return sr_pdfd_fault(SR_PDF_FAULT_DOCUMENT, UNDRAWABLE);
        bytes.data = drawn;
        apr_pool_cleanup_register(pool, drawn, normalise_release, apr_pool_cleanup_null);
        q = sr_pdfd_qpdf(pool); /* this handle is cleaned up before `drawn` is freed */
        reason = read_again(q, &bytes, &form, pool);
        if (!reason) reason = normalise_write_again(q);
    }
    if (reason) return sr_pdfd_fault(SR_PDF_FAULT_DOCUMENT, reason);
    return sr_pdfd_result(request, qpdf_get_buffer(q), qpdf_get_buffer_length(q));
}
