/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.h: what is counted, for those who run the service. Every layer may count; src/run shows it.
 *
 * All of it is a block of numbers, changed by atomic additions alone: any thread of any process that shares the block
 * may count at any time, and one that is killed leaves nothing half done. Until sr_metrics_use it is this process's
 * own.
 *
 * Sections: metrics.c · text.c
 */
#ifndef SR_METRICS_H
#define SR_METRICS_H

#include "base/base.h"

/* ---------------------------------------------------------------------------------------------- metrics.c */
typedef enum sr_metric_t {
#define SR_METRIC(id, type, shown, name, first, second, help) SR_METRIC_##id,
#include "metrics/metrics.def"
#undef SR_METRIC
    SR_METRIC_COUNT
} sr_metric_t;

typedef enum sr_label_t {
    SR_LABEL_NONE,
    SR_LABEL_VERSION,     /* named */
    SR_LABEL_ROUTE,       /* named: "GET /path"; shown as two, method and route */
    SR_LABEL_SERVER,      /* named: whose database it is */
    SR_LABEL_CODE,        /* of HTTP */
    SR_LABEL_ENVIRONMENT, /* sr_environment_t */
    SR_LABEL_RESULT,      /* sr_result_t */
    SR_LABEL_KIND,        /* sr_kind_t */
    SR_LABEL_OUTCOME,     /* sr_ending_t */
    SR_LABEL_STATE,       /* sr_queue_t */
    SR_LABEL_LOSS,        /* sr_loss_t */
    SR_LABEL_OPERATION,   /* of the PDF helper */
    SR_LABEL_FAILURE,     /* of the database */
    SR_LABEL_USE,         /* of the database: sr_use_t */
    SR_LABEL_LIMIT,       /* what was too much */
    SR_LABEL_COUNT
} sr_label_t;

typedef enum { SR_RESULT_SEALED, SR_RESULT_FAILED } sr_result_t;
typedef enum { SR_KIND_WEBHOOK, SR_KIND_INVITATION } sr_kind_t;
typedef enum {
    SR_ENDING_SUCCESS,
    SR_ENDING_REJECTED,    /* the answer was another than 2xx */
    SR_ENDING_UNANSWERED,  /* none came, or nothing was sent */
    SR_ENDING_INTERRUPTED, /* outcome unknown */
} sr_ending_t;
typedef enum { SR_QUEUE_WAITING, SR_QUEUE_UNDER_WAY } sr_queue_t;
typedef enum { SR_USE_READ, SR_USE_WRITE } sr_use_t;
typedef enum { SR_LOSS_DIED, SR_LOSS_LATE } sr_loss_t;

/* The values of a metric's first and second label are given by their number; 0 where it has no such label. Numbers out
 * of range count for the last value. */
void sr_metrics_count(sr_metric_t metric, int first, int second, apr_uint64_t times);
/* A gauge; SECONDS in microseconds. */
void sr_metrics_set(sr_metric_t metric, int first, int second, apr_uint64_t value);
/* All gauges are 0 again. */
void sr_metrics_forget(void);
/* A histogram takes one duration. */
void sr_metrics_observe(sr_metric_t metric, int first, apr_interval_time_t duration);
/* True for one caller of all processes, once per period; the gauge has the time of the last turn. */
bool sr_metrics_turn(sr_metric_t gauge, int first, apr_time_t now, apr_interval_time_t period);

/* The number of a label's value; of what it does not have, the last one ("other", where there is one). */
int sr_metrics_number(sr_label_t label, const char *value);
int sr_metrics_number_of_status(int status);
/* Names a value of a named label, before threads are started; text must live on. What is beyond the room there is
 * counts for the last one. */
void sr_metrics_name(sr_label_t label, int number, const char *text);

/* What was counted: counters and gauges as they are, a histogram's number of durations. */
apr_uint64_t sr_metrics_value(sr_metric_t metric, int first, int second);
/* The sum of a histogram's durations. */
apr_uint64_t sr_metrics_total(sr_metric_t metric, int first);
/* A bound that so many per cent of them do not exceed; -1: longer than all bounds. */
apr_interval_time_t sr_metrics_quantile(sr_metric_t metric, int first, int percent);
/* SR_LABEL_NONE where it has none. */
void sr_metrics_labels(sr_metric_t metric, sr_label_t labels[2]);
/* How many values a label has (of a named one: that are named), and one of them; NULL: not named. */
int sr_metrics_values(sr_label_t label);
const char *sr_metrics_text_of(sr_label_t label, int number);

/* From now on this block of so many bytes, of zeros at first, is where everything is counted. */
apr_size_t sr_metrics_size(void);
void sr_metrics_use(void *block);

/* ------------------------------------------------------------------------------------------------- text.c */
/* Everything in Prometheus' text format, version 0.0.4. */
#define SR_METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"
const char *sr_metrics_text(apr_pool_t *pool);

#endif
