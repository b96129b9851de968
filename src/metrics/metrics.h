/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.h: the metrics of the service, for its operators. Every layer may count. src/httpd shows the numbers.
 *
 * The numbers are in one block of memory, which is changed only by atomic operations. Any thread of any process that
 * shares the block may count at any time, and a process that is killed leaves no number half changed. Until
 * sr_metrics_use is called, the block belongs to this process alone.
 *
 * Sections: metrics.c · exposition.c */
#ifndef SR_METRICS_METRICS_H
#define SR_METRICS_METRICS_H

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
    SR_LABEL_VERSION,      /* its value is named by sr_metrics_name */
    SR_LABEL_ROUTE,        /* named: "GET /path"; shown as two labels, method and route */
    SR_LABEL_SERVER,       /* named: the virtual host that has the database */
    SR_LABEL_CODE,         /* the HTTP status */
    SR_LABEL_ENVIRONMENT,  /* sr_environment_t */
    SR_LABEL_RESULT,       /* sr_result_t */
    SR_LABEL_KIND,         /* sr_kind_t */
    SR_LABEL_OUTCOME,      /* sr_ending_t */
    SR_LABEL_STATE,        /* sr_queue_t */
    SR_LABEL_LOSS,         /* sr_loss_t */
    SR_LABEL_OPERATION,    /* the operation of the PDF helper */
    SR_LABEL_FAILURE,      /* the kind of a database failure */
    SR_LABEL_USE,          /* the use of the database (sr_use_t) */
    SR_LABEL_LIMIT,        /* the limit that was exceeded */
    SR_LABEL_AUTHORITY,    /* the place of a timestamp authority in SigreqTimestamp */
    SR_LABEL_STAMP_FAULT,  /* sr_stamp_fault_t */
    SR_LABEL_CREDENTIAL,   /* why a caller or a signer is not known */
    SR_LABEL_EVENT,        /* the kind of an event of a submission */
    SR_LABEL_REFUSAL,      /* why a document was refused */
    SR_LABEL_CACHED,       /* sr_cached_result_t */
    SR_LABEL_QUOTA,        /* sr_quota_use_t */
    SR_LABEL_CLASS,        /* sr_pdf_class_t: whose requests to PDF helpers */
    SR_LABEL_STORE_METHOD, /* the method of a request to the object store */
    SR_LABEL_STORE_RESULT, /* sr_store_result_t */
    SR_LABEL_COUNT
} sr_label_t;

typedef enum { SR_RESULT_SEALED, SR_RESULT_FAILED } sr_result_t;
typedef enum {
    SR_KIND_WEBHOOK,
    SR_KIND_INVITATION,
    SR_KIND_REMINDER,
    SR_KIND_CODE,
    SR_KIND_CODE_HOOK,
    SR_KIND_COPY,
    SR_KIND_VIEW
} sr_kind_t;
typedef enum {
    SR_ENDING_SUCCESS,
    SR_ENDING_REJECTED,    /* the response was not 2xx */
    SR_ENDING_UNANSWERED,  /* there was no response, or no request was sent */
    SR_ENDING_INTERRUPTED, /* the outcome is unknown */
} sr_ending_t;
typedef enum { SR_QUEUE_WAITING, SR_QUEUE_UNDER_WAY } sr_queue_t;
typedef enum { SR_USE_READ, SR_USE_WRITE } sr_use_t;
typedef enum { SR_LOSS_DIED, SR_LOSS_LATE } sr_loss_t;
typedef enum { SR_CACHED_HIT, SR_CACHED_MISS } sr_cached_result_t;
typedef enum { SR_QUOTA_NONE, SR_QUOTA_BELOW, SR_QUOTA_NEAR, SR_QUOTA_REACHED } sr_quota_use_t;

