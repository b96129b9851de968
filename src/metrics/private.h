/* SPDX-License-Identifier: Apache-2.0 */
/* private.h: declarations shared by the files of src/metrics. Other folders do not include it. */
#ifndef SR_METRICS_PRIVATE_H
#define SR_METRICS_PRIVATE_H

#include "metrics/metrics.h"

enum { SR_METRICS_BUCKETS = 15 }; /* of a histogram; the last bucket has no bound */
typedef struct sr_metrics_bound_t {
    apr_interval_time_t longest;
    const char *seconds;
} sr_metrics_bound_t;
extern const sr_metrics_bound_t sr_metrics_bounds[SR_METRICS_BUCKETS - 1];

enum { SR_METRICS_PROCESSES = 512 }; /* so many children of httpd have values of their own */

typedef enum {
    SR_METRICS_COUNTER,
    SR_METRICS_GAUGE,
    SR_METRICS_SECONDS,
    SR_METRICS_HISTOGRAM,
    SR_METRICS_LIVE
} sr_metrics_type_t;
typedef enum { SR_METRICS_ALWAYS, SR_METRICS_USED, SR_METRICS_NEVER } sr_metrics_shown_t;

typedef struct sr_metrics_row_t {
    const char *name, *help;
    sr_metrics_type_t type;
    sr_metrics_shown_t shown;
    sr_label_t labels[2];
    int rooms[2]; /* how many values of each label there is room for */
    int begin;    /* the index of its first cell */
} sr_metrics_row_t;
extern const sr_metrics_row_t sr_metrics_rows[SR_METRIC_COUNT];
extern const char *const sr_metrics_label_names[SR_LABEL_COUNT];

/* Returns one cell. `offset` is 0 except for a histogram: its cells are the buckets (not cumulative), followed by the
 * sum. That of a LIVE metric is the place of a process. */
apr_uint64_t sr_metrics_cell(sr_metric_t metric, int first, int second, int offset);

#endif
