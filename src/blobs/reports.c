/* SPDX-License-Identifier: Apache-2.0 */
/* reports.c: reports of documents. A report is a file beside the document, and belongs to one owner. */
#include "blobs/private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define REPORT_MAX ((off_t)64 * 1024 * 1024)

static const char *reports_name_of(const sr_blobs_t *blobs, const char *sha256, apr_pool_t *pool)
{
    return apr_pstrcat(pool, sha256, ".", blobs->owner, ".json", NULL);
}

const char *sr_reports_path(const sr_blobs_t *blobs, const char *sha256, apr_pool_t *pool)
{
    return sr_blobs_path(blobs, reports_name_of(blobs, sha256, pool), pool);
}

static const char *former_path(const sr_blobs_t *blobs, const char *sha256, apr_pool_t *pool)
{
    return sr_blobs_former_path(blobs, reports_name_of(blobs, sha256, pool), pool);
}

/* Reads a file. *text is NULL if the file is missing or too large for a report. */
static sr_error_t *reports_read_text(char **text, const char *path, apr_pool_t *pool)
{
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    sr_error_t *error = NULL;
    struct stat status;
    *text = NULL;
    if (descriptor < 0) return errno == ENOENT ? NULL : sr_blobs_trouble(pool, "opening", path);
    if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= REPORT_MAX) {
        *text = apr_pcalloc(pool, (apr_size_t)status.st_size + 1);
        if (sr_descriptor_read(descriptor, *text, (apr_size_t)status.st_size, 0) < 0)
            error = sr_blobs_trouble(pool, "reading", path);
    }
    close(descriptor);
    return error;
}

sr_error_t *sr_reports_read(const char **report, sr_blobs_t *blobs, const char *sha256, apr_pool_t *pool)
{
    char *text = NULL;
    if (blobs->owner) SR_TRY(reports_read_text(&text, sr_reports_path(blobs, sha256, pool), pool));
    if (blobs->owner && !text) SR_TRY(reports_read_text(&text, former_path(blobs, sha256, pool), pool));
    *report = text;
    return NULL;
}

sr_error_t *sr_reports_write(sr_blobs_t *blobs, const char *sha256, const char *report, apr_pool_t *pool)
{
    sr_temporary_t *file;
    sr_error_t *error;
    bool existed = false;
    if (!blobs->owner) return NULL;
    SR_TRY(sr_temporary_open(&file, blobs->root, pool));
    error = sr_temporary_write(file, report, strlen(report));
    if (!error) sr_temporary_begin_sync(file);
    if (!error) error = sr_temporary_link(&existed, file, sr_reports_path(blobs, sha256, pool));
    if (!error && existed) error = sr_temporary_replace(file, sr_reports_path(blobs, sha256, pool));
    sr_temporary_drop(file);
    return error;
}

void sr_reports_remove(sr_blobs_t *blobs, const char *sha256, apr_pool_t *pool)
{
    for (const sr_blobs_t *place = blobs; place && place->owner; place = place->also) {
        (void)unlink(sr_reports_path(place, sha256, pool));
        (void)unlink(former_path(place, sha256, pool));
    }
}
