/* SPDX-License-Identifier: Apache-2.0 */
/* uploads.c: the documents of a creation: checks and stores them. */
#include "service/submissions/uploads.h"
#include "service/submissions/templates.h"

#include <string.h>

#define FILE_NAME_MAX_CHARACTERS 255
#define SNIFF_BYTES 4096

/* `why` is for the log and the hint. The message is in the contract. */
static sr_error_t *not_pdf(const char *name, const char *why, apr_pool_t *pool)
{
    sr_preflight_count("not-pdf");
    sr_error_t *error = sr_error(pool, SR_EBADREQUEST, "Only PDF files are supported");
    return sr_error_hint(sr_error_because(error, pool, "a file %s", why), pool, "%s %s", name, why);
}

/* Checks the declared type, and the header "%PDF-" within the first 4,096 bytes. Readers search for it in more than
 * the 1,024 bytes of ISO 32000-1 (annex H, note 13). */
static sr_error_t *look_at(const sr_upload_t *upload, apr_pool_t *pool)
{
    const char *head;
    apr_size_t length;
    sr_blobs_head(upload->spool, &head, &length);
    if (length > SNIFF_BYTES) length = SNIFF_BYTES;
    if (!upload->declared_pdf) return not_pdf(upload->name, "is declared as another type than application/pdf", pool);
    if (!length) return not_pdf(upload->name, "is empty", pool);
    if (memmem(head, length, "%PDF-", 5)) return NULL;
    return not_pdf(upload->name, "has no %PDF- within its first 4096 bytes", pool);
}

static sr_error_t *check_names(const apr_array_header_t *uploads, apr_pool_t *pool)
{
    for (int i = 0; i < uploads->nelts; i++) {
        const char *name = APR_ARRAY_IDX(uploads, i, sr_upload_t).name;
        const char *fault = sr_text_fault(name, FILE_NAME_MAX_CHARACTERS, pool);
        if (fault) return sr_error(pool, SR_EBADREQUEST, "A file name %s", fault);
        for (int j = 0; j < i; j++)
            if (!strcmp(APR_ARRAY_IDX(uploads, j, sr_upload_t).name, name))
                return sr_error(pool, SR_EBADREQUEST, "Document %s is provided more than once", name);
    }
    return NULL;
}

static sr_error_t *verdict_error(const sr_pdf_probe_t *probe, const char *name, apr_pool_t *pool)
{
    switch (probe->verdict) {
    case SR_PDF_ACCEPTED: return NULL;
    case SR_PDF_NOT_PDF: return not_pdf(name, "is damaged beyond what the helper can repair", pool);
    case SR_PDF_PASSWORD:
        sr_preflight_count("password");
        return sr_error(pool, SR_EBADREQUEST, "Document %s is password protected", name);
    case SR_PDF_FORBIDDEN:
        sr_preflight_count("forbidden");
        return sr_error(pool, SR_EBADREQUEST, "Document %s does not permit signing: %s", name, probe->reason);
    case SR_PDF_REFUSED: break;
    }
    return sr_preflight_refuse(name, probe->reason, pool);
}

static sr_error_t *ask_helper(sr_file_t *file, const sr_preflight_t *preflight, sr_pdf_pool_t *pdf, const char *name,
                              const sr_create_t *request, apr_pool_t *pool)
{
    sr_pdf_probe_t probe = {0};
    int descriptor;
    SR_TRY(sr_preflight_in_time(preflight, name, pool));
    SR_TRY(sr_preflight_descriptor(&descriptor, request, file, pool));
    SR_TRY(sr_pdf_probe(&probe, pdf, descriptor, file->size, pool));
    file->pages = probe.pages;
    return verdict_error(&probe, name, pool);
}

sr_error_t *sr_service_pages(sr_pages_t **pages, sr_blobs_t *documents, const char *sha256, apr_pool_t *pool)
{
    const char *report;
    *pages = NULL;
    SR_TRY(sr_reports_read(&report, documents, sha256, pool));
    /* a report of another version, or a damaged one, is made again */
    if (!report || sr_pages_parse_stored(pages, report, pool)) *pages = NULL;
    return NULL;
}

static const char *uploads_owner_of(const sr_create_t *request, apr_pool_t *pool)
{
    return sr_owner_of(request->caller->organization_uuid, request->caller->environment, pool);
}

/* Sets whether the content is stored and the owner has a report. A content that only others have is stored once
 * more, so that the time of the response does not tell that they have it. */
static sr_error_t *find_stored(const sr_service_t *service, sr_file_t *file, const sr_create_t *request,
                               apr_pool_t *pool)
{
    sr_pages_t *pages;
    sr_blobs_t *documents = request->uploads->documents;
    SR_TRY(sr_service_pages(&pages, documents, file->sha256, pool));
    if (pages)
        SR_TRY(sr_contents_find(service, &file->key, documents, uploads_owner_of(request, pool), file->sha256, pool));
    file->pages = file->key ? pages : NULL;
    file->stored = file->key;
    return NULL;
}

