/* SPDX-License-Identifier: Apache-2.0 */
/* draft_preview.c: the documents of a draft with its fields, as a preview of a creation shows them. */
#include "service/drafts/draft.h"
#include "service/submissions/drawn_preview.h"
#include "service/submissions/uploads.h"

static sr_error_t *preview_draw(const sr_service_t *service, sr_previewed_t *previewed, sr_draft_work_t *work,
                                sr_signing_t *signing, const sr_preview_view_t *view, apr_pool_t *pool)
{
    SR_TRY(sr_draft_check(service, work, signing, NULL, 0, false, NULL, pool));
    apr_array_header_t *signers = apr_array_copy(pool, signing->submission.signers);
    SR_TRY(sr_preflight(service, &work->preflight, signers, &work->request, pool));
    return sr_preview_draw(service, previewed, &work->preflight, signers, &work->request, view, pool);
}

sr_error_t *sr_service_draft_preview(const sr_service_t *service, sr_previewed_t *previewed,
                                     const sr_draft_subject_t *subject, const sr_preview_view_t *view, apr_pool_t *pool)
{
    sr_service_t own = *service;
    sr_draft_work_t work;
    sr_signing_t *signing;
    *previewed = (sr_previewed_t){0};
    SR_TRY(sr_service_draft(service, &signing, subject, pool));
    own.pdf = sr_pdf_pool_for_preview(service->pdf, pool);
    sr_error_t *error = preview_draw(&own, previewed, &work, signing, view, pool);
    sr_uploads_drop(&work.preflight);
    return error;
}