typedef enum {
    SR_STAMP_GOOD,
    SR_STAMP_UNREACHABLE, /* no connection */
    SR_STAMP_LATE,        /* no response in time */
    SR_STAMP_CLOSED,      /* the connection ended, or the response is not HTTP */
    SR_STAMP_STATUS,      /* another HTTP status than 200 */
    SR_STAMP_TYPE,        /* another content type */
    SR_STAMP_LARGE,       /* the response is too large */
    SR_STAMP_MALFORMED,   /* the response is not one of RFC 3161 */
    SR_STAMP_REJECTED,    /* the authority refuses */
    SR_STAMP_IMPRINT,     /* the token is for another digest */
    SR_STAMP_NONCE,       /* the token is for another query */
    SR_STAMP_UNTRUSTED,   /* its signature, or the chain of its certificate */
    SR_STAMP_CLOCK,       /* its time is far from that of this host */
    SR_STAMP_SKIPPED      /* the authority was not asked, because it has failed before */
} sr_stamp_fault_t;

typedef enum {
    SR_STORE_DONE,
    SR_STORE_MISSING, /* 404, which may be right */
    SR_STORE_PASSING, /* it failed, and may be repeated */
    SR_STORE_REFUSED  /* it failed, and would fail again */
} sr_store_result_t;

/* Adds `times` to a counter. `first` and `second` are the numbers of its label values, 0 for a label that it does not
 * have. A number out of range counts for the last value. */
void sr_metrics_count(sr_metric_t metric, int first, int second, apr_uint64_t times);
/* Sets a gauge. A gauge of type SECONDS is set in microseconds. */
void sr_metrics_set(sr_metric_t metric, int first, int second, apr_uint64_t value);
/* Sets all gauges to 0. */
void sr_metrics_forget(void);
/* Begins the values of this process, in a child of httpd: a metric of type LIVE is changed only after it. They no
 * longer count when the process has ended, however it did. */
void sr_metrics_join(void);
/* Adds to a metric of type LIVE, or sets it, for this process. */
void sr_metrics_live_add(sr_metric_t metric, int first, int by);
void sr_metrics_live_set(sr_metric_t metric, int first, int value);
/* Adds one duration, in microseconds, to a histogram. */
void sr_metrics_observe(sr_metric_t metric, int first, apr_interval_time_t duration);
/* Returns true for one caller in all processes once per period. The gauge holds the time of the last such call. */
bool sr_metrics_turn(sr_metric_t gauge, int first, apr_time_t now, apr_interval_time_t period);

/* Returns the number of a label's value. For an unknown value it returns the last number, which is "other" if the
 * label has that value. */
int sr_metrics_number(sr_label_t label, const char *value);
int sr_metrics_number_of_status(int status);
/* Names a value of a named label. Call it before threads are started. `text` must live as long as the process. A
 * number out of range names the last value. */
void sr_metrics_name(sr_label_t label, int number, const char *text);

/* Returns the value of a counter or gauge, or the number of durations of a histogram. */
apr_uint64_t sr_metrics_value(sr_metric_t metric, int first, int second);
/* Returns the sum of a histogram's durations, in microseconds. */
apr_uint64_t sr_metrics_total(sr_metric_t metric, int first);
/* Returns a bound in microseconds that `percent` of the durations do not exceed; -1 if it is above all bounds. */
apr_interval_time_t sr_metrics_quantile(sr_metric_t metric, int first, int percent);
/* Sets both labels of a metric; SR_LABEL_NONE for a label that it does not have. */
void sr_metrics_labels(sr_metric_t metric, sr_label_t labels[2]);
/* Returns the number of values of a label (of a named label, those that have a name), and the text of one of them;
 * NULL if it has no name. */
int sr_metrics_values(sr_label_t label);
const char *sr_metrics_text_of(sr_label_t label, int number);

/* Makes a block of sr_metrics_size() bytes, filled with zeros at first, the place of all numbers from now on. */
apr_size_t sr_metrics_size(void);
void sr_metrics_use(void *block);

/* ------------------------------------------------------------------------------------------------- exposition.c */
/* Returns all metrics in the Prometheus text format, version 0.0.4. */
#define SR_METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"
const char *sr_metrics_text(apr_pool_t *pool);

#endif
