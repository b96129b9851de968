/* SPDX-License-Identifier: Apache-2.0 */
/* document.c: opens a document to append to it. Nothing may be repaired silently, because qpdf repairs in memory and
 * not in the file. An object that qpdf cannot read becomes null, and would be lost when the object that contains it is
 * rewritten. The probe has sent such files to be rewritten before. */
#include "helper/main/read/sections.h"
#include "helper/main/pdfd.h"

#include <string.h>

static apr_status_t document_release(void *data)
{
    qpdf_data *q = data;
    qpdf_get_error(*q); /* otherwise qpdf_cleanup prints it */
    qpdf_cleanup(q);
    return APR_SUCCESS;
}

qpdf_data sr_pdfd_qpdf(apr_pool_t *pool)
{
    qpdf_data *q = apr_palloc(pool, sizeof(qpdf_data));
    *q = qpdf_init();
    apr_pool_cleanup_register(pool, q, document_release, apr_pool_cleanup_null);
    qpdf_silence_errors(*q);
    qpdf_set_suppress_warnings(*q, QPDF_TRUE);
    return *q;
}

/* qpdf reads objects lazily, and a bad one becomes null. Only warnings show that something is missing, and why. */
sr_pdfd_warnings_t sr_pdfd_warnings(qpdf_data q, const sr_pdfd_bytes_t *bytes)
{
    sr_pdfd_warnings_t found = SR_PDFD_NO_WARNINGS;
    while (qpdf_more_warnings(q)) {
        qpdf_error warning = qpdf_next_warning(q);
        const char *text = qpdf_get_error_message_detail(q, warning);
        if (strstr(text, SR_PDFD_NO_MEMORY_TEXT)) return SR_PDFD_NO_MEMORY;
        if (!sr_pdfd_warning_is_harmless(text, qpdf_get_error_filename(q, warning),
                                         (long long)qpdf_get_error_file_position(q, warning), bytes->data, bytes->size))
            found = SR_PDFD_WARNINGS;
    }
    return found;
}

json_t *sr_pdfd_document_fault(const char *reason)
{
    return sr_pdfd_fault(strcmp(reason, SR_PDFD_DAMAGED) ? SR_PDF_FAULT_DOCUMENT : SR_PDF_FAULT_DAMAGED, reason);
}

const char *sr_pdfd_document_open(sr_pdfd_document_t *document, const sr_pdfd_bytes_t *bytes, apr_pool_t *pool)
{
    qpdf_data q = sr_pdfd_qpdf(pool);
    *document = (sr_pdfd_document_t){.bytes = *bytes, .q = q};
    if (bytes->size < 5 || memcmp(bytes->data, "%PDF-", 5) != 0) return SR_PDFD_DAMAGED;
    if (!sr_pdfd_xref_check(&document->xref, bytes->data, bytes->size)) return SR_PDFD_DAMAGED;
    qpdf_set_attempt_recovery(q, QPDF_FALSE);
    if (qpdf_read_memory(q, SR_PDFD_INPUT, (const char *)bytes->data, bytes->size, NULL) & QPDF_ERRORS)
        return SR_PDFD_DAMAGED;
    if (qpdf_is_encrypted(q) && !sr_pdfd_cipher_find(&document->cipher, bytes)) return SR_PDFD_ENCRYPTED;
    qpdf_oh root = qpdf_get_root(q);
    if (document->cipher.method && !qpdf_oh_is_indirect(q, qpdf_oh_get_key(q, qpdf_get_trailer(q), "/Encrypt")))
        return SR_PDFD_ENCRYPTED;
    return qpdf_oh_is_dictionary(q, root) && qpdf_oh_is_indirect(q, root) ? NULL : SR_PDFD_DAMAGED;
}

const char *sr_pdfd_document_check(const sr_pdfd_document_t *document)
{
    if (qpdf_has_error(document->q)) return SR_PDFD_DAMAGED;
    switch (sr_pdfd_warnings(document->q, &document->bytes)) {
    case SR_PDFD_NO_WARNINGS: return NULL;
    case SR_PDFD_NO_MEMORY: return SR_PDF_LIMITS_REASON;
    default: return SR_PDFD_DAMAGED;
    }
}
