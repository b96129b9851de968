/* SPDX-License-Identifier: Apache-2.0 */
/* attachments.c: opens the files of a copy, when it is mailed: all documents as the last signature or an archiving has
 * left them, and the certificate of completion. */
#include "service/private.h"

#include <string.h>

#include "service/documents/contents.h"

/* Adds a file of these blobs. */
static sr_error_t *attach(apr_array_header_t *files, sr_blobs_t *documents, const char *name,
                          const apr_array_header_t *keys, const char *sha256, apr_pool_t *pool)
{
    sr_joined_t joined;
    SR_TRY(sr_blobs_join(&joined, documents, keys, false, pool));
    if (strcmp(joined.sha256, sha256) != 0)
        return sr_error(pool, SR_EINTERNAL, "the SHA-256 of the stored document is wrong");
    APR_ARRAY_PUSH(files, sr_attachment_t) = (sr_attachment_t){name, joined.descriptor, joined.size};
    return NULL;
}

static apr_off_t size_of_all(const sr_submission_t *submission)
{
    apr_off_t size = submission->certificate_size;
    for (int i = 0; i < submission->documents->nelts; i++)
        size += sr_document_state_size(&APR_ARRAY_IDX(submission->documents, i, sr_document_state_t));
    return size;
}

sr_error_t *sr_service_attachments(const sr_service_t *service, const apr_array_header_t **files,
                                   const char *submission_uuid, apr_pool_t *pool)
{
    const sr_subject_t subject = {.submission = submission_uuid};
    sr_signing_t *signing;
    sr_blobs_t *documents;
    *files = NULL;
    SR_TRY(sr_service_subject(service, &signing, &subject, pool));
    const sr_submission_t *submission = &signing->submission;
    if (submission->state != SR_SUBMISSION_COMPLETED)
        return sr_error(pool, SR_EGONE, "not sent, because the submission is not completed");
    if (size_of_all(submission) > SR_ATTACHED_MAX) return NULL;
    SR_TRY(sr_service_documents(&documents, service, pool));
    apr_array_header_t *list = apr_array_make(pool, 4, sizeof(sr_attachment_t));
    for (int i = 0; i < submission->documents->nelts; i++) {
        const sr_document_state_t *document = &APR_ARRAY_IDX(submission->documents, i, sr_document_state_t);
        SR_TRY(attach(list, documents, sr_download_name(document, pool), sr_document_state_files(document, pool),
                      sr_document_state_sha256(document), pool));
    }
    SR_TRY(attach(list, documents, sr_certificate_name(submission->name, pool),
                  sr_download_single(submission->certificate_key, pool), submission->certificate_sha256, pool));
    *files = list;
    return NULL;
}
