/* deliver.c: the delivery thread's loop. A turn with a database records what ended and claims what there is room for,
 * in one transaction; then all calls under way go on at once in one libcurl multi handle. Room is shared: a destination
 * gets at most EACH calls at a time, so that one that hangs delays no other and none is flooded. For one that has just
 * answered quickly some more are claimed, which wait here for their turn: a transaction costs nearly the same for few
 * and for many. Who waits in vain is given back: nothing of him has left. */
#include "deliver/deliver.h"

#include <apr_atomic.h>
#include <apr_hash.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 256, EACH = 16, EACH_QUICK = 64 };
#define QUICK apr_time_from_msec(100)
#define WAIT apr_time_from_sec(8)
#define LEASE apr_time_from_sec(30)  /* twice what a call may take: whoever lives has recorded it by then */
#define LINGER apr_time_from_msec(4) /* what ended may wait that long for company */
#define LOOK_MIN apr_time_from_sec(2)
#define LOOK_JITTER apr_time_from_sec(3)
#define RETRY_MIN apr_time_from_msec(500) /* where the database is away; doubled each time */
#define RETRY_MAX apr_time_from_sec(30)

/* A destination, while it has calls and a while after. */
typedef struct lane_t {
    char name[256];
    int taken, calling; /* slots, and those whose call is under way */
    bool quick;
    apr_time_t used_at;
} lane_t;

typedef struct slot_t {
    struct slot_t *next; /* of the free ones */
    sr_call_t *call;
    apr_pool_t *pool; /* of what stands below */
    lane_t *lane;     /* NULL: free */
    int database;
    CURL *easy; /* NULL: waits */
    const char *id, *claim, *url, *body;
    apr_time_t since; /* claimed, then called */
} slot_t;

typedef struct database_t {
    volatile apr_uint32_t woken;
    apr_uint64_t turns; /* that came through: the next one's claims are named by it */
    json_t *ended, *released;
    apr_time_t first_ended;
    bool more;       /* the last turn gave all it was asked for */
    char after[256]; /* the destination it ended with */
    apr_time_t look_at, retry_at;
    apr_interval_time_t retry;
} database_t;

struct sr_deliver_t {
    sr_deliver_options_t options;
    apr_pool_t *turn_pool;
    CURLM *multi;
    char owner[SR_UUID_LENGTH + 1];
    database_t *databases;
    slot_t slots[SLOTS], *free;
    int busy, waiting; /* slots in use, and those of them that wait */
    lane_t lanes[SLOTS];
    unsigned jitter;
    volatile apr_uint32_t stopping;
    apr_time_t stop_at; /* valid once stopping is set */
};

/* --- making it */

static apr_status_t release(void *data)
{
    sr_deliver_t *d = data;

    for (int i = 0; i < d->options.databases; i++) {
        json_decref(d->databases[i].ended);
        json_decref(d->databases[i].released);
    }
    curl_multi_cleanup(d->multi);
    return APR_SUCCESS;
}

sr_error_t *sr_deliver_create(sr_deliver_t **deliver, const sr_deliver_options_t *options, apr_pool_t *pool)
{
    sr_deliver_t *d = *deliver = apr_pcalloc(pool, sizeof *d);

    d->options = *options;
    d->databases = apr_pcalloc(pool, (apr_size_t)options->databases * sizeof *d->databases);
    for (int i = 0; i < options->databases; i++) {
        d->databases[i].ended = json_array();
        d->databases[i].released = json_array();
    }
    d->multi = curl_multi_init();
    apr_pool_cleanup_register(pool, d, release, apr_pool_cleanup_null);
    if (!d->multi) return sr_error(pool, SR_EINTERNAL, "libcurl has no memory");
    curl_multi_setopt(d->multi, CURLMOPT_MAXCONNECTS, (long)SLOTS);
    apr_pool_create(&d->turn_pool, pool);
    apr_cpystrn(d->owner, sr_uuid_make(pool), sizeof d->owner);
    d->jitter = (unsigned)strtoul(d->owner, NULL, 16);
    for (int i = SLOTS - 1; i >= 0; i--) {
        slot_t *slot = &d->slots[i];
        SR_TRY(sr_call_create(&slot->call, &d->options, pool));
        apr_pool_create(&slot->pool, pool);
        slot->next = d->free;
        d->free = slot;
    }
    return NULL;
}

