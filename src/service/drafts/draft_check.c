/* SPDX-License-Identifier: Apache-2.0 */
/* draft_check.c: the checks of a creation, for the fields of a draft. Its documents are stored, like those of a
 * template. */
#include "service/drafts/draft.h"
#include "service/submissions/uploads.h"

static sr_error_t *check_begin(const sr_service_t *service, sr_draft_work_t *work, const sr_signing_t *signing,
                               sr_remarks_t *remarks, apr_pool_t *pool)
{
    sr_uploads_t *uploads;
    *work = (sr_draft_work_t){.caller = {.organization_uuid = signing->organization_uuid,
                                         .organization_name = signing->organization,
                                         .environment = signing->environment}};
    SR_TRY(sr_service_receive(service, &uploads, pool));
    sr_blobs_own(uploads->documents, sr_owner_of(signing->organization_uuid, signing->environment, pool));
    work->request = (sr_create_t){.caller = &work->caller, .uploads = uploads, .remarks = remarks};
    const apr_array_header_t *documents = signing->submission.documents;
    SR_TRY(sr_uploads_stored(service, &work->preflight, documents, &work->request, pool));
    for (int i = 0; i < documents->nelts; i++)
        APR_ARRAY_IDX(work->preflight.documents, i, sr_document_t).uuid =
            APR_ARRAY_IDX(documents, i, sr_document_state_t).uuid;
    return NULL;
}

sr_error_t *sr_draft_check(const sr_service_t *service, sr_draft_work_t *work, sr_signing_t *signing,
                           const char *signers, apr_size_t length, bool sends, sr_remarks_t *remarks, apr_pool_t *pool)
{
    const sr_submission_t *submission = &signing->submission;
    apr_array_header_t *people = apr_array_copy(pool, submission->signers);
    const sr_signers_rules_t rules = {.send_email = submission->send_email,
                                      .default_origin = service->settings->area_origin,
                                      .max_signers = service->settings->max_signers,
                                      .max_fields = service->settings->max_fields,
                                      .draft = !sends,
                                      .remarks = remarks};
    const sr_resolving_t resolving = {service->settings->max_fields, remarks, !sends};
    SR_TRY(check_begin(service, work, signing, remarks, pool));
    sr_preflight_t *preflight = &work->preflight;
    preflight->draft = !sends;
    SR_TRY(sr_signers_place(people, signers, length, &rules, pool));
    SR_TRY(sr_preflight_forms(preflight, people, &work->request, pool));
    SR_TRY(sr_preflight_texts(preflight, people, service->settings->max_fields, &work->request, pool));
    SR_TRY(sr_signers_resolve(people, preflight->documents, &resolving, pool));
    SR_TRY(sr_signers_check_texts(submission->name, people, preflight->documents, pool));
    sr_signers_remark(remarks, people, preflight->documents);
    if (sends) SR_TRY(sr_preflight(service, preflight, people, &work->request, pool));
    signing->submission.signers = people;
    return NULL;
}
