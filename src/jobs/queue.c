/* SPDX-License-Identifier: Apache-2.0 */
/* queue.c: the loop of the job thread. A batch is one transaction with a database: it records what ended and claims
 * jobs for which there is room. Then all calls that are under way go on at once (transfers.c). Every few seconds one
 * process of the machine surveys the database: it ends the claims of dead processes, counts what waits, queues what is
 * to be archived, and deletes submissions whose retention is over.
 *
 * The states of a job (the column `state`):
 *
 *     INSERT, due later          INSERT, due now
 *            │                         │
 *            ▼        due_at           ▼          claim              the attempt ended
 *        scheduled ────────────────▶ pending ──────────────▶ claimed ──────────────────▶ done
 *            ▲                         ▲                      │ │ │   success, or failure    ▲
 *            │                         └── released: it was ──┘ │ │                          │
 *            │                             not begun            │ └── its process died, or ──┘
 *            └── it failed, and its kind allows ────────────────┘     its lease is over: "interrupted,
 *                another attempt (attempts + 1)                       outcome unknown"
 *
 * A kind whose work may be done twice (SR_REPEAT_FAILED) is scheduled again too if its process died. A process that
 * was thought dead may still record the truth about a job that is done. Leases are compared by the database's clock.
 * When a job is due, and when it was, is told by the clock of the service (sr_time_now), as all times of rows. */
#include <apr_atomic.h>
#include <stdlib.h>
#include <string.h>

#include "jobs/kinds.h"
#include "base/base.h"
#include "jobs/transfers.h"
#include "metrics/metrics.h"

#define LINGER apr_time_from_msec(4) /* how long a result may wait for others, to be recorded together */
#define POLL_MIN apr_time_from_sec(2)
#define POLL_JITTER apr_time_from_sec(3)
#define GLANCE apr_time_from_msec(250) /* how often the time of calls under way is checked */
#define SURVEY apr_time_from_sec(5)
#define QUOTAS apr_time_from_sec(60)
#define ADDRESSES apr_time_from_sec(30)   /* how often this host's own addresses are read again */
#define RETRY_MIN apr_time_from_msec(500) /* the first pause if the database is not available; doubled each time */
#define RETRY_MAX apr_time_from_sec(30)

typedef struct database_t {
    volatile apr_uint32_t woken;
    apr_uint64_t batches; /* the number of committed batches, which is part of the name of the next claims */
    json_t *ended, *released;
    apr_time_t first_ended;
    bool more;        /* the last batch returned as many jobs as it asked for */
    apr_int64_t from; /* the organisation of its last job; -1: begin with the first */
    apr_time_t poll_at, retry_at;
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
    volatile apr_uint64_t stop_at; /* valid when stopping is set */
};

/* --- making it */

static apr_status_t queue_cleanup(void *data)
{
    sr_jobs_t *jobs = data;
    for (int i = 0; i < jobs->options.databases; i++) {
        json_decref(jobs->databases[i].ended);
        json_decref(jobs->databases[i].released);
    }
    curl_multi_cleanup(jobs->transfers.multi);
    return APR_SUCCESS;
}

/* Returns an error as the event feed shows it: without email addresses, because the event outlives the signer's data.
 */
static json_t *queue_said(const char *error)
{
    if (!error) return json_null();
    json_t *said;
    char *text = strdup(error);
    for (char *at = text; at && (at = strchr(at, '@')) != NULL; at++) {
        char *begin = at, *end = at;
        while (begin > text && !strchr(" <>,;:\"'()", begin[-1])) *--begin = '*';
        while (*end && !strchr(" <>,;:\"'()", *end)) *end++ = '*';
    }
    said = json_string(text ? text : "");
    free(text);
    return said;
}

