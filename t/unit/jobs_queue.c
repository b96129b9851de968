/* SPDX-License-Identifier: Apache-2.0 */
/* jobs_queue.c: jobs in a real job thread with a real database and a clock that the test sets: when a job is due,
 * and when a failed job is tried again. Also mails that a server refuses temporarily, permanently, or by closing the
 * connection. */
#include "jobs_thread.h"
#include "jobs/kinds.h"

#include <apr_thread_proc.h>
#include <arpa/inet.h>
#include <sys/socket.h>

#define MINUTE apr_time_from_sec(60)

static worker_t worker;
static apr_time_t now; /* the time of the service's clock */

static void set_clock(apr_time_t at)
{
    sr_time_stop(now = at);
}

/* --- a mail server */

static struct {
    const char *volatile recipient, *volatile end; /* its responses; "" closes the connection */
    int port;
} server;

static bool say(int one, const char *answer)
{
    return *answer && send(one, answer, strlen(answer), MSG_NOSIGNAL) > 0 && send(one, "\r\n", 2, MSG_NOSIGNAL) > 0;
}

static void serve(int one)
{
    FILE *in = fdopen(one, "r");
    bool data = false;
    char line[4096];
    say(one, "220 here");
    while (fgets(line, sizeof line, in)) {
        const char *answer = "250 good";
        if (data && strcmp(line, ".\r\n") != 0) continue;
        if (data) answer = server.end;
        else if (!strncmp(line, "RCPT", 4)) answer = server.recipient;
        data = !data && !strncmp(line, "DATA", 4);
        if (!say(one, data ? "354 go on" : answer)) break;
    }
    fclose(in);
}

static void *serve_all(void *data)
{
    for (int one; (one = accept(*(int *)data, NULL, NULL)) >= 0;) serve(one);
    return NULL;
}

static int listen_at(int *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    const int one = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(one, (struct sockaddr *)&address, length) || listen(one, 100)
        || getsockname(one, (struct sockaddr *)&address, &length))
        die("listen", "no port");
    *port = ntohs(address.sin_port);
    return one;
}

/* --- kinds */

static volatile int succeeds_at; /* the attempt of a "test" job that succeeds: 0 is the first */
static volatile int begun;
static volatile apr_interval_time_t again_after; /* a "test" job that succeeds is to be done again after this time */

static CURL *begin_test(sr_call_t *call, const sr_job_t *job, sr_call_result_t *result, apr_pool_t *pool)
{
    (void)call;
    (void)pool;
    begun++;
    result->success = job->attempts == succeeds_at;
    result->again = again_after;
    result->error = result->success ? NULL : sr_json_string(job->body, "error");
    return NULL;
}

static const sr_job_kind_t kinds[] = {
    {"test", SR_REPEAT_FAILED, 3, MINUTE, apr_time_from_sec(30), 0, SR_JOB_UNCOUNTED, begin_test},
    {"once", SR_REPEAT_NEVER, 3, MINUTE, apr_time_from_sec(30), 0, SR_JOB_UNCOUNTED, begin_test},
    {"invitation", SR_REPEAT_UNACCEPTED, 3, MINUTE, apr_time_from_sec(30), 1, SR_KIND_INVITATION, sr_invitation_begin},
    {"archive", SR_REPEAT_FAILED, 3, MINUTE, apr_time_from_sec(30), 2, SR_JOB_UNCOUNTED, sr_archive_begin},
};

/* What jobs of the kind "archive" do: they wait until they may end, and succeed from the second attempt on. */
static volatile apr_uint32_t working, may_end, worked, leads;

static sr_error_t *work(void *baton, int number, const char *kind, const char *submission, const char *folder,
                        apr_interval_time_t *again, apr_pool_t *pool)
{
    (void)baton;
    (void)number;
    if (strcmp(kind, "archive") != 0 || !folder || strcmp(folder, "f") != 0) die(kind, folder);
    apr_atomic_inc32(&working);
    while (!apr_atomic_read32(&may_end)) apr_sleep(1000);
    apr_atomic_dec32(&working);
    *again = strcmp(submission, "later") ? 0 : 5 * MINUTE;
    return apr_atomic_inc32(&worked) ? NULL : sr_error(pool, SR_EUNAVAILABLE, "not yet");
}

static bool runs(void *baton, const char *kind)
{
    (void)baton;
    return strcmp(kind, "archive") != 0 || apr_atomic_read32(&leads);
}

/* --- jobs. Each has its own created_at, which identifies it */

static void add(link_t *l, int number, const char *kind, apr_time_t due_at)
{
    const bool mail = strcmp(kind, "invitation") == 0, archives = strcmp(kind, "archive") == 0;
    const char *body = archives && due_at % 2 ? "{\"submission\":\"later\",\"folder\":\"f\"}"
                       : archives             ? "{\"submission\":\"s\",\"folder\":\"f\"}"
                                              : "{\"error\":\"not yet\"}";
    execute(l, apr_psprintf(l->pool,
                            "INSERT INTO %sjob (organization_id, state, kind, created_at, due_at, url, body) VALUES "
                            "(%d, '%s', '%s', %d, %" APR_TIME_T_FMT ", %s, '%s')",
                            is_pgsql(l) ? "sigreq." : "", archives ? number : 0, due_at > now ? "scheduled" : "pending",
                            kind, number, due_at, mail ? "'mailto:a@x.org'" : "NULL",
                            mail ? "{\"email\":\"a@x.org\",\"link\":\"https://x.org/\",\"signer\":\"A\"}" : body));
    sr_jobs_wake(worker.jobs, 0);
}

