/* SPDX-License-Identifier: Apache-2.0 */
/* transfers.c: the claimed jobs: those whose calls are under way in one libcurl multi handle, and those that wait for
 * their call to begin (destinations.c). A claim whose call could not begin within 8 s is released. Nothing has been
 * sent for it. */
#include "jobs/transfers.h"

#include <stdlib.h>
#include <string.h>

#include "jobs/kinds.h"
#include "metrics/metrics.h"

#define WAIT apr_time_from_sec(8)

static const sr_call_result_t interrupted = {.error = "interrupted, outcome unknown"};

sr_error_t *sr_transfers_make(sr_transfers_t *transfers, apr_pool_t *pool)
{
    transfers->begun = apr_pcalloc(pool, sizeof(int) * (apr_size_t)transfers->options->kind_count);
    for (int i = SR_TRANSFERS - 1; i >= 0; i--) {
        sr_transfer_t *transfer = &transfers->all[i];
        SR_TRY(sr_call_create(&transfer->call, transfers->options, pool));
        transfer->call->multi = transfers->multi;
        apr_pool_create(&transfer->pool, pool);
        transfer->next = transfers->free;
        transfers->free = transfer;
    }
    return NULL;
}

sr_error_t *sr_transfers_take(const sr_destination_t **destination, sr_transfers_t *transfers, int database,
                              const char *claim, apr_time_t since, const sr_job_row_t *row, apr_pool_t *pool)
{
    sr_transfer_t *transfer = transfers->free;
    sr_error_t *error = sr_job_read(&transfer->job, transfers->options, row, transfer->pool);
    if (error) {
        error = sr_error_copy(error, pool);
        apr_pool_clear(transfer->pool);
        return error;
    }
    transfers->free = transfer->next;
    transfer->job.database = database;
    transfer->destination =
        sr_destinations_find(&transfers->destinations, database, transfer->job.organization, transfer->job.destination);
    transfer->claim = apr_pstrdup(transfer->pool, claim);
    transfer->database = database;
    transfer->since = since;
    transfer->easy = NULL;
    sr_destinations_take(transfer->destination);
    transfers->busy++;
    transfers->waiting++;
    *destination = transfer->destination;
    return NULL;
}

static bool is_under_way(const sr_transfer_t *transfer)
{
    return transfer->easy || transfer->call->work;
}

static int *transfer_begun(const sr_transfers_t *transfers, const sr_transfer_t *transfer)
{
    return &transfers->begun[transfer->job.kind - transfers->options->kinds];
}

/* --- the end of a transfer */

static void transfer_count(const sr_transfer_t *transfer, const sr_call_result_t *result)
{
    const int kind = transfer->job.kind->metric;
    const int ending = result == &interrupted ? SR_ENDING_INTERRUPTED
                       : result->success      ? SR_ENDING_SUCCESS
                       : result->status       ? SR_ENDING_REJECTED
                                              : SR_ENDING_UNANSWERED;
    if (kind == SR_JOB_UNCOUNTED) return;
    sr_metrics_count(SR_METRIC_DELIVERIES, kind, ending, 1);
    sr_metrics_observe(SR_METRIC_DELIVERY_SECONDS, kind, sr_time_steady() - transfer->since);
}

static void transfer_free(sr_transfers_t *transfers, sr_transfer_t *transfer, const sr_call_result_t *result)
{
    sr_assert(transfers->busy > 0 && transfer->destination->taken > 0);
    transfers->over(transfers->baton, transfer, result);
    transfer->destination->taken--;
    transfer->destination = NULL;
    apr_pool_clear(transfer->pool);
    transfer->next = transfers->free;
    transfers->free = transfer;
    transfers->busy--;
}

static void transfer_release(sr_transfers_t *transfers, sr_transfer_t *transfer)
{
    sr_assert(transfers->waiting > 0);
    transfers->waiting--;
    transfer_free(transfers, transfer, NULL);
}

static void transfers_transfer_end(sr_transfers_t *transfers, sr_transfer_t *transfer, const sr_call_result_t *result)
{
    transfer_count(transfer, result);
    sr_assert(transfer->destination->calling > 0 && *transfer_begun(transfers, transfer) > 0);
    transfer->destination->calling--;
    if (transfer->easy && result != &interrupted)
        sr_destinations_judge(transfer->destination, result->status != 0, sr_time_steady() - transfer->since);
    if (transfer->easy) curl_multi_remove_handle(transfers->multi, transfer->easy);
    if (transfer->call->work) transfers->left[transfers->left_count++] = transfer->call->work;
    transfer->call->work = NULL;
    --*transfer_begun(transfers, transfer);
    transfer_free(transfers, transfer, result);
}

/* --- the beginning of a transfer */

static void transfer_note_failure(const sr_transfers_t *transfers, const sr_transfer_t *transfer,
                                  const sr_call_result_t *result)
{
    const sr_job_t *job = &transfer->job;
    const char *why = result->detail ? result->detail : result->error, *again = "";
    const apr_interval_time_t pause = sr_job_pause(job, result);
    if (result->success) return;
    if (pause)
        again = apr_psprintf(transfer->pool, " at attempt %d of %d, the next is in %d s", job->attempts + 1,
                             job->kind->attempts, (int)apr_time_sec(pause));
    transfers->options->notice(
        transfers->options->baton, !pause && job->kind->repeat == SR_REPEAT_FAILED,
        apr_psprintf(transfer->pool, "%s %" APR_INT64_T_FMT " failed%s: %s", job->kind->name, job->id, again, why));
}

