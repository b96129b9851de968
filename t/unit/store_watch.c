/* SPDX-License-Identifier: Apache-2.0 */
/* A database that does not answer in time: the operation ends then, its connection is of use again, and what is under
 * way elsewhere is left alone. The gate: who may go to a database that is stopped. */
#include "store.h"

#include <fcntl.h>
#include <sys/socket.h>

#include "metrics/metrics.h"
#include "store/private.h"

#define LIMIT apr_time_from_sec(2)

static sr_watchdog_t *watchdog;

/* A watch over a socket: how long until it is shut down. */
static void sockets(apr_pool_t *pool)
{
    sr_watch_t watches[3];
    int pairs[3][2];
    char byte;
    for (int i = 0; i < 3; i++) {
        sr_watch_begin(&watches[i], watchdog, -1, SR_CONNECT_TIME);
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i])) die("socketpair", "failed");
    }
    const apr_time_t begun = sr_time_steady();
    ok(sr_watch_arm(&watches[0], pairs[0][0]) && sr_watch_arm(&watches[1], pairs[1][0]), "two wait for an answer");
    sr_watch_disarm(&watches[1], true);
    is_int(read(pairs[0][1], &byte, 1), 0, "the first is shut down");
    const apr_time_t after = sr_time_steady() - begun;
    ok(after > LIMIT / 2, "not before its time: %d ms", (int)apr_time_as_msec(after));
    ok(watches[0].late && !watches[0].answered, "it is late");
    is_int(fcntl(pairs[1][0], F_GETFL) & O_ACCMODE, O_RDWR, "the second");
    is_int(send(pairs[1][0], "x", 1, MSG_NOSIGNAL), 1,
           "the second socket, which was answered in time, is not shut down");
    while (sr_time_steady() < begun + LIMIT) apr_sleep(1000); /* the third has begun a little after the first */
    ok(!sr_watch_arm(&watches[2], pairs[2][0]), "the third, which begins when the time is up, is not made at all");
    is_int(send(pairs[2][0], "x", 1, MSG_NOSIGNAL), 1, "the socket of the third is left alone");
    sr_watch_disarm(&watches[0], false);
    for (int i = 0; i < 3; i++) {
        sr_watch_end(&watches[i]);
        close(pairs[i][0]);
        close(pairs[i][1]);
    }
}

/* The answer comes between the watchdog's decision and the end of the call. */
static void faster(void)
{
    sr_watch_t watch;
    sr_watch_begin(&watch, watchdog, -1, SR_CONNECT_TIME);
    sr_watch_arm(&watch, -1);
    watch.late = true;
    sr_watch_disarm(&watch, true);
    ok(!watch.late && watch.answered, "an answer that came is not late");
    sr_watch_end(&watch);
}

static void operation(base_t *base)
{
    sr_watch_t watch;
    link_t l, other;
    link_connect(&l, base, base->pool);
    link_connect(&other, base, base->pool);
    ok(!link_upgrade(&l), "upgrade");
    l.watch = &watch;
    sr_watch_begin(&watch, watchdog, -1, SR_CONNECT_TIME);
    ok(!link_open(&l), "open");
    execute(&other, "BEGIN");
    execute(&other, "LOCK TABLE sigreq.schema_version");
    RUN(&l, SR_OP_PING, "1"); /* ends, though the table stays locked */
    ok(l.error && l.error->code == SR_EUNAVAILABLE, "no answer: %s", l.error ? l.error->cause : "none");
    ok(watch.late, "the watch says that the answer is late");
    RUN(&l, SR_OP_PING, "1");
    ok(l.error && watch.late, "it stays so until the end");
    sr_watch_end(&watch);
    execute(&other, "ROLLBACK");
    sr_watch_begin(&watch, watchdog, -1, SR_CONNECT_TIME);
    ok(!apr_dbd_check_conn(base->driver, l.pool, l.handle), "the next use opens the connection again");
    RUN(&l, SR_OP_PING, "1");
    is_str(link_outcome(&l), "ok", "and is answered");
    ok(watch.answered && !watch.late, "the answer of the new connection is in time");
    sr_watch_end(&watch);
    sr_watch_begin(&watch, watchdog, -1, SR_CONNECT_TIME);
    execute(&other, "BEGIN");
    execute(&other, "LOCK TABLE sigreq.token");
    RUN(&l, SR_OP_TOKEN_LIST, "nohash", "1790000000000000", "10", "older", NULL, "0");
    ok(l.error && l.error->code == SR_EUNAVAILABLE && strstr(l.error->cause, "57014"), "the server ends a list: %s",
       l.error ? l.error->cause : "none");
    ok(!watch.late, "the server ends the statement before the connection is shut down");
    execute(&other, "ROLLBACK");
    RUN(&l, SR_OP_ADMIN_ORGANIZATION_CREATE, uuid(5, 2, l.pool), "Another", NULL, "1790000000000000");
    is_str(link_outcome(&l), "ok", "what writes");
    const char *most;
    ok(!sr_connection_ask(&most, &(sr_connection_t){&sr_dialect_pgsql, base->driver, l.handle, NULL},
                          "SELECT current_setting('statement_timeout')", l.pool),
       "the session is asked");
    is_str(most, "0", "the session has no such limit");
    sr_watch_end(&watch);
    link_close(&other);
    link_close(&l);
}

