/* SPDX-License-Identifier: Apache-2.0 */
/* A server that led before another one was promoted is refused as soon as this machine knows of the new timeline. How
 * many servers a connection string names, and the warning if none of them is a standby. */
#include "store.h"

#include <pthread.h>

#include "metrics/metrics.h"
#include "store/private.h"

static sr_watchdog_t *watchdog;

static apr_uint64_t newest(void)
{
    return sr_metrics_value(SR_METRIC_DATABASE_LEADER, 0, 0);
}

static void set_newest(apr_uint64_t value)
{
    sr_metrics_set(SR_METRIC_DATABASE_LEADER, 0, 0, value);
}

/* The outcome of one operation on a watched connection, or why it failed. */
static const char *ping(link_t *l, sr_watch_t *watch)
{
    const char *outcome;
    sr_watch_begin(watch, watchdog, 0, SR_CONNECT_TIME);
    if (!link_open(l)) RUN(l, SR_OP_PING, "1");
    outcome = l->error ? l->error->cause : link_outcome(l);
    sr_watch_end(watch);
    return outcome;
}

static void is_former(link_t *l, sr_watch_t *watch, const char *name)
{
    const char *said = ping(l, watch);
    ok(l->error && l->error->code == SR_EUNAVAILABLE && strstr(said, SR_FORMER), "%s: %s", name, said);
}

static void timelines(base_t *base)
{
    const apr_uint64_t other_system = (apr_uint64_t)1 << 63;
    sr_watch_t watch, other_watch;
    link_t l, other;
    link_connect(&l, base, base->pool);
    link_connect(&other, base, base->pool);
    ok(!link_upgrade(&l), "upgrade");
    l.watch = &watch;
    other.watch = &other_watch;
    set_newest(0);
    is_str(ping(&l, &watch), "ok", "a server that leads");
    const apr_uint64_t own = newest();
    ok(own & 0xffffffff, "its timeline is known: %d", (int)(own & 0xffffffff));
    set_newest(own + 1);
    is_former(&l, &watch, "another server has been promoted");
    is_former(&other, &other_watch, "a new connection is refused, too");
    is_int((long long)(newest() - own), 1, "nothing is forgotten because of that");
    set_newest(own - 1);
    is_str(ping(&l, &watch), "ok", "the server that was promoted");
    is_int((long long)(newest() - own), 0, "the server that was promoted is known now");
    set_newest((own + 1) ^ other_system);
    is_str(ping(&l, &watch), "ok", "a timeline of another system means nothing");
    set_newest(own);
    link_close(&other);
    link_close(&l);
}

static void *run_ping(void *l)
{
    RUN((link_t *)l, SR_OP_PING, "1");
    return NULL;
}

/* The promotion happens between question and answer. */
static void meanwhile(base_t *base)
{
    const apr_uint64_t own = newest();
    sr_watch_t watch;
    link_t l, other;
    pthread_t thread;
    link_connect(&l, base, base->pool);
    link_connect(&other, base, base->pool);
    l.watch = &watch;
    sr_watch_begin(&watch, watchdog, 0, SR_CONNECT_TIME);
    ok(!link_open(&l), "open");
    execute(&other, "BEGIN");
    execute(&other, "LOCK TABLE sigreq.installation");
    if (pthread_create(&thread, NULL, run_ping, &l)) die("no thread", NULL);
    const char *waits = "0";
    sr_connection_t connection;
    sr_connection_make(&connection, base->driver, other.handle);
    while (strcmp(waits, "0") == 0) {
        apr_sleep(apr_time_from_msec(20));
        if (sr_connection_ask(&waits, &connection,
                              "SELECT count(*) FROM pg_locks WHERE NOT granted "
                              "AND relation = 'sigreq.installation'::regclass",
                              base->pool))
            die("asking", "who waits");
    }
    set_newest(own + 1);
    execute(&other, "ROLLBACK");
    pthread_join(thread, NULL);
    ok(l.error && strstr(l.error->cause, SR_FORMER), "an answer that is old is not used: %s",
       l.error ? l.error->cause : "it was");
    sr_watch_end(&watch);
    set_newest(own);
    link_close(&other);
    link_close(&l);
}

static void risk(base_t *base)
{
    link_t l;
    link_connect(&l, base, base->pool);
    ok(!link_open(&l), "open");
    RUN(&l, SR_OP_PING, "1");
    const char *one = COLUMN(&l, "risk");
    RUN(&l, SR_OP_PING, "2");
    const char *two = COLUMN(&l, "risk");
    if (one) skip("the database of the test is at risk anyway");
    else ok(two && strstr(two, "has no standby"), "two servers, and no standby: %s", two ? two : "no risk");
    link_close(&l);
}

static void servers(apr_pool_t *pool)
{
    static const struct {
        const char *driver, *params;
        int count;
    } cases[] = {
        {"sqlite3", "/var/lib/host=a,b", 0},
        {"pgsql", "", 1},
        {"pgsql", "dbname=sigreq", 1},
        {"pgsql", "host=a dbname=x,y", 1},
        {"pgsql", "host=10.0.0.21,10.0.0.22 port=5432,5432 dbname=sigreq", 2},
        {"pgsql", "dbname=x hostaddr=10.0.0.21,10.0.0.22,10.0.0.23", 3},
        {"pgsql", "postgresql://u:p,w@a:1,b:2/sigreq?application_name=a,b", 2},
        {"pgsql", "postgresql://a/x,y", 1},
    };
    static const struct {
        int servers, seconds;
    } times[] = {{1, 2}, {2, 4}, {5, 4}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        is_int(sr_store_servers(cases[i].driver, cases[i].params), cases[i].count, "%s", cases[i].params);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        const sr_gate_t *gate = sr_gate_create(0, 4, times[i].servers, apr_time_from_sec(6), pool);
        is_int(sr_gate_servers(gate), times[i].servers, "a gate for %d servers", times[i].servers);
        is_int(sr_gate_connect_time(gate), apr_time_from_sec(times[i].seconds), "the time to connect to them");
    }
}

static void checks(base_t *base)
{
    if (!watchdog) {
        servers(base->pool);
        if (sr_watchdog_start(&watchdog, apr_time_from_sec(60), base->pool)) die("no watchdog", NULL);
    }
    if (strcmp(base->driver_name, "pgsql") != 0) return;
    timelines(base);
    meanwhile(base);
    risk(base);
}

int main(void)
{
    return each_base(checks);
}
