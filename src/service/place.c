/* SPDX-License-Identifier: Apache-2.0 */
/* place.c: opens the storage of the documents: a folder, or a bucket. */
#include "service/private.h"

sr_error_t *sr_service_documents(sr_blobs_t **documents, const sr_service_t *service, apr_pool_t *pool)
{
    if (service->bucket) return sr_blobs_bucket(documents, service->bucket, false, pool);
    return sr_blobs_folder(documents, service->documents_root, pool);
}