/* Finds the rewritten document of an upload that was seen before. It may have been removed if no submission needs
 * it. */
static sr_error_t *find_rewritten(const sr_service_t *service, sr_files_t *files, const sr_create_t *request,
                                  apr_pool_t *pool)
{
    const sr_pages_t *own = files->upload.pages;
    sr_file_t found = {.sha256 = own->rewritten_sha256, .size = own->rewritten_size};
    if (!found.sha256) return NULL;
    SR_TRY(find_stored(service, &found, request, pool));
    if (found.stored && found.pages->count == own->count) files->rewritten = found;
    return NULL;
}

/* Adds a document. A file of a template has the key of its blob, and no spool. */
static sr_error_t *uploads_read_file(const sr_service_t *service, sr_preflight_t *preflight, const sr_file_t *file,
                                     const char *name, const char *raw, const sr_create_t *request, apr_pool_t *pool)
{
    sr_files_t *files = apr_array_push(preflight->files);
    *files = (sr_files_t){.upload = *file, .pdf = sr_preflight_helper(preflight, service, request->caller, pool)};
    SR_TRY(find_stored(service, &files->upload, request, pool));
    if (!files->upload.pages) {
        files->upload.key = file->key;
        files->upload.stored = files->upload.changed = file->key;
        SR_TRY(ask_helper(&files->upload, preflight, files->pdf, name, request, pool));
    }
    SR_TRY(find_rewritten(service, files, request, pool));
    sr_document_t *document = apr_array_push(preflight->documents);
    *document = (sr_document_t){.uuid = sr_uuid_make(pool),
                                .name = name,
                                .raw = raw,
                                .sha256 = file->sha256,
                                .size = file->size,
                                .pages = files->rewritten.sha256 ? files->rewritten.pages : files->upload.pages};
    return NULL;
}

sr_error_t *sr_uploads_stored(const sr_service_t *service, sr_preflight_t *preflight,
                              const apr_array_header_t *documents, const sr_create_t *request, apr_pool_t *pool)
{
    sr_preflight_begin(preflight, documents->nelts, pool);
    for (int i = 0; i < documents->nelts; i++) {
        const sr_document_state_t *document = &APR_ARRAY_IDX(documents, i, sr_document_state_t);
        const sr_file_t file = {.sha256 = document->sha256, .size = document->size, .key = document->key};
        SR_TRY(uploads_read_file(service, preflight, &file, document->name, NULL, request, pool));
    }
    return NULL;
}

/* A template that is gone is only for replays. Without its submission it has no documents and roles. */
static sr_error_t *uploads_read_template(const sr_service_t *service, sr_preflight_t *preflight,
                                         const sr_create_t *request, apr_pool_t *pool)
{
    sr_template_record_t record;
    if (request->uploads->files->nelts)
        return sr_error(pool, SR_EBADREQUEST, "Either a template or files can be provided, not both");
    SR_TRY(sr_template_read(&record, service, request->token_hash, request->template, pool));
    if (!record.uuid || record.deleted) {
        preflight->unless_replay = sr_template_unknown(request->template, pool);
        if (!request->idempotency_key || !sr_uuid_valid(request->template)) return preflight->unless_replay;
    }
    preflight->template = sr_text_fold(request->template, pool);
    preflight->roles = record.roles;
    return sr_uploads_stored(service, preflight, record.documents, request, pool);
}

sr_error_t *sr_uploads_check(const sr_service_t *service, sr_preflight_t *preflight, const sr_create_t *request,
                             apr_pool_t *pool)
{
    const apr_array_header_t *uploads = request->uploads->files;
    if (request->template) return uploads_read_template(service, preflight, request, pool);
    if (!uploads->nelts) return sr_error(pool, SR_EBADREQUEST, "At least 1 file must be provided");
    for (int i = 0; i < uploads->nelts; i++) SR_TRY(look_at(&APR_ARRAY_IDX(uploads, i, sr_upload_t), pool));
    SR_TRY(check_names(uploads, pool));
    sr_preflight_begin(preflight, uploads->nelts, pool);
    for (int i = 0; i < uploads->nelts; i++) {
        const sr_upload_t *upload = &APR_ARRAY_IDX(uploads, i, sr_upload_t);
        const sr_file_t file = {.sha256 = upload->sha256, .size = upload->size, .spool = upload->spool};
        SR_TRY(uploads_read_file(service, preflight, &file, upload->name, upload->raw, request, pool));
    }
    return NULL;
}

/* Adds a file to the contents, unless an upload of the same content has added it. */
static void name(apr_array_header_t *contents, const sr_file_t *file)
{
    if (!file->sha256 || sr_contents_get(contents, file->sha256)) return;
    APR_ARRAY_PUSH(contents, sr_content_t) =
        (sr_content_t){.sha256 = file->sha256, .size = file->size, .stored = file->stored, .found = file->key};
}

static void uploads_name_prepared(apr_array_header_t *contents, const sr_files_t *files, const sr_prepared_t *prepared)
{
    if (!files->prepared || sr_contents_get(contents, prepared->sha256)) return;
    APR_ARRAY_PUSH(contents, sr_content_t) =
        (sr_content_t){.sha256 = prepared->sha256, .size = prepared->size, .bytes = files->prepared};
}

