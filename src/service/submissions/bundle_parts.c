/* SPDX-License-Identifier: Apache-2.0 */
/* bundle_parts.c: what the bundle of a submission contains, for the caller and for people with a link. */
#include "service/documents/bundle_part.h"
#include "model/file_name.h"

#include <string.h>

static void bundle_add_part(apr_array_header_t *parts, const char *path, apr_time_t when, apr_array_header_t *keys,
                            apr_off_t size)
{
    APR_ARRAY_PUSH(parts, sr_bundle_part_t) =
        (sr_bundle_part_t){.path = path, .when = when, .keys = keys, .size = size};
}

static void bundle_add_text(apr_array_header_t *parts, const char *path, apr_time_t when, const char *text)
{
    APR_ARRAY_PUSH(parts, sr_bundle_part_t) = (sr_bundle_part_t){.path = path, .when = when, .text = text};
}

/* `uploads`: with those uploads with which the documents do not begin. */
static apr_array_header_t *bundle_parts(const sr_submission_t *submission, bool uploads, apr_pool_t *pool)
{
    const apr_array_header_t *documents = submission->documents;
    apr_array_header_t *parts = apr_array_make(pool, 2 * documents->nelts + 3, sizeof(sr_bundle_part_t)),
                       *rewritten = apr_array_make(pool, documents->nelts, sizeof(sr_bundle_part_t));
    apr_hash_t *taken = apr_hash_make(pool);
    for (int i = 0; i < documents->nelts; i++) {
        const sr_document_state_t *document = &APR_ARRAY_IDX(documents, i, sr_document_state_t);
        const char *name = sr_file_name(document->name, ".pdf", taken, pool);
        bundle_add_part(parts, apr_pstrcat(pool, "documents/", name, NULL), submission->updated_at,
                        sr_document_state_files(document, pool), sr_document_state_size(document));
        if (uploads && strcmp(document->sha256, document->base_sha256) != 0)
            bundle_add_part(rewritten, apr_pstrcat(pool, "uploads/", name, NULL), submission->created_at,
                            sr_download_single(document->key, pool), document->size);
    }
    apr_array_cat(parts, rewritten);
    if (submission->certificate_sha256)
        bundle_add_part(parts, "certificate.pdf", submission->closed_at,
                        sr_download_single(submission->certificate_key, pool), submission->certificate_size);
    return parts;
}

sr_error_t *sr_service_bundle(const sr_service_t *service, sr_bundle_t *bundle, const char *token_hash,
                              const char *uuid, apr_pool_t *pool)
{
    const sr_subject_t subject = {.token_hash = token_hash, .submission = uuid};
    sr_signing_t *signing;
    json_t *audit;
    apr_pool_t
        *scratch_pool; /* destroyed before a slow client has read the response; after an error it has the error */
    apr_pool_create(&scratch_pool, pool);
    SR_TRY(sr_service_read(service, &signing, &subject, scratch_pool));
    SR_TRY(sr_service_audit(service, &audit, token_hash, uuid, signing->events, scratch_pool));
    const sr_submission_t *submission = &signing->submission;
    const char *representation = sr_submission_render(submission, scratch_pool);
    apr_array_header_t *parts = bundle_parts(submission, true, scratch_pool);
    bundle_add_text(parts, "audit.json", submission->updated_at, sr_json_text(audit, scratch_pool));
    bundle_add_text(parts, "submission.json", submission->updated_at,
                    sr_text_with_base(representation, service->base_url, scratch_pool));
    SR_TRY(sr_bundle_make(service, bundle, submission->name, parts, pool, scratch_pool));
    apr_pool_destroy(scratch_pool);
    return NULL;
}

sr_error_t *sr_service_bundle_final(const sr_service_t *service, sr_bundle_t *bundle, const sr_submission_t *submission,
                                    apr_pool_t *pool)
{
    apr_pool_t *scratch_pool;
    if (submission->state != SR_SUBMISSION_COMPLETED) return sr_service_refusal(SR_MISSING, pool);
    apr_pool_create(&scratch_pool, pool);
    SR_TRY(sr_bundle_make(service, bundle, submission->name, bundle_parts(submission, false, scratch_pool), pool,
                          scratch_pool));
    apr_pool_destroy(scratch_pool);
    return NULL;
}
