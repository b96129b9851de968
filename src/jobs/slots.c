/* slots.c: calls under way, in one libcurl multi handle, and claims that wait for a place among them (lanes.c). A claim
 * that waits in vain is given back: nothing of it has left the host. */
#include "jobs/slots.h"

#include <stdlib.h>
#include <string.h>

#include "metrics/metrics.h"

enum { MAILS = 16 }; /* at a time: a mail server takes so many connections of one host */
#define WAIT apr_time_from_sec(8)
#define MAILTO "mailto:"

static const sr_call_result_t interrupted = {.error = "interrupted, outcome unknown"};

sr_error_t *sr_slots_make(sr_slots_t *slots, apr_pool_t *pool)
{
    for (int i = SR_SLOTS - 1; i >= 0; i--) {
        sr_slot_t *slot = &slots->slots[i];
        SR_TRY(sr_call_create(&slot->call, slots->options, pool));
        apr_pool_create(&slot->pool, pool);
        slot->next = slots->free;
        slots->free = slot;
    }
    return NULL;
}

/* The key is "<id> <created_at> <organization> <destination> <url>". */
const sr_lane_t *sr_slots_take(sr_slots_t *slots, int database, const char *claim, apr_time_t since,
                               const sr_row_t *row)
{
    sr_slot_t *slot = slots->free;
    char *key = apr_pstrdup(slot->pool, row->key);

    slots->free = slot->next;
    slot->id = apr_strtok(key, " ", &key);
    slot->created_at = apr_atoi64(apr_strtok(NULL, " ", &key));
    const apr_int64_t organization = apr_atoi64(apr_strtok(NULL, " ", &key));
    slot->lane = sr_lanes_find(&slots->lanes, database, organization, apr_strtok(NULL, " ", &key));
    slot->url = apr_strtok(NULL, " ", &key);
    slot->body = apr_pstrdup(slot->pool, row->body);
    slot->claim = apr_pstrdup(slot->pool, claim);
    slot->database = database;
    slot->since = since;
    slot->easy = NULL;
    sr_lanes_take(&slots->lanes, slot->lane);
    slots->busy++;
    slots->waiting++;
    return slot->lane;
}

/* --- the end of a call */

static int kind_of(const sr_slot_t *slot)
{
    return strncmp(slot->url, MAILTO, sizeof MAILTO - 1) ? SR_KIND_WEBHOOK : SR_KIND_INVITATION;
}

static void count(const sr_slot_t *slot, const sr_call_result_t *result)
{
    const int ending = result == &interrupted ? SR_ENDING_INTERRUPTED
                       : result->success      ? SR_ENDING_SUCCESS
                       : result->status       ? SR_ENDING_REJECTED
                                              : SR_ENDING_UNANSWERED;

    sr_metrics_count(SR_METRIC_DELIVERIES, kind_of(slot), ending, 1);
    sr_metrics_observe(SR_METRIC_DELIVERY_SECONDS, kind_of(slot), sr_lanes_clock() - slot->since);
}

static void free_slot(sr_slots_t *slots, sr_slot_t *slot, const sr_call_result_t *result)
{
    slots->over(slots->baton, slot, result);
    slot->lane->taken--;
    slot->lane = NULL;
    apr_pool_clear(slot->pool);
    slot->next = slots->free;
    slots->free = slot;
    slots->busy--;
}

static void give_back(sr_slots_t *slots, sr_slot_t *slot)
{
    slots->waiting--;
    free_slot(slots, slot, NULL);
}

static void end_call(sr_slots_t *slots, sr_slot_t *slot, const sr_call_result_t *result)
{
    count(slot, result);
    slot->lane->calling--;
    if (slot->easy && result != &interrupted)
        sr_lanes_judge(slot->lane, result->status != 0, sr_lanes_clock() - slot->since);
    if (slot->easy) curl_multi_remove_handle(slots->multi, slot->easy);
    if (kind_of(slot) == SR_KIND_INVITATION) slots->mails--;
    free_slot(slots, slot, result);
}

/* --- its beginning */

static void note_failure(const sr_slots_t *slots, const sr_slot_t *slot, const sr_call_result_t *result)
{
    const char *why = result->detail ? result->detail : result->error;

    if (result->success) return;
    slots->options->notice(slots->options->baton, false,
                           apr_psprintf(slot->pool, "webhook call %s failed: %s", slot->id, why));
}

