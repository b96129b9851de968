/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_idle.c: workers that are kept after a request, against the real sigreq-pdfd: they answer later requests of their
 * scope and no others, they are few, and they are ended when they are worn out, old or not to be trusted. */
#include "helper/client/worker.h"
#include "pdf_help.h"

static apr_pool_t *root;

static sr_pdf_pool_t *keeping_pool(bool keep, apr_pool_t *pool)
{
    const sr_pdf_options_t options = {
        .program = help_program(), .workers = 1, .keep = keep, .timeout = 5000 * HELP_MS, .notice = help_notice};
    sr_pdf_pool_t *made;
    if (sr_pdf_pool_create(&made, &options, pool)) abort();
    help_notices = help_refusals = 0;
    return made;
}

/* The process that answers one request of the scope. `asked`, if not 0, is how many requests it has then answered. */
static pid_t request_of(sr_pdf_pool_t *workers, const char *scope, uint32_t asked)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    sr_pdf_pool_t *own = sr_pdf_pool_for_request(workers, scope, 0, pool);
    sr_pdf_worker_t worker;
    if (sr_pdf_pool_lend(&worker, own, false, sr_time_steady() + 5000 * HELP_MS, pool)) abort();
    if (asked) worker.asked = asked;
    sr_pdf_pool_return(own, &worker, pool);
    pid_t pid = own->worker.pid;
    apr_pool_destroy(pool);
    return pid;
}

static bool is_gone(pid_t pid)
{
    return kill(pid, 0) && errno == ESRCH;
}

/* Ends the worker that was the last to become idle, and leaves it to be reaped. The template may still have its copy of
 * the worker's socket for a moment, and the worker counts as alive until then. */
static void kill_newest(sr_pdf_pool_t *workers)
{
    const sr_pdf_worker_t worker = workers->shared->idle[workers->shared->idle_count - 1].worker;
    siginfo_t info;
    kill(worker.pid, SIGKILL);
    while (waitid(P_PID, (id_t)worker.pid, &info, WEXITED | WNOWAIT) && errno == EINTR) continue;
    const int64_t deadline = sr_time_steady() + 60 * APR_USEC_PER_SEC;
    while (sr_pdf_worker_lives(&worker) && sr_time_steady() < deadline) apr_sleep(1000);
}

/* A request that has an answer. */
static bool asks(sr_pdf_pool_t *own, apr_pool_t *pool)
{
    static pdf_t sample;
    sr_pdf_probe_t probe;
    if (!sample.data) sample = pdf_document(&(pdf_parts_t){.pages = 3});
    return !help_probe(&probe, own, sample.data, sample.size, pool) && probe.verdict == SR_PDF_ACCEPTED;
}

static void test_scopes(sr_pdf_pool_t *workers)
{
    const pid_t a = request_of(workers, "a", 0), b = request_of(workers, "b", 0), fresh = request_of(workers, NULL, 0);
    ok(a != b && a != fresh && b != fresh, "two scopes have two processes, and no scope has one of its own");
    ok(!is_gone(a) && !is_gone(b) && is_gone(fresh), "those of scopes are kept");
    ok(request_of(workers, "b", 0) == b && request_of(workers, "a", 0) == a, "and answer the next request of theirs");
    const pid_t again = request_of(workers, NULL, 0);
    ok(again != a && again != b, "a request without a scope has none of them");
    ok(request_of(workers, "a ", 0) != a && request_of(workers, "", 0) != a, "nor has a scope that is nearly the same");
}

static void test_side_by_side(sr_pdf_pool_t *workers)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    sr_pdf_pool_t *one = sr_pdf_pool_for_request(workers, "side", 0, pool);
    sr_pdf_pool_t *two = sr_pdf_pool_for_request(workers, "side", 0, pool);
    ok(asks(one, pool) && one->worker.pid, "a request asks");
    const pid_t of_one = one->worker.pid;
    sr_pdf_worker_t worker;
    if (sr_pdf_pool_lend(&worker, two, false, sr_time_steady() + 5000 * HELP_MS, pool)) abort();
    ok(worker.pid != of_one, "one of the same scope has another process meanwhile");
    sr_pdf_pool_return(two, &worker, pool);
    sr_pdf_pool_release(one);
    ok(!one->worker.pid && request_of(workers, "side", 0) == of_one, "what is released serves the next request");
    apr_pool_destroy(pool);
}

