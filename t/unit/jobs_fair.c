/* SPDX-License-Identifier: Apache-2.0 */
/* jobs_fair.c: fair shares in a real job thread with a real database. Receivers that accept connections and never
 * respond delay neither another organisation nor another destination of their own one, however many they are and
 * whatever names they have. */
#include "jobs_thread.h"

#include <apr_thread_proc.h>
#include <arpa/inet.h>
#include <sys/socket.h>

enum { HEALTHY = 30, SECONDS = 120 };

/* --- receivers */

static int listen_at(int *port, int backlog)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
    socklen_t length = sizeof address;
    const int one = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(one, (struct sockaddr *)&address, length) || listen(one, backlog)
        || getsockname(one, (struct sockaddr *)&address, &length))
        die("listen", "no port");
    *port = ntohs(address.sin_port);
    return one;
}

static void *answer_all(void *data)
{
    static const char good[] = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
    char request[4096];
    for (int one; (one = accept(*(int *)data, NULL, NULL)) >= 0; close(one)) {
        if (recv(one, request, sizeof request, 0) > 0) send(one, good, sizeof good - 1, MSG_NOSIGNAL);
        shutdown(one, SHUT_WR);
        while (recv(one, request, sizeof request, 0) > 0) continue;
    }
    return NULL;
}

/* --- events */

/* Adds `count` events, each of its own submission. `host` is an SQL expression. */
static void add(link_t *l, int organization, int count, const char *host, int port)
{
    static const char columns[] = "token_id, user_id, organization_id, environment, created_at, updated_at, name, "
                                  "template_uuid, skip_intro, send_email, search, base_url, representation, "
                                  "representation_version, events, events_hash";
    const bool pg = is_pgsql(l);
    const char *uuid_sql = pg ? "gen_random_uuid()"
                              : "lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || "
                                "substr(hex(randomblob(2)), 2) || '-8' || substr(hex(randomblob(2)), 2) || '-' || "
                                "hex(randomblob(6)))";
    const char *numbers = pg ? apr_psprintf(l->pool, "generate_series(1, %d) AS n(i)", count)
                             : apr_psprintf(l->pool,
                                            "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "
                                            "%d) SELECT i FROM n) AS n",
                                            count);
    const char *prefix = pg ? "sigreq." : "";
    const long before = ask(l, apr_psprintf(l->pool, "SELECT coalesce(max(id), 0) FROM %ssubmission", prefix));
    execute(l, apr_psprintf(l->pool,
                            "INSERT INTO %ssubmission (uuid, %s) SELECT %s, %s FROM (SELECT * FROM %ssubmission "
                            "WHERE organization_id = %d ORDER BY id LIMIT 1) s, %s",
                            prefix, columns, uuid_sql, columns, prefix, organization, numbers));
    execute(l, apr_psprintf(l->pool,
                            "INSERT INTO %sjob (uuid, event_id, submission_id, token_id, user_id, "
                            "organization_id, environment, state, kind, event, created_at, due_at, url, body) "
                            "SELECT uuid, uuid, id, token_id, user_id, "
                            "organization_id, environment, 'pending', 'webhook', 'sent', created_at, created_at, "
                            "'http://' || %s || ':%d/', '{\"x\":1}' "
                            "FROM %ssubmission WHERE id > %ld",
                            prefix, host, port, prefix, before));
}

static long ended_at(link_t *l, int port, bool success)
{
    return ask(l, apr_psprintf(l->pool,
                               "SELECT count(*) FROM %sjob WHERE state = 'done' AND url LIKE '%%:%d/' AND "
                               "success = %s",
                               is_pgsql(l) ? "sigreq." : "", port,
                               is_pgsql(l) ? success ? "true" : "false"
                               : success   ? "1"
                                           : "0"));
}

static void set_up(link_t *l)
{
    make_organizations(l);
    for (unsigned n = 1; n <= 2; n++) {
        CREATE(l, wish(&(wish_t){.token = token_hash(n, l->pool), .now = NOW, .number = n, .name = "One"}, l->pool));
        is_str(link_outcome(l), "ok", "a submission");
    }
}

/* --- the checks */

static worker_t worker;

/* Adds events one after the other for a receiver that responds, while others hang. */
static void check_healthy(link_t *l, int organization, int port, int hanging, const char *what)
{
    const apr_time_t start = apr_time_now();
    const long before = ended_at(l, port, true);
    long ended = 0;
    int undisturbed = 0;
    for (int i = 0; i < HEALTHY && apr_time_now() - start < apr_time_from_sec(SECONDS); i++) {
        const long hung = ended_at(l, hanging, false);
        add(l, organization, 1, "'127.0.0.1'", port);
        sr_jobs_wake(worker.jobs, 0);
        while ((ended = ended_at(l, port, true) - before) <= i && apr_time_now() - start < apr_time_from_sec(SECONDS))
            apr_sleep(2000);
        undisturbed += ended_at(l, hanging, false) == hung;
    }
    is_int(ended, HEALTHY, "%s: every call to the good receiver is made", what);
    ok(undisturbed > HEALTHY / 2, "%d of %d calls were made before a call that hangs ended", undisturbed, HEALTHY);
}

static long under_way(link_t *l)
{
    return ask(
        l, apr_psprintf(l->pool, "SELECT count(*) FROM %sjob WHERE state = 'claimed'", is_pgsql(l) ? "sigreq." : ""));
}

/* Each case has a new job thread, which knows no destination. */
static void check_case(const base_t *base, link_t *l, void (*check)(link_t *l))
{
    apr_array_header_t *allowed = apr_array_make(base->pool, 1, sizeof(apr_ipsubnet_t *));
    apr_ipsubnet_create(apr_array_push(allowed), "127.0.0.0", "8", base->pool);
    worker_start(&worker, base, (sr_jobs_options_t){.allowed = allowed});
    check(l);
    worker_stop(&worker);
    execute(l, is_pgsql(l) ? "DELETE FROM sigreq.job" : "DELETE FROM job");
}

static int good, dead;

static void other_organization(link_t *l)
{
    add(l, 1, 1000, "'127.1.' || (id / 200 % 200) || '.' || (1 + id % 200)", dead);
    sr_jobs_wake(worker.jobs, 0);
    check_healthy(l, 2, good, dead, "while a thousand names hang, another organisation");
    ok(under_way(l) <= 64, "the names have at most a quarter of the transfers: %ld", under_way(l));
}

static void same_organization(link_t *l)
{
    add(l, 1, 1000, "'127.2.0.' || (1 + id % 50)", dead); /* twenty events for each of fifty receivers */
    sr_jobs_wake(worker.jobs, 0);
    check_healthy(l, 1, good, dead, "while fifty receivers hang, another receiver of their organisation");
    ok(under_way(l) <= 64, "at most 64 transfers are under way: %ld", under_way(l));
}

static void checks(base_t *base)
{
    link_t l;
    link_connect(&l, base, base->pool);
    now_text = number(NOW, base->pool);
    events = 0;
    ok(!link_upgrade(&l) && !link_open(&l), "the schema is made");
    link_contents(&l);
    set_up(&l);
    check_case(base, &l, other_organization);
    check_case(base, &l, same_organization);
    link_close(&l);
}

int main(void)
{
    pthread_t thread;
    int listener = listen_at(&good, 100);
    listen_at(&dead, 4096);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    pthread_create(&thread, NULL, answer_all, &listener);
    return each_base(checks);
}
