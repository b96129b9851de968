/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.c: tests of src/metrics: counting in several threads, and the text for Prometheus. */
#include <apr_thread_proc.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "metrics/metrics.h"
#include "tap.h"

enum { THREADS = 8, TIMES = 20000 };

static void *APR_THREAD_FUNC count(apr_thread_t *thread, void *data)
{
    for (int i = 0; i < TIMES; i++) {
        sr_metrics_count(SR_METRIC_SEALS, i % 2, SR_RESULT_SEALED, 1);
        sr_metrics_observe(SR_METRIC_SEAL_SECONDS, 0, i % 4 * 1000);
    }
    return NULL;
}

static void check_threads(apr_pool_t *pool)
{
    apr_thread_t *threads[THREADS];
    apr_status_t ignored;
    for (int i = 0; i < THREADS; i++) apr_thread_create(&threads[i], NULL, count, NULL, pool);
    for (int i = 0; i < THREADS; i++) apr_thread_join(&ignored, threads[i]);
    is_int((long)sr_metrics_value(SR_METRIC_SEALS, 0, SR_RESULT_SEALED), THREADS * TIMES / 2,
           "no increment of several threads is lost");
    is_int((long)sr_metrics_value(SR_METRIC_SEALS, 1, SR_RESULT_SEALED), THREADS * TIMES / 2,
           "no increment of another label is lost");
    is_int((long)sr_metrics_value(SR_METRIC_SEALS, 0, SR_RESULT_FAILED), 0, "other counters have not changed");
    is_int((long)sr_metrics_value(SR_METRIC_SEAL_SECONDS, 0, 0), THREADS * TIMES, "all durations are counted");
    is_int((long)sr_metrics_total(SR_METRIC_SEAL_SECONDS, 0), THREADS * TIMES / 4 * 6000L, "the sum of the durations");
    is_int((long)sr_metrics_quantile(SR_METRIC_SEAL_SECONDS, 0, 50), 1000, "the median of the durations");
    is_int((long)sr_metrics_quantile(SR_METRIC_SEAL_SECONDS, 0, 99), 5000, "the 99th percentile of the durations");
}

static bool has(const char *text, const char *line)
{
    const char *at = strstr(text, line);
    return at && (at == text || at[-1] == '\n') && at[strlen(line)] == '\n';
}

static void check_labels(void)
{
    is_int(sr_metrics_number_of_status(201), 1, "the number of a frequent status");
    is_str(sr_metrics_text_of(SR_LABEL_CODE, sr_metrics_number_of_status(418)), "other", "a rare status is other");
    is_str(sr_metrics_text_of(SR_LABEL_OPERATION, sr_metrics_number(SR_LABEL_OPERATION, "?")), "other",
           "an unknown operation is other");
    is_int(sr_metrics_values(SR_LABEL_ROUTE), 0, "at first no route has a name");
    sr_metrics_name(SR_LABEL_ROUTE, 0, "other");
    sr_metrics_name(SR_LABEL_ROUTE, 1, "GET /a/{b}");
    sr_metrics_name(SR_LABEL_SERVER, 0, "a \"b\\\n");
    is_int(sr_metrics_values(SR_LABEL_ROUTE), 2, "two routes have names");
}

static void check_text(apr_pool_t *pool)
{
    sr_metrics_count(SR_METRIC_REQUESTS, 1, sr_metrics_number_of_status(404), 3);
    sr_metrics_count(SR_METRIC_REQUESTS, -1, 0, 1);
    sr_metrics_count(SR_METRIC_REQUESTS, 100000, 0, 1);
    sr_metrics_observe(SR_METRIC_REQUEST_SECONDS, 1, 900);
    sr_metrics_observe(SR_METRIC_REQUEST_SECONDS, 1, 2500);
    sr_metrics_observe(SR_METRIC_REQUEST_SECONDS, 1, apr_time_from_sec(40));
    sr_metrics_observe(SR_METRIC_REQUEST_SECONDS, 1, -5);
    sr_metrics_set(SR_METRIC_QUEUE_OLDEST, 0, 0, 61500000);
    const char *text = sr_metrics_text(pool);
    static const char *const lines[] = {
        "# TYPE sigreq_requests_total counter",
        "sigreq_requests_total{method=\"GET\",route=\"/a/{b}\",code=\"404\"} 3",
        "sigreq_request_duration_seconds_bucket{method=\"GET\",route=\"/a/{b}\",le=\"0.001\"} 2",
        "sigreq_request_duration_seconds_bucket{method=\"GET\",route=\"/a/{b}\",le=\"0.0025\"} 3",
        "sigreq_request_duration_seconds_bucket{method=\"GET\",route=\"/a/{b}\",le=\"30\"} 3",
        "sigreq_request_duration_seconds_bucket{method=\"GET\",route=\"/a/{b}\",le=\"+Inf\"} 4",
        "sigreq_request_duration_seconds_sum{method=\"GET\",route=\"/a/{b}\"} 40.003400",
        "sigreq_request_duration_seconds_count{method=\"GET\",route=\"/a/{b}\"} 4",
        "sigreq_delivery_queue_oldest_seconds{server=\"a \\\"b\\\\\\n\"} 61.500000",
        "sigreq_deliveries_total{kind=\"invitation\",outcome=\"rejected\"} 0",
        "sigreq_helper_starts_total 0",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) ok(has(text, lines[i]), "%s", lines[i]);
    ok(!strstr(text, "route=\"other\""), "values that were never used are not in the text");
    ok(!strstr(text, "# HELP  "), "internal values are not in the text");
    is_int((long)sr_metrics_quantile(SR_METRIC_REQUEST_SECONDS, 1, 99), -1, "a quantile that exceeds all bounds is -1");
}

