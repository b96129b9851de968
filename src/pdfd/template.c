/* SPDX-License-Identifier: Apache-2.0 */
/* template.c: the process that workers are forked from. Starting the program takes 100 ms, most of it for libraries and
 * fonts; a fork of a process that has done all that takes one. So each client starts one template, which never reads a
 * document, and has it fork a worker for each document: what a hostile document does to its worker ends with it.
 *
 *   started -> warmed up -> in the sandbox -> template: waits for the client --(a message with a socket)--> forks
 *                                                                                  |
 *                      worker: own socket, own limits, tighter sandbox, greets  <--+
 *
 * A worker is a child of the client (CLONE_PARENT), which waits for it and ends it by its process id. It stays in the
 * template's process group until the client takes it: what the client has never heard of is found by the group. */
#include "pdfd/pdfd.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_MESSAGE 256
#define DAY_US ((int64_t)24 * 3600 * 1000000)

/* A fork has the calling thread alone: locks that another one holds would be held for ever. */
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

/* Not fork(): glibc has no way to ask for CLONE_PARENT, and what fork() adds to the system call is for threads. */
static long fork_worker(void)
{
#ifdef __s390x__
    return syscall(SYS_clone, 0, SR_PDFD_FORK_FLAGS, 0, 0, 0);
#else
    return syscall(SYS_clone, SR_PDFD_FORK_FLAGS, 0, 0, 0, 0);
#endif
}

/* The new worker. It has no way back: whatever fails ends it. */
static void become_worker(int socket, unsigned cpu_seconds)
{
    if (dup3(socket, SR_PDF_SOCKET, O_CLOEXEC) < 0) _exit(1);
    close(socket);
    sr_pdfd_limits_worker(cpu_seconds);
    if (!sr_pdfd_sandbox_tighten()) _exit(1);
}

/* True in a worker. */
static bool fork_for(const int *descriptors, const char *text, apr_size_t length, apr_pool_t *pool)
{
    json_t *parsed;
    if (descriptors[0] < 0 || sr_json_parse(&parsed, text, length, pool)) return false;
    if (fork_worker()) return false; /* one that fails closes the socket, which tells the client */
    for (int i = 1; i < SR_PDF_DESCRIPTORS; i++)
        if (descriptors[i] >= 0) close(descriptors[i]);
    become_worker(descriptors[0], (unsigned)json_integer_value(json_object_get(parsed, "cpu")));
    return true;
}

bool sr_pdfd_template_serve(apr_pool_t *pool)
{
    for (;;) {
        sr_pdf_header_t header;
        const char *text;
        int descriptors[SR_PDF_DESCRIPTORS];
        apr_pool_clear(pool);
        sr_pdf_wire_t state =
            sr_pdf_receive(&header, &text, descriptors, SR_PDF_SOCKET, MAX_MESSAGE, sr_pdf_clock() + DAY_US, pool);
        if (state == SR_PDF_WIRE_LATE) continue;
        if (state != SR_PDF_WIRE_OK) return false;
        if (fork_for(descriptors, text, header.length, pool)) return true;
        for (int i = 0; i < SR_PDF_DESCRIPTORS; i++)
            if (descriptors[i] >= 0) close(descriptors[i]);
    }
}
