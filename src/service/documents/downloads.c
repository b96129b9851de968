/* SPDX-License-Identifier: Apache-2.0 */
/* downloads.c: downloads of documents, certificates of completion and the audit trail. */
#include "service/private.h"

#include <string.h>
#include <strings.h>

/* Returns "lease - signed.pdf" for "lease.pdf", so that the signed file can be stored beside the uploaded one. */
static const char *signed_name(const char *name, apr_pool_t *pool)
{
    static const char ending[] = ".pdf";
    const apr_size_t length = strlen(name), own = sizeof ending - 1;
    const bool has_ending = length > own && !strcasecmp(name + length - own, ending);
    return apr_psprintf(pool, "%.*s - signed%s", (int)(has_ending ? length - own : length), name,
                        has_ending ? name + length - own : ending);
}

const char *sr_download_name(const sr_document_state_t *document, apr_pool_t *pool)
{
    return sr_document_state_is_signed(document) ? signed_name(document->name, pool) : document->name;
}

apr_array_header_t *sr_download_single(const char *key, apr_pool_t *pool)
{
    apr_array_header_t *keys = apr_array_make(pool, 1, sizeof(const char *));
    APR_ARRAY_PUSH(keys, const char *) = key;
    return keys;
}

const char *sr_certificate_name(const char *submission_name, apr_pool_t *pool)
{
    return apr_pstrcat(pool, submission_name, " - certificate.pdf", NULL);
}

static sr_error_t *open_blobs(apr_array_header_t **blobs, const sr_service_t *service, const apr_array_header_t *keys,
                              apr_pool_t *pool)
{
    sr_blobs_t *documents;
    SR_TRY(sr_service_documents(&documents, service, pool));
    *blobs = apr_array_make(pool, keys->nelts, sizeof(sr_blob_t));
    for (int i = 0; i < keys->nelts; i++) {
        sr_error_t *error =
            sr_blobs_open(apr_array_push(*blobs), documents, APR_ARRAY_IDX(keys, i, const char *), pool);
        if (!error) continue;
        return sr_error_from(sr_error(pool, SR_EUNAVAILABLE, "The document cannot be read now, try again later"),
                             error);
    }
    return NULL;
}

apr_bucket_brigade *sr_service_brigade(const sr_download_t *download, apr_bucket_alloc_t *allocator, apr_pool_t *pool)
{
    apr_bucket_brigade *brigade = apr_brigade_create(pool, allocator);
    for (int i = 0; i < download->blobs->nelts; i++)
        sr_blob_append(brigade, &APR_ARRAY_IDX(download->blobs, i, sr_blob_t), pool);
    return brigade;
}

sr_error_t *sr_service_download(const sr_service_t *service, sr_download_t *download,
                                const sr_document_state_t *document, bool original, apr_pool_t *pool)
{
    apr_array_header_t *files = sr_document_state_files(document, pool), *blobs;
    if (original) {
        files->nelts = 1;
        APR_ARRAY_IDX(files, 0, const char *) = document->key;
    }
    SR_TRY(open_blobs(&blobs, service, files, pool));
    *download = (sr_download_t){.blobs = blobs,
                                .name = original ? document->name : sr_download_name(document, pool),
                                .sha256 = original ? document->sha256 : sr_document_state_sha256(document)};
    return NULL;
}

/* Leaves out what was appended after the last signature. */
static void drop_archives(const sr_document_state_t *document)
{
    apr_array_header_t *revisions = document->revisions;
    if (!sr_document_state_is_signed(document)) return;
    while (APR_ARRAY_IDX(revisions, revisions->nelts - 1, sr_revised_t).archives) revisions->nelts--;
}

sr_error_t *sr_service_document(const sr_service_t *service, sr_download_t *download, const char *token_hash,
                                const char *submission_uuid, const char *document_uuid, const char *version,
                                apr_pool_t *pool)
{
    const bool original = version && !strcmp(version, "original");
    const sr_body_row_t *row;
    sr_outcome_t outcome;
    json_t *json;
    sr_document_state_t document;
    SR_TRY(sr_store_document_get(service->database, &outcome, &row, token_hash, sr_time_now(), submission_uuid,
                                 document_uuid, pool));
    SR_TRY(sr_service_refusal(outcome, pool));
    SR_TRY(sr_json_read(&json, row->body, pool));
    SR_TRY(sr_document_state_parse(&document, json, pool));
    if (version && !original) drop_archives(&document);
    return sr_service_download(service, download, &document, original, pool);
}

sr_error_t *sr_service_download_certificate(const sr_service_t *service, sr_download_t *download,
                                            const char *submission_name, const char *sha256, const char *key,
                                            apr_pool_t *pool)
{
    apr_array_header_t *blobs;
    SR_TRY(open_blobs(&blobs, service, sr_download_single(key, pool), pool));
    *download = (sr_download_t){.blobs = blobs, .name = sr_certificate_name(submission_name, pool), .sha256 = sha256};
    return NULL;
}

sr_error_t *sr_service_certificate(const sr_service_t *service, sr_download_t *download, const char *token_hash,
                                   const char *submission_uuid, apr_pool_t *pool)
{
    const sr_certificate_row_t *row;
    sr_outcome_t outcome;
    SR_TRY(
        sr_store_certificate_get(service->database, &outcome, &row, token_hash, sr_time_now(), submission_uuid, pool));
    SR_TRY(sr_service_refusal(outcome, pool));
    return sr_service_download_certificate(service, download, row->name, row->sha256, row->key, pool);
}

/* Leaves out the events after the first `most`. A deletion among them has erased personal values of the others. */
static sr_error_t *cut_events(json_t *events, size_t most, apr_pool_t *pool)
{
    for (size_t last = json_array_size(events); last-- > most; json_array_remove(events, last))
        if (!strcmp(sr_json_string(json_array_get(events, last), "event"), "deleted"))
            return sr_service_refusal(SR_DELETED, pool);
    return NULL;
}

sr_error_t *sr_service_audit(const sr_service_t *service, json_t **audit, const char *token_hash,
                             const char *submission_uuid, int most, apr_pool_t *pool)
{
    const sr_body_row_t *row;
    sr_outcome_t outcome;
    json_t *events;
    SR_TRY(sr_store_audit_get(service->database, &outcome, &row, token_hash, sr_time_now(), submission_uuid, pool));
    SR_TRY(sr_service_refusal(outcome, pool));
    SR_TRY(sr_events_read(&events, row->body, pool));
    if (most) SR_TRY(cut_events(events, (size_t)most, pool));
    *audit = sr_json_own(json_pack("{s:s,s:O}", "submission", submission_uuid, "events", events), pool);
    return NULL;
}