void sr_deliver_wake(sr_deliver_t *deliver, int database)
{
    apr_atomic_set32(&deliver->databases[database].woken, 1);
    curl_multi_wakeup(deliver->multi);
}

void sr_deliver_stop(sr_deliver_t *deliver, apr_interval_time_t grace)
{
    deliver->stop_at = apr_time_now() + grace;
    apr_atomic_set32(&deliver->stopping, 1);
    curl_multi_wakeup(deliver->multi);
}

static bool is_stopping(sr_deliver_t *d)
{
    return apr_atomic_read32(&d->stopping) != 0;
}

static apr_interval_time_t jitter(sr_deliver_t *d, apr_interval_time_t most)
{
    d->jitter = d->jitter * 1103515245 + 12345;
    return (apr_interval_time_t)(d->jitter >> 8) * most >> 24;
}

/* --- slots */

/* There is one lane for each slot at least, so one that is empty is found. */
static lane_t *lane_of(sr_deliver_t *d, const char *destination)
{
    lane_t *oldest = NULL;

    for (int i = 0; i < SLOTS; i++) {
        lane_t *lane = &d->lanes[i];
        if (!strcmp(lane->name, destination)) return lane;
        if (!lane->taken && (!oldest || lane->used_at < oldest->used_at)) oldest = lane;
    }
    *oldest = (lane_t){.quick = false};
    apr_cpystrn(oldest->name, destination, sizeof oldest->name);
    return oldest;
}

/* The key is "<id> <destination> <url>". */
static void take_slot(sr_deliver_t *d, int database, const char *claim, const sr_row_t *row)
{
    slot_t *slot = d->free;
    char *key = apr_pstrdup(slot->pool, row->key);

    d->free = slot->next;
    slot->id = apr_strtok(key, " ", &key);
    slot->lane = lane_of(d, apr_strtok(NULL, " ", &key));
    slot->url = apr_strtok(NULL, " ", &key);
    slot->body = apr_pstrdup(slot->pool, row->body);
    slot->claim = apr_pstrdup(slot->pool, claim);
    slot->database = database;
    slot->since = slot->lane->used_at = apr_time_now();
    slot->easy = NULL;
    slot->lane->taken++;
    d->busy++;
    d->waiting++;
}

/* What is to be recorded of a slot, which is free then. NULL: nothing has left. */
static void free_slot(sr_deliver_t *d, slot_t *slot, const sr_call_result_t *result)
{
    database_t *database = &d->databases[slot->database];
    json_t *row = json_object();

    if (!json_array_size(database->ended) && !json_array_size(database->released))
        database->first_ended = apr_time_now();
    json_object_set_new(row, "id", json_integer((json_int_t)apr_atoi64(slot->id)));
    json_object_set_new(row, "claim", json_string(slot->claim));
    if (result) {
        json_object_set_new(row, "status", result->status ? json_integer(result->status) : json_null());
        json_object_set_new(row, "success", json_boolean(result->success));
        json_object_set_new(row, "error", sr_json_string_or_null(result->error));
    }
    json_array_append_new(result ? database->ended : database->released, row);
    slot->lane->taken--;
    slot->lane = NULL;
    apr_pool_clear(slot->pool);
    slot->next = d->free;
    d->free = slot;
    d->busy--;
}

static void give_back(sr_deliver_t *d, slot_t *slot)
{
    d->waiting--;
    free_slot(d, slot, NULL);
}

static void end_call(sr_deliver_t *d, slot_t *slot, const sr_call_result_t *result)
{
    slot->lane->calling--;
    slot->lane->quick = result->status && apr_time_now() - slot->since < QUICK;
    if (slot->easy) curl_multi_remove_handle(d->multi, slot->easy);
    free_slot(d, slot, result);
}

/* What cannot be sent is over before it begins. */
static void start_call(sr_deliver_t *d, slot_t *slot)
{
    sr_call_result_t result = {0};

    slot->easy = strncmp(slot->url, "mailto:", 7)
                     ? sr_call_begin(slot->call, slot->url, slot->body)
                     : sr_mail_begin(slot->call, d->options.mail, slot->body, &result.error, slot->pool);
    if (slot->easy) curl_multi_add_handle(d->multi, slot->easy);
    else end_call(d, slot, &result);
}

