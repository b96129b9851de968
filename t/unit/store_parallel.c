/* SPDX-License-Identifier: Apache-2.0 */
/* The store under several threads and processes at once: the quota, one Idempotency-Key, and SQLite's one writer. */
#include "store.h"

#include <apr_thread_mutex.h>
#include <apr_thread_proc.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define NOW ((apr_time_t)1790000000000000)
#define THREADS 8
#define EACH 10
#define QUOTA 25

static apr_status_t lock(void *baton)
{
    return apr_thread_mutex_lock(baton);
}

static apr_status_t unlock(void *baton)
{
    return apr_thread_mutex_unlock(baton);
}

typedef struct job_t {
    const base_t *base;
    const writers_t *lock;
    int index;
    const char *key; /* with a key: one creation; without: EACH */
    int outcomes[SR_OUTCOME_COUNT], errors;
    const char *view;
} job_t;

static void *APR_THREAD_FUNC work(apr_thread_t *thread, void *data)
{
    job_t *job = data;
    link_t link;
    link_connect(&link, job->base, NULL);
    link.lock = job->lock;
    link_open(&link);
    for (int i = 0; !link.error && i < (job->key ? 1 : EACH); i++) {
        const unsigned number = (job->key ? 5000u : 1000u) + (unsigned)(job->index * EACH + i);
        const wish_t w = {"live", NOW, number, "Race", job->key, "print", 0};
        const char *body = CREATE(&link, wish(&w, link.pool));
        if (link.error) break;
        job->outcomes[link.outcome]++;
        job->view = body ? apr_pstrdup(job->base->pool, body) : NULL;
    }
    if (link.error) printf("# thread %d: %s\n", job->index, link.error->cause);
    job->errors = link.error != NULL;
    link_close(&link);
    return NULL;
}

static void run_threads(job_t *jobs, const base_t *base, const writers_t *writers, const char *key)
{
    apr_thread_t *threads[THREADS];
    apr_status_t ignored;
    memset(jobs, 0, THREADS * sizeof *jobs);
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (job_t){.base = base, .lock = writers, .index = i, .key = key};
        if (apr_thread_create(&threads[i], NULL, work, &jobs[i], base->pool)) die("thread", "create");
    }
    for (int i = 0; i < THREADS; i++) apr_thread_join(&ignored, threads[i]);
}

static int total(const job_t *jobs, sr_outcome_t outcome)
{
    int sum = 0;
    for (int i = 0; i < THREADS; i++) sum += jobs[i].outcomes[outcome];
    return sum;
}

static int errors(const job_t *jobs)
{
    int sum = 0;
    for (int i = 0; i < THREADS; i++) sum += jobs[i].errors;
    return sum;
}

static void quota(link_t *l, const writers_t *writers)
{
    job_t jobs[THREADS];
    run_threads(jobs, l->base, writers, NULL);
    is_int(errors(jobs), 0, "quota: no errors");
    is_int(total(jobs, SR_OK), QUOTA, "exactly the quota is created");
    is_int(total(jobs, SR_QUOTA), THREADS * EACH - QUOTA, "the rest is refused");
    is_str(member(RUN(l, SR_OP_ADMIN_ORGANIZATION_LIST), "used", l->pool), number(QUOTA, l->pool), "used is the quota");
}

static void one_key(link_t *l, const writers_t *writers)
{
    job_t jobs[THREADS];
    int same = 0;
    RUN(l, SR_OP_ADMIN_ORGANIZATION_QUOTA, "Org", NULL);
    run_threads(jobs, l->base, writers, "key");
    is_int(errors(jobs), 0, "one key: no errors");
    is_int(total(jobs, SR_OK), 1, "one creates");
    is_int(total(jobs, SR_REPLAY), THREADS - 1, "the others replay");
    const char *view = jobs[jobs[0].view ? 0 : 1].view;
    for (int i = 0; i < THREADS; i++) same += jobs[i].view && strcmp(jobs[i].view, view) == 0;
    is_int(same, THREADS - 1, "all with the same view");
    is_str(member(RUN(l, SR_OP_ADMIN_ORGANIZATION_LIST), "used", l->pool), number(QUOTA + 1, l->pool),
           "used is one more");
}

