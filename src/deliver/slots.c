/* slots.c: calls under way, in one libcurl multi handle. Room is shared: a destination gets at most SR_EACH calls at a
 * time, so that one that hangs delays no other and none is flooded. For one that has just answered quickly some more
 * are claimed, which wait here for their turn: a transaction costs nearly the same for few and for many. Who waits in
 * vain is given back: nothing of him has left. */
#include "deliver/slots.h"

#include <stdlib.h>
#include <string.h>

#include "metrics/metrics.h"

enum { EACH_QUICK = 128 };
#define QUICK apr_time_from_msec(100)
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

/* There is one lane for each slot at least, so one that is empty is found. */
static sr_lane_t *lane_of(sr_slots_t *slots, const char *destination)
{
    sr_lane_t *oldest = NULL;

    for (int i = 0; i < SR_SLOTS; i++) {
        sr_lane_t *lane = &slots->lanes[i];
        if (!strcmp(lane->name, destination)) return lane;
        if (!lane->taken && (!oldest || lane->used_at < oldest->used_at)) oldest = lane;
    }
    *oldest = (sr_lane_t){.quick = false};
    apr_cpystrn(oldest->name, destination, sizeof oldest->name);
    return oldest;
}

/* The key is "<id> <created_at> <destination> <url>". */
const sr_lane_t *sr_slots_take(sr_slots_t *slots, int database, const char *claim, const sr_row_t *row)
{
    sr_slot_t *slot = slots->free;
    char *key = apr_pstrdup(slot->pool, row->key);

    slots->free = slot->next;
    slot->id = apr_strtok(key, " ", &key);
    slot->created_at = apr_atoi64(apr_strtok(NULL, " ", &key));
    slot->lane = lane_of(slots, apr_strtok(NULL, " ", &key));
    slot->url = apr_strtok(NULL, " ", &key);
    slot->body = apr_pstrdup(slot->pool, row->body);
    slot->claim = apr_pstrdup(slot->pool, claim);
    slot->database = database;
    slot->since = slot->lane->used_at = apr_time_now();
    slot->easy = NULL;
    slot->lane->taken++;
    slots->busy++;
    slots->waiting++;
    return slot->lane;
}

/* A quick one gets half of what the others have left, so that there is always room for one more. */
static int places_of(const sr_slots_t *slots, const sr_lane_t *lane)
{
    const int half = (SR_SLOTS - (slots->busy - lane->taken)) / 2;

    if (!lane->quick || half < SR_EACH) return SR_EACH;
    return half < EACH_QUICK ? half : EACH_QUICK;
}

json_t *sr_slots_room(const sr_slots_t *slots)
{
    json_t *room = json_object();

    for (int i = 0; i < SR_SLOTS; i++) {
        const sr_lane_t *lane = &slots->lanes[i];
        if (!lane->taken && !lane->quick) continue;
        const int left = places_of(slots, lane) - lane->taken;
        json_object_set_new(room, lane->name, json_integer(left > 0 ? left : 0));
    }
    return room;
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
    sr_metrics_observe(SR_METRIC_DELIVERY_SECONDS, kind_of(slot), apr_time_now() - slot->since);
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
    slot->lane->quick = result->status && apr_time_now() - slot->since < QUICK;
    if (slot->easy) curl_multi_remove_handle(slots->multi, slot->easy);
    free_slot(slots, slot, result);
}

/* --- its beginning */

/* What cannot be sent is over before it begins. */
static void start_call(sr_slots_t *slots, sr_slot_t *slot)
{
    sr_call_result_t result = {0};

    slot->since = apr_time_now();
    slot->lane->calling++;
    slots->waiting--;
    sr_metrics_observe(SR_METRIC_DELIVERY_DELAY, kind_of(slot), slot->since - slot->created_at);
    slot->easy = kind_of(slot) == SR_KIND_WEBHOOK
                     ? sr_call_begin(slot->call, slot->url, slot->body)
                     : sr_mail_begin(slot->call, slots->options->mail, slot->body, &result.error, slot->pool);
    if (slot->easy) curl_multi_add_handle(slots->multi, slot->easy);
    else end_call(slots, slot, &result);
}

/* Calls for whom there is a place at his destination. */
static void begin_calls(sr_slots_t *slots, bool stopping)
{
    const apr_time_t now = apr_time_now();

    for (int i = 0; i < SR_SLOTS && slots->waiting; i++) {
        sr_slot_t *slot = &slots->slots[i];
        if (!slot->lane || slot->easy) continue;
        if (stopping || now - slot->since > WAIT) give_back(slots, slot);
        else if (slot->lane->calling < SR_EACH) start_call(slots, slot);
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
    const sr_deliver_options_t *options = slots->options;
    sr_call_result_t result;
    CURLMsg *message;
    int left;

    while ((message = curl_multi_info_read(slots->multi, &left)) != NULL) {
        if (message->msg != CURLMSG_DONE) continue;
        sr_slot_t *slot = slot_of(slots, message->easy_handle);
        sr_call_end(slot->call, &result, message->data.result);
        if (!result.success)
            options->notice(options->baton, false,
                            apr_psprintf(slot->pool, "webhook call %s failed: %s", slot->id,
                                         result.detail ? result.detail : result.error));
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