static void test_ends(sr_pdf_pool_t *workers)
{
    pid_t pid = request_of(workers, "worn", 0);
    ok(request_of(workers, "worn", 1000) == pid && is_gone(pid), "after a thousand questions it ends");

    pid = request_of(workers, "old", 0);
    sr_pdf_shared_t *shared = workers->shared;
    for (int i = 0; i < shared->idle_count; i++) shared->idle[i].since -= 31 * APR_USEC_PER_SEC;
    ok(request_of(workers, "old", 0) != pid && is_gone(pid), "after half a minute without a question it ends");
    is_int(shared->idle_count, 1, "as all others have");

    pid = request_of(workers, "dead", 0);
    kill_newest(workers);
    ok(request_of(workers, "dead", 0) != pid && is_gone(pid), "one that died meanwhile is replaced and reaped");
    is_int(help_notices, 0, "without a notice");

    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    sr_pdf_pool_t *own = sr_pdf_pool_for_request(workers, "liar", 0, pool);
    pid = request_of(workers, "liar", 0);
    ok(asks(own, pool) && own->worker.pid == pid, "a worker has answered");
    sr_pdf_pool_distrust(own);
    ok(is_gone(pid), "and ends if its answer is refused");
    apr_pool_destroy(pool);
    ok(request_of(workers, "liar", 0) != pid, "so that the next request has another one");

    char scope[SR_PDF_MAX_SCOPE + 2] = "";
    memset(scope, 'x', SR_PDF_MAX_SCOPE + 1);
    ok(is_gone(request_of(workers, scope, 0)), "none is kept for a scope that has no room");
    ok(!is_gone(request_of(workers, scope + 1, 0)), "one letter less has");
}

static void test_room(sr_pdf_pool_t *workers)
{
    const int room = workers->shared->idle_room;
    pid_t first = request_of(workers, "first", 0), last = 0;
    for (int i = 0; i < room; i++) last = request_of(workers, apr_psprintf(root, "scope %d", i), 0);
    ok(room >= 4 && is_gone(first) && !is_gone(last), "%d are kept, and the oldest makes room", room);
    is_int(workers->shared->idle_count, room, "for the newest");
}

/* A worker that has read a small document could not have the memory for it. */
static void test_large(sr_pdf_pool_t *workers)
{
    apr_pool_t *pool;
    sr_pdf_probe_t probe;
    apr_pool_create(&pool, root);
    const pid_t one = request_of(workers, "large", 0);
    sr_pdf_pool_t *own = sr_pdf_pool_for_request(workers, "large", 0, pool);
    const apr_off_t size = ((apr_off_t)128 << 20) + 1;
    int fd = help_descriptor("%PDF-1.7\n", 9);
    ok(!ftruncate(fd, size) && !sr_pdf_probe(&probe, own, fd, size, pool) && probe.verdict != SR_PDF_ACCEPTED
           && own->worker.pid != one && !is_gone(one),
       "a document of more than 128 MiB is read by a new process");
    close(fd);
    apr_pool_destroy(pool);
}

static void test_failure(sr_pdf_pool_t *workers)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    pid_t one = request_of(workers, "bad", 0);
    sr_pdf_pool_t *own = sr_pdf_pool_for_request(workers, "bad", 0, pool);
    sr_pdf_worker_t worker;
    if (sr_pdf_pool_lend(&worker, own, true, sr_time_steady() + 5000 * HELP_MS, pool)) abort();
    ok(worker.pid != one, "a question that is asked again has a new process");
    sr_pdf_pool_return(own, &worker, pool);
    ok(asks(own, pool), "which reads a document");
    apr_pool_destroy(pool);
}

int main(void)
{
    apr_pool_t *pool;
    apr_initialize();
    apr_pool_create(&root, NULL);
    apr_pool_create(&pool, root);
    const int before = help_descriptors();
    sr_pdf_pool_t *workers = keeping_pool(true, pool);
    test_scopes(workers);
    test_side_by_side(workers);
    test_ends(workers);
    test_room(workers);
    test_failure(workers);
    test_large(workers);
    apr_pool_destroy(pool);
    help_children_t left = help_children();
    is_int(left.alive + left.zombies, 0, "the end of the pool leaves no process");
    is_int(help_descriptors(), before, "and no descriptor");

    apr_pool_create(&pool, root);
    workers = keeping_pool(false, pool);
    const pid_t one = request_of(workers, "a", 0);
    ok(is_gone(one) && request_of(workers, "a", 0) != one, "where none may be kept, each request has its own");
    apr_pool_destroy(pool);
    apr_pool_destroy(root);
    return done();
}
