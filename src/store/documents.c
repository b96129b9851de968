/* documents.c: the folder of documents: where each lies, what is known of its pages, and the lock that keeps gc from
 * taking a document that is about to be named. Paths are used rather than open folders, so that a filesystem that
 * went away and came back needs no restart. */
#include "store/documents.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHARED_PATIENCE apr_time_from_sec(5)     /* gc holds its lock for one folder, so this is never reached */
#define EXCLUSIVE_PATIENCE apr_time_from_sec(30) /* many uploads may follow one another */
#define FIRST_DELAY apr_time_from_msec(1)
#define LONGEST_DELAY apr_time_from_msec(16)
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
    ssize_t got = 0, length = 0;
    struct stat status;

    *text = NULL;
    if (descriptor < 0) return errno == ENOENT ? NULL : sr_documents_trouble(pool, "opening", path);
    if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= REPORT_MAX) {
        *text = apr_pcalloc(pool, (apr_size_t)status.st_size + 1);
        while (length < status.st_size) {
            got = read(descriptor, *text + length, (size_t)(status.st_size - length));
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) break;
            length += got;
        }
        if (got < 0) error = sr_documents_trouble(pool, "reading", path);
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
    /* one of another version, or one that was damaged, is made anew */
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

static apr_status_t close_descriptor(void *descriptor)
{
    close(*(int *)descriptor);
    return APR_SUCCESS;
}

sr_error_t *sr_documents_descriptor(int *descriptor, sr_documents_t *documents, const char *sha256, apr_pool_t *pool)
{
    const char *const path = sr_documents_path(documents, sha256, pool);
    int *const opened = apr_palloc(pool, sizeof *opened);

    *opened = open(path, O_RDONLY | O_CLOEXEC);
    if (*opened < 0) return sr_documents_trouble(pool, "opening", path);
    apr_pool_cleanup_register(pool, opened, close_descriptor, apr_pool_cleanup_null);
    *descriptor = *opened;
    return NULL;
}

/* --- the lock */

struct sr_documents_lock_t {
    int descriptor; /* -1 once unlocked; the lock is the descriptor's own, so threads exclude each other too */
};

void sr_documents_unlock(sr_documents_lock_t *lock)
{
    if (lock->descriptor < 0) return;
    flock(lock->descriptor, LOCK_UN); /* a child that has just been forked has the descriptor too */
    close(lock->descriptor);
    lock->descriptor = -1;
}

static apr_status_t unlock(void *lock)
{
    sr_documents_unlock(lock);
    return APR_SUCCESS;
}

/* Anybody may read the file: it is empty, and sigreqctl (root) and httpd may each be the one that makes it. */
static int open_lock_file(const char *path)
{
    int descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

    if (descriptor >= 0 || errno != ENOENT) return descriptor;
    descriptor = open(path, O_RDONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (descriptor >= 0) (void)fchmod(descriptor, 0644); /* whatever the umask; not ours to do where not ours */
    return descriptor;
}

/* Asks again and again, as flock() itself knows no timeout. 0, or EWOULDBLOCK when the time is over, or errno. */
static int wait_for_lock(int descriptor, int operation, apr_interval_time_t patience)
{
    const apr_time_t deadline = apr_time_now() + patience;
    apr_interval_time_t delay = FIRST_DELAY;

    while (flock(descriptor, operation | LOCK_NB) != 0) {
        if (errno == EINTR) continue;
        if (errno != EWOULDBLOCK || apr_time_now() >= deadline) return errno;
        apr_sleep(delay);
        if (delay < LONGEST_DELAY) delay *= 2;
    }
    return 0;
}

sr_error_t *sr_documents_try_lock(sr_documents_lock_t **lock, sr_documents_t *documents, bool exclusive,
                                  apr_interval_time_t patience, apr_pool_t *pool)
{
    const char *const path = apr_pstrcat(pool, documents->root, "/.lock", NULL);
    sr_documents_lock_t *const made = apr_pcalloc(pool, sizeof *made);
    int failure;

    *lock = NULL;
    made->descriptor = open_lock_file(path);
    if (made->descriptor < 0) return sr_documents_trouble(pool, "opening", path);
    apr_pool_cleanup_register(pool, made, unlock, apr_pool_cleanup_null);
    failure = wait_for_lock(made->descriptor, exclusive ? LOCK_EX : LOCK_SH, patience);
    if (!failure) {
        *lock = made;
        return NULL;
    }
    sr_documents_unlock(made);
    errno = failure;
    return failure == EWOULDBLOCK ? NULL : sr_documents_trouble(pool, "locking", path);
}

sr_error_t *sr_documents_lock(sr_documents_lock_t **lock, sr_documents_t *documents, bool exclusive, apr_pool_t *pool)
{
    SR_TRY(sr_documents_try_lock(lock, documents, exclusive, exclusive ? EXCLUSIVE_PATIENCE : SHARED_PATIENCE, pool));
    if (*lock) return NULL;
    errno = EWOULDBLOCK;
    return sr_documents_trouble(pool, "locking the folder", documents->root);
}
