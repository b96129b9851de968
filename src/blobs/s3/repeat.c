/* SPDX-License-Identifier: Apache-2.0 */
/* repeat.c: the client of a bucket, which repeats requests. The pause before each repeat is a random part of a time
 * that doubles ("full jitter"), so that hosts which fail together do not come back together. All tries of an operation
 * share one deadline. If operations fail one after the other, the client refuses all others for a moment, so that
 * threads do not wait for a server that does not respond. */
#include "blobs/s3/private.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

#include "metrics/metrics.h"

#define TRIES 6
#define FIRST_PAUSE 50000 /* microseconds */
#define LONGEST_PAUSE 3200000
#define ABSENT apr_time_from_sec(2) /* how long a missing object may appear late */
#define FAILURES 5
#define CLOSED apr_time_from_sec(2)
#define SKEW apr_time_from_sec(10 * 60) /* servers accept 15 minutes */
#define LARGE_FROM ((apr_off_t)1 << 20)

#define STALL apr_time_from_sec(5)
#define SMALL apr_time_from_sec(15)
#define LARGE apr_time_from_sec(60)

typedef enum verdict_t {
    DONE,
    AGAIN, /* the failure may pass */
    ABSENT_YET,
    SKEWED, /* again, and at once: the clock was adjusted */
    FINAL
} verdict_t;

static apr_status_t repeat_end(void *s3)
{
    sr_s3_handles_end(s3);
    return APR_SUCCESS;
}

sr_error_t *sr_s3_create(sr_s3_t **s3, const sr_s3_options_t *options, apr_pool_t *pool)
{
    sr_s3_t *made = *s3 = apr_pcalloc(pool, sizeof *made);
    made->options = *options;
    if (!made->options.stall) made->options.stall = STALL;
    if (!made->options.small) made->options.small = SMALL;
    if (!made->options.large) made->options.large = LARGE;
    const apr_status_t status = apr_thread_mutex_create(&made->mutex, APR_THREAD_MUTEX_DEFAULT, pool);
    if (status) return sr_error(pool, SR_EINTERNAL, "no mutex: %pm", &status);
    if (curl_global_init(CURL_GLOBAL_DEFAULT)) return sr_error(pool, SR_EINTERNAL, "libcurl cannot be used");
    apr_pool_cleanup_register(pool, made, repeat_end, apr_pool_cleanup_null);
    return NULL;
}

const char *sr_s3_name(const sr_s3_t *s3, apr_pool_t *pool)
{
    return apr_pstrcat(pool, "s3://", s3->options.bucket, "/", s3->options.prefix, NULL);
}

sr_error_t *sr_s3_trouble(const sr_s3_t *s3, const sr_s3_call_t *call, const char *what, apr_pool_t *pool)
{
    return sr_error_because(
        sr_error(pool, SR_EUNAVAILABLE, "Documents cannot be stored at the moment, try again later"), pool,
        "%s %s%s: %s", call->method, sr_s3_name(s3, pool), call->key ? call->key : "", what);
}

/* --- the breaker */

/* Returns false if the operation must not begin. *trial is set if it is the one that tries whether the server responds
 * again. */
static bool repeat_admit(bool *trial, sr_s3_t *s3)
{
    const apr_time_t now = sr_time_steady();
    apr_thread_mutex_lock(s3->mutex);
    const bool broken = s3->failures >= FAILURES, admitted = !broken || now >= s3->closed;
    if (broken && admitted) s3->closed = now + CLOSED;
    apr_thread_mutex_unlock(s3->mutex);
    *trial = broken && admitted;
    return admitted;
}

static bool is_broken(sr_s3_t *s3)
{
    apr_thread_mutex_lock(s3->mutex);
    const bool broken = s3->failures >= FAILURES;
    apr_thread_mutex_unlock(s3->mutex);
    return broken;
}

static void note_result(sr_s3_t *s3, bool failed)
{
    apr_thread_mutex_lock(s3->mutex);
    if (!failed) s3->failures = 0;
    else if (s3->failures < FAILURES && ++s3->failures == FAILURES) s3->closed = sr_time_steady() + CLOSED;
    const bool stopped = s3->failures >= FAILURES;
    apr_thread_mutex_unlock(s3->mutex);
    if (stopped || !failed) sr_metrics_set(SR_METRIC_STORE_STOPPED, 0, 0, stopped);
}

/* --- the clock */

/* Sets the clock by the response, which tells that it differs too much. Returns false if it does not. */
static bool adjust_clock(sr_s3_t *s3, const sr_s3_answer_t *answer, apr_pool_t *pool)
{
    const time_t date = *answer->date ? curl_getdate(answer->date, NULL) : -1;
    const apr_interval_time_t wanted = date < 0 ? 0 : apr_time_from_sec(date) - sr_time_now();
    if (date < 0) return false;
    apr_thread_mutex_lock(s3->mutex);
    const bool differs = wanted - s3->clock > SKEW || s3->clock - wanted > SKEW;
    if (differs) s3->clock = wanted;
    apr_thread_mutex_unlock(s3->mutex);
    if (differs && s3->options.note)
        s3->options.note(s3->options.baton,
                         apr_psprintf(pool,
                                      "the clock of %s differs from that of this host by %" APR_TIME_T_FMT
                                      " s: requests are signed with the time of the server",
                                      s3->options.authority, apr_time_sec(wanted)));
    return differs;
}

/* --- what a response means */

