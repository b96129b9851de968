/* SPDX-License-Identifier: Apache-2.0 */
/* gate.c: decides which threads may use a database. A database that hangs must not block all threads of httpd. So a
 * part of the threads is kept away from it while it does not respond, and after one operation was not answered in time
 * only one thread at a time waits for it. The state "stopped" is in the shared memory of the metrics, so all processes
 * of the machine have the same.
 *
 * Reading and writing are distinguished. While a synchronous standby stalls, each COMMIT waits for it, and its backend
 * continues to wait after the client has given up, but reading works. After that only few threads may write until
 * several writes were answered. One answered write is not enough, because a transaction that commits nothing does not
 * wait for the standby.
 *
 * A database that refuses connections does so at once, so threads do not wait for it. But each attempt costs lines in
 * the log, and httpd answers thousands of requests a second with 503. So few attempts are made, by all processes
 * together.
 *
 * A read that was not answered in time says nothing about the database if another operation was answered meanwhile:
 * then one statement was slow, for example a list with many rows. */
#include "store/store.h"

#include <pthread.h>
#include <time.h>

#include "metrics/metrics.h"

/* After so many refused connections in a row, one thread of the machine tries in this time, and all others are refused.
 */
#define REFUSALS 10
#define PAUSE apr_time_from_msec(500)

/* A thread waits for a place while other threads enter or leave. If none has for this time, it stops waiting. */
#define SILENCE apr_time_from_sec(2)

struct sr_gate_t {
    pthread_mutex_t mutex;
    pthread_cond_t freed;
    pthread_mutex_t opening; /* taken to open a connection, with a time limit, which mod_dbd's own lock does not have */
    int number, servers, inside, most;
    int writers, most_writers; /* two thirds of `most`; 1 after a late write, doubled by an answer */
    apr_time_t moved;          /* when a thread last entered or left */
    apr_interval_time_t limit, connect_time;
};

static const char stopped_text[] = "the database does not answer (SigreqDatabaseTimeout)";
static const char refusing_text[] = "the database refuses connections";

static int all_writers(const sr_gate_t *gate)
{
    return gate->most * 2 / 3 > 1 ? gate->most * 2 / 3 : 1;
}

static apr_interval_time_t connect_time_of(int servers, apr_interval_time_t limit)
{
    const apr_interval_time_t time = servers * SR_CONNECT_TIME, most = limit * 2 / 3;
    return servers < 2 ? SR_CONNECT_TIME : time < most ? time : most;
}

sr_gate_t *sr_gate_create(int number, int threads, int servers, apr_interval_time_t limit, apr_pool_t *pool)
{
    sr_gate_t *gate = apr_pcalloc(pool, sizeof *gate);
    pthread_condattr_t attributes;
    pthread_mutex_init(&gate->mutex, NULL);
    pthread_mutex_init(&gate->opening, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&gate->freed, &attributes);
    gate->number = number;
    gate->servers = servers;
    gate->most = threads * 3 / 4 > 2 ? threads * 3 / 4 : 2;
    gate->most_writers = all_writers(gate);
    gate->limit = limit;
    gate->connect_time = connect_time_of(servers, limit);
    return gate;
}

int sr_gate_servers(const sr_gate_t *gate)
{
    return gate->servers;
}

apr_interval_time_t sr_gate_connect_time(const sr_gate_t *gate)
{
    return gate->connect_time;
}

static struct timespec timespec_of(apr_time_t time)
{
    return (struct timespec){apr_time_sec(time), apr_time_usec(time) * 1000};
}

static bool gate_is_stopped(const sr_visit_t *visit)
{
    return sr_metrics_value(SR_METRIC_DATABASE_STOPPED, visit->gate->number, visit->use) != 0;
}

static sr_metric_t trying(const sr_visit_t *visit)
{
    return visit->use == SR_USE_WRITE ? SR_METRIC_DATABASE_TRY_WRITE : SR_METRIC_DATABASE_TRY_READ;
}

static bool has_place(const sr_visit_t *visit)
{
    const sr_gate_t *gate = visit->gate;
    return gate->inside < gate->most && (visit->use == SR_USE_READ || gate->writers < gate->most_writers);
}

/* Takes a place, and waits for one if necessary. Returns false if none became free in time. */
static bool gate_take_place(const sr_visit_t *visit, apr_time_t until)
{
    sr_gate_t *gate = visit->gate;
    bool taken;
    pthread_mutex_lock(&gate->mutex);
    while (!has_place(visit)) {
        const apr_time_t silent = gate->moved + SILENCE, end = silent < until ? silent : until;
        const struct timespec at = timespec_of(end);
        if (sr_time_steady() >= end) break;
        pthread_cond_timedwait(&gate->freed, &gate->mutex, &at);
    }
    taken = has_place(visit);
    if (taken) {
        gate->inside++;
        gate->writers += visit->use == SR_USE_WRITE;
        gate->moved = sr_time_steady();
    }
    pthread_mutex_unlock(&gate->mutex);
    return taken;
}

