/* SPDX-License-Identifier: Apache-2.0 */
/* timestamp.c: asks the timestamp authorities in their order. All digests are sent to an authority at the same time, so
 * that a transition waits for one round trip. An authority that fails again and again is skipped for a while, because
 * each signer of an outage would wait for its time limit otherwise. */
#include "authorities/timestamp.h"

#include <apr_atomic.h>
#include <apr_uri.h>
#include <string.h>

#include "authorities/rfc3161.h"

#define ANSWER_MOST ((apr_size_t)64 << 10)
#define CONNECT_LEAST APR_USEC_PER_SEC /* the time limit of connecting is at least this, or a third of the whole */
#define FAILURES 3                     /* in a row, after which an authority is skipped */
#define PAUSE_MOST 30                  /* seconds; the first pause is one second, and each next one twice as long */
#define RETRY apr_time_from_sec(5)

typedef struct breaker_t {
    apr_uint64_t until;    /* 0: the authority is asked; else the steady time at which one caller tries it again */
    apr_uint32_t failures; /* in a row */
    apr_uint32_t trials;   /* pauses that have ended without success */
} breaker_t;

struct sr_timestamps_t {
    sr_timestamp_options_t options;
    X509_STORE *anchors;
    const char *const *shown; /* the authorities as the log shows them, because a path may be a secret */
};

/* --- which authorities are asked */

apr_size_t sr_timestamp_breakers_size(void)
{
    return sizeof(breaker_t) * SR_TIMESTAMP_AUTHORITIES;
}

static breaker_t *breaker_of(const sr_timestamps_t *timestamps, int number)
{
    return (breaker_t *)timestamps->options.breakers + number;
}

static apr_uint64_t breaker_end(breaker_t *breaker, apr_time_t now)
{
    const apr_uint32_t trials = apr_atomic_read32(&breaker->trials);
    const int seconds = trials < 5 ? 1 << trials : PAUSE_MOST;
    return (apr_uint64_t)(now + apr_time_from_sec(seconds));
}

/* Returns true if the authority may be asked. After a pause, one caller in all processes gets true. */
static bool breaker_allows(breaker_t *breaker, apr_time_t now)
{
    const apr_uint64_t until = apr_atomic_read64(&breaker->until);
    if (!until) return true;
    if ((apr_uint64_t)now < until) return false;
    /* the longest pause also covers a caller that ends before it has noted its result */
    if (apr_atomic_cas64(&breaker->until, (apr_uint64_t)(now + apr_time_from_sec(PAUSE_MOST)), until) != until)
        return false;
    apr_atomic_inc32(&breaker->trials);
    return true;
}

static void breaker_note(breaker_t *breaker, bool good, apr_time_t now)
{
    if (good) {
        apr_atomic_set32(&breaker->failures, 0);
        apr_atomic_set32(&breaker->trials, 0);
        apr_atomic_set64(&breaker->until, 0);
    } else if (apr_atomic_inc32(&breaker->failures) + 1 >= FAILURES)
        apr_atomic_set64(&breaker->until, breaker_end(breaker, now));
}

/* --- the list */

static const char *shown_of(const char *url, int number, apr_pool_t *pool)
{
    apr_uri_t uri;
    if (apr_uri_parse(pool, url, &uri) || !uri.hostname) return apr_psprintf(pool, "%d", number + 1);
    return apr_psprintf(pool, "%d (%s://%s%s%s)", number + 1, uri.scheme, uri.hostname, uri.port_str ? ":" : "",
                        uri.port_str ? uri.port_str : "");
}

sr_error_t *sr_timestamps_create(sr_timestamps_t **timestamps, const sr_timestamp_options_t *options, apr_pool_t *pool)
{
    sr_timestamps_t *made = *timestamps = apr_pcalloc(pool, sizeof *made);
    const char **shown = apr_pcalloc(pool, sizeof *shown * SR_TIMESTAMP_AUTHORITIES);
    sr_assert(options->urls->nelts <= SR_TIMESTAMP_AUTHORITIES);
    for (int i = 0; i < options->urls->nelts; i++)
        shown[i] = shown_of(APR_ARRAY_IDX(options->urls, i, const char *), i, pool);
    made->options = *options;
    made->shown = shown;
    made->anchors = sr_token_anchors(options->authorities, pool);
    return made->anchors ? NULL : sr_error(pool, SR_EINTERNAL, "the timestamp authorities have no certificates");
}

bool sr_timestamps_required(const sr_timestamps_t *timestamps)
{
    return timestamps->options.required;
}

/* --- one round: all digests that have no token yet */

typedef struct asked_t {
    sr_stamp_t *stamp;
    sr_token_query_t query;
} asked_t;

static sr_fetch_t request_of(const sr_timestamps_t *timestamps, int number, const sr_token_query_t *query,
                             apr_interval_time_t left)
{
    const sr_timestamp_options_t *options = &timestamps->options;
    const apr_interval_time_t all = options->each < left ? options->each : left;
    const apr_interval_time_t connect = all / 3 > CONNECT_LEAST ? all / 3 : CONNECT_LEAST;
    return (sr_fetch_t){.url = APR_ARRAY_IDX(options->urls, number, const char *),
                        .body = query->der,
                        .length = (apr_size_t)query->length,
                        .type = "application/timestamp-query",
                        .wanted = "application/timestamp-reply",
                        .login = options->logins ? options->logins[number] : NULL,
                        .limit = ANSWER_MOST,
                        .connect = connect < all ? connect : all,
                        .all = all};
}

