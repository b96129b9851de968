/* queue.c: the delivery thread's loop. A turn with a database records what ended and claims what there is room for,
 * in one transaction; then all calls under way go on at once (transfers.c). Now and then one process of the machine
 * surveys the database: what died with its process is recorded as that, and how much waits is seen. */
#include "jobs/owner.h"
#include "jobs/transfers.h"

#include <apr_atomic.h>
#include <stdlib.h>
#include <string.h>

#include "metrics/metrics.h"

#define LEASE apr_time_from_sec(30)  /* twice what a call may take: a process that lives has recorded it by then */
#define LINGER apr_time_from_msec(4) /* what ended may wait that long for company */
#define LOOK_MIN apr_time_from_sec(2)
#define GLANCE apr_time_from_msec(250) /* at calls under way: do they take long? */
#define LOOK_JITTER apr_time_from_sec(3)
#define SURVEY apr_time_from_sec(5)
#define ADDRESSES apr_time_from_sec(30)   /* this host's own are read again */
#define RETRY_MIN apr_time_from_msec(500) /* where the database is away; doubled each time */
#define RETRY_MAX apr_time_from_sec(30)

typedef struct database_t {
    volatile apr_uint32_t woken;
    apr_uint64_t batches; /* that came through: the next one's claims are named by it */
    json_t *ended, *released;
    apr_time_t first_ended;
    bool more;        /* the last turn gave all it was asked for */
    apr_int64_t from; /* the organization it ended with */
    apr_time_t look_at, retry_at;
    apr_interval_time_t retry;
} database_t;

struct sr_jobs_t {
    sr_jobs_options_t options;
    apr_pool_t *batch_pool;
    const char *owner;
    database_t *databases;
    sr_transfers_t transfers;
    unsigned jitter;
    apr_time_t addresses_at;
    volatile apr_uint32_t stopping;
    volatile apr_uint64_t stop_at; /* valid once stopping is set */
};

/* --- making it */

static apr_status_t release(void *data)
{
    sr_jobs_t *d = data;

    for (int i = 0; i < d->options.databases; i++) {
        json_decref(d->databases[i].ended);
        json_decref(d->databases[i].released);
    }
    curl_multi_cleanup(d->transfers.multi);
    return APR_SUCCESS;
}

/* What is to be recorded of a transfer, by the next turn. */
static void over(void *baton, const sr_transfer_t *transfer, const sr_call_result_t *result)
{
    sr_jobs_t *d = baton;
    database_t *database = &d->databases[transfer->database];
    json_t *row = json_object();

    if (!json_array_size(database->ended) && !json_array_size(database->released))
        database->first_ended = sr_jobs_clock();
    json_object_set_new(row, "id", json_integer((json_int_t)apr_atoi64(transfer->id)));
    json_object_set_new(row, "claim", json_string(transfer->claim));
    if (result) {
        json_object_set_new(row, "status", result->status ? json_integer(result->status) : json_null());
        json_object_set_new(row, "success", json_boolean(result->success));
        json_object_set_new(row, "error", sr_json_string_or_null(result->error));
    }
    json_array_append_new(result ? database->ended : database->released, row);
}

sr_error_t *sr_jobs_create(sr_jobs_t **deliver, const sr_jobs_options_t *options, apr_pool_t *pool)
{
    sr_jobs_t *d = *deliver = apr_pcalloc(pool, sizeof *d);

    d->options = *options;
    d->databases = apr_pcalloc(pool, (apr_size_t)options->databases * sizeof *d->databases);
    for (int i = 0; i < options->databases; i++) {
        d->databases[i].ended = json_array();
        d->databases[i].released = json_array();
    }
    d->transfers = (sr_transfers_t){.options = &d->options, .multi = curl_multi_init(), .over = over, .baton = d};
    apr_pool_cleanup_register(pool, d, release, apr_pool_cleanup_null);
    if (!d->transfers.multi) return sr_error(pool, SR_EINTERNAL, "libcurl has no memory");
    curl_multi_setopt(d->transfers.multi, CURLMOPT_MAXCONNECTS, (long)SR_TRANSFERS);
    apr_pool_create(&d->batch_pool, pool);
    d->owner = sr_owner_name(pool);
    d->jitter = (unsigned)strtoul(sr_uuid_make(pool), NULL, 16);
    return sr_transfers_make(&d->transfers, pool);
}

void sr_jobs_wake(sr_jobs_t *deliver, int database)
{
    apr_atomic_set32(&deliver->databases[database].woken, 1);
    curl_multi_wakeup(deliver->transfers.multi);
}

void sr_jobs_stop(sr_jobs_t *deliver, apr_interval_time_t grace)
{
    apr_atomic_set64(&deliver->stop_at, (apr_uint64_t)(sr_jobs_clock() + grace));
    apr_atomic_set32(&deliver->stopping, 1);
    curl_multi_wakeup(deliver->transfers.multi);
}

static bool is_stopping(sr_jobs_t *d)
{
    return apr_atomic_read32(&d->stopping) != 0;
}

static apr_time_t stop_at(sr_jobs_t *d)
{
    return (apr_time_t)apr_atomic_read64(&d->stop_at);
}