/* Stores a file with its report. If only the report of a stored document has changed, an error is ignored, because a
 * report only saves work. */
static sr_error_t *uploads_keep(const sr_file_t *file, const apr_array_header_t *contents, const sr_create_t *request,
                                apr_pool_t *pool)
{
    if (!file->sha256 || (file->stored && !file->changed)) return NULL;
    const char *report = sr_pages_write(file->pages, pool);
    if (!file->stored) {
        const sr_content_t *content = sr_contents_get(contents, file->sha256);
        sr_blobs_spare(file->spool, content->found != NULL);
        return sr_blobs_commit(file->spool, content->key, report);
    }
    (void)sr_reports_write(request->uploads->documents, file->sha256, report, pool);
    return NULL;
}

/* Stores what was appended to documents before anybody signs. */
static sr_error_t *uploads_keep_prepared(const sr_preflight_t *preflight, const apr_array_header_t *contents,
                                         const sr_create_t *request, apr_pool_t *pool)
{
    apr_array_header_t *parts = apr_array_make(pool, 1, sizeof(sr_blob_part_t));
    for (int i = 0; i < preflight->files->nelts; i++) {
        const char *bytes = APR_ARRAY_IDX(preflight->files, i, sr_files_t).prepared;
        const sr_prepared_t *prepared = &APR_ARRAY_IDX(preflight->documents, i, sr_document_t).prepared;
        if (bytes)
            APR_ARRAY_PUSH(parts, sr_blob_part_t) =
                (sr_blob_part_t){sr_contents_get(contents, prepared->sha256)->key, bytes, (apr_size_t)prepared->size};
    }
    if (!parts->nelts) return NULL;
    return sr_blobs_put_all(request->uploads->documents, (const sr_blob_part_t *)(const void *)parts->elts,
                            parts->nelts, pool);
}

sr_error_t *sr_uploads_commit(const sr_service_t *service, apr_array_header_t *contents,
                              const sr_preflight_t *preflight, const sr_create_t *request, apr_pool_t *pool)
{
    for (int i = 0; i < preflight->files->nelts; i++) {
        const sr_files_t *files = &APR_ARRAY_IDX(preflight->files, i, sr_files_t);
        name(contents, &files->rewritten);
        name(contents, &files->upload);
        uploads_name_prepared(contents, files, &APR_ARRAY_IDX(preflight->documents, i, sr_document_t).prepared);
    }
    SR_TRY(sr_contents_reserve(service, contents, request->uploads->documents, pool));
    for (int i = 0; i < preflight->files->nelts; i++) {
        const sr_files_t *files = &APR_ARRAY_IDX(preflight->files, i, sr_files_t);
        SR_TRY(uploads_keep(&files->rewritten, contents, request,
                            pool)); /* first, because the upload's report refers to it */
        SR_TRY(uploads_keep(&files->upload, contents, request, pool));
    }
    return uploads_keep_prepared(preflight, contents, request, pool);
}

/* A content that only storage has is still named, under the key that it has then. */
static sr_error_t *distrust(const sr_service_t *service, sr_file_t *file, const sr_create_t *request, apr_pool_t *pool)
{
    if (!file->stored) return NULL;
    SR_TRY(
        sr_contents_forget(service, request->uploads->documents, uploads_owner_of(request, pool), file->sha256, pool));
    file->stored = !file->spool;
    file->key = NULL;
    return NULL;
}

sr_error_t *sr_uploads_stale(const sr_service_t *service, const sr_preflight_t *preflight, const sr_create_t *request,
                             apr_pool_t *pool)
{
    for (int i = 0; i < preflight->files->nelts; i++) {
        sr_files_t *files = &APR_ARRAY_IDX(preflight->files, i, sr_files_t);
        SR_TRY(distrust(service, &files->upload, request, pool));
        SR_TRY(distrust(service, &files->rewritten, request, pool));
    }
    return NULL;
}

void sr_uploads_drop(const sr_preflight_t *preflight)
{
    for (int i = 0; preflight->files && i < preflight->files->nelts; i++) {
        const sr_file_t *rewritten = &APR_ARRAY_IDX(preflight->files, i, sr_files_t).rewritten;
        if (rewritten->spool) sr_blobs_drop(rewritten->spool);
    }
}

/* Otherwise a second attempt would be fast if another organisation has the document, and only then. */
void sr_uploads_forget(const sr_preflight_t *preflight, const sr_create_t *request, apr_pool_t *pool)
{
    for (int i = 0; i < preflight->files->nelts; i++) {
        const sr_files_t *files = &APR_ARRAY_IDX(preflight->files, i, sr_files_t);
        const sr_file_t *both[] = {&files->upload, &files->rewritten};
        for (int j = 0; j < 2; j++)
            if (both[j]->sha256 && !both[j]->stored)
                sr_reports_remove(request->uploads->documents, both[j]->sha256, pool);
    }
}
