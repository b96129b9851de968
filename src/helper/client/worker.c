/* SPDX-License-Identifier: Apache-2.0 */
/* worker.c: starts, observes and ends one process of sigreq-pdfd. It calls waitpid only for its own process ids,
 * because httpd has other children. */
#include "helper/client/worker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* One malloc arena, because RLIMIT_AS counts the 64 MB that each arena reserves. The template binds all symbols once
 * for all workers, because each worker would copy the pages that binding writes to. */
static char *const ENVIRONMENT[] = {
    (char *)"PATH=/usr/bin:/bin", (char *)"LC_ALL=C.UTF-8",
    (char *)"MALLOC_ARENA_MAX=1", (char *)"GLIBC_TUNABLES=glibc.malloc.tcache_count=2000",
    (char *)"LD_BIND_NOW=1",      NULL,
};

sr_error_t *sr_pdf_worker_start(sr_pdf_worker_t *worker, bool *template, const sr_pdf_options_t *options,
                                int64_t deadline, apr_pool_t *pool)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return sr_pdf_unavailable(pool, apr_psprintf(pool, "socketpair: %s", strerror(errno)));
    pid_t pid = 0;
    const sr_spawn_t what = {options->program, "sigreq-pdfd", &pair[1], 1, ENVIRONMENT};
    int failed = sr_process_spawn(&pid, &what);
    close(pair[1]);
    if (failed) {
        close(pair[0]);
        return sr_pdf_unavailable(pool,
                                  apr_psprintf(pool, "%s cannot be started: %s", options->program, strerror(failed)));
    }
    *worker = (sr_pdf_worker_t){.pid = pid, .socket = pair[0]};

    sr_pdf_header_t header;
    const char *text;
    sr_pdf_wire_t state = sr_pdf_receive(&header, &text, NULL, pair[0], SR_PDF_MAX_REQUEST, deadline, pool);
    if (state == SR_PDF_WIRE_OK && header.id == 0) {
        *template = header.flags & SR_PDF_TEMPLATE;
        return NULL;
    }
    const char *how = state == SR_PDF_WIRE_LATE     ? "did not get ready in time"
                      : state == SR_PDF_WIRE_CLOSED ? "ended before it was ready"
                                                    : "does not speak this version's protocol";
    return sr_pdf_unavailable(
        pool, apr_psprintf(pool, "%s %s (%s)", options->program, how, sr_pdf_worker_end(worker, pool).text));
}

static void worker_forget(sr_pdf_worker_t *worker)
{
    if (worker->socket >= 0) close(worker->socket);
    *worker = (sr_pdf_worker_t){.socket = -1};
}

/* A worker sends nothing unless it is asked, so its socket is only readable after it has ended. */
bool sr_pdf_worker_lives(const sr_pdf_worker_t *worker)
{
    struct pollfd end = {.fd = worker->socket, .events = POLLIN};
    return poll(&end, 1, 0) == 0;
}

static const char *death_text(pid_t pid, pid_t reaped, int status, apr_pool_t *pool)
{
    if (reaped != pid) return apr_psprintf(pool, "worker %d: already reaped", (int)pid);
    if (WIFSIGNALED(status))
        return apr_psprintf(pool, "worker %d: signal %d, %s", (int)pid, WTERMSIG(status),
                            sigdescr_np(WTERMSIG(status)));
    return apr_psprintf(pool, "worker %d: exit status %d", (int)pid, WEXITSTATUS(status));
}

static int64_t microseconds(const struct timeval *time)
{
    return (int64_t)time->tv_sec * 1000000 + time->tv_usec;
}

sr_pdf_death_t sr_pdf_worker_end(sr_pdf_worker_t *worker, apr_pool_t *pool)
{
    if (!worker->pid) return (sr_pdf_death_t){.text = "no process"};
    pid_t pid = worker->pid, reaped;
    struct rusage used = {0};
    int status = 0;
    kill(pid, SIGKILL); /* has no effect on a process that has ended, and its exit status is kept */
    while ((reaped = wait4(pid, &status, 0, &used)) < 0 && errno == EINTR) continue;
    worker_forget(worker);
    return (sr_pdf_death_t){.text = death_text(pid, reaped, status, pool),
                            .used = microseconds(&used.ru_utime) + microseconds(&used.ru_stime)};
}

int64_t sr_pdf_worker_used(const sr_pdf_worker_t *worker)
{
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(worker->pid, &clock) || clock_gettime(clock, &used)) return 0;
    return (int64_t)used.tv_sec * 1000000 + used.tv_nsec / 1000;
}
