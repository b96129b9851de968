/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.c: the places of the numbers in memory, and the functions that change them. A block consists of 64-bit
 * cells. A histogram has one cell for each bucket and one for the sum, and a LIVE metric one for each process. */
#include "base/base.h"
#include "metrics/metrics.h"

#include <apr_atomic.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "metrics/private.h"

const char *const sr_metrics_label_names[SR_LABEL_COUNT] = {
    [SR_LABEL_VERSION] = "version",
    [SR_LABEL_SERVER] = "server",
    [SR_LABEL_CODE] = "code",
    [SR_LABEL_RESULT] = "result",
    [SR_LABEL_ENVIRONMENT] = "environment",
    [SR_LABEL_KIND] = "kind",
    [SR_LABEL_OUTCOME] = "outcome",
    [SR_LABEL_STATE] = "state",
    [SR_LABEL_LOSS] = "reason",
    [SR_LABEL_FAILURE] = "reason",
    [SR_LABEL_USE] = "use",
    [SR_LABEL_OPERATION] = "operation",
    [SR_LABEL_LIMIT] = "limit",
    [SR_LABEL_AUTHORITY] = "authority",
    [SR_LABEL_STAMP_FAULT] = "reason",
    [SR_LABEL_STORE_METHOD] = "method",
    [SR_LABEL_STORE_RESULT] = "result",
    [SR_LABEL_CREDENTIAL] = "reason",
    [SR_LABEL_EVENT] = "event",
    [SR_LABEL_REFUSAL] = "reason",
    [SR_LABEL_CACHED] = "result",
    [SR_LABEL_QUOTA] = "quota",
    [SR_LABEL_CLASS] = "class",
};

static const char *const environments[] = {"test", "production", NULL};
static const char *const codes[] = {"200", "201", "204", "206", "303", "304",     "400",   "401", "403",
                                    "404", "405", "408", "409", "411", "412",     "413",   "415", "416",
                                    "422", "428", "429", "500", "503", "aborted", "other", NULL};
static const char *const results[] = {[SR_RESULT_SEALED] = "sealed", [SR_RESULT_FAILED] = "failed", NULL};
static const char *const kinds[] = {[SR_KIND_WEBHOOK] = "webhook",     [SR_KIND_INVITATION] = "invitation",
                                    [SR_KIND_REMINDER] = "reminder",   [SR_KIND_CODE] = "code",
                                    [SR_KIND_CODE_HOOK] = "code-hook", [SR_KIND_COPY] = "copy",
                                    [SR_KIND_VIEW] = "view",           NULL};
static const char *const endings[] = {[SR_ENDING_SUCCESS] = "success",
                                      [SR_ENDING_REJECTED] = "rejected",
                                      [SR_ENDING_UNANSWERED] = "unanswered",
                                      [SR_ENDING_INTERRUPTED] = "interrupted",
                                      NULL};
static const char *const states[] = {[SR_QUEUE_WAITING] = "waiting", [SR_QUEUE_UNDER_WAY] = "under-way", NULL};
static const char *const losses[] = {[SR_LOSS_DIED] = "died", [SR_LOSS_LATE] = "late", NULL};
static const char *const operations[] = {"ping", "probe",     "prepare",    "fill",  "compose", "render",
                                         "text", "normalise", "signatures", "check", "preview", "overlay",
                                         "find", "values",    "other",      NULL};
static const char *const uses[] = {[SR_USE_READ] = "read", [SR_USE_WRITE] = "write", NULL};
static const char *const failures[] = {"away", "lost", "late", "busy", "stale", "statement", "no-connection", NULL};

static const char *const limits[] = {"token",  "link", "address", "failures", "verify", "preview",
                                     "bodies", "mail", "pages",   "previews", "other",  NULL};
static const char *const authorities[] = {"1", "2", "3", "4", "5", "6", "7", "8", NULL};
static const char *const stamp_faults[] = {[SR_STAMP_GOOD] = "none",
                                           [SR_STAMP_UNREACHABLE] = "unreachable",
                                           [SR_STAMP_LATE] = "late",
                                           [SR_STAMP_CLOSED] = "closed",
                                           [SR_STAMP_STATUS] = "status",
                                           [SR_STAMP_TYPE] = "type",
                                           [SR_STAMP_LARGE] = "large",
                                           [SR_STAMP_MALFORMED] = "malformed",
                                           [SR_STAMP_REJECTED] = "rejected",
                                           [SR_STAMP_IMPRINT] = "imprint",
                                           [SR_STAMP_NONCE] = "nonce",
                                           [SR_STAMP_UNTRUSTED] = "untrusted",
                                           [SR_STAMP_CLOCK] = "clock",
                                           [SR_STAMP_SKIPPED] = "skipped",
                                           NULL};

