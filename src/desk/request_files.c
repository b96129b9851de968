/* SPDX-License-Identifier: Apache-2.0 */
/* request_files.c: what the page of one request links to: images of pages, and downloads. */
#include <string.h>

#include "desk/request_page.h"
#include "service/bundle.h"

static sr_error_t *files_begin(sr_desk_t **desk, const char **uuid, sr_http_t *http)
{
    SR_TRY(sr_desk_enter(desk, http));
    return sr_web_uuid(uuid, http, 1);
}

sr_error_t *sr_desk_image(sr_http_t *http)
{
    sr_desk_t *desk;
    sr_show_t show = {0};
    SR_TRY(files_begin(&desk, &show.submission, http));
    show.token_hash = desk->token_hash;
    return sr_web_show_image(http, &show, 2);
}

sr_error_t *sr_desk_document(sr_http_t *http)
{
    sr_desk_t *desk;
    sr_download_t download;
    const char *uuid, *document, *version = NULL;
    SR_TRY(files_begin(&desk, &uuid, http));
    SR_TRY(sr_web_uuid(&document, http, 2));
    SR_TRY(sr_http_query(http, (const sr_query_param_t[]){{"version", &version}, {NULL, NULL}}));
    if (version && strcmp(version, "original") != 0) return sr_error(http->pool, SR_ENOTFOUND, "Not found");
    SR_TRY(sr_service_document(http->service, &download, desk->token_hash, uuid, document, version, http->pool));
    return sr_web_send_pdf(http, &download);
}

sr_error_t *sr_desk_certificate(sr_http_t *http)
{
    sr_desk_t *desk;
    sr_download_t download;
    const char *uuid;
    SR_TRY(files_begin(&desk, &uuid, http));
    SR_TRY(sr_service_certificate(http->service, &download, desk->token_hash, uuid, http->pool));
    return sr_web_send_pdf(http, &download);
}

bool sr_desk_may_download_all(const sr_desk_t *desk, const sr_submission_t *submission)
{
    const bool ended = submission->state != SR_SUBMISSION_OPEN && submission->state != SR_SUBMISSION_DRAFT;
    return !desk->read_only || ended;
}

/* The same as files_begin, for a file with the uuids of signers. */
static sr_error_t *files_begin_all(sr_desk_t **desk, const char **uuid, sr_http_t *http)
{
    sr_signing_t *signing;
    SR_TRY(files_begin(desk, uuid, http));
    if (!(*desk)->read_only) return NULL;
    sr_error_t *error = sr_service_request(http->service, &signing, (*desk)->token_hash, *uuid, http->pool);
    if (error) return error->code == SR_EGONE ? NULL : error;
    if (sr_desk_may_download_all(*desk, &signing->submission)) return NULL;
    return sr_error(http->pool, SR_EFORBIDDEN, "A desk that is read-only has this file when nobody can sign any more");
}

sr_error_t *sr_desk_archive(sr_http_t *http)
{
    sr_desk_t *desk;
    sr_bundle_t bundle;
    const char *uuid;
    SR_TRY(files_begin_all(&desk, &uuid, http));
    SR_TRY(sr_service_bundle(http->service, &bundle, desk->token_hash, uuid, http->pool));
    return sr_http_zip(http, sr_bundle_brigade(&bundle, http->r->connection->bucket_alloc, http->pool), bundle.etag,
                       bundle.name);
}

/* The file has what the API shows. */
sr_error_t *sr_desk_audit(sr_http_t *http)
{
    sr_desk_t *desk;
    json_t *audit;
    const char *uuid;
    SR_TRY(files_begin_all(&desk, &uuid, http));
    SR_TRY(sr_service_audit(http->service, &audit, desk->token_hash, uuid, 0, http->pool));
    apr_table_setn(http->r->headers_out, "Content-Disposition",
                   apr_pstrcat(http->pool, "attachment; filename=\"audit-", sr_submission_number(uuid, http->pool),
                               ".json\"", NULL));
    return sr_http_json(http, HTTP_OK, json_incref(audit));
}
