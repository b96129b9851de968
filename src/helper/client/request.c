/* SPDX-License-Identifier: Apache-2.0 */
/* request.c: one request to a worker, and what happens if the worker fails. If a worker dies while it answers, it is
 * replaced and the request is sent once more, because something else may have killed the first worker. If the second
 * one dies too, or if one has used up its processor time, the document is to blame. If the machine is too busy to give
 * a worker this time, the document is not to blame, and the error is temporary. */
#include "helper/client/listing.h"
#include "helper/client/worker.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "metrics/metrics.h"

typedef enum outcome_t {
    ANSWERED,
    GONE, /* the worker had ended before it was asked; it is replaced without a message */
    LOST, /* the worker died, or its answer was not valid */
    LATE, /* the worker used up the processor time of one request */
    BUSY  /* it did not, but the machine had no more time for it before the deadline */
} outcome_t;

typedef struct limits_t {
    apr_interval_time_t cpu, patience;
    int64_t entry, deadline; /* of waiting for a permit, and of the whole request */
} limits_t;

/* How often a pre-forked worker that died is replaced. The limit is for a system on which something kills every worker.
 */
#define MAX_GONE (SR_PDF_SPARES + 2)
#define SHOW_PATIENCE (4 * APR_USEC_PER_SEC)
#define HANGS 50 /* a worker may hang if it has used less than one fiftieth of its processor time */
#define LOOK_US (APR_USEC_PER_SEC / 10) /* how often the state of such a worker is read */
#define SHARE 8 /* a worker that gets one eighth of the processor uses up its time before the deadline */

/* Waits for an answer. A process with one thread cannot use more processor time than has passed, so its clock is read
 * only when it could have used up its time. A worker that has used nearly none of the time by then, and does not wait
 * for a processor either, hangs and is not waited for. */
static outcome_t wait_for_answer(const sr_pdf_worker_t *worker, int64_t before, const limits_t *limits)
{
    const int64_t asked = sr_time_steady();
    for (;;) {
        const int64_t now = sr_time_steady(), used = sr_pdf_worker_used(worker) - before, left = limits->cpu - used;
        if (left <= 0) return LATE;
        const bool idle = now - asked >= limits->patience && used < limits->cpu / HANGS;
        if (idle && !sr_process_is_runnable(worker->pid)) return BUSY;
        int64_t until = now + (idle ? LOOK_US : left + 1000);
        if (until > limits->deadline) until = limits->deadline;
        if (sr_pdf_wait(worker->socket, until) != SR_PDF_WIRE_LATE) return ANSWERED;
        if (sr_time_steady() >= limits->deadline) return BUSY;
    }
}

static sr_pdf_class_t class_of(const sr_pdf_pool_t *workers, const sr_pdf_request_t *request)
{
    return workers->lane ? workers->lane : request->class;
}

static outcome_t request_ask(sr_pdf_worker_t *worker, const sr_pdf_request_t *request, const int *descriptors,
                             const limits_t *limits, int64_t *used, apr_pool_t *pool)
{
    const int64_t before = sr_pdf_worker_used(worker);
    uint32_t id = ++worker->asked;
    const char *text = request->text ? request->text : apr_psprintf(pool, "{\"op\":\"%s\"}", request->op);
    const apr_size_t length = request->length ? request->length : strlen(text);
    sr_pdf_wire_t state = sr_pdf_send(worker->socket, id, 0, text, length, descriptors, limits->deadline);
    if (state == SR_PDF_WIRE_CLOSED) return GONE;
    if (state == SR_PDF_WIRE_LATE) return BUSY;
    if (state != SR_PDF_WIRE_OK) return LOST;
    outcome_t outcome = wait_for_answer(worker, before, limits);
    *used = sr_pdf_worker_used(worker) - before;
    if (outcome != ANSWERED) return outcome;
    sr_pdf_header_t header;
    state = sr_pdf_receive(&header, &text, NULL, worker->socket, SR_PDF_MAX_ANSWER, limits->deadline, pool);
    if (state == SR_PDF_WIRE_LATE) return BUSY;
    if (state != SR_PDF_WIRE_OK || header.id != id) return LOST;
    json_t *response;
    if (sr_json_parse(&response, text, header.length, pool)) return LOST;
    if (request->output && !sr_pdf_output_end(request->output, json_object_get(response, "length"))) return LOST;
    return request->read(request->result, response, pool) ? ANSWERED : LOST;
}

static void report_death(sr_pdf_pool_t *workers, outcome_t outcome, const sr_pdf_request_t *request, const char *death,
                         apr_pool_t *pool)
{
    static const char *const what[] = {[LOST] = "died or sent an invalid answer",
                                       [LATE] = "used up its processor time and was killed",
                                       [BUSY] = "had no answer in time and was killed"};
    sr_metrics_count(SR_METRIC_HELPER_LOSSES, outcome == LOST ? SR_LOSS_DIED : SR_LOSS_LATE, 0, 1);
    sr_pdf_pool_notice(workers, apr_psprintf(pool, "asked to %s, a worker %s (%s)", request->op, what[outcome], death));
}