static sr_stamp_fault_t timestamp_judge(const sr_timestamps_t *timestamps, const asked_t *asked,
                                        const sr_fetch_t *request, const char **why, apr_pool_t *pool)
{
    static const sr_stamp_fault_t of_state[] = {
        [SR_FETCH_UNREACHABLE] = SR_STAMP_UNREACHABLE,
        [SR_FETCH_LATE] = SR_STAMP_LATE,
        [SR_FETCH_CLOSED] = SR_STAMP_CLOSED,
        [SR_FETCH_REFUSED] = SR_STAMP_STATUS,
        [SR_FETCH_OTHER] = SR_STAMP_TYPE,
        [SR_FETCH_LARGE] = SR_STAMP_LARGE,
    };
    *why = request->fault;
    if (request->state != SR_FETCH_DONE) return of_state[request->state];
    return sr_token_judge(asked->stamp, why, &asked->query, timestamps->anchors, request->answer, request->size, pool);
}

/* Asks an authority for all tokens that are missing. Returns what was wrong with one of its answers, and why. */
static sr_stamp_fault_t timestamp_ask(const sr_timestamps_t *timestamps, int number, sr_stamp_t *stamps, int count,
                                      apr_interval_time_t left, const char **why, apr_pool_t *pool)
{
    asked_t *asked = apr_pcalloc(pool, sizeof *asked * (apr_size_t)count);
    sr_fetch_t *requests = apr_pcalloc(pool, sizeof *requests * (apr_size_t)count);
    sr_stamp_fault_t fault = SR_STAMP_GOOD;
    int sent = 0;
    for (int i = 0; i < count; i++) {
        if (stamps[i].token || !sr_token_query(&asked[sent].query, stamps[i].digest, pool)) continue;
        asked[sent].stamp = &stamps[i];
        requests[sent] = request_of(timestamps, number, &asked[sent].query, left);
        sent++;
    }
    sr_fetch_all(timestamps->options.fetcher, requests, sent, pool);
    for (int i = 0; i < sent; i++) {
        const char *one;
        asked[i].stamp->fault = timestamp_judge(timestamps, &asked[i], &requests[i], &one, pool);
        if (asked[i].stamp->fault) *why = one;
        if (asked[i].stamp->fault) fault = asked[i].stamp->fault;
    }
    return fault;
}

static void timestamp_note(const sr_timestamps_t *timestamps, const char *text)
{
    if (timestamps->options.notice) timestamps->options.notice(timestamps->options.baton, text);
}

/* Returns the reason if the authority did not give all tokens. */
static const char *try_authority(sr_timestamps_t *timestamps, int number, sr_stamp_t *stamps, int count,
                                 apr_interval_time_t left, apr_pool_t *pool)
{
    const apr_time_t begun = sr_time_steady();
    const char *why = NULL;
    const sr_stamp_fault_t fault = timestamp_ask(timestamps, number, stamps, count, left, &why, pool);
    const apr_time_t ended = sr_time_steady();
    breaker_note(breaker_of(timestamps, number), !fault, ended);
    sr_metrics_observe(SR_METRIC_TIMESTAMP_SECONDS, number, ended - begun);
    if (!fault) return NULL;
    sr_metrics_count(SR_METRIC_TIMESTAMP_FAILURES, number, fault, 1);
    why = apr_pstrcat(pool, timestamps->shown[number], ": ", why, NULL);
    timestamp_note(timestamps, apr_pstrcat(pool, "timestamp authority ", why, NULL));
    return why;
}

static void skip(const sr_timestamps_t *timestamps, int number, sr_stamp_t *stamps, int count)
{
    sr_metrics_count(SR_METRIC_TIMESTAMP_FAILURES, number, SR_STAMP_SKIPPED, 1);
    for (int i = 0; i < count; i++)
        if (!stamps[i].token && !stamps[i].fault) stamps[i].fault = SR_STAMP_SKIPPED;
}

static bool has_all(const sr_stamp_t *stamps, int count)
{
    for (int i = 0; i < count; i++)
        if (!stamps[i].token) return false;
    return true;
}

sr_error_t *sr_timestamps_make(sr_timestamps_t *timestamps, sr_stamp_t *stamps, int count, apr_pool_t *pool)
{
    const apr_time_t end = sr_time_steady() + timestamps->options.all;
    const char *reasons = "";
    for (int i = 0; i < count; i++) {
        stamps[i].token = NULL;
        stamps[i].fault = SR_STAMP_GOOD;
    }
    for (int i = 0; i < timestamps->options.urls->nelts && !has_all(stamps, count); i++) {
        const apr_interval_time_t left = end - sr_time_steady();
        const char *why;
        if (left < apr_time_from_msec(1)) break;
        if (breaker_allows(breaker_of(timestamps, i), sr_time_steady()))
            why = try_authority(timestamps, i, stamps, count, left, pool);
        else {
            skip(timestamps, i, stamps, count);
            why = apr_pstrcat(pool, timestamps->shown[i], ": it has failed, and is not asked for a while", NULL);
        }
        if (why) reasons = apr_pstrcat(pool, reasons, *reasons ? "; " : "", why, NULL);
    }
    if (has_all(stamps, count)) return NULL;
    sr_error_t *error =
        sr_error(pool, SR_EUNAVAILABLE, "The time of the signature cannot be certified at the moment, try again later");
    return sr_error_retry(sr_error_because(error, pool, "no timestamp from any authority: %s", reasons), RETRY);
}

sr_error_t *sr_timestamps_chain(apr_array_header_t **chain, const sr_timestamps_t *timestamps, const void *token,
                                apr_size_t length, apr_pool_t *pool)
{
    *chain = apr_array_make(pool, 4, sizeof(sr_trust_der_t));
    if (sr_token_chain(*chain, timestamps->anchors, token, length, pool)) return NULL;
    return sr_error(pool, SR_EINTERNAL, "the timestamp's certificate has no chain to SigreqTimestampAuthorities");
}