/* Calls for whom there is a place at his destination; who stops calls nobody. */
static void begin_calls(sr_deliver_t *d)
{
    const apr_time_t now = apr_time_now();

    for (int i = 0; i < SLOTS && d->waiting; i++) {
        slot_t *slot = &d->slots[i];
        if (!slot->lane || slot->easy) continue;
        if (is_stopping(d) || now - slot->since > WAIT) give_back(d, slot);
        else if (slot->lane->calling < EACH) {
            slot->since = now;
            slot->lane->calling++;
            d->waiting--;
            start_call(d, slot);
        }
    }
}

static void collect(sr_deliver_t *d)
{
    sr_call_result_t result;
    sr_call_t *call;
    CURLMsg *message;
    int left;

    while ((message = curl_multi_info_read(d->multi, &left)) != NULL) {
        if (message->msg != CURLMSG_DONE) continue;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&call);
        sr_call_end(call, &result, message->data.result);
        for (int i = 0; i < SLOTS; i++) {
            slot_t *slot = &d->slots[i];
            if (slot->call != call) continue;
            if (!result.success)
                d->options.notice(d->options.baton, false,
                                  apr_psprintf(slot->pool, "webhook call %s failed: %s", slot->id, result.error));
            end_call(d, slot, &result);
            break;
        }
    }
}

/* --- turns */

/* How many more each destination may get. */
static json_t *room_of_lanes(const sr_deliver_t *d)
{
    json_t *room = json_object();

    for (int i = 0; i < SLOTS; i++) {
        const lane_t *lane = &d->lanes[i];
        if (!lane->taken && !lane->quick) continue;
        json_object_set_new(room, lane->name, json_integer((lane->quick ? EACH_QUICK : EACH) - lane->taken));
    }
    return room;
}

static const char *turn_text(sr_deliver_t *d, int number, const char *claim, int rows)
{
    const database_t *database = &d->databases[number];
    json_t *turn = sr_json_own(json_object(), d->turn_pool);

    json_object_set_new(turn, "claim", json_string(claim));
    json_object_set_new(turn, "lease", json_integer(LEASE));
    json_object_set_new(turn, "rows", json_integer(rows));
    json_object_set_new(turn, "each", json_integer(EACH));
    json_object_set_new(turn, "room", room_of_lanes(d));
    json_object_set_new(turn, "after", json_string(database->after));
    json_object_set(turn, "ended", database->ended);
    json_object_set(turn, "released", database->released);
    return sr_json_text(turn, d->turn_pool);
}

static sr_error_t *ask(sr_deliver_t *d, int number, sr_op_t op, sr_outcome_t *outcome, apr_array_header_t **rows,
                       const char *argument)
{
    sr_store_source_t *source = d->options.database(d->options.baton, number, d->turn_pool);
    sr_store_t *store;

    SR_TRY(source->borrow(source, &store, d->turn_pool));
    sr_error_t *error = sr_store_run(store, op, outcome, rows, &argument, argument ? 1 : 0, d->turn_pool);
    source->give_back(source, store);
    return error;
}

static void note_trouble(sr_deliver_t *d, int number, const sr_error_t *error)
{
    database_t *database = &d->databases[number];

    if (!database->retry)
        d->options.notice(d->options.baton, true,
                          apr_psprintf(d->turn_pool, "webhooks wait for the database: %s (%s)", error->message,
                                       error->cause ? error->cause : "no further cause"));
    database->retry = database->retry ? database->retry * 2 : RETRY_MIN;
    if (database->retry > RETRY_MAX) database->retry = RETRY_MAX;
    database->retry_at = apr_time_now() + database->retry + jitter(d, database->retry / 4);
    database->look_at = 0;
}

static void note_health(sr_deliver_t *d, int number)
{
    database_t *database = &d->databases[number];

    if (database->retry) d->options.notice(d->options.baton, false, "the database is back, webhooks go on");
    database->retry = database->retry_at = 0;
    database->look_at = apr_time_now() + LOOK_MIN + jitter(d, LOOK_JITTER);
}

/* A turn of which nobody knows whether it came through is repeated under the same name: its claims are given again. Who
 * stops wants none. */