/* Returns the descriptor of a document that the worker gets. It is a new read-only one, whatever the caller's can do.
 * Otherwise code that has taken over the worker could change a document before it is stored, or move the file position
 * of the caller. Without /proc (in a chroot), the worker gets the caller's descriptor. */
static int request_open_again(int descriptor, apr_pool_t *pool)
{
    if (descriptor < 0) return descriptor;
    int own = open(apr_psprintf(pool, "/proc/self/fd/%d", descriptor), O_RDONLY | O_CLOEXEC);
    return own < 0 ? descriptor : own;
}

/* Workers that show pages or serve public requests have a lower priority. */
#define SHOW_NICE 10

static sr_error_t *ask_worker(outcome_t *outcome, sr_pdf_pool_t *workers, sr_pdf_worker_t *worker,
                              const sr_pdf_request_t *request, int document, const limits_t *limits, apr_pool_t *pool)
{
    int descriptors[SR_PDF_DESCRIPTORS] = {document, -1};
    if (request->output) {
        sr_error_t *error = sr_pdf_output_begin(request->output, request->room, pool);
        if (error) {
            sr_pdf_pool_return(workers, worker, pool);
            return error;
        }
        descriptors[document < 0 ? 0 : 1] = request->output->descriptor;
    }
    if (class_of(workers, request) != SR_PDF_WORK) setpriority(PRIO_PROCESS, (id_t)worker->pid, SHOW_NICE);
    int64_t used = 0;
    *outcome = request_ask(worker, request, descriptors, limits, &used, pool);
    if (workers->keeps) workers->used += used;
    return NULL;
}

/* The kernel limits the memory of a worker by the first document that it reads. The limit is permanent
 * (helper/main/process/limits.c).
 */
#define LARGE ((off_t)128 << 20)

static bool is_large(int document)
{
    struct stat info;
    return document >= 0 && !fstat(document, &info) && info.st_size > LARGE;
}

/* Sends one request until it is answered or the document is to blame. Returns an error if no worker is available. */
static sr_error_t *persist(outcome_t *outcome, sr_pdf_pool_t *workers, const sr_pdf_request_t *request, int document,
                           const limits_t *limits, apr_pool_t *pool)
{
    const bool large = is_large(document);
    for (int lost = 0, gone = 0;;) {
        sr_pdf_worker_t worker;
        SR_TRY(sr_pdf_pool_lend(&worker, workers, large || lost, limits->deadline, pool));
        SR_TRY(ask_worker(outcome, workers, &worker, request, document, limits, pool));
        if (*outcome == ANSWERED) {
            sr_pdf_pool_return(workers, &worker, pool);
            return NULL;
        }
        sr_pdf_death_t death = sr_pdf_alive_end(workers, &worker, pool);
        if (*outcome == LOST && death.used >= limits->cpu)
            *outcome = LATE; /* the kernel ended the worker before this process noticed the limit */
        if (*outcome != GONE) report_death(workers, *outcome, request, death.text, pool);
        if (*outcome == GONE && ++gone == MAX_GONE) *outcome = LOST;
        else if (*outcome == GONE) continue;
        if (*outcome != LOST || ++lost == 2 || gone == MAX_GONE || sr_time_steady() >= limits->deadline) return NULL;
    }
}

/* Sets the time limits of a request. On an idle machine, a request gets its processor time at once. On a busy machine,
 * it may take as long as a worker that gets 1/SHARE of the processor needs, so that a document is not refused because
 * of other requests. The wait for a permit is shorter, because threads of httpd wait there. */
static limits_t request_limits_of(const sr_pdf_pool_t *workers, const sr_pdf_request_t *request, int64_t begun)
{
    limits_t limits = {.cpu = request->timeout ? request->timeout : workers->shared->options.timeout};
    limits.patience = limits.cpu;
    limits.entry = begun + 2 * limits.cpu;
    limits.deadline = begun + SHARE * limits.cpu;
    if (class_of(workers, request) != SR_PDF_WORK) { /* its worker has a lower priority, so it needs more time */
        if (limits.patience < SHOW_PATIENCE) limits.patience = SHOW_PATIENCE;
        if (limits.entry < begun + 2 * SHOW_PATIENCE) limits.entry = begun + 2 * SHOW_PATIENCE;
        if (limits.deadline < begun + SHARE * SHOW_PATIENCE) limits.deadline = begun + SHARE * SHOW_PATIENCE;
    }
    if (workers->latest && workers->latest < limits.entry) limits.entry = workers->latest;
    if (workers->latest && workers->latest < limits.deadline) limits.deadline = workers->latest;
    return limits;
}

