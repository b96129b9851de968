/* uploads.c: the documents of a creation: what they are, and their way to disk and back. */
#include "service/uploads.h"

#include <string.h>

#define FILE_NAME_MAX_CHARACTERS 255
#define SNIFF_BYTES 1024

static sr_error_t *not_pdf(apr_pool_t *pool)
{
    return sr_error(pool, SR_EVALIDATION, "Only PDF files are supported");
}

/* The declared type and the signature within the first 1,024 bytes (ISO 32000-1, Annex H, note 13). */
static bool looks_like_pdf(const sr_upload_t *upload)
{
    const char *head;
    apr_size_t length;
    sr_spool_head(upload->spool, &head, &length);
    if (length > SNIFF_BYTES) length = SNIFF_BYTES;
    return upload->declared_pdf && length && memmem(head, length, "%PDF-", 5);
}

static sr_error_t *check_file_name(const char *name, apr_pool_t *pool)
{
    if (!sr_text_is_utf8(name, strlen(name))) return sr_error(pool, SR_EVALIDATION, "A file name must be UTF-8 text");
    for (const char *p = name; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            return sr_error(pool, SR_EVALIDATION, "A file name must not contain control characters");
    if (sr_text_length(name) > FILE_NAME_MAX_CHARACTERS)
        return sr_error(pool, SR_EVALIDATION, "A file name must have at most %d characters", FILE_NAME_MAX_CHARACTERS);
    return NULL;
}

static sr_error_t *check_names(const apr_array_header_t *uploads, apr_pool_t *pool)
{
    for (int i = 0; i < uploads->nelts; i++) {
        const char *name = APR_ARRAY_IDX(uploads, i, sr_upload_t).name;
        SR_TRY(check_file_name(name, pool));
        for (int j = 0; j < i; j++)
            if (!strcmp(APR_ARRAY_IDX(uploads, j, sr_upload_t).name, name))
                return sr_error(pool, SR_EVALIDATION, "Document %s is provided more than once", name);
    }
    return NULL;
}

static sr_error_t *verdict_error(const sr_pdf_probe_t *probe, const char *name, apr_pool_t *pool)
{
    switch (probe->verdict) {
    case SR_PDF_ACCEPTED: return NULL;
    case SR_PDF_NOT_PDF: return not_pdf(pool);
    case SR_PDF_PASSWORD: return sr_error(pool, SR_EVALIDATION, "Document %s is password protected", name);
    case SR_PDF_REFUSED: break;
    }
    return sr_error(pool, SR_EVALIDATION, "Document %s cannot be signed: %s", name, probe->reason);
}

static sr_error_t *ask_helper(const sr_service_t *service, const sr_pages_t **pages, const sr_upload_t *upload,
                              apr_pool_t *pool)
{
    sr_pdf_probe_t probe = {0};
    int descriptor;
    SR_TRY(sr_spool_descriptor(upload->spool, &descriptor));
    SR_TRY(sr_pdf_probe(&probe, service->pdf, descriptor, upload->size, pool));
    *pages = probe.pages;
    return verdict_error(&probe, upload->name, pool);
}

sr_error_t *sr_uploads_check(const sr_service_t *service, apr_array_header_t **documents, const sr_create_t *request,
                             apr_pool_t *pool)
{
    const apr_array_header_t *uploads = request->uploads;
    if (!uploads->nelts) return sr_error(pool, SR_EVALIDATION, "At least 1 file must be provided");
    for (int i = 0; i < uploads->nelts; i++)
        if (!looks_like_pdf(&APR_ARRAY_IDX(uploads, i, sr_upload_t))) return not_pdf(pool);
    SR_TRY(check_names(uploads, pool));
    *documents = apr_array_make(pool, uploads->nelts, sizeof(sr_document_t));
    for (int i = 0; i < uploads->nelts; i++) {
        const sr_upload_t *upload = &APR_ARRAY_IDX(uploads, i, sr_upload_t);
        sr_pages_t *stored;
        SR_TRY(sr_documents_pages(&stored, request->documents, upload->sha256, pool));
        sr_document_t *document = apr_array_push(*documents);
        *document = (sr_document_t){.uuid = sr_uuid_make(pool),
                                    .name = upload->name,
                                    .raw = upload->raw,
                                    .sha256 = upload->sha256,
                                    .size = upload->size,
                                    .pages = stored,
                                    .stored = stored != NULL};
        if (!stored) SR_TRY(ask_helper(service, &document->pages, upload, pool));
    }
    return NULL;
}

sr_error_t *sr_uploads_keep(const apr_array_header_t *documents, const sr_create_t *request)
{
    for (int i = 0; i < documents->nelts; i++) {
        const sr_document_t *document = &APR_ARRAY_IDX(documents, i, sr_document_t);
        if (!document->stored)
            SR_TRY(sr_spool_keep(APR_ARRAY_IDX(request->uploads, i, sr_upload_t).spool, document->pages->report));
    }
    return NULL;
}

static sr_error_t *is_used(void *baton, const char *sha256, bool *used, apr_pool_t *pool)
{
    sr_error_t *error = sr_service_call(baton, SR_OP_ADMIN_DOCUMENT_USED, NULL, NULL, &sha256, 1, pool);
    *used = !error;
    return error && error->code == SR_ENOTFOUND ? NULL : error;
}

void sr_uploads_take_back(const sr_service_t *service, const sr_create_t *request, apr_pool_t *pool)
{
    for (int i = 0; i < request->uploads->nelts; i++)
        (void)sr_documents_collect(request->documents, APR_ARRAY_IDX(request->uploads, i, sr_upload_t).sha256, is_used,
                                   (void *)service, pool);
}
