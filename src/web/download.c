/* SPDX-License-Identifier: Apache-2.0 */
/* download.c: downloads of the link of a signer or viewer: the documents in their current revision, the certificate of
 * completion, and all of them in one ZIP. */
#include "web/web.h"
#include "service/bundle.h"

static sr_error_t *download_begin(sr_http_t *http, sr_signing_t **signing)
{
    const char *uuid;
    SR_TRY(sr_web_uuid(&uuid, http, 0));
    if (http->viewing) {
        SR_TRY(sr_service_viewing(http->service, signing, uuid, http->pool));
        return sr_viewing_may_see(*signing, http->pool);
    }
    SR_TRY(sr_service_signing(http->service, signing, uuid, http->pool));
    return sr_signing_may_see(*signing, http->pool);
}

sr_error_t *sr_web_send_pdf(sr_http_t *http, const sr_download_t *download)
{
    apr_bucket_brigade *brigade = sr_service_brigade(download, http->r->connection->bucket_alloc, http->pool);
    return sr_http_pdf(http, brigade, download->sha256, download->name);
}

sr_error_t *sr_web_document(sr_http_t *http)
{
    sr_signing_t *signing;
    sr_download_t download;
    const char *uuid;
    sr_error_t *error = download_begin(http, &signing);
    if (error) return sr_web_unchecked(http, error);
    SR_TRY(sr_web_uuid(&uuid, http, 1));
    const sr_document_state_t *document = sr_signing_document(signing, uuid);
    if (!document) return sr_error(http->pool, SR_ENOTFOUND, "Not found");
    SR_TRY(sr_service_download(http->service, &download, document, false, http->pool));
    return sr_web_send_pdf(http, &download);
}

sr_error_t *sr_web_certificate(sr_http_t *http)
{
    sr_signing_t *signing;
    sr_download_t download;
    sr_error_t *error = download_begin(http, &signing);
    if (error) return sr_web_unchecked(http, error);
    if (!signing->submission.certificate_sha256) return sr_error(http->pool, SR_ENOTFOUND, "Not found");
    SR_TRY(sr_service_download_certificate(http->service, &download, signing->submission.name,
                                           signing->submission.certificate_sha256, signing->submission.certificate_key,
                                           http->pool));
    return sr_web_send_pdf(http, &download);
}

sr_error_t *sr_web_archive(sr_http_t *http)
{
    sr_signing_t *signing;
    sr_bundle_t bundle;
    sr_error_t *error = download_begin(http, &signing);
    if (error) return sr_web_unchecked(http, error);
    SR_TRY(sr_service_bundle_final(http->service, &bundle, &signing->submission, http->pool));
    return sr_http_zip(http, sr_bundle_brigade(&bundle, http->r->connection->bucket_alloc, http->pool), bundle.etag,
                       bundle.name);
}
