/* transfers.c: calls under way, in one libcurl multi handle, and claims that wait for a place among them
 * (destinations.c). A claim that waits in vain is given back: nothing of it has left the host. */
#include "jobs/transfers.h"

#include <stdlib.h>
#include <string.h>

#include "metrics/metrics.h"

enum { MAILS = 16 }; /* at a time: a mail server takes so many connections of one host */
#define WAIT apr_time_from_sec(8)
#define MAILTO "mailto:"

static const sr_call_result_t interrupted = {.error = "interrupted, outcome unknown"};

sr_error_t *sr_transfers_make(sr_transfers_t *transfers, apr_pool_t *pool)
{
    for (int i = SR_TRANSFERS - 1; i >= 0; i--) {
        sr_transfer_t *transfer = &transfers->all[i];
        SR_TRY(sr_call_create(&transfer->call, transfers->options, pool));
        apr_pool_create(&transfer->pool, pool);
        transfer->next = transfers->free;
        transfers->free = transfer;
    }
    return NULL;
}

/* The key is "<id> <created_at> <organization> <destination> <url>". */
const sr_destination_t *sr_transfers_take(sr_transfers_t *transfers, int database, const char *claim, apr_time_t since,
                                          const sr_row_t *row)
{
    sr_transfer_t *transfer = transfers->free;
    char *key = apr_pstrdup(transfer->pool, row->key);

    transfers->free = transfer->next;
    transfer->id = apr_strtok(key, " ", &key);
    transfer->created_at = apr_atoi64(apr_strtok(NULL, " ", &key));
    const apr_int64_t organization = apr_atoi64(apr_strtok(NULL, " ", &key));
    transfer->destination =
        sr_destinations_find(&transfers->destinations, database, organization, apr_strtok(NULL, " ", &key));
    transfer->url = apr_strtok(NULL, " ", &key);
    transfer->body = apr_pstrdup(transfer->pool, row->body);
    transfer->claim = apr_pstrdup(transfer->pool, claim);
    transfer->database = database;
    transfer->since = since;
    transfer->easy = NULL;
    sr_destinations_take(&transfers->destinations, transfer->destination);
    transfers->busy++;
    transfers->waiting++;
    return transfer->destination;
}

/* --- the end of a call */

static int kind_of(const sr_transfer_t *transfer)
{
    return strncmp(transfer->url, MAILTO, sizeof MAILTO - 1) ? SR_KIND_WEBHOOK : SR_KIND_INVITATION;
}

static void count(const sr_transfer_t *transfer, const sr_call_result_t *result)
{
    const int ending = result == &interrupted ? SR_ENDING_INTERRUPTED
                       : result->success      ? SR_ENDING_SUCCESS
                       : result->status       ? SR_ENDING_REJECTED
                                              : SR_ENDING_UNANSWERED;

    sr_metrics_count(SR_METRIC_DELIVERIES, kind_of(transfer), ending, 1);
    sr_metrics_observe(SR_METRIC_DELIVERY_SECONDS, kind_of(transfer), sr_jobs_clock() - transfer->since);
}

static void transfer_free(sr_transfers_t *transfers, sr_transfer_t *transfer, const sr_call_result_t *result)
{
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
    transfers->waiting--;
    transfer_free(transfers, transfer, NULL);
}

static void end_call(sr_transfers_t *transfers, sr_transfer_t *transfer, const sr_call_result_t *result)
{
    count(transfer, result);
    transfer->destination->calling--;
    if (transfer->easy && result != &interrupted)
        sr_destinations_judge(transfer->destination, result->status != 0, sr_jobs_clock() - transfer->since);
    if (transfer->easy) curl_multi_remove_handle(transfers->multi, transfer->easy);
    if (kind_of(transfer) == SR_KIND_INVITATION) transfers->mails--;
    transfer_free(transfers, transfer, result);
}

/* --- its beginning */

static void note_failure(const sr_transfers_t *transfers, const sr_transfer_t *transfer, const sr_call_result_t *result)
{
    const char *why = result->detail ? result->detail : result->error;

    if (result->success) return;
    transfers->options->notice(transfers->options->baton, false,
                               apr_psprintf(transfer->pool, "webhook call %s failed: %s", transfer->id, why));
}