/* What needs no connection, or cannot be sent, is over before it begins. */
static void start_call(sr_slots_t *slots, sr_slot_t *slot)
{
    sr_call_result_t result = {0};

    slot->since = sr_lanes_clock();
    slot->lane->calling++;
    slots->waiting--;
    if (kind_of(slot) == SR_KIND_INVITATION) slots->mails++;
    sr_metrics_observe(SR_METRIC_DELIVERY_DELAY, kind_of(slot), apr_time_now() - slot->created_at);
    const sr_mail_t *mail = kind_of(slot) == SR_KIND_INVITATION ? slots->options->mail : NULL;
    if (kind_of(slot) == SR_KIND_WEBHOOK) slot->easy = sr_call_begin(slot->call, slot->url, slot->body);
    else if (mail && mail->folder) sr_mail_keep(slot->call, mail, slot->body, &result, slot->pool);
    else slot->easy = sr_mail_begin(slot->call, mail, slot->body, &result.error, slot->pool);
    if (slot->easy) curl_multi_add_handle(slots->multi, slot->easy);
    if (slot->easy) return;
    note_failure(slots, slot, &result);
    end_call(slots, slot, &result);
}

static void see_stalled(sr_slots_t *slots, apr_time_t now)
{
    int stalled = 0;

    for (int i = 0; i < SR_SLOTS; i++)
        if (slots->slots[i].lane) slots->slots[i].lane->stalled = false;
    for (int i = 0; i < SR_SLOTS; i++) {
        const sr_slot_t *slot = &slots->slots[i];
        if (!slot->lane || !slot->easy || !sr_lanes_is_stalled(now - slot->since)) continue;
        slot->lane->stalled = true;
        stalled++;
    }
    if (stalled > slots->stalled) slots->shared = true;
    slots->stalled = stalled;
}

/* What waits at a lane that has become slow is given back at once: its slots are for others. */
static bool waits_in_vain(const sr_slots_t *slots, const sr_slot_t *slot, apr_time_t now)
{
    return now - slot->since > WAIT || sr_lanes_is_full(&slots->lanes, slot->lane);
}

static bool has_place(const sr_slots_t *slots, const sr_slot_t *slot)
{
    if (kind_of(slot) == SR_KIND_INVITATION && slots->mails >= MAILS) return false;
    return slot->lane->calling < sr_lanes_calls(&slots->lanes, slot->lane);
}

/* Begins the calls that have a place. */
static void begin_calls(sr_slots_t *slots, bool stopping)
{
    const apr_time_t now = sr_lanes_clock();

    see_stalled(slots, now);
    for (int i = 0; i < SR_SLOTS && slots->waiting; i++) {
        sr_slot_t *slot = &slots->slots[i];
        if (!slot->lane || slot->easy) continue;
        if (!stopping && now - slot->since <= WAIT && has_place(slots, slot)) start_call(slots, slot);
        else if (stopping || waits_in_vain(slots, slot, now)) give_back(slots, slot);
    }
}

static sr_slot_t *slot_of(sr_slots_t *slots, CURL *easy)
{
    int i = 0;
    while (slots->slots[i].easy != easy || !slots->slots[i].lane) i++;
    return &slots->slots[i];
}

static void collect(sr_slots_t *slots)
{
    sr_call_result_t result;
    CURLMsg *message;
    int left;

    while ((message = curl_multi_info_read(slots->multi, &left)) != NULL) {
        if (message->msg != CURLMSG_DONE) continue;
        sr_slot_t *slot = slot_of(slots, message->easy_handle);
        sr_call_end(slot->call, &result, message->data.result);
        note_failure(slots, slot, &result);
        end_call(slots, slot, &result);
    }
}

void sr_slots_go_on(sr_slots_t *slots, bool stopping)
{
    int running;

    begin_calls(slots, stopping);
    curl_multi_perform(slots->multi, &running);
    collect(slots);
    begin_calls(slots, stopping);
}

void sr_slots_abandon(sr_slots_t *slots)
{
    begin_calls(slots, true); /* gives back who waits */
    for (int i = 0; i < SR_SLOTS; i++)
        if (slots->slots[i].lane) end_call(slots, &slots->slots[i], &interrupted);
}