/* Stores the result of a transfer for the next batch. */
static void queue_note_over(void *baton, const sr_transfer_t *transfer, const sr_call_result_t *result)
{
    sr_jobs_t *jobs = baton;
    database_t *database = &jobs->databases[transfer->database];
    json_t *row = json_object();
    if (!json_array_size(database->ended) && !json_array_size(database->released))
        database->first_ended = sr_time_steady();
    json_object_set_new(row, "id", json_integer(transfer->job.id));
    json_object_set_new(row, "claim", json_string(transfer->claim));
    if (result) {
        const apr_interval_time_t pause = sr_job_pause(&transfer->job, result);
        json_object_set_new(row, "status", result->status ? json_integer(result->status) : json_null());
        json_object_set_new(row, "success", json_boolean(result->success));
        json_object_set_new(row, "error", sr_json_string_or_null(result->error));
        json_object_set_new(row, "said", queue_said(result->error));
        json_object_set_new(row, "due_at", pause ? json_integer(sr_time_now() + pause) : json_null());
    }
    json_array_append_new(result ? database->ended : database->released, row);
}

sr_error_t *sr_jobs_create(sr_jobs_t **jobs, const sr_jobs_options_t *options, apr_pool_t *pool)
{
    sr_jobs_t *made = *jobs = apr_pcalloc(pool, sizeof *made);
    made->options = *options;
    sr_kinds_default(&made->options);
    made->databases = apr_pcalloc(pool, (apr_size_t)options->databases * sizeof *made->databases);
    for (int i = 0; i < options->databases; i++)
        made->databases[i] = (database_t){.ended = json_array(), .released = json_array(), .from = -1};
    made->transfers =
        (sr_transfers_t){.options = &made->options, .multi = curl_multi_init(), .over = queue_note_over, .baton = made};
    apr_pool_cleanup_register(pool, made, queue_cleanup, apr_pool_cleanup_null);
    if (!made->transfers.multi) return sr_error(pool, SR_EINTERNAL, "libcurl has no memory");
    curl_multi_setopt(made->transfers.multi, CURLMOPT_MAXCONNECTS, (long)SR_TRANSFERS);
    apr_pool_create(&made->batch_pool, pool);
    made->owner = sr_process_name(pool);
    made->jitter = (unsigned)strtoul(sr_uuid_make(pool), NULL, 16);
    return sr_transfers_make(&made->transfers, pool);
}

void sr_jobs_wake(sr_jobs_t *jobs, int database)
{
    apr_atomic_set32(&jobs->databases[database].woken, 1);
    curl_multi_wakeup(jobs->transfers.multi);
}

void sr_jobs_stop(sr_jobs_t *jobs, apr_interval_time_t grace)
{
    apr_atomic_set64(&jobs->stop_at, (apr_uint64_t)(sr_time_steady() + grace));
    apr_atomic_set32(&jobs->stopping, 1);
    curl_multi_wakeup(jobs->transfers.multi);
}

static bool queue_is_stopping(sr_jobs_t *jobs)
{
    return apr_atomic_read32(&jobs->stopping) != 0;
}

static apr_time_t stop_at(sr_jobs_t *jobs)
{
    return (apr_time_t)apr_atomic_read64(&jobs->stop_at);
}

static apr_interval_time_t jitter(sr_jobs_t *jobs, apr_interval_time_t most)
{
    jobs->jitter = jobs->jitter * 1103515245 + 12345;
    return (apr_interval_time_t)(jobs->jitter >> 8) * most >> 24;
}

/* --- asking a database */

static sr_store_source_t *source_of(sr_jobs_t *jobs, int number)
{
    return jobs->options.database(jobs->options.baton, number, jobs->batch_pool);
}

static void note_trouble(sr_jobs_t *jobs, int number, const sr_error_t *error)
{
    database_t *database = &jobs->databases[number];
    if (!database->retry)
        jobs->options.notice(jobs->options.baton, true,
                             apr_psprintf(jobs->batch_pool, "webhooks and invitations wait for the database: %s",
                                          sr_error_text(error, false, jobs->batch_pool)));
    database->retry = database->retry ? database->retry * 2 : RETRY_MIN;
    if (database->retry > RETRY_MAX) database->retry = RETRY_MAX;
    database->retry_at = sr_time_steady() + database->retry + jitter(jobs, database->retry / 4);
    database->poll_at = 0;
}

static void note_health(sr_jobs_t *jobs, int number)
{
    database_t *database = &jobs->databases[number];
    if (database->retry)
        jobs->options.notice(jobs->options.baton, false, "the database is back: webhooks and invitations continue");
    database->retry = database->retry_at = 0;
    database->poll_at = sr_time_steady() + POLL_MIN + jitter(jobs, POLL_JITTER);
    if (jobs->options.answered) jobs->options.answered(jobs->options.baton, number, jobs->batch_pool);
}

