/* SPDX-License-Identifier: Apache-2.0 */
/* receive.c: receives files for creations and verifications. Each is written to a spool.
 */
#include "service/private.h"

sr_error_t *sr_service_receive(const sr_service_t *service, sr_uploads_t **uploads, apr_pool_t *pool)
{
    sr_uploads_t *made = apr_palloc(pool, sizeof *made);
    *made = (sr_uploads_t){.files = apr_array_make(pool, 4, sizeof(sr_upload_t)), .pool = pool};
    SR_TRY(sr_service_documents(&made->documents, service, pool));
    *uploads = made;
    return NULL;
}

sr_error_t *sr_service_receive_begin(sr_uploads_t *uploads, const char *name, const char *raw, bool declared_pdf)
{
    sr_upload_t upload = {.name = name, .raw = raw, .declared_pdf = declared_pdf};
    SR_TRY(sr_blobs_begin(&upload.spool, uploads->documents, uploads->pool));
    APR_ARRAY_PUSH(uploads->files, sr_upload_t) = upload;
    return NULL;
}

static sr_upload_t *last_of(const sr_uploads_t *uploads)
{
    return &APR_ARRAY_IDX(uploads->files, uploads->files->nelts - 1, sr_upload_t);
}

sr_error_t *sr_service_receive_data(sr_uploads_t *uploads, const void *data, apr_size_t length)
{
    return sr_blobs_write(last_of(uploads)->spool, data, length);
}

sr_error_t *sr_service_receive_end(sr_uploads_t *uploads)
{
    sr_upload_t *upload = last_of(uploads);
    return sr_blobs_end(upload->spool, &upload->sha256, &upload->size);
}

int sr_service_received(const sr_uploads_t *uploads)
{
    return uploads->files->nelts;
}

void sr_service_receive_drop(sr_uploads_t *uploads)
{
    for (int i = 0; i < uploads->files->nelts; i++) sr_blobs_drop(APR_ARRAY_IDX(uploads->files, i, sr_upload_t).spool);
}
