/* SPDX-License-Identifier: Apache-2.0 */
/* fork_server.c: the template process, which forks the workers (helper/main/process/fork_server.c). It is started when
 * the first worker is needed, and again after it has died. Some workers are ordered ahead of time, so that requests do
 * not wait for the template.
 *
 * A worker is a child of this process. Until it is taken, it belongs to the process group of the template. When the
 * template ends, workers whose process id nobody has read are killed and reaped through this group.
 */
#include "helper/client/worker.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "metrics/metrics.h"

/* Pre-forked workers that died before they were taken, and a template that has died, are replaced without a message. */
#define TRIES (SR_PDF_SPARES + 2)

static void close_spares(sr_pdf_template_t *template)
{
    while (template->spare_count) close(template->spares[--template->spare_count]);
}

void sr_pdf_template_end(sr_pdf_shared_t *shared, apr_pool_t *pool)
{
    sr_pdf_template_t *template = &shared->template;
    const pid_t group = template->process.pid;
    close_spares(template);
    if (!group) return;
    kill(-group, SIGKILL);
    sr_pdf_worker_end(&template->process, pool);
    while (waitpid(-group, NULL, 0) > 0 || errno == EINTR) continue;
}

/* Orders a worker from the template. *socket receives its greeting. Returns false if the template is gone. */
static bool order(int *socket, sr_pdf_shared_t *shared, int64_t deadline)
{
    const apr_interval_time_t show = shared->options.show_timeout, work = shared->options.timeout;
    char text[64];
    int pair[2];
    snprintf(text, sizeof text, "{\"cpu\":%d}", (int)((show > work ? show : work) / APR_USEC_PER_SEC) + 1);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) return false;
    const int descriptors[SR_PDF_DESCRIPTORS] = {pair[1], -1};
    sr_pdf_wire_t state = sr_pdf_send(shared->template.process.socket, 0, 0, text, strlen(text), descriptors, deadline);
    close(pair[1]);
    if (state != SR_PDF_WIRE_OK) {
        close(pair[0]);
        return false;
    }
    *socket = pair[0];
    sr_metrics_count(SR_METRIC_HELPER_STARTS, 0, 0, 1);
    return true;
}

static void order_spares(sr_pdf_shared_t *shared, int64_t deadline)
{
    sr_pdf_template_t *template = &shared->template;
    while (template->spare_count < SR_PDF_SPARES && order(&template->spares[template->spare_count], shared, deadline))
        template->spare_count++;
}

/* A fork takes a millisecond. If the template takes longer than this, it is replaced while the request still has time.
 */
#define FORK_US (APR_USEC_PER_SEC)

/* Takes a socket on which a worker has sent its greeting or will send it. If the program does not fork, *worker is the
 * started program itself, which needs no greeting, and *socket is -1. The caller holds the template's mutex. */
static sr_error_t *take_socket(int *socket, sr_pdf_worker_t *worker, sr_pdf_shared_t *shared, int64_t deadline,
                               apr_pool_t *pool)
{
    sr_pdf_template_t *template = &shared->template;
    bool forks = true;
    *socket = -1;
    for (int tries = 0; tries < 2; tries++) {
        if (template->spare_count) {
            *socket = template->spares[0];
            memmove(template->spares, template->spares + 1, (apr_size_t)-- template->spare_count * sizeof(int));
            return NULL;
        }
        if (!template->process.pid) {
            SR_TRY(sr_pdf_worker_start(&template->process, &forks, &shared->options, deadline, pool));
            sr_metrics_count(SR_METRIC_HELPER_STARTS, 0, 0, 1);
        }
        if (!forks) {
            *worker = template->process;
            template->process = (sr_pdf_worker_t){.socket = -1};
            return NULL;
        }
        if (order(socket, shared, deadline)) return NULL;
        sr_pdf_template_end(shared, pool);
    }
    return sr_pdf_unavailable(pool, "the template of the workers ends at once");
}

/* Receives the greeting of a worker, which contains its process id. */
static sr_pdf_wire_t fork_server_greet(sr_pdf_worker_t *worker, int socket, int64_t deadline, apr_pool_t *pool)
{
    sr_pdf_header_t header;
    const char *text;
    json_t *greeting;
    sr_pdf_wire_t state = sr_pdf_receive(&header, &text, NULL, socket, SR_PDF_MAX_REASON, deadline, pool);
    if (state != SR_PDF_WIRE_OK) return state;
    if (header.id || sr_json_parse(&greeting, text, header.length, pool)) return SR_PDF_WIRE_GARBAGE;
    json_int_t pid = json_integer_value(json_object_get(greeting, "pid"));
    if (pid < 2) return SR_PDF_WIRE_GARBAGE;
    *worker = (sr_pdf_worker_t){.pid = (pid_t)pid, .socket = socket};
    setpgid(worker->pid, worker->pid);
    return SR_PDF_WIRE_OK;
}

static bool fork_server_lock(pthread_mutex_t *mutex, int64_t deadline)
{
    const struct timespec until = {.tv_sec = deadline / 1000000, .tv_nsec = deadline % 1000000 * 1000};
    return !pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &until);
}

/* Ends a template that does not answer. The next order finds out by itself if the template is gone. */
static void fork_server_give_up(sr_pdf_shared_t *shared, pid_t template, apr_pool_t *pool)
{
    pthread_mutex_lock(&shared->template.mutex);
    if (shared->template.process.pid == template) sr_pdf_template_end(shared, pool);
    pthread_mutex_unlock(&shared->template.mutex);
}

sr_error_t *sr_pdf_template_take(sr_pdf_worker_t *worker, sr_pdf_shared_t *shared, int64_t deadline, apr_pool_t *pool)
{
    sr_pdf_template_t *template = &shared->template;
    *worker = (sr_pdf_worker_t){.socket = -1};
    for (int tries = 0; tries < TRIES; tries++) {
        int socket;
        if (!fork_server_lock(&template->mutex, deadline))
            return sr_pdf_unavailable(pool, "the template of the workers did not get ready in time");
        sr_error_t *error = take_socket(&socket, worker, shared, deadline, pool);
        const pid_t forked_by = template->process.pid;
        if (!error && socket >= 0) order_spares(shared, deadline);
        pthread_mutex_unlock(&template->mutex);
        if (error || worker->pid) return error;
        const int64_t soon = sr_time_steady() + FORK_US;
        sr_pdf_wire_t state = fork_server_greet(worker, socket, soon < deadline ? soon : deadline, pool);
        if (state == SR_PDF_WIRE_OK) return NULL;
        close(socket);
        if (state != SR_PDF_WIRE_CLOSED) fork_server_give_up(shared, forked_by, pool);
        if (sr_time_steady() >= deadline) break;
    }
    return sr_pdf_unavailable(pool, "workers did not get ready in time");
}