/* What needs no connection, or cannot be sent, is over before it begins. */
static void start_call(sr_transfers_t *transfers, sr_transfer_t *transfer)
{
    sr_call_result_t result = {0};

    transfer->since = sr_jobs_clock();
    transfer->destination->calling++;
    transfers->waiting--;
    if (kind_of(transfer) == SR_KIND_INVITATION) transfers->mails++;
    sr_metrics_observe(SR_METRIC_DELIVERY_DELAY, kind_of(transfer), apr_time_now() - transfer->created_at);
    const sr_mail_t *mail = kind_of(transfer) == SR_KIND_INVITATION ? transfers->options->mail : NULL;
    if (kind_of(transfer) == SR_KIND_WEBHOOK)
        transfer->easy = sr_call_begin(transfer->call, transfer->url, transfer->body);
    else if (mail && mail->folder) sr_mail_keep(transfer->call, mail, transfer->body, &result, transfer->pool);
    else transfer->easy = sr_mail_begin(transfer->call, mail, transfer->body, &result.error, transfer->pool);
    if (transfer->easy) curl_multi_add_handle(transfers->multi, transfer->easy);
    if (transfer->easy) return;
    note_failure(transfers, transfer, &result);
    end_call(transfers, transfer, &result);
}

static void see_stalled(sr_transfers_t *transfers, apr_time_t now)
{
    int stalled = 0;

    for (int i = 0; i < SR_TRANSFERS; i++)
        if (transfers->all[i].destination) transfers->all[i].destination->stalled = false;
    for (int i = 0; i < SR_TRANSFERS; i++) {
        const sr_transfer_t *transfer = &transfers->all[i];
        if (!transfer->destination || !transfer->easy || !sr_destinations_is_stalled(now - transfer->since)) continue;
        transfer->destination->stalled = true;
        stalled++;
    }
    if (stalled > transfers->stalled) transfers->shared = true;
    transfers->stalled = stalled;
}

/* What waits at a lane that has become slow is given back at once: its transfers are for others. */
static bool waits_in_vain(const sr_transfers_t *transfers, const sr_transfer_t *transfer, apr_time_t now)
{
    return now - transfer->since > WAIT || sr_destinations_is_full(&transfers->destinations, transfer->destination);
}

static bool has_place(const sr_transfers_t *transfers, const sr_transfer_t *transfer)
{
    if (kind_of(transfer) == SR_KIND_INVITATION && transfers->mails >= MAILS) return false;
    return transfer->destination->calling < sr_destinations_calls(&transfers->destinations, transfer->destination);
}

/* Begins the calls that have a place. */
static void begin_calls(sr_transfers_t *transfers, bool stopping)
{
    const apr_time_t now = sr_jobs_clock();

    see_stalled(transfers, now);
    for (int i = 0; i < SR_TRANSFERS && transfers->waiting; i++) {
        sr_transfer_t *transfer = &transfers->all[i];
        if (!transfer->destination || transfer->easy) continue;
        if (!stopping && now - transfer->since <= WAIT && has_place(transfers, transfer))
            start_call(transfers, transfer);
        else if (stopping || waits_in_vain(transfers, transfer, now)) transfer_release(transfers, transfer);
    }
}

static sr_transfer_t *transfer_of(sr_transfers_t *transfers, CURL *easy)
{
    int i = 0;
    while (transfers->all[i].easy != easy || !transfers->all[i].destination) i++;
    return &transfers->all[i];
}

static void collect(sr_transfers_t *transfers)
{
    sr_call_result_t result;
    CURLMsg *message;
    int left;

    while ((message = curl_multi_info_read(transfers->multi, &left)) != NULL) {
        if (message->msg != CURLMSG_DONE) continue;
        sr_transfer_t *transfer = transfer_of(transfers, message->easy_handle);
        sr_call_end(transfer->call, &result, message->data.result);
        note_failure(transfers, transfer, &result);
        end_call(transfers, transfer, &result);
    }
}

void sr_transfers_go_on(sr_transfers_t *transfers, bool stopping)
{
    int running;

    begin_calls(transfers, stopping);
    curl_multi_perform(transfers->multi, &running);
    collect(transfers);
    begin_calls(transfers, stopping);
}

void sr_transfers_abandon(sr_transfers_t *transfers)
{
    begin_calls(transfers, true); /* gives back who waits */
    for (int i = 0; i < SR_TRANSFERS; i++)
        if (transfers->all[i].destination) end_call(transfers, &transfers->all[i], &interrupted);
}
