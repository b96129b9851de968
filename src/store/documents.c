/* SPDX-License-Identifier: Apache-2.0 */
/* documents.c: the folder of documents: where each lies, and what is known of its pages. Paths are used rather than
 * open folders, so that a filesystem that went away and came back needs no restart. */
#include "store/documents.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REPORT_MAX ((off_t)64 * 1024 * 1024)

sr_error_t *sr_documents_trouble(apr_pool_t *pool, const char *doing, const char *path)
{
    const apr_status_t status = errno;
    char reason[200];

    apr_strerror(status, reason, sizeof reason);
    return sr_error_because(
        sr_error(pool, SR_EUNAVAILABLE, "Documents cannot be stored at the moment, try again later"), pool, "%s %s: %s",
        doing, path, reason);
}

sr_error_t *sr_documents_open(sr_documents_t **documents, const char *root, apr_pool_t *pool)
{
    apr_size_t length = strlen(root);
    sr_documents_t *const made = apr_pcalloc(pool, sizeof *made);
    struct stat status;

    while (length > 1 && root[length - 1] == '/') length--;
    made->root = apr_pstrmemdup(pool, root, length);
    if (stat(made->root, &status) != 0) return sr_documents_trouble(pool, "opening the folder", made->root);
    if (!S_ISDIR(status.st_mode)) {
        errno = ENOTDIR;
        return sr_documents_trouble(pool, "opening the folder", made->root);
    }
    *documents = made;
    return NULL;
}

const char *sr_documents_path(sr_documents_t *documents, const char *sha256, apr_pool_t *pool)
{
    return apr_psprintf(pool, "%s/%.2s/%.2s/%s", documents->root, sha256, sha256 + 2, sha256);
}

const char *sr_documents_report_path(sr_documents_t *documents, const char *sha256, apr_pool_t *pool)
{
    return apr_pstrcat(pool, sr_documents_path(documents, sha256, pool), ".", documents->owner, ".json", NULL);
}

bool sr_documents_is_report(const char *rest)
{
    static const char end[] = ".json";
    const apr_size_t length = strlen(rest);

    return *rest == '.' && length >= sizeof end - 1 && strcmp(rest + length - (sizeof end - 1), end) == 0;
}

void sr_documents_own(sr_documents_t *documents, const char *owner)
{
    documents->owner = owner;
}

/* --- reports */

/* The content of a file, or NULL in *text when it is absent or too big to be a report. */
static sr_error_t *read_text(char **text, const char *path, apr_pool_t *pool)
{
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    sr_error_t *error = NULL;
    struct stat status;

    *text = NULL;
    if (descriptor < 0) return errno == ENOENT ? NULL : sr_documents_trouble(pool, "opening", path);
    if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= REPORT_MAX) {
        *text = apr_pcalloc(pool, (apr_size_t)status.st_size + 1);
        if (sr_descriptor_read(descriptor, *text, (apr_size_t)status.st_size, 0) < 0)
            error = sr_documents_trouble(pool, "reading", path);
    }
    close(descriptor);
    return error;
}

sr_error_t *sr_documents_pages(sr_pages_t **pages, sr_documents_t *documents, const char *sha256, apr_pool_t *pool)
{
    const char *const path = sr_documents_path(documents, sha256, pool);
    sr_pages_t *found;
    char *text;

    *pages = NULL;
    if (!documents->owner) return NULL;
    SR_TRY(read_text(&text, sr_documents_report_path(documents, sha256, pool), pool));
    /* one of another version, or one that was damaged, is made again */
    if (!text || sr_pages_parse_stored(&found, text, pool)) return NULL;
    if (access(path, F_OK) == 0) *pages = found;
    else if (errno != ENOENT) return sr_documents_trouble(pool, "looking for", path);
    return NULL;
}

sr_error_t *sr_documents_report_write(sr_documents_t *documents, const char *sha256, const char *report,
                                      apr_pool_t *pool)
{
    sr_temporary_t *file;
    sr_error_t *error;

    if (!documents->owner) return NULL;
    SR_TRY(sr_temporary_open(&file, documents, pool));
    error = sr_temporary_write(file, report, strlen(report));
    if (!error) error = sr_temporary_replace(file, sr_documents_report_path(documents, sha256, pool));
    sr_temporary_drop(file);
    return error;
}

void sr_documents_report_remove(sr_documents_t *documents, const char *sha256, apr_pool_t *pool)
{
    if (documents->owner) (void)unlink(sr_documents_report_path(documents, sha256, pool));
}

sr_error_t *sr_documents_descriptor(int *descriptor, sr_documents_t *documents, const char *sha256, apr_pool_t *pool)
{
    const char *const path = sr_documents_path(documents, sha256, pool);

    *descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (*descriptor < 0) return sr_documents_trouble(pool, "opening", path);
    sr_descriptor_own(*descriptor, pool);
    return NULL;
}
