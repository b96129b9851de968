/* SPDX-License-Identifier: Apache-2.0 */
/* process.c: names of processes, for claims and leases, and whether another process of this machine is alive. A name
 * contains where the process runs (this boot of the machine and its pid namespace), its process id and its start
 * time, so that two processes are never confused. A process that is stopped (SIGSTOP) counts as alive. */
#include "base/base.h"

#include <apr_strings.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool process_read_all(const char *path, char *text, size_t size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t length = fd < 0 ? -1 : read(fd, text, size - 1);
    if (fd >= 0) close(fd);
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

/* Reads the state and the start time (field 22) from /proc/PID/stat (proc(5)). The command name before them may
 * contain any character, but the last ')' of the line ends it. */
static bool started_at(long pid, char *state, unsigned long long *start)
{
    char path[64], text[1024];
    apr_snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    if (!process_read_all(path, text, sizeof text)) return false;
    const char *at = strrchr(text, ')');
    if (!at || at[1] != ' ' || !at[2]) return false;
    *state = at[2];
    at += 2;
    for (int field = 3; at && field < 22; field++) at = strchr(at + 1, ' ');
    if (!at) return false;
    *start = strtoull(at, NULL, 10);
    return true;
}

/* Returns the part of the name for the boot and the pid namespace; "" if they cannot be read. */
static const char *place(apr_pool_t *pool)
{
    char boot[64], space[64];
    const ssize_t length = readlink("/proc/self/ns/pid", space, sizeof space - 1);
    if (length <= 0 || !process_read_all("/proc/sys/kernel/random/boot_id", boot, sizeof boot)) return "";
    space[length] = '\0';
    const char *both = apr_pstrcat(pool, boot, space, NULL);
    return apr_pstrndup(pool, sr_sha256_hex(both, strlen(both), pool), 12);
}

/* The part of the name that all names of this process have. It is read once for each process. */
static struct {
    pthread_mutex_t mutex;
    pid_t pid; /* that of another process after a fork */
    char text[96];
} self = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static const char *own_prefix(apr_pool_t *pool)
{
    unsigned long long start = 0;
    char state;
    pthread_mutex_lock(&self.mutex);
    if (self.pid != getpid()) {
        const bool known = started_at(getpid(), &state, &start);
        snprintf(self.text, sizeof self.text, "%s-%ld-%llu", known ? place(pool) : "", (long)getpid(), start);
        self.pid = known ? getpid() : 0;
    }
    const char *prefix = apr_pstrdup(pool, self.text);
    pthread_mutex_unlock(&self.mutex);
    return prefix;
}

const char *sr_process_name(apr_pool_t *pool)
{
    return apr_pstrcat(pool, own_prefix(pool), "-", sr_uuid_make(pool), NULL);
}

/* In case of doubt the process counts as alive. Its claims end with their leases. */
bool sr_process_is_dead(const char *own, const char *name)
{
    const char *end = strchr(own, '-');
    const size_t length = end ? (size_t)(end - own) : 0;
    unsigned long long start, now;
    char state, *rest;
    long pid;
    if (!length || strncmp(own, name, length + 1) != 0) return false;
    pid = strtol(name + length + 1, &rest, 10);
    if (pid <= 0 || *rest != '-') return false;
    start = strtoull(rest + 1, &rest, 10);
    if (*rest != '-') return false;
    if (kill((pid_t)pid, 0)) return errno == ESRCH;
    return started_at(pid, &state, &now) && (now != start || state == 'Z' || state == 'X');
}

/* A process in state 'D' waits for a disk, for example for a page of its program that is not in memory. */
bool sr_process_is_runnable(pid_t pid)
{
    unsigned long long start;
    char state;
    return started_at((long)pid, &state, &start) && (state == 'R' || state == 'D');
}