sr_error_t *sr_pdf_put(bool *failed, sr_pdf_pool_t *workers, const sr_pdf_request_t *request, apr_pool_t *pool)
{
    const int64_t begun = sr_time_steady();
    const limits_t limits = request_limits_of(workers, request, begun);
    const sr_pdf_class_t class = class_of(workers, request);
    const bool goes_on = request->goes_on || workers->worker.pid;
    SR_TRY(sr_pdf_pool_enter(workers->shared, class, goes_on, limits.entry, pool));
    outcome_t outcome = LOST;
    int document = request_open_again(request->descriptor, pool);
    sr_error_t *error = persist(&outcome, workers, request, document, &limits, pool);
    if (document != request->descriptor) close(document);
    sr_pdf_pool_leave(workers->shared, class);
    sr_metrics_observe(SR_METRIC_HELPER_SECONDS, sr_metrics_number(SR_LABEL_OPERATION, request->op),
                       sr_time_steady() - begun);
    if (error) return error;
    if (outcome == BUSY) return sr_pdf_unavailable(pool, "the machine was too busy for a worker to answer in time");
    *failed = outcome != ANSWERED;
    return NULL;
}

static bool read_probe(void *result, const json_t *response, apr_pool_t *pool)
{
    static const char *const names[] = SR_PDF_VERDICT_NAMES;
    sr_pdf_probe_t *probe = result;
    *probe = (sr_pdf_probe_t){0};
    const char *verdict = sr_json_string(response, "verdict");
    size_t i = 0;
    while (verdict && i < sizeof names / sizeof *names && strcmp(names[i], verdict) != 0) i++;
    if (!verdict || i == sizeof names / sizeof *names) return false;
    probe->verdict = (sr_pdf_verdict_t)i;
    if (probe->verdict == SR_PDF_REFUSED || probe->verdict == SR_PDF_FORBIDDEN) {
        const char *reason = sr_json_string(response, "reason");
        if (!sr_pdf_is_plain(reason)) return false;
        probe->reason = apr_pstrdup(pool, reason);
    }
    if (probe->verdict == SR_PDF_ACCEPTED) {
        const char *report = sr_json_string(response, "report");
        return report && !sr_pages_parse(&probe->pages, report, pool);
    }
    return true;
}

sr_error_t *sr_pdf_probe(sr_pdf_probe_t *probe, sr_pdf_pool_t *workers, int descriptor, apr_off_t size,
                         apr_pool_t *pool)
{
    sr_pdf_request_t request = {.op = SR_PDF_OP_PROBE, .descriptor = descriptor, .read = read_probe, .result = probe};
    bool failed = false;
    if (size <= 0) {
        *probe = (sr_pdf_probe_t){.verdict = SR_PDF_NOT_PDF};
        return NULL;
    }
    SR_TRY(sr_pdf_put(&failed, workers, &request, pool));
    if (failed) *probe = (sr_pdf_probe_t){.verdict = SR_PDF_REFUSED, .reason = SR_PDF_LIMITS_REASON};
    return NULL;
}

sr_error_t *sr_pdf_list(sr_pdf_list_t *list, sr_pdf_pool_t *workers, int descriptor, apr_pool_t *pool)
{
    sr_pdf_request_t request = {
        .op = SR_PDF_OP_SIGNATURES, .descriptor = descriptor, .read = sr_pdf_list_read, .result = list};
    bool failed = false;
    SR_TRY(sr_pdf_put(&failed, workers, &request, pool));
    if (failed) *list = (sr_pdf_list_t){.verdict = SR_PDF_REFUSED, .reason = SR_PDF_LIMITS_REASON};
    return NULL;
}

#define PING_LASTS_US (APR_USEC_PER_SEC / 2)

static bool read_ping(void *result, const json_t *response, apr_pool_t *pool)
{
    return json_is_object(response);
}

/* A ping needs no permit, so it never waits for a request. If another ping was answered a moment ago, no worker is
 * asked. */
sr_error_t *sr_pdf_ping(sr_pdf_pool_t *workers, apr_pool_t *pool)
{
    const sr_pdf_request_t request = {.op = SR_PDF_OP_PING, .descriptor = -1, .read = read_ping};
    sr_pdf_shared_t *shared = workers->shared;
    const int64_t begun = sr_time_steady();
    const limits_t limits = request_limits_of(workers, &request, begun);
    outcome_t outcome = LOST;
    pthread_mutex_lock(&shared->mutex);
    bool fresh = shared->pinged && begun - shared->pinged < PING_LASTS_US;
    pthread_mutex_unlock(&shared->mutex);
    if (fresh) return NULL;
    SR_TRY(persist(&outcome, workers, &request, -1, &limits, pool));
    if (outcome != ANSWERED) return sr_pdf_unavailable(pool, "no worker answered a ping");
    pthread_mutex_lock(&shared->mutex);
    shared->pinged = sr_time_steady();
    pthread_mutex_unlock(&shared->mutex);
    return NULL;
}