static apr_interval_time_t jitter(sr_jobs_t *d, apr_interval_time_t most)
{
    d->jitter = d->jitter * 1103515245 + 12345;
    return (apr_interval_time_t)(d->jitter >> 8) * most >> 24;
}

/* --- turns */

static const char *batch_text(sr_jobs_t *d, int number, const char *claim, int rows)
{
    const database_t *database = &d->databases[number];
    json_t *batch = sr_json_own(json_object(), d->batch_pool);

    json_object_set_new(batch, "claim", json_string(claim));
    json_object_set_new(batch, "lease", json_integer(LEASE));
    json_object_set_new(batch, "rows", json_integer(rows));
    json_object_set_new(batch, "from", json_integer((json_int_t)database->from));
    sr_destinations_shares(batch, &d->transfers.destinations, number);
    json_object_set(batch, "ended", database->ended);
    json_object_set(batch, "released", database->released);
    return sr_json_text(batch, d->batch_pool);
}

static sr_error_t *ask(sr_jobs_t *d, int number, sr_op_t op, sr_outcome_t *outcome, apr_array_header_t **rows,
                       const char *argument)
{
    sr_store_source_t *source = d->options.database(d->options.baton, number, d->batch_pool);
    sr_store_t *store;

    source->reads = sr_store_reads(op);
    SR_TRY(source->borrow(source, &store, d->batch_pool));
    sr_error_t *error = sr_store_run(store, op, outcome, rows, &argument, argument ? 1 : 0, d->batch_pool);
    source->give_back(source, store);
    return error;
}

static void note_trouble(sr_jobs_t *d, int number, const sr_error_t *error)
{
    database_t *database = &d->databases[number];

    if (!database->retry)
        d->options.notice(d->options.baton, true,
                          apr_psprintf(d->batch_pool, "webhooks wait for the database: %s",
                                       sr_error_text(error, false, d->batch_pool)));
    database->retry = database->retry ? database->retry * 2 : RETRY_MIN;
    if (database->retry > RETRY_MAX) database->retry = RETRY_MAX;
    database->retry_at = sr_jobs_clock() + database->retry + jitter(d, database->retry / 4);
    database->look_at = 0;
}

static void note_health(sr_jobs_t *d, int number)
{
    database_t *database = &d->databases[number];

    if (database->retry) d->options.notice(d->options.baton, false, "the database is back, webhooks go on");
    database->retry = database->retry_at = 0;
    database->look_at = sr_jobs_clock() + LOOK_MIN + jitter(d, LOOK_JITTER);
}

/* A turn of which nobody knows whether it came through is repeated under the same name: its claims are given again. Who
 * stops wants none. */
static void run_batch(sr_jobs_t *d, int number)
{
    database_t *database = &d->databases[number];
    const int rows = is_stopping(d) ? 0 : SR_TRANSFERS - d->transfers.busy;
    const char *claim = apr_psprintf(d->batch_pool, "%s.%" APR_UINT64_T_FMT "%s", d->owner, database->batches,
                                     is_stopping(d) ? ".stop" : "");
    const apr_time_t since = sr_jobs_clock(); /* before: a process that is stopped meanwhile gives back what it gets */
    apr_array_header_t *claims;
    sr_outcome_t outcome;
    int count = 0;

    if (rows) apr_atomic_set32(&database->woken, 0); /* before: what is written from now on wakes again */
    sr_error_t *error = ask(d, number, SR_OP_DELIVERY_TURN, &outcome, &claims, batch_text(d, number, claim, rows));

    if (error) {
        note_trouble(d, number, error);
        return;
    }
    note_health(d, number);
    database->batches++;
    json_array_clear(database->ended);
    json_array_clear(database->released);
    for (int i = 0; i < claims->nelts; i++) {
        const sr_row_t *row = &APR_ARRAY_IDX(claims, i, sr_row_t);
        if (!row->body || !d->transfers.free) continue;
        database->from = sr_transfers_take(&d->transfers, number, claim, since, row)->organization;
        count++;
    }
    database->more = rows > 0 && count == rows;
    if (!database->more) database->from = 0;
}

/* By chance or by time: is there anything? */
static bool finds_something(sr_jobs_t *d, int number)
{
    apr_array_header_t *rows;
    sr_outcome_t outcome;
    sr_error_t *error = ask(d, number, SR_OP_DELIVERY_POLL, &outcome, &rows, NULL);

    if (error) note_trouble(d, number, error);
    else note_health(d, number);
    return !error && outcome == SR_OK;
}

static apr_uint64_t member(const json_t *object, const char *name)
{
    return (apr_uint64_t)json_integer_value(json_object_get(object, name));
}

static sr_error_t *ask_survey(sr_jobs_t *d, int number, json_t **seen, const json_t *dead)
{
    apr_array_header_t *rows;
    sr_outcome_t outcome;

    SR_TRY(ask(d, number, SR_OP_DELIVERY_SURVEY, &outcome, &rows, sr_json_text(dead, d->batch_pool)));
    return sr_json_read(seen, APR_ARRAY_IDX(rows, 0, sr_row_t).body, d->batch_pool);
}