static const char *const store_methods[] = {"GET", "HEAD", "PUT", "DELETE", NULL};
static const char *const store_results[] = {[SR_STORE_DONE] = "done",
                                            [SR_STORE_MISSING] = "missing",
                                            [SR_STORE_PASSING] = "passing",
                                            [SR_STORE_REFUSED] = "refused",
                                            NULL};
static const char *const credentials[] = {"missing", "token", "link", NULL};
static const char *const events[] = {"created",       "opened",  "signed",  "refused",  "completed",
                                     "cancelled",     "expired", "deleted", "codeSent", "codeFailed",
                                     "authenticated", "viewed",  "drafted", "other",    NULL};
static const char *const refusals[] = {"not-pdf", "password", "forbidden", "active", "unsignable", NULL};
static const char *const cached_results[] = {[SR_CACHED_HIT] = "hit", [SR_CACHED_MISS] = "miss", NULL};
static const char *const quotas[] = {[SR_QUOTA_NONE] = "none",
                                     [SR_QUOTA_BELOW] = "below",
                                     [SR_QUOTA_NEAR] = "near",
                                     [SR_QUOTA_REACHED] = "reached",
                                     NULL};
static const char *const classes[] = {"work", "show", "public", "preview", NULL};

static const char *const *const fixed[SR_LABEL_COUNT] = {
    [SR_LABEL_CODE] = codes,
    [SR_LABEL_ENVIRONMENT] = environments,
    [SR_LABEL_RESULT] = results,
    [SR_LABEL_KIND] = kinds,
    [SR_LABEL_OUTCOME] = endings,
    [SR_LABEL_STATE] = states,
    [SR_LABEL_LOSS] = losses,
    [SR_LABEL_OPERATION] = operations,
    [SR_LABEL_FAILURE] = failures,
    [SR_LABEL_USE] = uses,
    [SR_LABEL_LIMIT] = limits,
    [SR_LABEL_AUTHORITY] = authorities,
    [SR_LABEL_STAMP_FAULT] = stamp_faults,
    [SR_LABEL_STORE_METHOD] = store_methods,
    [SR_LABEL_STORE_RESULT] = store_results,
    [SR_LABEL_CREDENTIAL] = credentials,
    [SR_LABEL_EVENT] = events,
    [SR_LABEL_REFUSAL] = refusals,
    [SR_LABEL_CACHED] = cached_results,
    [SR_LABEL_QUOTA] = quotas,
    [SR_LABEL_CLASS] = classes,
};

/* The number of values that each label has room for. */
enum {
    ROOM_NONE = 1,
    ROOM_VERSION = 1,
    ROOM_ROUTE = 160,
    ROOM_SERVER = 16,
    ROOM_CODE = sizeof codes / sizeof *codes - 1,
    ROOM_ENVIRONMENT = sizeof environments / sizeof *environments - 1,
    ROOM_RESULT = sizeof results / sizeof *results - 1,
    ROOM_KIND = sizeof kinds / sizeof *kinds - 1,
    ROOM_OUTCOME = sizeof endings / sizeof *endings - 1,
    ROOM_STATE = sizeof states / sizeof *states - 1,
    ROOM_LOSS = sizeof losses / sizeof *losses - 1,
    ROOM_OPERATION = sizeof operations / sizeof *operations - 1,
    ROOM_FAILURE = sizeof failures / sizeof *failures - 1,
    ROOM_USE = sizeof uses / sizeof *uses - 1,
    ROOM_LIMIT = sizeof limits / sizeof *limits - 1,
    ROOM_AUTHORITY = sizeof authorities / sizeof *authorities - 1,
    ROOM_STAMP_FAULT = sizeof stamp_faults / sizeof *stamp_faults - 1,
    ROOM_STORE_METHOD = sizeof store_methods / sizeof *store_methods - 1,
    ROOM_STORE_RESULT = sizeof store_results / sizeof *store_results - 1,
    ROOM_CREDENTIAL = sizeof credentials / sizeof *credentials - 1,
    ROOM_EVENT = sizeof events / sizeof *events - 1,
    ROOM_REFUSAL = sizeof refusals / sizeof *refusals - 1,
    ROOM_CACHED = sizeof cached_results / sizeof *cached_results - 1,
    ROOM_QUOTA = sizeof quotas / sizeof *quotas - 1,
    ROOM_CLASS = sizeof classes / sizeof *classes - 1,
};

static const char *named[SR_LABEL_COUNT][ROOM_ROUTE];