/* Schedules the next poll for the time when the next job is due, unless it is scheduled earlier. `due_in` is NULL if
 * there is no such job. */
static void note_due(sr_jobs_t *jobs, int number, const apr_int64_t *due_in)
{
    database_t *database = &jobs->databases[number];
    if (due_in && sr_time_steady() + *due_in < database->poll_at) database->poll_at = sr_time_steady() + *due_in;
}

/* --- batches */

static const char *batch_text(sr_jobs_t *jobs, int number, const char *claim, int rows)
{
    const database_t *database = &jobs->databases[number];
    json_t *batch = sr_json_own(json_object(), jobs->batch_pool);
    json_object_set_new(batch, "claim", json_string(claim));
    json_object_set_new(batch, "now", json_integer(sr_time_now()));
    json_object_set_new(batch, "leases", sr_kinds_leases(&jobs->options));
    json_object_set_new(batch, "rows", json_integer(rows));
    json_object_set_new(batch, "from", json_integer((json_int_t)database->from));
    sr_destinations_shares(batch, &jobs->transfers.destinations, number);
    json_object_set(batch, "ended", database->ended);
    json_object_set(batch, "released", database->released);
    return sr_json_text(batch, jobs->batch_pool);
}

/* Takes the jobs that a batch has claimed, and returns their number. A job that cannot be read is not taken, and its
 * claim ends with its lease. A batch claims one job of a slow destination, so another one follows if that may have
 * more. */
static int batch_take(sr_jobs_t *jobs, int number, const char *claim, apr_time_t since, const apr_array_header_t *rows)
{
    const sr_destination_t *destination;
    int count = 0;
    for (int i = 0; i < rows->nelts - 1; i++, count++) {
        const sr_job_row_t *row = &APR_ARRAY_IDX(rows, i, sr_job_row_t);
        if (!jobs->transfers.free) continue;
        sr_error_t *error =
            sr_transfers_take(&destination, &jobs->transfers, number, claim, since, row, jobs->batch_pool);
        if (error) jobs->options.notice(jobs->options.baton, true, sr_error_text(error, false, jobs->batch_pool));
        else {
            jobs->databases[number].from = destination->organization;
            jobs->databases[number].more |= sr_destinations_has_room(destination);
        }
    }
    return count;
}

/* Runs one batch. If it is unknown whether the batch was committed, it is repeated under the same name and returns
 * the same claims. A thread that is stopping claims nothing. */
static void batch_run(sr_jobs_t *jobs, int number)
{
    database_t *database = &jobs->databases[number];
    const int room = queue_is_stopping(jobs) ? 0 : SR_TRANSFERS - jobs->transfers.busy;
    const char *claim = apr_psprintf(jobs->batch_pool, "%s.%" APR_UINT64_T_FMT "%s", jobs->owner, database->batches,
                                     queue_is_stopping(jobs) ? ".stop" : "");
    const apr_time_t since = sr_time_steady(); /* read before the batch: if the process is stopped (SIGSTOP) during it,
                                                 the claims count as older and are released */
    apr_array_header_t *rows;
    sr_outcome_t outcome;
    if (room)
        apr_atomic_set32(&database->woken, 0); /* reset before the batch: a job written from now on sets it again */
    sr_error_t *error = sr_store_job_batch(source_of(jobs, number), &outcome, &rows,
                                           batch_text(jobs, number, claim, room), jobs->batch_pool);

    if (error) {
        note_trouble(jobs, number, error);
        return;
    }
    note_health(jobs, number);
    database->batches++;
    json_array_clear(database->ended);
    json_array_clear(database->released);
    database->more = false;
    const int count = batch_take(jobs, number, claim, since, rows);
    database->more |= count == room;
    database->more &= room > 0;
    if (count < room) database->from = -1;
    if (rows->nelts) note_due(jobs, number, APR_ARRAY_IDX(rows, rows->nelts - 1, sr_job_row_t).due_in);
}

