/* SPDX-License-Identifier: Apache-2.0 */
/* signatures.c: reads submissions: the list, one submission, and its documents. */
#include "api/api.h"
#include "model/names.h"
#include "service/bundle.h"

#include <string.h>

static sr_error_t *signatures_read_time(apr_time_t *when, sr_http_t *http, const char *name, const char *text)
{
    *when = 0;
    return text ? sr_api_time(when, http, name, text) : NULL;
}

sr_error_t *sr_api_signatures_list(sr_http_t *http)
{
    const char *token_hash, *limit = NULL, *after = NULL, *created_after = NULL, *created_before = NULL,
                            *updated_after = NULL;
    sr_submission_filter_t filter = {0};
    sr_list_query_t query;
    sr_list_result_t page;
    SR_TRY(sr_api_token(&token_hash, http));
    const sr_query_param_t params[] = {{"limit", &limit},
                                       {"after", &after},
                                       {"status", &filter.status},
                                       {"q", &filter.q},
                                       {"createdAfter", &created_after},
                                       {"createdBefore", &created_before},
                                       {"updatedAfter", &updated_after},
                                       {"externalId", &filter.external_id},
                                       {NULL, NULL}};
    SR_TRY(sr_http_query(http, params));
    SR_TRY(sr_api_list_query(&query, http, limit, after));
    SR_TRY(sr_name_expect(sr_filter_names, filter.status, "status", http->pool));
    SR_TRY(signatures_read_time(&filter.created_after, http, "createdAfter", created_after));
    SR_TRY(signatures_read_time(&filter.created_before, http, "createdBefore", created_before));
    SR_TRY(signatures_read_time(&filter.updated_after, http, "updatedAfter", updated_after));
    apr_pool_t *rows; /* destroyed before a slow client has read the response */
    apr_pool_create(&rows, http->pool);
    SR_TRY(sr_service_submissions(http->service, &page, token_hash, &query, &filter, rows));
    sr_error_t *error = sr_api_list_reply(http, &page);
    apr_pool_destroy(rows);
    return error;
}

sr_error_t *sr_api_signature_get(sr_http_t *http)
{
    const char *token_hash, *uuid, *known = apr_table_get(http->r->headers_in, "If-None-Match");
    sr_shown_submission_t shown;
    SR_TRY(sr_api_token(&token_hash, http));
    SR_TRY(sr_api_uuid(&uuid, http, 0));
    SR_TRY(sr_service_submission(http->service, &shown, token_hash, uuid, known, http->pool));
    if (sr_http_unchanged(http, shown.tag)) return NULL;
    if (!shown.representation) { /* the header has the tag, but not in an ETag of this URL */
        SR_TRY(sr_service_submission(http->service, &shown, token_hash, uuid, NULL, http->pool));
        if (sr_http_unchanged(http, shown.tag)) return NULL;
    }
    return sr_http_view(http, HTTP_OK, shown.representation);
}

static sr_error_t *signatures_reply_download(sr_http_t *http, const sr_download_t *download)
{
    apr_bucket_brigade *brigade = sr_service_brigade(download, http->r->connection->bucket_alloc, http->pool);
    return sr_http_pdf(http, brigade, download->sha256, download->name);
}

sr_error_t *sr_api_document_get(sr_http_t *http)
{
    const char *token_hash, *submission, *document, *version = NULL;
    sr_download_t download;
    SR_TRY(sr_api_token(&token_hash, http));
    const sr_query_param_t params[] = {{"version", &version}, {NULL, NULL}};
    SR_TRY(sr_http_query(http, params));
    if (version && strcmp(version, "original") != 0 && strcmp(version, "signed") != 0)
        return sr_error(http->pool, SR_EBADREQUEST, "version must be original or signed, or left out");
    SR_TRY(sr_api_uuid(&submission, http, 0));
    SR_TRY(sr_api_uuid(&document, http, 1));
    SR_TRY(sr_service_document(http->service, &download, token_hash, submission, document, version, http->pool));
    return signatures_reply_download(http, &download);
}

sr_error_t *sr_api_certificate_get(sr_http_t *http)
{
    const char *token_hash, *submission;
    sr_download_t download;
    SR_TRY(sr_api_token(&token_hash, http));
    SR_TRY(sr_api_uuid(&submission, http, 0));
    SR_TRY(sr_service_certificate(http->service, &download, token_hash, submission, http->pool));
    return signatures_reply_download(http, &download);
}

sr_error_t *sr_api_audit_get(sr_http_t *http)
{
    const char *token_hash, *submission;
    json_t *audit;
    SR_TRY(sr_api_token(&token_hash, http));
    SR_TRY(sr_api_uuid(&submission, http, 0));
    SR_TRY(sr_service_audit(http->service, &audit, token_hash, submission, 0, http->pool));
    return sr_http_json(http, HTTP_OK, json_incref(audit));
}

sr_error_t *sr_api_archive_get(sr_http_t *http)
{
    const char *token_hash, *submission;
    sr_bundle_t bundle;
    SR_TRY(sr_api_token(&token_hash, http));
    SR_TRY(sr_http_query(http, (const sr_query_param_t[]){{NULL, NULL}}));
    SR_TRY(sr_api_uuid(&submission, http, 0));
    SR_TRY(sr_service_bundle(http->service, &bundle, token_hash, submission, http->pool));
    return sr_http_zip(http, sr_bundle_brigade(&bundle, http->r->connection->bucket_alloc, http->pool), bundle.etag,
                       bundle.name);
}