/* Of those who have claims, the processes of this machine that are dead. */
static json_t *dead_of(sr_jobs_t *d, const json_t *seen)
{
    json_t *dead = sr_json_own(json_array(), d->batch_pool), *owner;
    size_t i;

    json_array_foreach(json_object_get(seen, "owners"), i,
                       owner) if (json_is_string(owner) && sr_owner_is_dead(d->owner, json_string_value(owner)))
        json_array_append(dead, owner);
    return dead;
}

/* By whichever process of this machine comes first: ends what was lost, and sees how much there is. */
static void survey(sr_jobs_t *d, int number)
{
    json_t *seen = NULL;

    if (is_stopping(d) || sr_jobs_clock() < d->databases[number].retry_at) return;
    if (!sr_metrics_turn(SR_METRIC_QUEUE_TURN, number, apr_time_now(), SURVEY)) return;
    sr_error_t *error = ask_survey(d, number, &seen, sr_json_own(json_array(), d->batch_pool));
    const apr_uint64_t late = error ? 0 : member(seen, "interrupted");
    const json_t *dead = error ? NULL : dead_of(d, seen);
    if (!error && json_array_size(dead)) error = ask_survey(d, number, &seen, dead);
    if (error) {
        note_trouble(d, number, error);
        return;
    }
    const apr_uint64_t interrupted = member(seen, "interrupted") + (json_array_size(dead) ? late : 0);
    sr_metrics_count(SR_METRIC_LOST, 0, 0, interrupted);
    sr_metrics_set(SR_METRIC_QUEUE, number, SR_QUEUE_WAITING, member(seen, "waiting"));
    sr_metrics_set(SR_METRIC_QUEUE, number, SR_QUEUE_UNDER_WAY, member(seen, "under_way"));
    sr_metrics_set(SR_METRIC_QUEUE_OLDEST, number, 0, member(seen, "oldest"));
    sr_metrics_set(SR_METRIC_QUEUE_SEEN, number, 0, (apr_uint64_t)apr_time_now());
    if (interrupted) apr_atomic_set32(&d->databases[number].woken, 1); /* others may have waited for those */
}

static size_t to_record(const database_t *database)
{
    return json_array_size(database->ended) + json_array_size(database->released);
}

/* At once when most are over, or when the first has waited for company long enough. */
static bool wants_to_record(const sr_jobs_t *d, const database_t *database, apr_time_t now)
{
    const size_t count = to_record(database);

    return count && (count >= (size_t)d->transfers.busy || now - database->first_ended >= LINGER);
}

static bool has_room(sr_jobs_t *d)
{
    return d->transfers.busy <= SR_TRANSFERS * 3 / 4 && !is_stopping(d);
}

static bool is_due(sr_jobs_t *d, int number)
{
    database_t *database = &d->databases[number];
    const apr_time_t now = sr_jobs_clock();
    const bool woken = apr_atomic_read32(&database->woken) != 0;

    if (woken) database->retry_at = 0; /* somebody has just written there */
    if (now < database->retry_at) return false;
    if (wants_to_record(d, database, now)) return true;
    if (!has_room(d)) return false;
    return woken || database->more || (now >= database->look_at && finds_something(d, number));
}

/* --- the loop */

/* Milliseconds until something is due that no socket and nobody's wake tells of. */
static int patience(sr_jobs_t *d)
{
    const apr_time_t now = sr_jobs_clock();
    apr_time_t until = is_stopping(d) ? stop_at(d) : now + (d->transfers.busy ? GLANCE : LOOK_MIN);

    for (int i = 0; i < d->options.databases; i++) {
        const database_t *database = &d->databases[i];
        apr_time_t at = has_room(d) ? database->more ? now : database->look_at : until;
        if (to_record(database) && database->first_ended + LINGER < at) at = database->first_ended + LINGER;
        if (at < database->retry_at) at = database->retry_at;
        if (at < until) until = at;
    }
    return until <= now ? 0 : (int)((until - now + 999) / 1000);
}

static void refresh_addresses(sr_jobs_t *d)
{
    if (sr_jobs_clock() < d->addresses_at) return;
    d->addresses_at = sr_jobs_clock() + ADDRESSES;
    sr_address_refresh();
}

void sr_jobs_run(sr_jobs_t *deliver)
{
    sr_jobs_t *d = deliver;

    while (!is_stopping(d) || (d->transfers.busy && sr_jobs_clock() < stop_at(d))) {
        for (int i = 0; i < d->options.databases; i++) {
            survey(d, i);
            if (is_due(d, i)) run_batch(d, i);
        }
        refresh_addresses(d);
        apr_pool_clear(d->batch_pool);
        sr_transfers_go_on(&d->transfers, is_stopping(d));
        for (int i = 0; d->transfers.shared && i < d->options.databases; i++) d->databases[i].more = true;
        d->transfers.shared = false;
        curl_multi_poll(d->transfers.multi, NULL, 0, patience(d), NULL);
    }
    sr_transfers_abandon(&d->transfers);
    for (int i = 0; i < d->options.databases; i++)
        if (to_record(&d->databases[i])) run_batch(d, i);
}