/* A server that takes no writes: told so for new connections only, so that one made meanwhile stays read-only. */
static void read_only(base_t *base)
{
    static const char setting[] = "DO $$BEGIN EXECUTE format('ALTER ROLE %%I SET default_transaction_read_only = %s', "
                                  "current_user); END$$";
    link_t l, other;
    link_connect(&other, base, base->pool);
    execute(&other, apr_psprintf(base->pool, setting, "on"));
    link_connect(&l, base, base->pool);
    execute(&other, apr_psprintf(base->pool, setting, "off"));
    ok(!link_open(&l), "open");
    RUN(&l, SR_OP_ADMIN_ORGANIZATION_CREATE, uuid(5, 1, l.pool), "Org", NULL, "1790000000000000");
    is_str(link_outcome(&l), "ok", "a connection to a server that was read-only is opened again");
    link_close(&other);
    link_close(&l);
}

static void gate(apr_pool_t *pool)
{
    sr_gate_t *of = sr_gate_create(0, 4, 1, apr_time_from_sec(6), pool);
    const apr_time_t until = sr_time_steady() + apr_time_from_sec(60);
    sr_visit_t visits[4];
    const char *why;
    for (int i = 0; i < 3; i++) {
        ok(!sr_gate_enter(&visits[i], of, i == 2 ? SR_USE_READ : SR_USE_WRITE, until), "visit %d", i);
        sr_gate_opened(&visits[i], false);
    }
    why = sr_gate_enter(&visits[3], of, SR_USE_WRITE, until);
    ok(why != NULL, "three of four threads, and nothing moves: %s", why ? why : "");
    is_int(sr_gate_leave(&visits[0], SR_VISIT_ANSWERED), SR_GATE_SAME, "one leaves");
    ok(!sr_gate_enter(&visits[0], of, SR_USE_WRITE, until), "another comes");
    ok(sr_gate_enter(&visits[3], of, SR_USE_WRITE, sr_time_steady() + apr_time_from_msec(100)) != NULL,
       "nobody waits longer than they may");
    sr_gate_opened(&visits[0], false);
    is_int(sr_gate_leave(&visits[0], SR_VISIT_LATE), SR_GATE_STOPPED, "one has waited in vain");
    is_int(sr_gate_leave(&visits[1], SR_VISIT_LATE), SR_GATE_SAME, "another too");
    is_int((long long)sr_metrics_value(SR_METRIC_DATABASE_STOPPED, 0, SR_USE_WRITE), 1, "the figure says so");
    ok(!sr_gate_enter(&visits[0], of, SR_USE_READ, until) && !visits[0].tries, "who reads may go in");
    sr_gate_opened(&visits[0], false);
    is_int(sr_gate_leave(&visits[0], SR_VISIT_ANSWERED), SR_GATE_SAME, "and says nothing of writing");
    ok(!sr_gate_enter(&visits[0], of, SR_USE_WRITE, until) && visits[0].tries, "one may try");
    sr_gate_opened(&visits[0], false);
    ok(sr_gate_enter(&visits[1], of, SR_USE_WRITE, until) != NULL, "nobody else");
    is_int(sr_gate_leave(&visits[0], SR_VISIT_UNKNOWN), SR_GATE_SAME, "it has not found out");
    ok(!sr_gate_enter(&visits[0], of, SR_USE_WRITE, until) && visits[0].tries, "the next may");
    sr_gate_opened(&visits[0], false);
    is_int(sr_gate_leave(&visits[0], SR_VISIT_ANSWERED), SR_GATE_ANSWERS, "and was answered");
    ok(!sr_gate_enter(&visits[0], of, SR_USE_WRITE, until) && !visits[0].tries, "everybody may");
    sr_gate_opened(&visits[0], false);
    sr_gate_leave(&visits[0], SR_VISIT_UNKNOWN);
    ok(!sr_gate_enter(&visits[0], of, SR_USE_READ, until), "of two who read");
    sr_gate_opened(&visits[0], false);
    is_int(sr_gate_leave(&visits[0], SR_VISIT_LATE), SR_GATE_STOPPED, "one has waited in vain");
    ok(!sr_gate_enter(&visits[0], of, SR_USE_WRITE, until) && visits[0].tries, "then who writes has to try, too");
    sr_gate_opened(&visits[0], false);
    is_int(sr_gate_leave(&visits[0], SR_VISIT_ANSWERED), SR_GATE_ANSWERS, "and is answered: so is who reads");
    ok(!sr_gate_enter(&visits[0], of, SR_USE_READ, until), "one reads for long");
    sr_gate_opened(&visits[0], false);
    ok(!sr_gate_enter(&visits[1], of, SR_USE_READ, until), "another one");
    sr_gate_opened(&visits[1], false);
    is_int(sr_gate_leave(&visits[1], SR_VISIT_ANSWERED), SR_GATE_SAME, "another read is answered meanwhile");
    is_int(sr_gate_leave(&visits[0], SR_VISIT_LATE), SR_GATE_SAME, "so the late read says nothing about the database");
    is_int((long long)sr_metrics_value(SR_METRIC_DATABASE_STOPPED, 0, SR_USE_READ), 0,
           "the metric does not say that the database is stopped");
    ok(!sr_gate_enter(&visits[0], of, SR_USE_READ, until) && !visits[0].tries, "everybody may");
    const apr_time_t soon = sr_time_steady() + SR_CONNECT_TIME + apr_time_from_msec(100);
    ok(sr_gate_enter(&visits[1], of, SR_USE_WRITE, soon) != NULL,
       "one at a time opens a connection, and nobody begins who could not end in time");
    sr_gate_opened(&visits[0], false);
    sr_gate_leave(&visits[0], SR_VISIT_UNKNOWN);
}

