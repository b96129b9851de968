/* SPDX-License-Identifier: Apache-2.0 */
/* storage.c: opens the storage of the documents: a folder, or a bucket. While documents are moved, there are two. */
#include "service/private.h"

sr_error_t *sr_service_documents(sr_blobs_t **documents, const sr_service_t *service, apr_pool_t *pool)
{
    const sr_place_t place = {service->documents_root, service->bucket};
    SR_TRY(sr_blobs_place(documents, &place, pool));
    return service->also.root ? sr_blobs_read_also(*documents, &service->also, pool) : NULL;
}
