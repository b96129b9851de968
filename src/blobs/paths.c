/* SPDX-License-Identifier: Apache-2.0 */
/* paths.c: the paths of blobs and reports in the local folder, and the errors of file operations. */
#include "blobs/private.h"

#include <errno.h>

const char *sr_blobs_path(const sr_blobs_t *blobs, const char *name, apr_pool_t *pool)
{
    return apr_psprintf(pool, "%s/%.2s/%s", blobs->root, name, name);
}

const char *sr_blobs_former_path(const sr_blobs_t *blobs, const char *name, apr_pool_t *pool)
{
    return apr_psprintf(pool, "%s/%.2s/%.2s/%s", blobs->root, name, name + 2, name);
}

sr_error_t *sr_blobs_trouble(apr_pool_t *pool, const char *doing, const char *path)
{
    const apr_status_t status = errno;
    char reason[200];
    apr_strerror(status, reason, sizeof reason);
    return sr_error_because(
        sr_error(pool, SR_EUNAVAILABLE, "Documents cannot be stored at the moment, try again later"), pool, "%s %s: %s",
        doing, path, reason);
}