static sr_gate_change_t open_one(sr_gate_t *of, bool refused)
{
    sr_visit_t visit;
    ok(!sr_gate_enter(&visit, of, SR_USE_READ, sr_time_steady() + apr_time_from_sec(60)), "a thread comes");
    const sr_gate_change_t change = sr_gate_opened(&visit, refused);
    sr_gate_leave(&visit, SR_VISIT_UNKNOWN);
    return change;
}

/* A database that refuses connections at once. */
static void refusals(apr_pool_t *pool)
{
    sr_gate_t *of = sr_gate_create(0, 4, 1, apr_time_from_sec(6), pool);
    const apr_time_t until = sr_time_steady() + apr_time_from_sec(60);
    sr_visit_t visit;
    for (int i = 0; i < 9; i++) is_int(open_one(of, true), SR_GATE_SAME, "refused");
    is_int(open_one(of, false), SR_GATE_SAME, "one connection is opened: the count begins again");
    for (int i = 0; i < 9; i++) is_int(open_one(of, true), SR_GATE_SAME, "refused");
    is_int(open_one(of, true), SR_GATE_STOPPED, "ten in a row");
    ok(!sr_gate_enter(&visit, of, SR_USE_READ, until) && visit.asks, "one thread tries");
    is_int(sr_gate_opened(&visit, true), SR_GATE_SAME, "in vain");
    sr_gate_leave(&visit, SR_VISIT_UNKNOWN);
    sr_metrics_set(SR_METRIC_DATABASE_TRY_OPEN, 0, 0, (apr_uint64_t)sr_time_steady());
    int tries = 0;
    while (sr_gate_enter(&visit, of, SR_USE_WRITE, until)) {
        tries++;
        apr_sleep(1000);
    }
    ok(tries > 0 && visit.asks, "after a pause one thread tries again");
    is_int(sr_gate_opened(&visit, false), SR_GATE_ANSWERS, "and is accepted");
    sr_gate_leave(&visit, SR_VISIT_ANSWERED);
    ok(!sr_gate_enter(&visit, of, SR_USE_READ, until) && !visit.asks, "everybody may");
    sr_gate_opened(&visit, false);
    sr_gate_leave(&visit, SR_VISIT_ANSWERED);
}

static void checks(base_t *base)
{
    static bool first = true;
    if (first) {
        if (sr_watchdog_start(&watchdog, LIMIT, base->pool)) die("no watchdog", NULL);
        sockets(base->pool);
        faster();
        gate(base->pool);
        refusals(base->pool);
    }
    first = false;
    if (strcmp(base->driver_name, "pgsql") != 0) return;
    operation(base);
    read_only(base);
}

int main(void)
{
    return each_base(checks);
}
