/* SPDX-License-Identifier: Apache-2.0 */
/* storage.c: opens the storage of the documents: a folder, or a bucket. While documents are moved, there are two. */
#include "service/private.h"

sr_error_t *sr_service_documents(sr_blobs_t **documents, const sr_service_t *service, apr_pool_t *pool)
{
    const sr_storage_t *storage = &service->storage;
    SR_TRY(sr_blobs_place(documents, &storage->main, pool));
    return storage->also.root ? sr_blobs_read_also(*documents, &storage->also, pool) : NULL;
}
