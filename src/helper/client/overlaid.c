/* SPDX-License-Identifier: Apache-2.0 */
/* overlaid.c: documents with a grid and boxes over their pages, for the caller who sent them. */
#include "helper/client/worker.h"

#include <string.h>

typedef struct response_t {
    sr_pdf_overlaid_t *overlaid;
    const char *unavailable;
} response_t;

/* The worker has read hostile bytes, so the document may show anything. */
static bool overlaid_read(void *result, const json_t *json, apr_pool_t *pool)
{
    static const char start[] = "%PDF-";
    char bytes[sizeof start] = "";
    response_t *response = result;
    const char *reason = sr_json_string(json, "reason"), *unavailable = sr_json_string(json, "unavailable");
    if (json_object_get(json, "length"))
        return sr_descriptor_read(response->overlaid->document->descriptor, bytes, sizeof start - 1, 0)
                   == sizeof start - 1
               && !strcmp(bytes, start);
    if (!sr_pdf_is_plain(reason ? reason : unavailable)) return false;
    if (reason) response->overlaid->reason = apr_pstrdup(pool, reason);
    else response->unavailable = apr_pstrdup(pool, unavailable);
    return true;
}

sr_error_t *sr_pdf_overlay(sr_pdf_overlaid_t *overlaid, sr_pdf_pool_t *workers, int descriptor, apr_off_t size,
                           const json_t *what, apr_pool_t *pool)
{
    bool failed = false;
    response_t response = {.overlaid = overlaid};
    const sr_pdf_request_t request = {.op = SR_PDF_OP_OVERLAY,
                                      .text = sr_json_text(what, pool),
                                      .descriptor = descriptor,
                                      .output = apr_palloc(pool, sizeof *request.output),
                                      .room = SR_PDF_MAX_NORMALISED(size),
                                      .read = overlaid_read,
                                      .result = &response};
    *overlaid = (sr_pdf_overlaid_t){.document = request.output};
    *request.output = (sr_pdf_output_t){.descriptor = -1};
    if (strlen(request.text) > SR_PDF_MAX_REQUEST) {
        overlaid->reason = "its fields have too many texts";
        return NULL;
    }
    SR_TRY(sr_pdf_put(&failed, workers, &request, pool));
    if (response.unavailable && !failed) return sr_pdf_unavailable(pool, response.unavailable);
    if (failed) overlaid->reason = SR_PDF_LIMITS_REASON;
    return NULL;
}