/* Asks the database whether a job is due, because another process may have written one. */
static bool poll_finds(sr_jobs_t *jobs, int number)
{
    const sr_due_row_t *row;
    sr_outcome_t outcome;
    sr_error_t *error = sr_store_job_poll(source_of(jobs, number), &outcome, &row, sr_time_now(), jobs->batch_pool);
    if (error) {
        note_trouble(jobs, number, error);
        return false;
    }
    note_health(jobs, number);
    if (row) note_due(jobs, number, row->due_in);
    return outcome == SR_OK;
}

/* --- surveys */

static sr_error_t *survey_ask(sr_jobs_t *jobs, int number, const sr_survey_row_t **seen, json_t *dead)
{
    json_t *survey = sr_json_own(json_object(), jobs->batch_pool);
    sr_outcome_t outcome;
    json_object_set_new(survey, "now", json_integer(sr_time_now()));
    json_object_set(survey, "dead", dead);
    json_object_set_new(survey, "repeated", sr_kinds_repeated(&jobs->options));
    return sr_store_job_survey(source_of(jobs, number), &outcome, seen, sr_json_text(survey, jobs->batch_pool),
                               jobs->batch_pool);
}

/* Finds the processes that have claims, ran on this machine and are dead. */
static sr_error_t *survey_dead(json_t **dead, sr_jobs_t *jobs, const sr_survey_row_t *seen)
{
    json_t *owners, *owner;
    size_t i;
    *dead = sr_json_own(json_array(), jobs->batch_pool);
    SR_TRY(sr_json_read(&owners, seen->owners, jobs->batch_pool));
    json_array_foreach (owners, i, owner)
        if (json_is_string(owner) && sr_process_is_dead(jobs->owner, json_string_value(owner)))
            json_array_append(*dead, owner);
    return NULL;
}

/* Ends claims whose lease is over and claims of dead processes of this machine, and counts the jobs. */
static sr_error_t *survey_all(sr_jobs_t *jobs, int number, const sr_survey_row_t **seen, apr_int64_t *interrupted)
{
    json_t *dead = sr_json_own(json_array(), jobs->batch_pool);
    SR_TRY(survey_ask(jobs, number, seen, dead));
    *interrupted = (*seen)->interrupted;
    SR_TRY(survey_dead(&dead, jobs, *seen));
    if (!json_array_size(dead)) return NULL;
    SR_TRY(survey_ask(jobs, number, seen, dead));
    *interrupted += (*seen)->interrupted;
    return NULL;
}

/* Counts the organizations by how much of their quota is used, once a minute. */
static void survey_quotas(sr_jobs_t *jobs, int number)
{
    const sr_quotas_row_t *row;
    sr_outcome_t outcome;
    if (!sr_metrics_turn(SR_METRIC_ORGANIZATIONS_TURN, number, sr_time_steady(), QUOTAS)) return;
    sr_error_t *error = sr_store_job_quotas(source_of(jobs, number), &outcome, &row, jobs->batch_pool);
    if (error) {
        note_trouble(jobs, number, error);
        return;
    }
    sr_metrics_set(SR_METRIC_ORGANIZATIONS, number, SR_QUOTA_NONE, (apr_uint64_t)row->unlimited);
    sr_metrics_set(SR_METRIC_ORGANIZATIONS, number, SR_QUOTA_BELOW, (apr_uint64_t)row->below);
    sr_metrics_set(SR_METRIC_ORGANIZATIONS, number, SR_QUOTA_NEAR, (apr_uint64_t)row->near);
    sr_metrics_set(SR_METRIC_ORGANIZATIONS, number, SR_QUOTA_REACHED, (apr_uint64_t)row->reached);
}

