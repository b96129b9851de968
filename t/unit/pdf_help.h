/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_help.h: what the tests of the PDF helper share: where the program is, a pool that counts its notices, a
 * request about bytes in memory, and a look at this process's children and descriptors. */
#ifndef SR_TEST_PDF_HELP_H
#define SR_TEST_PDF_HELP_H

#include "verify/verify.h"
#include "pdf_make.h"
#include "tap.h"

#include <apr_general.h>
#include <dirent.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HELP_MS 1000 /* microseconds */

static pthread_mutex_t help_mutex = PTHREAD_MUTEX_INITIALIZER;
static int help_notices, help_refusals; /* of updates, which cost no worker its life */
static char help_last_notice[300];

static inline void help_notice(void *baton, const char *message)
{
    pthread_mutex_lock(&help_mutex);
    if (strstr(message, "an update that is refused")) help_refusals++;
    else help_notices++;
    snprintf(help_last_notice, sizeof help_last_notice, "%s", message);
    pthread_mutex_unlock(&help_mutex);
}

/* $SIGREQ_PDFD, or the one that make has built. A test without the program has nothing to say, so it fails. */
static inline const char *help_program(void)
{
    static char path[PATH_MAX];
    const char *given = getenv("SIGREQ_PDFD");
    if (!realpath(given ? given : "build/sigreq-pdfd", path) || access(path, X_OK)) {
        printf("Bail out! no sigreq-pdfd: run make first, or set SIGREQ_PDFD\n");
        exit(1);
    }
    return path;
}

static inline sr_pdf_pool_t *help_pool(const char *program, int workers, int timeout_ms, apr_pool_t *pool)
{
    sr_pdf_options_t options = {.program = program,
                                .workers = workers,
                                .timeout = (apr_interval_time_t)timeout_ms * HELP_MS,
                                .notice = help_notice};
    sr_pdf_pool_t *made = NULL;
    if (sr_pdf_pool_create(&made, &options, pool)) abort();
    help_notices = help_refusals = 0;
    return made;
}

static inline int help_descriptor(const void *data, size_t size)
{
    int fd = memfd_create("document", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
    return fd;
}

static inline sr_error_t *help_probe(sr_pdf_probe_t *probe, sr_pdf_pool_t *workers, const void *data, size_t size,
                                     apr_pool_t *pool)
{
    int fd = help_descriptor(data, size);
    sr_error_t *error = sr_pdf_probe(probe, workers, fd, (apr_off_t)size, pool);
    close(fd);
    return error;
}

/* A busy machine may give a worker no processor time. That is no fault of the document: callers are told to come again,
 * and a test does, up to 100 times. */
static inline bool help_is_busy(const sr_error_t *error)
{
    static int times;
    const bool busy = error && error->code == SR_EUNAVAILABLE && error->cause && strstr(error->cause, "too busy");
    times = busy ? times + 1 : 0;
    return busy && times < 100;
}

/* The answer in one line: "accepted <report>", "refused: <reason>", "password", "not-pdf", "error <cause>". */
static inline const char *help_say(sr_error_t *error, const sr_pdf_probe_t *probe, apr_pool_t *pool)
{
    if (error) return apr_psprintf(pool, "error %d: %s", error->code, error->cause ? error->cause : "");
    switch (probe->verdict) {
    case SR_PDF_ACCEPTED: return apr_psprintf(pool, "accepted %s", probe->pages->report);
    case SR_PDF_NOT_PDF: return "not-pdf";
    case SR_PDF_PASSWORD: return "password";
    case SR_PDF_FORBIDDEN: return apr_psprintf(pool, "forbidden: %s", probe->reason);
    default: return apr_psprintf(pool, "refused: %s", probe->reason);
    }
}

static inline void help_sleep(int ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000L}, NULL);
}

static inline int64_t help_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * (int64_t)1000 + now.tv_nsec / 1000000;
}

typedef struct help_children_t {
    int alive, zombies;
    pid_t pid[64];
} help_children_t;

static inline help_children_t help_children(void)
{
    help_children_t found = {0};
    DIR *all = opendir("/proc");
    if (!all) abort();
    for (struct dirent *entry; (entry = readdir(all));) {
        char path[300], state;
        int pid, parent;
        snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
        FILE *stat = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' ? fopen(path, "r") : NULL;
        if (!stat) continue;
        int fields = fscanf(stat, "%d (%*[^)]) %c %d", &pid, &state, &parent);
        fclose(stat);
        if (fields != 3 || parent != getpid()) continue;
        if (state == 'Z') found.zombies++;
        else if (found.alive < 64) found.pid[found.alive++] = pid;
    }
    closedir(all);
    return found;
}

static inline int help_descriptors(void)
{
    int count = 0;
    DIR *all = opendir("/proc/self/fd");
    if (!all) abort();
    while (readdir(all)) count++;
    closedir(all);
    return count;
}

/* A caption in the first of a signer's fields. */
static inline const json_t *help_captions(const char *text, apr_pool_t *pool)
{
    return sr_json_own(json_pack("{s:[s],s:[i]}", "texts", text, "fields", 0), pool);
}

#endif