/* Ends a job, unless it is under way. */
static void transfer_end_unless(sr_transfers_t *transfers, sr_transfer_t *transfer, const sr_call_result_t *result)
{
    if (transfer->easy) curl_multi_add_handle(transfers->multi, transfer->easy);
    if (is_under_way(transfer)) return;
    transfer_note_failure(transfers, transfer, result);
    transfers_transfer_end(transfers, transfer, result);
}

/* Begins a job. If it needs no connection or cannot be sent, it ends at once. */
static void transfer_begin(sr_transfers_t *transfers, sr_transfer_t *transfer)
{
    const sr_job_t *job = &transfer->job;
    sr_call_result_t result = {0};
    transfer->since = sr_time_steady();
    sr_assert(transfers->waiting > 0);
    transfer->destination->calling++;
    transfers->waiting--;
    ++*transfer_begun(transfers, transfer);
    if (job->kind->metric != SR_JOB_UNCOUNTED)
        sr_metrics_observe(SR_METRIC_DELIVERY_DELAY, job->kind->metric, sr_time_now() - job->due_at);
    transfer->easy = job->kind->begin(transfer->call, job, &result, transfer->pool);
    transfer_end_unless(transfers, transfer, &result);
}

/* Returns true if a waiting job should be released: it has waited for 8 s, or its destination has become slow, so
 * that others can use the transfer. */
static bool transfer_waits_too_long(const sr_transfer_t *transfer, apr_time_t now)
{
    return now - transfer->since > WAIT || sr_destinations_is_full(transfer->destination);
}

static bool transfer_has_place(const sr_transfers_t *transfers, const sr_transfer_t *transfer)
{
    const int most = transfer->job.kind->most;
    if (most && *transfer_begun(transfers, transfer) >= most) return false;
    return transfer->destination->calling < transfer->destination->calls;
}

/* Begins the waiting jobs that may begin, and releases those that have waited too long. */
static void begin_all(sr_transfers_t *transfers, bool stopping)
{
    const apr_time_t now = sr_time_steady();
    for (int i = 0; i < SR_TRANSFERS; i++) {
        const sr_transfer_t *transfer = &transfers->all[i];
        if (transfer->destination && transfer->easy) sr_destinations_wait(transfer->destination, now - transfer->since);
    }
    for (int i = 0; i < SR_TRANSFERS && transfers->waiting; i++) {
        sr_transfer_t *transfer = &transfers->all[i];
        if (!transfer->destination || is_under_way(transfer)) continue;
        if (!stopping && now - transfer->since <= WAIT && transfer_has_place(transfers, transfer))
            transfer_begin(transfers, transfer);
        else if (stopping || transfer_waits_too_long(transfer, now)) transfer_release(transfers, transfer);
    }
}

static sr_transfer_t *transfer_of(sr_transfers_t *transfers, CURL *easy)
{
    int i = 0;
    while (transfers->all[i].easy != easy || !transfers->all[i].destination) i++;
    return &transfers->all[i];
}

static void end_all(sr_transfers_t *transfers)
{
    sr_call_result_t result;
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(transfers->multi, &left)) != NULL) {
        if (message->msg != CURLMSG_DONE) continue;
        sr_transfer_t *transfer = transfer_of(transfers, message->easy_handle);
        sr_call_end(transfer->call, &result, message->data.result);
        transfer_note_failure(transfers, transfer, &result);
        transfers_transfer_end(transfers, transfer, &result);
    }
}

/* Ends the jobs whose work has ended. If it has read files, the mail begins. */
static void end_work(sr_transfers_t *transfers)
{
    for (int i = 0; i < SR_TRANSFERS; i++) {
        sr_transfer_t *transfer = &transfers->all[i];
        sr_call_result_t result;
        if (!transfer->destination || !transfer->call->work || !sr_work_has_ended(transfer->call->work)) continue;
        sr_work_end(transfer->call->work, &result, transfer->pool);
        transfer->call->work = NULL;
        if (result.files) {
            transfer->since = sr_time_steady();
            transfer->easy = sr_job_go_on(transfer->call, &transfer->job, &result, transfer->pool);
        }
        transfer_end_unless(transfers, transfer, &result);
    }
}

void sr_transfers_go_on(sr_transfers_t *transfers, bool stopping)
{
    int running;
    begin_all(transfers, stopping);
    curl_multi_perform(transfers->multi, &running);
    end_all(transfers);
    end_work(transfers);
    begin_all(transfers, stopping);
}

void sr_transfers_abandon(sr_transfers_t *transfers)
{
    begin_all(transfers, true); /* this releases the waiting jobs */
    for (int i = 0; i < SR_TRANSFERS; i++)
        if (transfers->all[i].destination) transfers_transfer_end(transfers, &transfers->all[i], &interrupted);
}

void sr_transfers_wait(sr_transfers_t *transfers)
{
    while (transfers->left_count) sr_work_end(transfers->left[--transfers->left_count], NULL, NULL);
}