/* Surveys a database. One process of this machine does that for all. */
static void survey_run(sr_jobs_t *jobs, int number)
{
    const sr_survey_row_t *seen = NULL;
    apr_int64_t interrupted = 0;
    if (queue_is_stopping(jobs) || sr_time_steady() < jobs->databases[number].retry_at) return;
    if (!sr_metrics_turn(SR_METRIC_QUEUE_TURN, number, sr_time_steady(), SURVEY)) return;
    sr_error_t *error = survey_all(jobs, number, &seen, &interrupted);
    if (error) {
        note_trouble(jobs, number, error);
        return;
    }
    sr_metrics_count(SR_METRIC_LOST, 0, 0, (apr_uint64_t)interrupted);
    sr_metrics_set(SR_METRIC_QUEUE, number, SR_QUEUE_WAITING, (apr_uint64_t)seen->waiting);
    sr_metrics_set(SR_METRIC_QUEUE, number, SR_QUEUE_UNDER_WAY, (apr_uint64_t)seen->under_way);
    sr_metrics_set(SR_METRIC_QUEUE_OLDEST, number, 0, (apr_uint64_t)seen->oldest);
    sr_metrics_set(SR_METRIC_QUEUE_SEEN, number, 0, (apr_uint64_t)sr_time_now());
    if (interrupted) apr_atomic_set32(&jobs->databases[number].woken, 1); /* other jobs may have waited for these */
    survey_quotas(jobs, number);
    if (jobs->options.queue) jobs->options.queue(jobs->options.baton, number, jobs->batch_pool);
    if (jobs->options.retain) jobs->options.retain(jobs->options.baton, number, jobs->batch_pool);
}

/* --- the loop */

static size_t to_record(const database_t *database)
{
    return json_array_size(database->ended) + json_array_size(database->released);
}

/* Returns true if there are results to record, and most transfers have ended or the first result has waited long
 * enough. */
static bool wants_to_record(const sr_jobs_t *jobs, const database_t *database, apr_time_t now)
{
    const size_t count = to_record(database);
    return count && (count >= (size_t)jobs->transfers.busy || now - database->first_ended >= LINGER);
}

static bool has_room(sr_jobs_t *jobs)
{
    return jobs->transfers.busy <= SR_TRANSFERS * 3 / 4 && !queue_is_stopping(jobs);
}

static bool batch_is_due(sr_jobs_t *jobs, int number)
{
    database_t *database = &jobs->databases[number];
    const apr_time_t now = sr_time_steady();
    const bool woken = apr_atomic_read32(&database->woken) != 0;
    if (woken) database->retry_at = 0; /* another thread has just written to this database */
    if (now < database->retry_at) return false;
    if (wants_to_record(jobs, database, now)) return true;
    if (!has_room(jobs)) return false;
    if (database->more) return true;
    if (!woken && now < database->poll_at) return false;
    /* Many events have no webhook. A query costs less than a transaction, so ask first. A job written from now on
     * sets `woken` again. */
    apr_atomic_set32(&database->woken, 0);
    return poll_finds(jobs, number);
}

/* Returns the milliseconds until something must be done that neither a socket nor sr_jobs_wake reports. */
static int patience(sr_jobs_t *jobs)
{
    const apr_time_t now = sr_time_steady();
    apr_time_t until = queue_is_stopping(jobs) ? stop_at(jobs) : now + (jobs->transfers.busy ? GLANCE : POLL_MIN);
    for (int i = 0; i < jobs->options.databases; i++) {
        const database_t *database = &jobs->databases[i];
        apr_time_t at = has_room(jobs) ? database->more ? now : database->poll_at : until;
        if (to_record(database) && database->first_ended + LINGER < at) at = database->first_ended + LINGER;
        if (at < database->retry_at) at = database->retry_at;
        if (at < until) until = at;
    }
    return until <= now ? 0 : (int)((until - now + 999) / 1000);
}

static void refresh_addresses(sr_jobs_t *jobs)
{
    if (sr_time_steady() < jobs->addresses_at) return;
    jobs->addresses_at = sr_time_steady() + ADDRESSES;
    sr_address_refresh();
}

void sr_jobs_run(sr_jobs_t *jobs)
{
    sr_transfers_t *transfers = &jobs->transfers;
    while (!queue_is_stopping(jobs) || (transfers->busy && sr_time_steady() < stop_at(jobs))) {
        for (int i = 0; i < jobs->options.databases; i++) {
            survey_run(jobs, i);
            if (batch_is_due(jobs, i)) batch_run(jobs, i);
        }
        refresh_addresses(jobs);
        apr_pool_clear(jobs->batch_pool);
        sr_transfers_go_on(transfers, queue_is_stopping(jobs));
        curl_multi_poll(transfers->multi, NULL, 0, patience(jobs), NULL);
    }
    sr_transfers_abandon(transfers);
    for (int i = 0; i < jobs->options.databases; i++)
        if (to_record(&jobs->databases[i])) batch_run(jobs, i);
    sr_transfers_wait(transfers);
}