static bool is(link_t *l, int number, const char *condition)
{
    return ask(l, apr_psprintf(l->pool, "SELECT count(*) FROM %sjob WHERE created_at = %d AND %s",
                               is_pgsql(l) ? "sigreq." : "", number, condition))
           > 0;
}

static bool becomes(link_t *l, int number, const char *condition)
{
    sr_jobs_wake(worker.jobs, 0);
    for (int i = 0; i < 15000 && !is(l, number, condition); i++) apr_sleep(2000);
    return is(l, number, condition);
}

static const char *again_in(link_t *l, int attempts, apr_interval_time_t pause)
{
    return apr_psprintf(l->pool, "state = 'scheduled' AND attempts = %d AND due_at = %" APR_TIME_T_FMT, attempts,
                        now + pause);
}

/* --- the checks */

static void check_due(link_t *l)
{
    succeeds_at = 9;
    add(l, 1, "test", now + 60 * MINUTE);
    add(l, 2, "once", now);
    ok(becomes(l, 2, "state = 'done' AND attempts = 1 AND error = 'not yet'"),
       "a job that is done at most once is over after a failure");
    ok(is(l, 1, "state = 'scheduled' AND attempts = 0"), "a job that is due later is still scheduled");
    is_int(begun, 1, "a job that is due later has not begun");
    set_clock(now + 60 * MINUTE - 1000);
    add(l, 3, "once", now);
    ok(becomes(l, 3, "state = 'done'"), "another job is done a millisecond before that one is due");
    ok(is(l, 1, "state = 'scheduled'"), "the job that is due later is still scheduled");
    set_clock(now + 1000);
    ok(becomes(l, 1, again_in(l, 1, MINUTE)), "the job begins when it is due, fails, and is due again after the pause");
    set_clock(now + MINUTE);
    ok(becomes(l, 1, again_in(l, 2, 2 * MINUTE)), "the next pause is twice as long");
    set_clock(now + 2 * MINUTE);
    ok(becomes(l, 1, "state = 'done' AND attempts = 3 AND error = 'not yet' AND ended_at > 0"),
       "the third attempt is the last one");
    is_int(begun, 5, "no other attempt was made");
}

static void check_success(link_t *l)
{
    succeeds_at = 1;
    add(l, 4, "test", now);
    ok(becomes(l, 4, again_in(l, 1, MINUTE)), "an attempt fails");
    set_clock(now + MINUTE);
    ok(becomes(l, 4, "state = 'done' AND attempts = 1 AND error IS NULL AND status IS NULL"),
       "the second attempt succeeds");
    succeeds_at = 0;
    add(l, 5, "unknown", now);
    add(l, 6, "test", now);
    ok(becomes(l, 6, "state = 'done' AND attempts = 0"), "a job is done at once");
    again_after = 3 * MINUTE;
    add(l, 8, "test", now);
    ok(becomes(l, 8, again_in(l, 0, 3 * MINUTE)), "a job that succeeds too early is due again, as its first attempt");
    again_after = 0;
    set_clock(now + 3 * MINUTE);
    ok(becomes(l, 8, "state = 'done' AND attempts = 0 AND error IS NULL"),
       "a job that succeeded too early is done when it is due again");
    ok(is(l, 5, "state = 'pending'"), "a job of a kind that this process does not know stays pending");
}

/* With the host's clock, and without another wake than the one after the INSERT. */
static void check_alarm(link_t *l)
{
    sr_time_stop(0);
    now = sr_time_now();
    begun = 0;
    add(l, 7, "test", now + apr_time_from_msec(700));
    for (int i = 0; i < 15000 && !begun; i++) apr_sleep(2000);
    ok(begun && sr_time_now() >= now + apr_time_from_msec(700),
       "the thread begins a job when it is due, without a wake");
    set_clock(now + MINUTE);
}

/* Most events have no receiver. The only other transaction is the survey, every five seconds. */
static void check_idle(void)
{
    lender_t *lender = &worker.lender;
    const apr_uint32_t before = lender->writes;
    for (int i = 0; i < 20; i++) {
        const apr_uint32_t reads = lender->reads;
        sr_jobs_wake(worker.jobs, 0);
        for (int wait = 0; wait < 15000 && lender->reads == reads; wait++) apr_sleep(2000);
        ok(lender->reads > reads, "a wake makes the thread poll");
    }
    ok(lender->writes - before < 10, "a poll without jobs is no writing transaction: %d for 20 wakes",
       (int)(lender->writes - before));
}

