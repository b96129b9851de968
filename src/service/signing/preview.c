/* SPDX-License-Identifier: Apache-2.0 */
/* preview.c: previews a signature in a signer's fields. Nothing is stored. Previews share the gate of pages, so that
 * signing never waits for them. */
#include "service/private.h"

sr_error_t *sr_service_preview(const sr_service_t *service, sr_preview_t *preview, const sr_signing_t *signing,
                               const sr_signature_t *signature, const sr_client_t *client,
                               const sr_language_t *language, apr_pool_t *pool)
{
    const sr_captions_t captions = {signing->signer, language, client, sr_time_now()};
    const sr_pdf_signature_t what = {.captions = sr_captions_json(&captions, NULL, pool),
                                     .ink = signature->ink,
                                     .text = signature->text,
                                     .image = signature->image,
                                     .image_size = signature->image_size};
    sr_pdf_preview_t drawn;
    sr_pdf_visit_t *visit;
    SR_TRY(sr_signing_may(signing, SR_ACTION_SIGN, pool));
    SR_TRY(sr_pdf_visit_begin(&visit, service->pdf, signing->submission.uuid, signing->organization, pool));
    sr_error_t *error = sr_pdf_preview(&drawn, service->pdf, &what, pool);
    sr_pdf_visit_end(visit);
    SR_TRY(error);
    *preview = (sr_preview_t){drawn.reason, drawn.unknown, drawn.drawing, drawn.length};
    return NULL;
}
