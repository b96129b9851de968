/* SPDX-License-Identifier: Apache-2.0 */
/* exposition.c: writes the Prometheus text format (prometheus.io/docs/instrumenting/exposition_formats, version 0.0.4).
 */
#include "metrics/private.h"

#include <string.h>

#define MICROSECONDS 1000000

typedef struct text_t {
    apr_array_header_t *parts;
    apr_pool_t *pool;
} text_t;

static void exposition_add(text_t *text, const char *part)
{
    APR_ARRAY_PUSH(text->parts, const char *) = part;
}

/* Escapes a label value: \, " and line ends. */
static const char *quoted(const char *value, apr_pool_t *pool)
{
    char *out = apr_palloc(pool, strlen(value) * 2 + 1), *end = out;
    for (; *value; value++) {
        if (*value == '\\' || *value == '"' || *value == '\n') *end++ = '\\';
        *end++ = (char)(*value == '\n' ? 'n' : *value);
    }
    *end = '\0';
    return out;
}

static const char *pair(const char *name, const char *value, apr_pool_t *pool)
{
    return apr_pstrcat(pool, name, "=\"", quoted(value, pool), "\"", NULL);
}

/* Returns `name="value"`, or "" if there is no label. A route is shown as two labels. */
static const char *label_text(sr_label_t label, int exposition_number, apr_pool_t *pool)
{
    const char *value = sr_metrics_text_of(label, exposition_number), *space = strchr(value, ' ');
    if (label == SR_LABEL_NONE) return "";
    if (label != SR_LABEL_ROUTE) return pair(sr_metrics_label_names[label], value, pool);
    const char *first = space ? apr_pstrmemdup(pool, value, (apr_size_t)(space - value)) : value;
    return apr_pstrcat(pool, pair("method", first, pool), ",", pair("route", space ? space + 1 : value, pool), NULL);
}

/* Returns the labels of a series: "{…}", or "". */
static const char *labels_of(const sr_metrics_row_t *row, int first, int second, const char *bound, apr_pool_t *pool)
{
    const char *all = "";
    const char *const parts[] = {label_text(row->labels[0], first, pool), label_text(row->labels[1], second, pool),
                                 bound};
    for (int i = 0; i < 3; i++)
        if (*parts[i]) all = apr_pstrcat(pool, all, *all ? "," : "", parts[i], NULL);
    return *all ? apr_pstrcat(pool, "{", all, "}", NULL) : "";
}

static const char *exposition_number(apr_uint64_t value, apr_pool_t *pool)
{
    return apr_psprintf(pool, "%" APR_UINT64_T_FMT, value);
}

static const char *exposition_seconds(apr_uint64_t value, apr_pool_t *pool)
{
    return apr_psprintf(pool, "%" APR_UINT64_T_FMT ".%06d", value / MICROSECONDS, (int)(value % MICROSECONDS));
}

static void exposition_add_line(text_t *text, const char *name, const char *suffix, const char *labels,
                                const char *value)
{
    exposition_add(text, apr_pstrcat(text->pool, name, suffix, labels, " ", value, "\n", NULL));
}

/* Writes a histogram. In this format each bucket includes all smaller ones. */
static void add_histogram(text_t *text, sr_metric_t metric, int first)
{
    const sr_metrics_row_t *row = &sr_metrics_rows[metric];
    apr_uint64_t count = 0;
    for (int i = 0; i < SR_METRICS_BUCKETS; i++) {
        const bool last = i == SR_METRICS_BUCKETS - 1;
        const char *bound = pair("le", last ? "+Inf" : sr_metrics_bounds[i].seconds, text->pool);
        count += sr_metrics_cell(metric, first, 0, i);
        exposition_add_line(text, row->name, "_bucket", labels_of(row, first, 0, bound, text->pool),
                            exposition_number(count, text->pool));
    }
    const char *labels = labels_of(row, first, 0, "", text->pool);
    exposition_add_line(text, row->name, "_sum", labels,
                        exposition_seconds(sr_metrics_total(metric, first), text->pool));
    exposition_add_line(text, row->name, "_count", labels, exposition_number(count, text->pool));
}

static void add_series(text_t *text, sr_metric_t metric, int first, int second)
{
    const sr_metrics_row_t *row = &sr_metrics_rows[metric];
    const apr_uint64_t value = sr_metrics_value(metric, first, second);
    if (row->shown == SR_METRICS_USED && !value) return;
    if (row->type == SR_METRICS_HISTOGRAM) {
        add_histogram(text, metric, first);
        return;
    }
    exposition_add_line(text, row->name, "", labels_of(row, first, second, "", text->pool),
                        row->type == SR_METRICS_SECONDS ? exposition_seconds(value, text->pool)
                                                        : exposition_number(value, text->pool));
}

const char *sr_metrics_text(apr_pool_t *pool)
{
    static const char *const types[] = {"counter", "gauge", "gauge", "histogram", "gauge"};
    text_t text = {apr_array_make(pool, 256, sizeof(const char *)), pool};
    for (int metric = 0; metric < SR_METRIC_COUNT; metric++) {
        const sr_metrics_row_t *row = &sr_metrics_rows[metric];
        if (row->shown == SR_METRICS_NEVER) continue;
        exposition_add(&text, apr_pstrcat(pool, "# HELP ", row->name, " ", row->help, "\n# TYPE ", row->name, " ",
                                          types[row->type], "\n", NULL));
        for (int first = 0; first < sr_metrics_values(row->labels[0]); first++)
            for (int second = 0; second < sr_metrics_values(row->labels[1]); second++)
                add_series(&text, (sr_metric_t)metric, first, second);
    }
    return apr_array_pstrcat(pool, text.parts, 0);
}