enum {
    WIDTH_COUNTER = 1,
    WIDTH_GAUGE = 1,
    WIDTH_SECONDS = 1,
    WIDTH_HISTOGRAM = SR_METRICS_BUCKETS + 1,
    WIDTH_LIVE = SR_METRICS_PROCESSES
};
static const int widths[] = {[SR_METRICS_COUNTER] = WIDTH_COUNTER,
                             [SR_METRICS_GAUGE] = WIDTH_GAUGE,
                             [SR_METRICS_SECONDS] = WIDTH_SECONDS,
                             [SR_METRICS_HISTOGRAM] = WIDTH_HISTOGRAM,
                             [SR_METRICS_LIVE] = WIDTH_LIVE};

/* The first cell of each metric. Each metric begins after the one before it. */
enum {
#define SR_METRIC(id, type, shown, name, first, second, help)                                                          \
    BEGIN_##id, LAST_##id = BEGIN_##id + WIDTH_##type * ROOM_##first * ROOM_##second - 1,
#include "metrics/metrics.def"
#undef SR_METRIC
    CELLS
};

const sr_metrics_row_t sr_metrics_rows[SR_METRIC_COUNT] = {
#define SR_METRIC(id, type, shown, name, first, second, help)                                                          \
    [SR_METRIC_##id] = {name,                                                                                          \
                        help,                                                                                          \
                        SR_METRICS_##type,                                                                             \
                        SR_METRICS_##shown,                                                                            \
                        {SR_LABEL_##first, SR_LABEL_##second},                                                         \
                        {ROOM_##first, ROOM_##second},                                                                 \
                        BEGIN_##id},
#include "metrics/metrics.def"
#undef SR_METRIC
};

const sr_metrics_bound_t sr_metrics_bounds[SR_METRICS_BUCKETS - 1] = {
    {1000, "0.001"},  {2500, "0.0025"}, {5000, "0.005"},  {10000, "0.01"},  {25000, "0.025"},
    {50000, "0.05"},  {100000, "0.1"},  {250000, "0.25"}, {500000, "0.5"},  {1000000, "1"},
    {2500000, "2.5"}, {5000000, "5"},   {10000000, "10"}, {30000000, "30"},
};

static apr_uint64_t own[CELLS], *cells = own;
static int place = -1; /* of this process, in metrics of type LIVE; -1: it has none */

static int metrics_within(int number, int room)
{
    return number < 0 || number >= room ? room - 1 : number;
}

static apr_uint64_t *metrics_cell(sr_metric_t metric, int first, int second, int offset)
{
    const sr_metrics_row_t *row = &sr_metrics_rows[metric];
    const int number = metrics_within(first, row->rooms[0]) * row->rooms[1] + metrics_within(second, row->rooms[1]);
    return &cells[row->begin + number * widths[row->type] + offset];
}

void sr_metrics_count(sr_metric_t metric, int first, int second, apr_uint64_t times)
{
    apr_atomic_add64(metrics_cell(metric, first, second, 0), times);
}

void sr_metrics_set(sr_metric_t metric, int first, int second, apr_uint64_t value)
{
    apr_atomic_set64(metrics_cell(metric, first, second, 0), value);
}

void sr_metrics_forget(void)
{
    for (const sr_metrics_row_t *row = sr_metrics_rows; row < sr_metrics_rows + SR_METRIC_COUNT; row++) {
        if (row->type != SR_METRICS_GAUGE && row->type != SR_METRICS_SECONDS) continue;
        for (int i = 0; i < row->rooms[0] * row->rooms[1]; i++) apr_atomic_set64(&cells[row->begin + i], 0);
    }
}

void sr_metrics_observe(sr_metric_t metric, int first, apr_interval_time_t duration)
{
    int bucket = 0;
    if (duration < 0) duration = 0; /* the clock was set back */
    while (bucket < SR_METRICS_BUCKETS - 1 && duration > sr_metrics_bounds[bucket].longest) bucket++;
    apr_atomic_inc64(metrics_cell(metric, first, 0, bucket));
    apr_atomic_add64(metrics_cell(metric, first, 0, SR_METRICS_BUCKETS), (apr_uint64_t)duration);
}

/* --- values of processes */

static bool is_alive(apr_uint64_t id)
{
    return id && (!kill((pid_t)id, 0) || errno == EPERM);
}

static void clear_place(void)
{
    for (const sr_metrics_row_t *row = sr_metrics_rows; row < sr_metrics_rows + SR_METRIC_COUNT; row++) {
        if (row->type != SR_METRICS_LIVE || row->begin == BEGIN_PROCESS_IDS) continue;
        for (int i = 0; i < row->rooms[0] * row->rooms[1]; i++)
            apr_atomic_set64(&cells[row->begin + i * WIDTH_LIVE + place], 0);
    }
}

void sr_metrics_join(void)
{
    const apr_uint64_t self = (apr_uint64_t)getpid();
    for (int i = 0; i < SR_METRICS_PROCESSES; i++) {
        apr_uint64_t *id = metrics_cell(SR_METRIC_PROCESS_IDS, 0, 0, i);
        const apr_uint64_t before = apr_atomic_read64(id);
        if (before != self && is_alive(before)) continue;
        if (apr_atomic_cas64(id, self, before) != before) continue;
        place = i;
        clear_place();
        sr_metrics_live_set(SR_METRIC_PROCESSES, 0, 1);
        return;
    }
}

void sr_metrics_live_add(sr_metric_t metric, int first, int by)
{
    if (place >= 0) apr_atomic_add64(metrics_cell(metric, first, 0, place), (apr_uint64_t)(apr_int64_t)by);
}

void sr_metrics_live_set(sr_metric_t metric, int first, int value)
{
    if (place >= 0) apr_atomic_set64(metrics_cell(metric, first, 0, place), (apr_uint64_t)(apr_int64_t)value);
}

static apr_uint64_t sum_of_processes(sr_metric_t metric, int first, int second)
{
    apr_uint64_t sum = 0;
    for (int i = 0; i < SR_METRICS_PROCESSES; i++)
        if (is_alive(sr_metrics_cell(SR_METRIC_PROCESS_IDS, 0, 0, i))) sum += sr_metrics_cell(metric, first, second, i);
    return sum;
}

/* --- the rest */

bool sr_metrics_turn(sr_metric_t gauge, int first, apr_time_t now, apr_interval_time_t period)
{
    apr_uint64_t *at = metrics_cell(gauge, first, 0, 0), before = apr_atomic_read64(at);
    const apr_time_t then = (apr_time_t)before;
    if (then && then <= now && now - then < period) return false;
    return apr_atomic_cas64(at, (apr_uint64_t)now, before) == before;
}

int sr_metrics_number(sr_label_t label, const char *value)
{
    int number = 0;
    while (fixed[label][number + 1] && strcmp(fixed[label][number], value) != 0) number++;
    sr_assert(!strcmp(fixed[label][number], value) || !strcmp(fixed[label][number], "other"));
    return number;
}

int sr_metrics_number_of_status(int status)
{
    char text[12];
    apr_snprintf(text, sizeof text, "%d", status);
    return sr_metrics_number(SR_LABEL_CODE, text);
}

/* Returns how many values of a named label there is room for. */
static int room_of(sr_label_t label)
{
    for (int i = 0; i < SR_METRIC_COUNT; i++) {
        if (sr_metrics_rows[i].labels[0] == label) return sr_metrics_rows[i].rooms[0];
    }
    return 0;
}

void sr_metrics_name(sr_label_t label, int number, const char *text)
{
    named[label][metrics_within(number, room_of(label))] = text;
}

const char *sr_metrics_text_of(sr_label_t label, int number)
{
    if (label == SR_LABEL_NONE) return "";
    return fixed[label] ? fixed[label][number] : named[label][number];
}

int sr_metrics_values(sr_label_t label)
{
    int count = 0;
    if (label == SR_LABEL_NONE) return 1;
    if (fixed[label]) {
        while (fixed[label][count]) count++;
        return count;
    }
    for (int room = room_of(label); count < room && named[label][count];) count++;
    return count;
}

void sr_metrics_labels(sr_metric_t metric, sr_label_t labels[2])
{
    memcpy(labels, sr_metrics_rows[metric].labels, sizeof sr_metrics_rows[metric].labels);
}

apr_uint64_t sr_metrics_cell(sr_metric_t metric, int first, int second, int offset)
{
    return apr_atomic_read64(metrics_cell(metric, first, second, offset));
}

apr_uint64_t sr_metrics_value(sr_metric_t metric, int first, int second)
{
    apr_uint64_t value = 0;
    if (sr_metrics_rows[metric].type == SR_METRICS_LIVE) return sum_of_processes(metric, first, second);
    if (sr_metrics_rows[metric].type != SR_METRICS_HISTOGRAM) return sr_metrics_cell(metric, first, second, 0);
    for (int i = 0; i < SR_METRICS_BUCKETS; i++) value += sr_metrics_cell(metric, first, 0, i);
    return value;
}

apr_uint64_t sr_metrics_total(sr_metric_t metric, int first)
{
    return sr_metrics_cell(metric, first, 0, SR_METRICS_BUCKETS);
}

apr_interval_time_t sr_metrics_quantile(sr_metric_t metric, int first, int percent)
{
    const apr_uint64_t all = sr_metrics_value(metric, first, 0);
    apr_uint64_t below = 0;
    for (int i = 0; i < SR_METRICS_BUCKETS - 1; i++) {
        below += sr_metrics_cell(metric, first, 0, i);
        if (below * 100 >= all * (apr_uint64_t)percent) return sr_metrics_bounds[i].longest;
    }
    return -1;
}

apr_size_t sr_metrics_size(void)
{
    return sizeof own;
}

void sr_metrics_use(void *block)
{
    cells = block;
}
