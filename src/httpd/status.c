/* SPDX-License-Identifier: Apache-2.0 */
/* status.c: the module's part of mod_status's page, and of its ?auto form for programs that read that form already. */
#include <httpd.h>
#include <http_protocol.h>
#include <mod_status.h>

#include "metrics/metrics.h"
#include "httpd/adapters.h"

enum { ALL = -1, MANY = 10 };
#define TABLE "<table border=\"1\" cellspacing=\"0\" cellpadding=\"3\" style=\"margin: 1em 0\">"
#define NUMBER "<td align=\"right\">"

typedef struct table_t {
    const char *title;
    sr_metric_t metric;
} table_t;

/* Counters. The values of the first label are the rows, those of the second label the columns. */
static const table_t counters[] = {
    {"Requests by status", SR_METRIC_REQUESTS},     {"Seals", SR_METRIC_SEALS},
    {"Deliveries", SR_METRIC_DELIVERIES},           {"Deliveries by database", SR_METRIC_QUEUE},
    {"Events of submissions", SR_METRIC_EVENTS},    {"Helpers replaced", SR_METRIC_HELPER_LOSSES},
    {"Database errors", SR_METRIC_DATABASE_ERRORS},
};

static const table_t durations[] = {
    {"Requests", SR_METRIC_REQUEST_SECONDS},           {"Sealing", SR_METRIC_SEAL_SECONDS},
    {"Deliveries, waiting", SR_METRIC_DELIVERY_DELAY}, {"Deliveries, calling", SR_METRIC_DELIVERY_SECONDS},
    {"PDF helpers", SR_METRIC_HELPER_SECONDS},         {"Transactions", SR_METRIC_DATABASE_SECONDS},
};

/* The lines of ?auto. ALL: the sum over all values of the label. */
static const struct {
    const char *name;
    sr_metric_t metric;
    int first, second;
} lines[] = {
    {"SigreqSealed", SR_METRIC_SEALS, ALL, SR_RESULT_SEALED},
    {"SigreqSealsFailed", SR_METRIC_SEALS, ALL, SR_RESULT_FAILED},
    {"SigreqDelivered", SR_METRIC_DELIVERIES, ALL, SR_ENDING_SUCCESS},
    {"SigreqDeliveriesRejected", SR_METRIC_DELIVERIES, ALL, SR_ENDING_REJECTED},
    {"SigreqDeliveriesUnanswered", SR_METRIC_DELIVERIES, ALL, SR_ENDING_UNANSWERED},
    {"SigreqDeliveriesInterrupted", SR_METRIC_DELIVERIES, ALL, SR_ENDING_INTERRUPTED},
    {"SigreqDeliveriesLost", SR_METRIC_LOST, 0, 0},
    {"SigreqDeliveriesWaiting", SR_METRIC_QUEUE, ALL, SR_QUEUE_WAITING},
    {"SigreqDeliveriesUnderWay", SR_METRIC_QUEUE, ALL, SR_QUEUE_UNDER_WAY},
    {"SigreqHelperStarts", SR_METRIC_HELPER_STARTS, 0, 0},
    {"SigreqHelperRestarts", SR_METRIC_HELPER_LOSSES, ALL, 0},
    {"SigreqDatabaseErrors", SR_METRIC_DATABASE_ERRORS, ALL, 0},
    {"SigreqRequests", SR_METRIC_REQUESTS, ALL, ALL},
};

static apr_uint64_t sum(sr_metric_t metric, int first, int second)
{
    sr_label_t labels[2];
    apr_uint64_t all = 0;
    sr_metrics_labels(metric, labels);
    for (int i = 0; i < sr_metrics_values(labels[0]); i++)
        for (int j = 0; j < sr_metrics_values(labels[1]); j++)
            if ((first == ALL || first == i) && (second == ALL || second == j)) all += sr_metrics_value(metric, i, j);
    return all;
}

static void show_lines(request_rec *r)
{
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        ap_rprintf(r, "%s: %" APR_UINT64_T_FMT "\n", lines[i].name,
                   sum(lines[i].metric, lines[i].first, lines[i].second));
}

/* In a long table, rows and columns that are 0 are left out. */
static bool is_shown(sr_label_t label, apr_uint64_t counted)
{
    return counted || sr_metrics_values(label) < MANY;
}

static void show_counters(request_rec *r, const char *title, sr_metric_t metric)
{
    sr_label_t labels[2];
    sr_metrics_labels(metric, labels);
    const int rows = sr_metrics_values(labels[0]), columns = sr_metrics_values(labels[1]);
    ap_rprintf(r, TABLE "<tr><th>%s</th>", title);
    for (int j = 0; j < columns; j++)
        if (is_shown(labels[1], sum(metric, ALL, j)))
            ap_rprintf(r, "<th>%s</th>", ap_escape_html(r->pool, sr_metrics_text_of(labels[1], j)));
    ap_rputs("</tr>\n", r);
    for (int i = 0; i < rows; i++) {
        if (!is_shown(labels[0], sum(metric, i, ALL))) continue;
        ap_rprintf(r, "<tr><td>%s</td>", ap_escape_html(r->pool, sr_metrics_text_of(labels[0], i)));
        for (int j = 0; j < columns; j++)
            if (is_shown(labels[1], sum(metric, ALL, j)))
                ap_rprintf(r, NUMBER "%" APR_UINT64_T_FMT "</td>", sr_metrics_value(metric, i, j));
        ap_rputs("</tr>\n", r);
    }
    ap_rputs("</table>\n", r);
}

/* Returns a text such as "5 ms", "2.5 s" or "over 30 s". */
static const char *bound(apr_interval_time_t longest, apr_pool_t *pool)
{
    if (longest < 0) return "over 30 s";
    if (longest < APR_USEC_PER_SEC) return apr_psprintf(pool, "%g ms", (double)longest / 1000);
    return apr_psprintf(pool, "%g s", (double)longest / APR_USEC_PER_SEC);
}

static void show_durations(request_rec *r, const char *title, sr_metric_t metric)
{
    sr_label_t labels[2];
    sr_metrics_labels(metric, labels);
    ap_rprintf(r, TABLE "<tr><th>%s</th><th>number</th><th>mean</th><th>half below</th><th>99 %% below</th></tr>\n",
               title);
    for (int i = 0; i < sr_metrics_values(labels[0]); i++) {
        const apr_uint64_t count = sr_metrics_value(metric, i, 0);
        if (!count) continue;
        ap_rprintf(r, "<tr><td>%s</td>" NUMBER "%" APR_UINT64_T_FMT "</td>" NUMBER "%.3g ms</td>",
                   ap_escape_html(r->pool, sr_metrics_text_of(labels[0], i)), count,
                   (double)sr_metrics_total(metric, i) / (double)count / 1000);
        ap_rprintf(r, NUMBER "%s</td>" NUMBER "%s</td></tr>\n", bound(sr_metrics_quantile(metric, i, 50), r->pool),
                   bound(sr_metrics_quantile(metric, i, 99), r->pool));
    }
    ap_rputs("</table>\n", r);
}

int sr_run_status(request_rec *r, int flags)
{
    if (!sr_conf_is_used()) return DECLINED;
    if (flags & AP_STATUS_SHORT) {
        show_lines(r);
        return OK;
    }
    ap_rputs("<hr />\n<h2>mod_sigreq</h2>\n", r);
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
        show_counters(r, counters[i].title, counters[i].metric);
    for (size_t i = 0; i < sizeof durations / sizeof *durations; i++)
        show_durations(r, durations[i].title, durations[i].metric);
    return OK;
}
