/* SPDX-License-Identifier: Apache-2.0 */
/* disk.h: what the tests of the document folder share: a folder of their own, and children that may die. */
#ifndef SR_TEST_DISK_H
#define SR_TEST_DISK_H

#include "blobs/private.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#define DAY (24 * 3600)

#define REPORT "{\"version\":5,\"pages\":1,\"runs\":[[1,0,0,612,792,0]],\"signatures\":0,\"normalise\":false}"
#define OTHER_REPORT "{\"version\":5,\"pages\":2,\"runs\":[[2,0,0,612,792,0]],\"signatures\":0,\"normalise\":false}"

#define OWNER "0b8f9d2e-5a0c-4a8e-9d51-1b2f6f0c9a11.test"
#define OTHER "1c9f9d2e-5a0c-4a8e-9d51-1b2f6f0c9a11.test"

static apr_pool_t *pool;
static const char *root;
static sr_blobs_t *documents;

static int disk_remove(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    return where->level == 0 ? 0 : remove(path);
}

static inline bool is_quarantined(const char *key)
{
    bool there;
    return !sr_quarantine_has(&there, documents, key, pool) && there;
}

/* Empties the folder. */
static inline void start_over(void)
{
    chmod(root, 0755);
    nftw(root, disk_remove, 16, FTW_DEPTH | FTW_PHYS);
}

static inline void begin(void)
{
    static char name[] = "/tmp/sigreq-unit-XXXXXX";

    apr_initialize();
    apr_pool_create(&pool, NULL);
    root = mkdtemp(name);
    if (!root || sr_blobs_folder(&documents, root, pool)) {
        printf("Bail out! no folder to test in\n");
        exit(EXIT_FAILURE);
    }
    sr_blobs_own(documents, OWNER);
}

static inline void end(void)
{
    start_over();
    rmdir(root);
    apr_pool_destroy(pool);
    apr_terminate();
}

static struct utimbuf disk_times;

static inline int disk_age(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    if (kind == FTW_F) utime(path, &disk_times);
    return 0;
}

/* All files were last used so long ago. */
static inline void age_all(time_t seconds)
{
    disk_times.actime = disk_times.modtime = time(NULL) - seconds;
    nftw(root, disk_age, 16, FTW_PHYS);
}

static int disk_files;

static inline int disk_count(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    disk_files += kind == FTW_F && strcmp(path + where->base, ".turns") != 0 ? 1 : 0;
    return 0;
}

/* Files anywhere in the folder, except the one for locks. */
static inline int count_files(void)
{
    disk_files = 0;
    return nftw(root, disk_count, 16, FTW_PHYS) == 0 ? disk_files : -1;
}

static inline const char *make_content(apr_size_t length)
{
    char *const content = apr_palloc(pool, length + 1);
    apr_size_t i;

    for (i = 0; i < length; i++) content[i] = (char)(i * 7 + i / 251);
    return content;
}

static inline void put_file(const char *path, const char *content)
{
    int descriptor;

    unlink(path);
    descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (descriptor < 0 || write(descriptor, content, strlen(content)) < 0) ok(false, "%s is written", path);
    close(descriptor);
}

/* Stores a text under its digest with this ending. The key, or NULL. */
static inline const char *keep_under(const char *text, const char *ending, const char *report)
{
    const char *sha256;
    sr_blob_writer_t *spool;
    apr_off_t size;

    if (sr_blobs_begin(&spool, documents, pool) || sr_blobs_write(spool, text, strlen(text))) return NULL;
    if (sr_blobs_end(spool, &sha256, &size)) return NULL;
    const char *key = apr_pstrcat(pool, sha256, ending, NULL);
    if (sr_blobs_commit(spool, key, report)) return NULL;
    sr_blobs_drop(spool);
    return key;
}

/* The same under the digest alone. */
static inline const char *keep(const char *text, const char *report)
{
    return keep_under(text, "", report);
}

static inline pid_t start_child(int (*body)(void))
{
    const pid_t child = fork();
    int result;

    if (child != 0) return child;
    result = body();
    fflush(stdout);
    _exit(result);
}

/* The exit code, or 128 and the signal. */
static inline int wait_child(pid_t child)
{
    int status;

    if (child < 0 || waitpid(child, &status, 0) != child) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static inline int in_child(int (*body)(void))
{
    return wait_child(start_child(body));
}

#endif