static bool is_passing(const char *code)
{
    static const char *const codes[] = {"RequestTimeout", "BadDigest",          "XAmzContentSHA256Mismatch",
                                        "InternalError",  "ServiceUnavailable", "SlowDown"};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (strcmp(code, codes[i]) == 0) return true;
    return false;
}

/* A response to HEAD has no body, so a wrong clock is known by the date alone. */
static verdict_t repeat_judge(sr_s3_t *s3, const sr_s3_call_t *call, const sr_s3_answer_t *answer, bool skewed,
                              apr_pool_t *pool)
{
    const int status = answer->status;
    if (answer->fault) return answer->final ? FINAL : AGAIN;
    if (status == 403 && !skewed && adjust_clock(s3, answer, pool)) return SKEWED;
    if (status >= 200 && status <= 299) return *answer->code ? AGAIN : DONE; /* 200 with an error in its body */
    if (status == 404 && strcmp(answer->code, "NoSuchBucket") != 0) return call->expects_object ? ABSENT_YET : DONE;
    if (status == 429 || status == 408 || (status >= 500 && status != 501)) return AGAIN;
    return is_passing(answer->code) ? AGAIN : FINAL;
}

static const char *repeat_describe(const sr_s3_t *s3, const sr_s3_answer_t *answer, int tries, apr_pool_t *pool)
{
    const char *text = answer->status ? apr_psprintf(pool, "%d", answer->status) : "no response";
    if (*answer->code) text = apr_pstrcat(pool, text, " ", answer->code, NULL);
    if (answer->fault) text = apr_pstrcat(pool, text, ", ", answer->fault, NULL);
    if (*answer->region && strcmp(answer->region, s3->options.region) != 0)
        text = apr_pstrcat(pool, text, ", the bucket's region is ", answer->region, NULL);
    if (*answer->request_id) text = apr_pstrcat(pool, text, " (request ", answer->request_id, ")", NULL);
    return tries > 1 ? apr_psprintf(pool, "%s, tried %d times", text, tries) : text;
}

/* --- repeats */

static void count_request(const sr_s3_call_t *call, const sr_s3_answer_t *answer, verdict_t verdict, int tries)
{
    const sr_store_result_t result = answer->status == 404 && (verdict == DONE || verdict == ABSENT_YET)
                                         ? SR_STORE_MISSING
                                     : verdict == DONE  ? SR_STORE_DONE
                                     : verdict == FINAL ? SR_STORE_REFUSED
                                                        : SR_STORE_PASSING;
    sr_metrics_count(SR_METRIC_STORE_REQUESTS, sr_metrics_number(SR_LABEL_STORE_METHOD, call->method), (int)result, 1);
    if (tries > 1) sr_metrics_count(SR_METRIC_STORE_REPEATS, 0, 0, 1);
}

static void count_operation(const sr_s3_call_t *call, apr_time_t begun, bool failed)
{
    const int method = sr_metrics_number(SR_LABEL_STORE_METHOD, call->method);
    sr_metrics_observe(SR_METRIC_STORE_SECONDS, method, sr_time_steady() - begun);
    if (failed) sr_metrics_count(SR_METRIC_STORE_FAILURES, 0, 0, 1);
}

static apr_interval_time_t pause_before(int number)
{
    apr_interval_time_t longest = FIRST_PAUSE;
    apr_uint32_t chance;
    for (int i = 1; i < number && longest < LONGEST_PAUSE; i++) longest *= 2;
    sr_random_fill(&chance, sizeof chance);
    return (apr_interval_time_t)((double)longest * chance / APR_UINT32_MAX);
}

/* Waits before the next try. Returns false if there is none. */
static bool wait_again(sr_s3_t *s3, verdict_t verdict, int tries, apr_time_t begun, apr_time_t until)
{
    const apr_time_t now = sr_time_steady();
    if (verdict == SKEWED) return true;
    if (tries == TRIES || is_broken(s3)) return false;
    const apr_interval_time_t pause = pause_before(tries);
    if (now + pause >= until || (verdict == ABSENT_YET && now + pause >= begun + ABSENT)) return false;
    apr_sleep(pause);
    return true;
}

sr_error_t *sr_s3_call(sr_s3_answer_t *answer, sr_s3_t *s3, const sr_s3_call_t *call, apr_pool_t *pool)
{
    const apr_time_t begun = sr_time_steady();
    const bool large = call->sink >= 0 || call->size >= LARGE_FROM;
    const apr_time_t until = begun + (large ? s3->options.large : s3->options.small);
    bool trial, skewed = false;
    verdict_t verdict;
    int tries = 0;
    *answer = (sr_s3_answer_t){.length = -1};
    if (!repeat_admit(&trial, s3)) {
        sr_metrics_count(SR_METRIC_STORE_SKIPPED, 0, 0, 1);
        return sr_s3_trouble(s3, call, "the last requests to the server have failed", pool);
    }
    do {
        sr_s3_transfer(answer, s3, call, until, pool);
        verdict = repeat_judge(s3, call, answer, skewed, pool);
        skewed = skewed || verdict == SKEWED;
        count_request(call, answer, verdict, ++tries);
    } while (verdict != DONE && verdict != FINAL && (!trial || verdict == SKEWED)
             && wait_again(s3, verdict, tries, begun, until));
    count_operation(call, begun, verdict != DONE);
    note_result(s3, verdict == AGAIN && (answer->status < 200 || answer->status > 299));
    return verdict == DONE ? NULL : sr_s3_trouble(s3, call, repeat_describe(s3, answer, tries, pool), pool);
}