static void check_mail(link_t *l)
{
    server.recipient = "450 4.2.0 Greylisted";
    server.end = "250 good";
    add(l, 10, "invitation", now);
    ok(becomes(l, 10, again_in(l, 1, MINUTE)) && is(l, 10, "status = 450"),
       "a mail that the server refuses temporarily is scheduled again");
    server.recipient = "250 good";
    set_clock(now + MINUTE);
    ok(becomes(l, 10, "state = 'done' AND attempts = 1 AND status = 250 AND error IS NULL"),
       "the server gets the mail later");
    server.end = "451 4.3.0 Try again";
    add(l, 11, "invitation", now);
    ok(becomes(l, 11, again_in(l, 1, MINUTE)),
       "a mail that is refused temporarily after the message is scheduled again");
    server.end = "";
    add(l, 12, "invitation", now);
    ok(becomes(l, 12, "state = 'done' AND attempts = 1 AND error IS NOT NULL"),
       "if the connection is lost after the message, the mail is not sent again");
    server.recipient = "550 5.1.1 No such user";
    add(l, 13, "invitation", now);
    ok(becomes(l, 13, "state = 'done' AND attempts = 1 AND status = 550"),
       "a mail that is refused permanently is not sent again");
    server.recipient = "";
    add(l, 14, "invitation", now);
    ok(becomes(l, 14, again_in(l, 1, MINUTE)),
       "if the connection is lost before the message, the mail is scheduled again");
    set_clock(now + MINUTE);
    ok(becomes(l, 14, again_in(l, 2, 2 * MINUTE)), "the mail is scheduled a second time after two minutes");
    set_clock(now + 2 * MINUTE);
    ok(becomes(l, 14, "state = 'done' AND attempts = 3"), "the mail is tried until all attempts are used");
}

static bool are_working(apr_uint32_t count)
{
    for (int i = 0; i < 15000 && apr_atomic_read32(&working) != count; i++) apr_sleep(2000);
    return apr_atomic_read32(&working) == count;
}

static void check_work(link_t *l)
{
    succeeds_at = 0;
    add(l, 21, "archive", now);
    add(l, 22, "test", now);
    ok(becomes(l, 22, "state = 'done'") && is(l, 21, "state = 'pending'"), "a kind that this process does not run");
    apr_atomic_set32(&leads, 1);
    sr_jobs_wake(worker.jobs, 0);
    ok(are_working(1), "a kind runs after its process leads");
    add(l, 23, "archive", now - 1);
    add(l, 24, "archive", now);
    ok(are_working(2), "two at a time, of different organisations");
    add(l, 25, "test", now);
    ok(becomes(l, 25, "state = 'done' AND error IS NULL"), "other jobs do not wait for them");
    is_int(apr_atomic_read32(&working), 2, "no third archive job begins");
    apr_atomic_set32(&may_end, 1);
    ok(becomes(l, 24, "state <> 'pending' AND state <> 'claimed'"), "when they have ended the next one begins");
    ok(becomes(l, 23, "state <> 'claimed'") && becomes(l, 21, "state <> 'claimed'"), "all have ended");
    ok(ask(l, apr_psprintf(l->pool, "SELECT count(*) FROM %sjob WHERE kind = 'archive' AND %s",
                           is_pgsql(l) ? "sigreq." : "", again_in(l, 1, MINUTE)))
           == 1,
       "the one that failed is scheduled again");
    set_clock(now + 6 * MINUTE);
    ok(becomes(l, 21, "state = 'done' AND error IS NULL"), "the job that failed succeeds when it is due again");
    ok(becomes(l, 23, again_in(l, is(l, 23, "attempts = 1"), 5 * MINUTE)), "one that is not over is done again later");
    apr_atomic_set32(&may_end, 0);
    add(l, 26, "archive", now);
    ok(are_working(1), "one that is under way when the process ends");
}

static void checks(base_t *base)
{
    const sr_mail_t mail = {.url = apr_psprintf(base->pool, "smtp://127.0.0.1:%d", server.port),
                            .from_address = "s@x.org",
                            .templates = sr_mail_builtin};
    link_t l;
    link_connect(&l, base, base->pool);
    ok(!link_upgrade(&l) && !link_open(&l), "the schema is made");
    link_contents(&l);
    set_clock(NOW);
    begun = 0;
    worker_start(&worker, base,
                 (sr_jobs_options_t){.mail = &mail, .kinds = kinds, .kind_count = 4, .work = work, .runs = runs});
    check_idle();
    check_due(&l);
    check_success(&l);
    check_alarm(&l);
    check_mail(&l);
    check_work(&l);
    sr_jobs_stop(worker.jobs, 0);
    ok(becomes(&l, 26, again_in(&l, 1, MINUTE)), "the job under way is recorded as interrupted, and scheduled again");
    apr_atomic_set32(&may_end, 1);
    worker_stop(&worker);
    is_int(apr_atomic_read32(&working), 0, "the thread of the job has ended before the process does");
    worked = may_end = leads = 0;
    sr_time_stop(0);
    link_close(&l);
}

int main(void)
{
    pthread_t thread;
    int listener = listen_at(&server.port);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    pthread_create(&thread, NULL, serve_all, &listener);
    return each_base(checks);
}
