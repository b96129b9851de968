/* SPDX-License-Identifier: Apache-2.0 */
/* preview.c: the operation "preview": how a signature will look in the fields. It is drawn by the same code as in
 * "fill". With "most" the result is a small image of the signature, for a certificate of completion. */
#include "helper/main/draw/drawing.h"

json_t *sr_pdfd_preview(const sr_pdfd_request_t *request, apr_pool_t *pool)
{
    sr_pdfd_drawing_t drawing = {0};
    const char *reason = sr_pdfd_draw_any(&drawing, request->text, pool);
    if (reason) {
        json_t *fault = sr_pdfd_fault(SR_PDF_FAULT_SIGNATURE, reason);
        if (drawing.unknown) json_object_set(fault, "unknown", drawing.unknown);
        return fault;
    }
    const json_t *most = json_object_get(request->text, "most");
    if (most && !sr_pdfd_drawing_reduce(&drawing, (apr_size_t)json_integer_value(most), pool))
        return sr_pdfd_fault(SR_PDF_FAULT_SIGNATURE, "The signature cannot be made small enough");
    sr_pdfd_buffer_t *out = sr_pdfd_buffer(pool);
    sr_pdfd_drawing_json(out, &drawing, pool);
    out->size--; /* removes the "}" at the end */
    reason = sr_pdfd_captions_json(out, request->text, pool);
    if (reason) return sr_pdfd_fault(SR_PDF_FAULT_SIGNATURE, reason);
    sr_pdfd_put_text(out, "}");
    return sr_pdfd_result(request, out->data, out->size);
}