static void give_place(const sr_visit_t *visit, sr_visit_end_t end)
{
    sr_gate_t *gate = visit->gate;
    pthread_mutex_lock(&gate->mutex);
    sr_assert(gate->inside > 0 && (visit->use == SR_USE_READ || gate->writers > 0));
    gate->inside--;
    gate->moved = sr_time_steady();
    if (visit->use == SR_USE_WRITE) {
        gate->writers--;
        if (end == SR_VISIT_LATE) gate->most_writers = 1;
        if (end == SR_VISIT_ANSWERED) gate->most_writers *= 2;
        if (gate->most_writers > all_writers(gate)) gate->most_writers = all_writers(gate);
    }
    pthread_cond_broadcast(&gate->freed);
    pthread_mutex_unlock(&gate->mutex);
}

/* Takes the lock for opening a connection. libpq may need connect_time for that, so the thread must have that
 * much time. */
static bool take_opening(sr_gate_t *gate, apr_time_t until)
{
    const struct timespec at = timespec_of(until - gate->connect_time);
    return pthread_mutex_clocklock(&gate->opening, CLOCK_MONOTONIC, &at) == 0;
}

/* Ends the attempt of this thread, so that another thread may try. */
static void end_trying(sr_visit_t *visit)
{
    if (visit->tries) sr_metrics_set(trying(visit), visit->gate->number, 0, 0);
    visit->tries = false;
}

static const char *go_in(const sr_visit_t *visit, apr_time_t until)
{
    sr_gate_t *gate = visit->gate;
    const char *why = NULL;
    if (!gate_take_place(visit, until)) return "all places at the database are taken, and none becomes free";
    if (!take_opening(gate, until)) {
        why = "no connection can be opened in time";
    } else if (!visit->tries && gate_is_stopped(visit)) { /* it was stopped while this thread waited */
        pthread_mutex_unlock(&gate->opening);
        why = stopped_text;
    }
    if (why) give_place(visit, SR_VISIT_UNKNOWN);
    return why;
}

static apr_uint64_t refusals(const sr_gate_t *gate)
{
    return sr_metrics_value(SR_METRIC_DATABASE_REFUSED, gate->number, 0);
}

const char *sr_gate_enter(sr_visit_t *visit, sr_gate_t *gate, sr_use_t use, apr_time_t until)
{
    const apr_interval_time_t longest = gate->limit + 2 * gate->connect_time; /* then the thread that tried is dead */
    const char *why;
    *visit = (sr_visit_t){.gate = gate, .use = use, .begun = sr_time_steady()};
    visit->asks = refusals(gate) >= REFUSALS;
    if (visit->asks && !sr_metrics_turn(SR_METRIC_DATABASE_TRY_OPEN, gate->number, visit->begun, PAUSE))
        return refusing_text;
    if (gate_is_stopped(visit)) {
        visit->tries = sr_metrics_turn(trying(visit), gate->number, sr_time_steady(), longest);
        if (!visit->tries) return stopped_text;
    }
    why = go_in(visit, until);
    if (why) end_trying(visit);
    return why;
}

sr_gate_change_t sr_gate_opened(sr_visit_t *visit, bool refused)
{
    const apr_uint64_t before = refusals(visit->gate), after = refused ? before + 1 : 0;
    if (after != before) sr_metrics_set(SR_METRIC_DATABASE_REFUSED, visit->gate->number, 0, after);
    pthread_mutex_unlock(&visit->gate->opening);
    if (refused) return after == REFUSALS ? SR_GATE_STOPPED : SR_GATE_SAME;
    return before >= REFUSALS ? SR_GATE_ANSWERS : SR_GATE_SAME;
}

/* Returns true if this has changed something. */
static bool set_stopped(const sr_gate_t *gate, sr_use_t use, bool stopped)
{
    if ((sr_metrics_value(SR_METRIC_DATABASE_STOPPED, gate->number, use) != 0) == stopped) return false;
    sr_metrics_set(SR_METRIC_DATABASE_STOPPED, gate->number, use, stopped);
    return true;
}

/* Returns true if this process or another one of the machine was answered after the visit began. */
static bool others_answered(const sr_visit_t *visit)
{
    return sr_metrics_value(SR_METRIC_DATABASE_ANSWERED, visit->gate->number, 0) > (apr_uint64_t)visit->begun;
}

/* A database that cannot be reached or read cannot be written either. A database that was written can also be read. */
sr_gate_change_t sr_gate_leave(sr_visit_t *visit, sr_visit_end_t end)
{
    sr_gate_t *gate = visit->gate;
    bool changed = false;
    if (end == SR_VISIT_LATE && visit->use == SR_USE_READ && others_answered(visit)) end = SR_VISIT_UNKNOWN;
    if (end == SR_VISIT_ANSWERED)
        sr_metrics_set(SR_METRIC_DATABASE_ANSWERED, gate->number, 0, (apr_uint64_t)sr_time_steady());
    const bool stops = end != SR_VISIT_ANSWERED;

    if (end != SR_VISIT_UNKNOWN) {
        const bool both = end == SR_VISIT_UNREACHABLE || (visit->use == SR_USE_READ) == stops;
        changed = set_stopped(gate, visit->use, stops);
        if (both) changed |= set_stopped(gate, visit->use == SR_USE_READ ? SR_USE_WRITE : SR_USE_READ, stops);
    }
    end_trying(visit);
    give_place(visit, end);
    return !changed ? SR_GATE_SAME : stops ? SR_GATE_STOPPED : SR_GATE_ANSWERS;
}
