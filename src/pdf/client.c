/* client.c: one question to a worker, and what becomes of it when the worker fails. A worker that dies while it
 * answers is replaced and the question asked once more: the first one may have died of something else. When the
 * second dies too, or time runs out, the document is to blame, unless it had no fair share of the time. */
#include "pdf/listing.h"
#include "pdf/worker.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "metrics/metrics.h"

typedef enum outcome_t {
    ANSWERED,
    GONE, /* it had ended while idle: replaced without a word */
    LOST, /* it died, or answered nonsense */
    LATE
} outcome_t;

static outcome_t ask(bool *last, sr_pdf_worker_t *worker, const sr_pdf_question_t *question, const int *descriptors,
                     int64_t deadline, apr_pool_t *pool)
{
    uint32_t id = ++worker->asked;
    const char *text = question->text ? question->text : apr_psprintf(pool, "{\"op\":\"%s\"}", question->op);
    sr_pdf_wire_t state = sr_pdf_send(worker->socket, id, 0, text, descriptors, deadline);
    if (state == SR_PDF_WIRE_CLOSED && id > 1) return GONE;
    sr_pdf_header_t header;
    if (state == SR_PDF_WIRE_OK)
        state = sr_pdf_receive(&header, &text, NULL, worker->socket, SR_PDF_MAX_ANSWER, deadline, pool);
    if (state == SR_PDF_WIRE_LATE) return LATE;
    if (state != SR_PDF_WIRE_OK || header.id != id) return LOST;
    json_t *answer;
    if (sr_json_parse(&answer, text, header.length, pool)) return LOST;
    if (question->output && !sr_pdf_output_end(question->output, json_object_get(answer, "length"))) return LOST;
    if (!question->read(question->result, answer, pool)) return LOST;
    *last = header.flags & SR_PDF_LAST;
    return ANSWERED;
}

static void report_death(sr_pdf_pool_t *workers, outcome_t outcome, const sr_pdf_question_t *question,
                         const char *death, apr_pool_t *pool)
{
    sr_metrics_count(SR_METRIC_HELPER_LOSSES, outcome == LATE ? SR_LOSS_LATE : SR_LOSS_DIED, 0, 1);
    const char *what = outcome == LATE ? "had no answer in time and was killed" : "died or answered nonsense";
    sr_pdf_pool_notice(workers, apr_psprintf(pool, "asked to %s, a worker %s (%s)", question->op, what, death));
}

/* What a worker gets of a document: a descriptor of its own that cannot write, whatever the caller's can, or code
 * that has taken the worker over could change a document before it is stored, or move the place where its caller
 * reads. Without /proc (a chroot that has none) the caller's own has to do. */
static int open_again(int descriptor, apr_pool_t *pool)
{
    if (descriptor < 0) return descriptor;
    int own = open(apr_psprintf(pool, "/proc/self/fd/%d", descriptor), O_RDONLY | O_CLOEXEC);
    return own < 0 ? descriptor : own;
}

/* The tries at one question. An error is that of starting a worker in place of another. */
static sr_error_t *persist(outcome_t *outcome, sr_pdf_pool_t *workers, sr_pdf_worker_t *worker,
                           const sr_pdf_question_t *question, int document, int64_t deadline, apr_pool_t *pool)
{
    for (int tries = 0;;) {
        int descriptors[SR_PDF_DESCRIPTORS] = {document, -1};
        bool last = false;
        if (question->output) {
            SR_TRY(sr_pdf_output_begin(question->output, question->room, pool));
            descriptors[document < 0 ? 0 : 1] = question->output->descriptor;
        }
        *outcome = ask(&last, worker, question, descriptors, deadline, pool);
        if (*outcome == ANSWERED && !last) return NULL;
        const char *death = sr_pdf_worker_end(worker, pool);
        if (*outcome == ANSWERED) return NULL;
        if (*outcome != GONE) {
            report_death(workers, *outcome, question, death, pool);
            tries++;
        }
        if (*outcome == LATE || tries == 2 || sr_pdf_clock() >= deadline) return NULL;
        SR_TRY(sr_pdf_worker_start(worker, &workers->options, deadline, pool));
    }
}

