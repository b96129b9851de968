/* SPDX-License-Identifier: Apache-2.0 */
/* entry.c: the appearance of a form field that a signer fills in (ISO 32000-2, 12.5.5). Its content was drawn by a
 * worker that has read no document, and is copied verbatim. The states of a check box are in an indirect dictionary,
 * because some validators do not permit readers to replace a direct one. */
#include "helper/main/pdfd.h"

void sr_pdfd_entry_put(sr_pdfd_update_t *update, const sr_pdfd_entry_t *entry, const sr_pdfd_widget_t *widget,
                       int64_t number, int64_t off)
{
    sr_pdfd_buffer_t *keys = sr_pdfd_buffer(update->pool);
    if (entry->entry.kind == SR_PDF_ENTRY_CHECKBOX) {
        sr_pdfd_object_begin(update, number, 0);
        sr_pdfd_print(update->out, "<</On %lld 0 R/Off %lld 0 R>>", (long long)number + 1, (long long)off);
        sr_pdfd_object_end(update);
        number++;
    }
    sr_pdfd_put_form(keys, widget);
    sr_pdfd_print(keys, "/Resources%s%s", update->archival ? SR_PDF_CAPTION_ARCHIVAL : SR_PDF_CAPTION_RESOURCES,
                  entry->content.packed ? SR_PDF_PACKED : "");
    sr_pdfd_stream_packed(update, number, (const char *)keys->data, entry->content.data, entry->content.size);
}
