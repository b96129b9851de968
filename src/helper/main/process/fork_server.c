/* SPDX-License-Identifier: Apache-2.0 */
/* fork_server.c: the process that forks the workers. Starting the program takes 50 ms, mostly for libraries and fonts.
 * Forking a process that has done this takes a few ms. So each client starts one template, which never reads a
 * document, and which forks a worker for each document. What a hostile document does to its worker ends with this
 * worker.
 *
 *    started -> libraries loaded -> sandbox -> template: waits for the client --(a message with a socket)--> forks
 *                                                                                       |
 *                     worker: own socket, own limits, tighter sandbox, greets  <--------+
 *
 * A worker is a child of the client (CLONE_PARENT), which waits for it and ends it by its process id. It stays in the
 * process group of the template until the client takes it. Workers that the client has not taken are found through this
 * group.
 */
#include "helper/main/pdfd.h"
#include "helper/main/process/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_MESSAGE 256
#define DAY_US ((int64_t)24 * 3600 * 1000000)

/* A forked process has only the calling thread. A lock that another thread holds would never be released. */
bool sr_pdfd_template_possible(void)
{
    int threads = 0;
    DIR *all = opendir("/proc/self/task");
    if (!all) return false;
    for (const struct dirent *entry; (entry = readdir(all));)
        if (entry->d_name[0] != '.') threads++;
    closedir(all);
    return threads == 1;
}

/* glibc's fork() cannot set CLONE_PARENT. What it does in addition to the system call is only needed with threads. */
static long fork_worker(void)
{
#ifdef __s390x__
    return syscall(SYS_clone, 0, SR_PDFD_FORK_FLAGS, 0, 0, 0);
#else
    return syscall(SYS_clone, SR_PDFD_FORK_FLAGS, 0, 0, 0, 0);
#endif
}

/* Sets up the new worker. If a step fails, the worker ends. */
static void become_worker(int socket, unsigned cpu_seconds)
{
    if (dup3(socket, SR_PDF_SOCKET, O_CLOEXEC) < 0) _exit(1);
    close(socket);
    sr_pdfd_limits_worker(cpu_seconds);
    if (!sr_pdfd_sandbox_tighten()) _exit(1);
}

/* Returns true in the worker. */
static bool fork_for(const int *descriptors, const char *text, apr_size_t length, apr_pool_t *pool)
{
    json_t *parsed;
    if (descriptors[0] < 0 || sr_json_parse(&parsed, text, length, pool)) return false;
    if (fork_worker()) return false; /* if the fork fails, the socket is closed, which tells the client */
    for (int i = 1; i < SR_PDF_DESCRIPTORS; i++)
        if (descriptors[i] >= 0) close(descriptors[i]);
    become_worker(descriptors[0], (unsigned)json_integer_value(json_object_get(parsed, "cpu")));
    return true;
}

bool sr_pdfd_template_serve(void (*prepare)(void), apr_pool_t *pool)
{
    for (int orders = 0;;) {
        sr_pdf_header_t header;
        const char *text;
        int descriptors[SR_PDF_DESCRIPTORS];
        apr_pool_clear(pool);
        sr_pdf_wire_t state =
            sr_pdf_receive(&header, &text, descriptors, SR_PDF_SOCKET, MAX_MESSAGE, sr_time_steady() + DAY_US, pool);
        if (state == SR_PDF_WIRE_LATE) continue;
        if (state != SR_PDF_WIRE_OK) return false;
        if (fork_for(descriptors, text, header.length, pool)) return true;
        for (int i = 0; i < SR_PDF_DESCRIPTORS; i++)
            if (descriptors[i] >= 0) close(descriptors[i]);
        if (++orders == SR_PDFD_MANY_ORDERS) prepare();
    }
}