sr_error_t *sr_pdf_put(bool *failed, sr_pdf_pool_t *workers, const sr_pdf_question_t *question, apr_pool_t *pool)
{
    apr_interval_time_t timeout = question->timeout ? question->timeout : workers->options.timeout;
    const int64_t begun = sr_pdf_clock(), deadline = begun + timeout;
    sr_pdf_worker_t *worker;
    SR_TRY(sr_pdf_pool_lend(&worker, workers, deadline, pool));
    int64_t asked = sr_pdf_clock();
    outcome_t outcome = LOST;
    int document = open_again(question->descriptor, pool);
    sr_error_t *error = persist(&outcome, workers, worker, question, document, deadline, pool);
    if (document != question->descriptor) close(document);
    sr_pdf_pool_return(workers, worker);
    sr_metrics_observe(SR_METRIC_HELPER_SECONDS, sr_metrics_number(SR_LABEL_OPERATION, question->op),
                       sr_pdf_clock() - begun);
    if (error) {
        sr_pdf_pool_notice(workers, error->cause);
        return error;
    }
    if (outcome == LATE && sr_pdf_clock() - asked < timeout / 2)
        return sr_pdf_unavailable(pool, "all workers stayed busy for most of the time there was");
    *failed = outcome != ANSWERED;
    return NULL;
}

bool sr_pdf_is_plain(const char *text)
{
    if (!text || !*text || strlen(text) > SR_PDF_MAX_REASON) return false;
    for (const char *c = text; *c; c++)
        if (*c < ' ' || *c > '~') return false;
    return true;
}

static bool read_probe(void *result, const json_t *answer, apr_pool_t *pool)
{
    static const char *const names[] = SR_PDF_VERDICT_NAMES;
    sr_pdf_probe_t *probe = result;
    *probe = (sr_pdf_probe_t){0};
    const char *verdict = sr_json_string(answer, "verdict");
    size_t i = 0;
    while (verdict && i < sizeof names / sizeof *names && strcmp(names[i], verdict) != 0) i++;
    if (!verdict || i == sizeof names / sizeof *names) return false;
    probe->verdict = (sr_pdf_verdict_t)i;
    if (probe->verdict == SR_PDF_REFUSED) {
        const char *reason = sr_json_string(answer, "reason");
        if (!sr_pdf_is_plain(reason)) return false;
        probe->reason = apr_pstrdup(pool, reason);
    }
    if (probe->verdict == SR_PDF_ACCEPTED) {
        const char *report = sr_json_string(answer, "report");
        return report && !sr_pages_parse(&probe->pages, report, pool);
    }
    return true;
}

sr_error_t *sr_pdf_probe(sr_pdf_probe_t *probe, sr_pdf_pool_t *workers, int descriptor, apr_off_t size,
                         apr_pool_t *pool)
{
    sr_pdf_question_t question = {.op = SR_PDF_OP_PROBE, .descriptor = descriptor, .read = read_probe, .result = probe};
    bool failed = false;
    if (size <= 0) {
        *probe = (sr_pdf_probe_t){.verdict = SR_PDF_NOT_PDF};
        return NULL;
    }
    SR_TRY(sr_pdf_put(&failed, workers, &question, pool));
    if (failed) *probe = (sr_pdf_probe_t){.verdict = SR_PDF_REFUSED, .reason = SR_PDF_LIMITS_REASON};
    return NULL;
}

sr_error_t *sr_pdf_list(sr_pdf_list_t *list, sr_pdf_pool_t *workers, int descriptor, apr_pool_t *pool)
{
    sr_pdf_question_t question = {
        .op = SR_PDF_OP_SIGNATURES, .descriptor = descriptor, .read = sr_pdf_list_read, .result = list};
    bool failed = false;
    SR_TRY(sr_pdf_put(&failed, workers, &question, pool));
    if (failed) *list = (sr_pdf_list_t){.verdict = SR_PDF_REFUSED, .reason = SR_PDF_LIMITS_REASON};
    return NULL;
}

static bool read_ping(void *result, const json_t *answer, apr_pool_t *pool)
{
    return json_is_object(answer);
}

sr_error_t *sr_pdf_ping(sr_pdf_pool_t *workers, apr_pool_t *pool)
{
    sr_pdf_question_t question = {.op = SR_PDF_OP_PING, .descriptor = -1, .read = read_ping};
    bool failed = false;
    SR_TRY(sr_pdf_put(&failed, workers, &question, pool));
    return failed ? sr_pdf_unavailable(pool, "no worker answered a ping") : NULL;
}