/* Another process, which has begun to write to SQLite when this returns. It ends soon after it may let go.
 * `alone`: nobody can even read, as happens for a moment when a database's last connection closes. */
static volatile bool *may_let_go, *has_let_go; /* shared with it */

static pid_t holder(const base_t *base, bool alone)
{
    int ready[2];
    char byte;
    pid_t child;
    may_let_go = mmap(NULL, 2 * sizeof(bool), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (may_let_go == MAP_FAILED) die("mmap", "");
    has_let_go = may_let_go + 1;
    if (pipe(ready)) die("pipe", "");
    child = fork();
    if (child == 0) {
        apr_dbd_results_t *ignored = NULL;
        link_t other;
        link_connect(&other, base, NULL);
        if (alone) apr_dbd_select(base->driver, other.pool, other.handle, &ignored, "PRAGMA locking_mode=EXCLUSIVE", 1);
        execute(&other, "BEGIN IMMEDIATE");
        if (write(ready[1], "x", 1) != 1) _exit(1);
        while (!*may_let_go) apr_sleep(1000);
        apr_sleep(apr_time_from_msec(300));
        *has_let_go = true;
        _exit(0); /* as if it had crashed: nothing is rolled back by hand */
    }
    if (read(ready[0], &byte, 1) != 1) die("read", "");
    close(ready[0]);
    close(ready[1]);
    return child;
}

static void locked(const base_t *base)
{
    const pid_t child = holder(base, true);
    link_t l;
    *may_let_go = true;
    link_connect(&l, base, base->pool);
    ok(!link_open(&l), "a connection waits while another process has the database exclusively");
    ok(*has_let_go, "until it is free");
    waitpid(child, NULL, 0);
    link_close(&l);
}

/* What becomes of a creation while another process writes. */
static void busy(link_t *l, unsigned n, bool expected)
{
    const wish_t w = {"live", NOW, n, "Busy", NULL, NULL, 0};
    const pid_t child = holder(l->base, false);
    RUN(l, SR_OP_SUBMISSION_GET, "live", number(NOW, l->pool), uuid(1, 1000, l->pool), "1", NULL);
    ok(!l->error && !*has_let_go, "reading goes on meanwhile");
    *may_let_go = expected;
    CREATE(l, wish(&w, l->pool));
    if (expected) {
        is_str(link_outcome(l), "ok", "a writer waits for another process");
        ok(*has_let_go, "until it has ended");
    } else {
        ok(l->error && l->error->code == SR_EUNAVAILABLE, "and gives up in the end");
        ok(!*has_let_go, "while the other one still writes");
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void checks(base_t *base)
{
    writers_t writers = {lock, unlock, NULL};
    const bool sqlite = strcmp(base->driver_name, "sqlite3") == 0;
    const char *now = number(NOW, base->pool);
    link_t l;
    apr_thread_mutex_create((apr_thread_mutex_t **)&writers.baton, APR_THREAD_MUTEX_UNNESTED, base->pool);
    link_connect(&l, base, base->pool);
    ok(!link_upgrade(&l), "upgrade");
    link_contents(&l);
    ok(!link_open(&l), "open");
    RUN(&l, SR_OP_ADMIN_ORGANIZATION_CREATE, uuid(5, 1, l.pool), "Org", number(QUOTA, l.pool), now);
    RUN(&l, SR_OP_ADMIN_USER_CREATE, uuid(6, 1, l.pool), "Org", "Ann", "Lee", "ann@x.org", now);
    RUN(&l, SR_OP_ADMIN_TOKEN_CREATE, uuid(7, 1, l.pool), "Org", "ann@x.org", "production", "t", "live", NULL, now);
    is_str(link_outcome(&l), "ok", "a token");
    quota(&l, &writers);
    one_key(&l, &writers);
    if (sqlite) {
        busy(&l, 900, true);
        busy(&l, 901, false);
    }
    link_close(&l);
    if (sqlite) locked(base);
}

int main(void)
{
    return each_base(checks);
}