static void take_turn(sr_deliver_t *d, int number)
{
    database_t *database = &d->databases[number];
    const int rows = is_stopping(d) ? 0 : SLOTS - d->busy;
    const char *claim = apr_psprintf(d->turn_pool, "%s.%" APR_UINT64_T_FMT "%s", d->owner, database->turns,
                                     is_stopping(d) ? ".stop" : "");
    apr_array_header_t *claims;
    sr_outcome_t outcome;
    int count = 0;

    if (rows) apr_atomic_set32(&database->woken, 0); /* before: what is written from now on wakes anew */
    sr_error_t *error = ask(d, number, SR_OP_DELIVERY_TURN, &outcome, &claims, turn_text(d, number, claim, rows));

    if (error) {
        note_trouble(d, number, error);
        return;
    }
    note_health(d, number);
    database->turns++;
    json_array_clear(database->ended);
    json_array_clear(database->released);
    for (int i = 0; i < claims->nelts; i++) {
        const sr_row_t *row = &APR_ARRAY_IDX(claims, i, sr_row_t);
        const char *destination = row->key ? strchr(row->key, ' ') : NULL;
        if (!row->body || !destination || !d->free) continue;
        const size_t length = strcspn(++destination, " ");
        take_slot(d, number, claim, row);
        apr_cpystrn(database->after, apr_pstrmemdup(d->turn_pool, destination, length), sizeof database->after);
        count++;
    }
    database->more = rows > 0 && count == rows;
    if (!database->more) *database->after = '\0';
}

/* By chance or by time: is there anything? */
static bool finds_something(sr_deliver_t *d, int number)
{
    apr_array_header_t *rows;
    sr_outcome_t outcome;
    sr_error_t *error = ask(d, number, SR_OP_DELIVERY_LOOK, &outcome, &rows, NULL);

    if (error) note_trouble(d, number, error);
    else note_health(d, number);
    return !error && outcome == SR_OK;
}

static size_t to_record(const database_t *database)
{
    return json_array_size(database->ended) + json_array_size(database->released);
}

/* At once when most are over, or when the first has waited for company long enough. */
static bool wants_to_record(const sr_deliver_t *d, const database_t *database, apr_time_t now)
{
    const size_t count = to_record(database);

    return count && (count >= (size_t)d->busy || now - database->first_ended >= LINGER);
}

static bool has_room(sr_deliver_t *d)
{
    return d->busy <= SLOTS * 3 / 4 && !is_stopping(d);
}

static bool is_due(sr_deliver_t *d, int number)
{
    database_t *database = &d->databases[number];
    const apr_time_t now = apr_time_now();
    const bool woken = apr_atomic_read32(&database->woken) != 0;

    if (woken) database->retry_at = 0; /* somebody has just written there */
    if (now < database->retry_at) return false;
    if (wants_to_record(d, database, now)) return true;
    if (!has_room(d)) return false;
    return woken || database->more || (now >= database->look_at && finds_something(d, number));
}

/* --- the loop */

/* Milliseconds until something is due that no socket and nobody's wake tells of. */
static int patience(sr_deliver_t *d)
{
    const apr_time_t now = apr_time_now();
    apr_time_t until = is_stopping(d) ? d->stop_at : now + LOOK_MIN;

    for (int i = 0; i < d->options.databases; i++) {
        const database_t *database = &d->databases[i];
        apr_time_t at = has_room(d) ? database->more ? now : database->look_at : until;
        if (to_record(database) && database->first_ended + LINGER < at) at = database->first_ended + LINGER;
        if (at < database->retry_at) at = database->retry_at;
        if (at < until) until = at;
    }
    return until <= now ? 0 : (int)((until - now + 999) / 1000);
}

static void abandon(sr_deliver_t *d)
{
    static const sr_call_result_t interrupted = {0, false, "interrupted, outcome unknown"};

    for (int i = 0; i < SLOTS; i++)
        if (d->slots[i].lane) end_call(d, &d->slots[i], &interrupted);
    for (int i = 0; i < d->options.databases; i++)
        if (to_record(&d->databases[i])) take_turn(d, i);
}

void sr_deliver_run(sr_deliver_t *deliver)
{
    sr_deliver_t *d = deliver;
    int running;

    while (!is_stopping(d) || (d->busy && apr_time_now() < d->stop_at)) {
        for (int i = 0; i < d->options.databases; i++)
            if (is_due(d, i)) take_turn(d, i);
        apr_pool_clear(d->turn_pool);
        begin_calls(d);
        curl_multi_perform(d->multi, &running);
        collect(d);
        begin_calls(d);
        curl_multi_poll(d->multi, NULL, 0, patience(d), NULL);
    }
    begin_calls(d); /* gives back who waits */
    abandon(d);
}