static void check_turns(void)
{
    const apr_time_t now = apr_time_from_sec(1000);
    ok(sr_metrics_turn(SR_METRIC_QUEUE_TURN, 0, now, 50), "the first process has its turn");
    ok(!sr_metrics_turn(SR_METRIC_QUEUE_TURN, 0, now + 49, 50),
       "a second process is refused before the interval is over");
    ok(sr_metrics_turn(SR_METRIC_QUEUE_TURN, 1, now, 50), "another database has its own turn");
    ok(sr_metrics_turn(SR_METRIC_QUEUE_TURN, 0, now + 50, 50), "a process after the interval has its turn");
    ok(sr_metrics_turn(SR_METRIC_QUEUE_TURN, 0, now - 5, 50), "a clock that was set back does not refuse the turn");
}

static void check_forget(void)
{
    sr_metrics_set(SR_METRIC_QUEUE, 3, SR_QUEUE_UNDER_WAY, 7);
    sr_metrics_set(SR_METRIC_SEAL_EXPIRES, 1, 0, 7);
    const apr_uint64_t seals = sr_metrics_value(SR_METRIC_SEALS, 0, SR_RESULT_SEALED);
    sr_metrics_forget();
    is_int((long)sr_metrics_value(SR_METRIC_QUEUE, 3, SR_QUEUE_UNDER_WAY), 0, "a gauge is reset");
    is_int((long)sr_metrics_value(SR_METRIC_SEAL_EXPIRES, 1, 0), 0, "gauges of every kind are reset");
    is_int((long)sr_metrics_value(SR_METRIC_SEALS, 0, SR_RESULT_SEALED), (long)seals, "a counter is not reset");
    is_int((long)sr_metrics_value(SR_METRIC_REQUEST_SECONDS, 1, 0), 4, "durations are not reset");
}

static const char *const types[] = {
#define SR_METRIC(id, type, shown, name, first, second, help) #type,
#include "metrics/metrics.def"
#undef SR_METRIC
};

static void check_block(apr_pool_t *pool)
{
    sr_metrics_use(apr_pcalloc(pool, sr_metrics_size()));
    is_int((long)sr_metrics_value(SR_METRIC_SEALS, 0, SR_RESULT_SEALED), 0, "another memory block begins with 0");
    for (int i = 0; i < SR_METRIC_COUNT; i++) sr_metrics_set((sr_metric_t)i, 99, 99, (apr_uint64_t)i + 1);
    for (int i = 0; i < SR_METRIC_COUNT; i++) {
        if (!strcmp(types[i], "LIVE")) continue; /* check_processes */
        is_int((long)sr_metrics_value((sr_metric_t)i, 99, 99), i + 1, "metric %d has its own place", i);
    }
}

/* A process that has values of its own, until the pipe is closed. */
static pid_t begin_process(int busy, const int ends[2], int said)
{
    const pid_t pid = fork();
    char byte = 0;
    if (pid) return pid;
    close(ends[1]);
    sr_metrics_join();
    sr_metrics_live_set(SR_METRIC_HELPERS_LIMIT, 0, 2);
    for (int i = 0; i < busy; i++) sr_metrics_live_add(SR_METRIC_HELPERS_BUSY, 0, 1);
    sr_metrics_live_add(SR_METRIC_HELPERS_BUSY, 0, -1);
    if (write(said, &byte, 1) != 1 || read(ends[0], &byte, 1) < 0) _exit(1);
    _exit(0);
}

static void check_processes(void)
{
    const int flags = MAP_SHARED | MAP_ANONYMOUS;
    int ends[2], said[2];
    char bytes[2];
    sr_metrics_use(mmap(NULL, sr_metrics_size(), PROT_READ | PROT_WRITE, flags, -1, 0));
    sr_metrics_live_set(SR_METRIC_HELPERS_LIMIT, 0, 9);
    is_int((long)sr_metrics_value(SR_METRIC_HELPERS_LIMIT, 0, 0), 0, "a process that has not joined has no values");
    if (pipe(ends) || pipe(said)) return;
    const pid_t first = begin_process(4, ends, said[1]), second = begin_process(6, ends, said[1]);
    ok(read(said[0], bytes, 1) == 1 && read(said[0], bytes, 1) == 1, "two processes have values");
    is_int((long)sr_metrics_value(SR_METRIC_PROCESSES, 0, 0), 2, "both are counted");
    is_int((long)sr_metrics_value(SR_METRIC_HELPERS_BUSY, 0, 0), 8, "their values are added");
    is_int((long)sr_metrics_value(SR_METRIC_HELPERS_BUSY, 1, 0), 0, "another label has another value");
    kill(second, SIGKILL);
    waitpid(second, NULL, 0);
    is_int((long)sr_metrics_value(SR_METRIC_HELPERS_BUSY, 0, 0), 3, "one that was killed has none");
    is_int((long)sr_metrics_value(SR_METRIC_HELPERS_LIMIT, 0, 0), 2, "and no limit");
    const pid_t third = begin_process(1, ends, said[1]);
    ok(read(said[0], bytes, 1) == 1, "another process takes its place");
    is_int((long)sr_metrics_value(SR_METRIC_HELPERS_BUSY, 0, 0), 3, "and begins with 0");
    close(ends[0]);
    close(ends[1]);
    waitpid(first, NULL, 0);
    waitpid(third, NULL, 0);
    is_int((long)sr_metrics_value(SR_METRIC_PROCESSES, 0, 0), 0, "in the end nothing is left");
}

int main(void)
{
    apr_pool_t *pool;
    apr_initialize();
    apr_pool_create(&pool, NULL);
    check_labels();
    check_threads(pool);
    check_text(pool);
    check_turns();
    check_forget();
    check_block(pool);
    check_processes();
    return done();
}
