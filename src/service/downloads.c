/* SPDX-License-Identifier: Apache-2.0 */
/* downloads.c: documents, certificates and the evidence, for who may have them. */
#include "service/private.h"

#include <string.h>
#include <strings.h>

/* "lease.pdf" that was signed is "lease - signed.pdf": it is kept beside the one that was sent. */
static const char *signed_name(const char *name, apr_pool_t *pool)
{
    static const char ending[] = ".pdf";
    const apr_size_t length = strlen(name), own = sizeof ending - 1;
    const bool has_ending = length > own && !strcasecmp(name + length - own, ending);
    return apr_psprintf(pool, "%.*s - signed%s", (int)(has_ending ? length - own : length), name,
                        has_ending ? name + length - own : ending);
}

sr_error_t *sr_service_download(const sr_service_t *service, sr_download_t *download,
                                const sr_document_state_t *document, bool original, apr_pool_t *pool)
{
    sr_documents_t *documents;
    apr_array_header_t *files = sr_document_state_files(document, pool);
    SR_TRY(sr_documents_open(&documents, service->documents_root, pool));
    if (original) {
        files->nelts = 1;
        APR_ARRAY_IDX(files, 0, const char *) = document->sha256;
    }
    for (int i = 0; i < files->nelts; i++)
        APR_ARRAY_IDX(files, i, const char *) =
            sr_documents_path(documents, APR_ARRAY_IDX(files, i, const char *), pool);
    *download = (sr_download_t){.paths = files,
                                .name = original || !document->revisions->nelts ? document->name
                                                                                : signed_name(document->name, pool),
                                .sha256 = original ? document->sha256 : sr_document_state_sha256(document)};
    return NULL;
}

sr_error_t *sr_service_document(const sr_service_t *service, sr_download_t *download, const char *token_hash,
                                const char *submission_uuid, const char *document_uuid, bool original, apr_pool_t *pool)
{
    const char *arguments[] = {token_hash, sr_service_now(pool), submission_uuid, document_uuid}, *row;
    json_t *json;
    sr_document_state_t document;
    SR_TRY(sr_service_call_one(service, SR_OP_DOCUMENT_GET, &row, arguments, 4, pool));
    SR_TRY(sr_json_read(&json, row, pool));
    SR_TRY(sr_document_state_parse(&document, json, pool));
    return sr_service_download(service, download, &document, original, pool);
}

sr_error_t *sr_service_download_certificate(const sr_service_t *service, sr_download_t *download,
                                            const char *submission_name, const char *sha256, apr_pool_t *pool)
{
    sr_documents_t *documents;
    apr_array_header_t *paths = apr_array_make(pool, 1, sizeof(const char *));
    SR_TRY(sr_documents_open(&documents, service->documents_root, pool));
    APR_ARRAY_PUSH(paths, const char *) = sr_documents_path(documents, sha256, pool);
    *download = (sr_download_t){
        .paths = paths, .name = apr_pstrcat(pool, submission_name, " - certificate.pdf", NULL), .sha256 = sha256};
    return NULL;
}

sr_error_t *sr_service_certificate(const sr_service_t *service, sr_download_t *download, const char *token_hash,
                                   const char *submission_uuid, apr_pool_t *pool)
{
    const char *arguments[] = {token_hash, sr_service_now(pool), submission_uuid}, *row;
    json_t *json;
    SR_TRY(sr_service_call_one(service, SR_OP_CERTIFICATE_GET, &row, arguments, 3, pool));
    SR_TRY(sr_json_read(&json, row, pool));
    const char *name = sr_json_string(json, "name"), *sha256 = sr_json_string(json, "sha256");
    if (!name || !sha256) return sr_error(pool, SR_EINTERNAL, "The certificate's row is incomplete");
    return sr_service_download_certificate(service, download, name, sha256, pool);
}

sr_error_t *sr_service_audit(const sr_service_t *service, json_t **events, const char *token_hash,
                             const char *submission_uuid, apr_pool_t *pool)
{
    const char *arguments[] = {token_hash, sr_service_now(pool), submission_uuid}, *row;
    SR_TRY(sr_service_call_one(service, SR_OP_AUDIT_GET, &row, arguments, 3, pool));
    return sr_json_read(events, row, pool);
}
