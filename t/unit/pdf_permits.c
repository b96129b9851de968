/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_permits.c: who gets a permit of the pool (helper/client/pool.c), and what a forked process leaves alone. A
 * request of an HTTP request that already has a worker goes first, and no permit stays free while a thread waits for
 * one. */
#include "helper/client/worker.h"
#include "pdf_help.h"

#define LONG (120 * 1000 * HELP_MS) /* a thread that waits so long was not woken */

static apr_pool_t *root;

typedef struct waiter_t {
    sr_pdf_shared_t *shared;
    bool goes_on, entered;
    pthread_t thread;
} waiter_t;

static int order_count;
static waiter_t *order[4]; /* as they entered; written by the thread that has the only permit */

static bool enters(sr_pdf_shared_t *shared, sr_pdf_class_t class, bool goes_on, int64_t patience)
{
    apr_pool_t *pool;
    apr_pool_create_unmanaged_ex(&pool, NULL, NULL);
    sr_error_t *error = sr_pdf_pool_enter(shared, class, goes_on, sr_time_steady() + patience, pool);
    if (error && error->code != SR_EUNAVAILABLE) abort();
    apr_pool_destroy(pool);
    return !error;
}

static void *wait_for_permit(void *data)
{
    waiter_t *waiter = data;
    waiter->entered = enters(waiter->shared, SR_PDF_WORK, waiter->goes_on, LONG);
    return NULL;
}

static void *wait_and_leave(void *data)
{
    waiter_t *waiter = data;
    wait_for_permit(waiter);
    if (waiter->entered) {
        order[order_count++] = waiter;
        sr_pdf_pool_leave(waiter->shared, SR_PDF_WORK);
    }
    return NULL;
}

static int waiting(sr_pdf_shared_t *shared, bool goes_on)
{
    pthread_mutex_lock(&shared->mutex);
    const int count = shared->queues[SR_PDF_WORK][goes_on].waiting;
    pthread_mutex_unlock(&shared->mutex);
    return count;
}

/* Starts a thread, and waits until it waits. */
static void start(waiter_t *waiter, sr_pdf_shared_t *shared, bool goes_on, void *(*run)(void *))
{
    const int before = waiting(shared, goes_on);
    *waiter = (waiter_t){.shared = shared, .goes_on = goes_on};
    pthread_create(&waiter->thread, NULL, run, waiter);
    while (waiting(shared, goes_on) == before) help_sleep(1);
}

static void test_order(void)
{
    apr_pool_t *pool;
    waiter_t first, second, third;
    apr_pool_create(&pool, root);
    sr_pdf_shared_t *shared = help_pool(help_program(), 1, 2500, pool)->shared;
    ok(enters(shared, SR_PDF_WORK, false, LONG), "the only permit is taken");
    ok(!enters(shared, SR_PDF_WORK, true, 0), "there is no second one");
    ok(enters(shared, SR_PDF_SHOW, false, 0), "a page has a permit of its own");
    start(&first, shared, false, wait_and_leave);
    start(&second, shared, false, wait_and_leave);
    start(&third, shared, true, wait_and_leave);
    sr_pdf_pool_leave(shared, SR_PDF_WORK);
    pthread_join(first.thread, NULL);
    pthread_join(second.thread, NULL);
    pthread_join(third.thread, NULL);
    ok(order_count == 3 && order[0] == &third, "who has a worker goes first, and the others follow");
    is_int(shared->busy[SR_PDF_WORK], 0, "all permits are free again");
    is_int(waiting(shared, false) + waiting(shared, true), 0, "and nobody waits");
    apr_pool_destroy(pool);
}

/* A permit is free, and the thread that was woken for it does not run yet. */
static void test_newcomer(void)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    sr_pdf_shared_t *shared = help_pool(help_program(), 1, 2500, pool)->shared;
    shared->queues[SR_PDF_WORK][true].waiting = 1;
    ok(!enters(shared, SR_PDF_WORK, false, 0), "a newcomer does not take the permit of one who has a worker");
    ok(enters(shared, SR_PDF_SHOW, false, 0), "a newcomer of another class is not concerned");
    ok(enters(shared, SR_PDF_WORK, true, 0), "one who has a worker, too, may take it");
    shared->queues[SR_PDF_WORK][true].waiting = 0;
    sr_pdf_pool_leave(shared, SR_PDF_WORK);
    shared->queues[SR_PDF_WORK][false].waiting = 1;
    ok(enters(shared, SR_PDF_WORK, false, 0), "newcomers are equal among themselves");
    shared->queues[SR_PDF_WORK][false].waiting = 0;
    apr_pool_destroy(pool);
}

/* Two permits are released before any thread runs: both signals may reach the queue of those that have a worker. */
static void test_no_permit_stays_free(void)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    sr_pdf_shared_t *shared = help_pool(help_program(), 2, 2500, pool)->shared;
    int entered = 0, rounds = 0;
    while (rounds < 300 && entered == 2 * rounds) {
        waiter_t with, without;
        for (int i = 0; i < 2; i++)
            if (!enters(shared, SR_PDF_WORK, false, LONG)) abort();
        start(&without, shared, false, wait_for_permit);
        start(&with, shared, true, wait_for_permit);
        sr_pdf_pool_leave(shared, SR_PDF_WORK);
        sr_pdf_pool_leave(shared, SR_PDF_WORK);
        pthread_join(with.thread, NULL);
        pthread_join(without.thread, NULL);
        entered += with.entered + without.entered;
        for (int i = with.entered + without.entered; i; i--) sr_pdf_pool_leave(shared, SR_PDF_WORK);
        rounds++;
    }
    is_int(entered, 600, "each time two permits are released, two threads get them");
    apr_pool_destroy(pool);
}

static void test_public(void)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    const sr_pdf_options_t options = {
        .program = help_program(), .workers = 4, .show_workers = 3, .timeout = 2500 * HELP_MS, .notice = help_notice};
    sr_pdf_pool_t *workers;
    if (sr_pdf_pool_create(&workers, &options, pool)) abort();
    is_int(workers->shared->limit[SR_PDF_WORK], 4, "creating and signing have the permits that are configured");
    is_int(workers->shared->limit[SR_PDF_SHOW], 3, "pages have theirs");
    is_int(workers->shared->limit[SR_PDF_PUBLIC], 2, "and requests of anybody half as many as pages");
    sr_pdf_pool_t *anybody = sr_pdf_pool_for_public(workers, pool);
    ok(sr_pdf_pool_for_request(anybody, NULL, 0, pool)->lane == SR_PDF_PUBLIC, "an HTTP request of anybody stays one");
    ok(!sr_pdf_pool_for_request(workers, NULL, 0, pool)->lane, "others are none");
    apr_pool_destroy(pool);
}

static void *wait_for_preview(void *data)
{
    waiter_t *waiter = data;
    waiter->entered = enters(waiter->shared, SR_PDF_PREVIEW, false, LONG);
    return NULL;
}

/* As many previews wait as there are permits for them. */
static void test_previews(void)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    sr_pdf_pool_t *workers = help_pool(help_program(), 1, 2500, pool);
    sr_pdf_shared_t *shared = workers->shared;
    waiter_t first = {.shared = shared};
    sr_pdf_pool_t *preview = sr_pdf_pool_for_preview(workers, pool);
    is_int(sr_pdf_pool_for_request(preview, NULL, 0, pool)->lane, SR_PDF_PREVIEW, "a preview has its own permits");
    is_str(sr_pdf_pool_for_request(preview, "a", 0, pool)->scope, "a.preview", "and its own workers");
    ok(enters(shared, SR_PDF_PREVIEW, false, LONG), "a preview gets the only permit");
    pthread_create(&first.thread, NULL, wait_for_preview, &first);
    for (bool waits = false; !waits; help_sleep(1)) {
        pthread_mutex_lock(&shared->mutex);
        waits = shared->queues[SR_PDF_PREVIEW][false].waiting > 0;
        pthread_mutex_unlock(&shared->mutex);
    }
    sr_error_t *error = sr_pdf_pool_enter(shared, SR_PDF_PREVIEW, false, sr_time_steady() + LONG, pool);
    is_str(error ? error->message : "entered", "Too many previews are requested at once, try again in a moment",
           "while another one waits, the next is rejected at once");
    ok(enters(shared, SR_PDF_WORK, false, LONG), "creations have their permit");
    sr_pdf_pool_leave(shared, SR_PDF_WORK);
    sr_pdf_pool_leave(shared, SR_PDF_PREVIEW);
    pthread_join(first.thread, NULL);
    ok(first.entered, "the preview that waits gets the permit");
    sr_pdf_pool_leave(shared, SR_PDF_PREVIEW);
    apr_pool_destroy(pool);
}

/* Time that is left for an HTTP request is the limit of all pools that are made for it. */
static void test_latest(void)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    sr_pdf_pool_t *workers = help_pool(help_program(), 1, 2500, pool);
    sr_pdf_pool_t *whole = sr_pdf_pool_for_request(workers, NULL, LONG, pool);
    is_int(sr_pdf_pool_for_request(workers, NULL, 0, pool)->latest, 0, "without a limit there is none");
    ok(whole->latest > sr_time_steady(), "a limit is a time to come");
    ok(sr_pdf_pool_for_request(whole, NULL, 0, pool)->latest == whole->latest, "which a part of the request keeps");
    ok(sr_pdf_pool_for_request(whole, NULL, 1, pool)->latest < whole->latest, "or makes shorter");
    apr_pool_destroy(pool);
}

static void test_settings(void)
{
    const sr_pdf_options_t good = {.program = help_program(), .workers = 2, .timeout = 2500 * HELP_MS, .keep = true};
    sr_pdf_options_t wrong[7];
    sr_pdf_pool_t *workers;
    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    for (int i = 0; i < 7; i++) wrong[i] = good;
    wrong[0].program = NULL;
    wrong[1].program = "sigreq-pdfd";
    wrong[2].workers = 0;
    wrong[3].show_workers = -1;
    wrong[4].visits = -1;
    wrong[5].visits_of_all = -1;
    wrong[6].timeout = 0;
    for (int i = 0; i < 7; i++)
        ok(sr_pdf_pool_create(&workers, &wrong[i], pool) != NULL, "settings that are refused: %d", i);
    ok(!sr_pdf_pool_create(&workers, &good, pool), "settings that are not");
    const sr_pdf_shared_t *shared = workers->shared;
    ok(shared->options.show_timeout == 5000 * HELP_MS, "a page may take 5 s of processor time");
    is_int(shared->limit[SR_PDF_SHOW], 2, "pages have as many permits as other requests");
    is_int(shared->idle_room, 4 * 2 + 2, "so many workers may be idle");
    is_int(shared->alive_room, (2 + 2 + 1 + 1) + 4 * 2 + shared->idle_room,
           "all that are busy, kept or idle can be listed");
    apr_pool_destroy(pool);
}

static void test_no_worker(void)
{
    apr_pool_t *pool;
    sr_pdf_worker_t worker;
    apr_pool_create(&pool, root);
    sr_pdf_pool_t *workers = help_pool("/bin/true", 1, 2500, pool);
    sr_error_t *error = sr_pdf_pool_lend(&worker, workers, false, sr_time_steady() + LONG, pool);
    ok(error && error->code == SR_EUNAVAILABLE && !worker.pid, "a program that is no helper gives no worker");
    is_int(help_notices, 1, "and the administrator is told: %s", help_last_notice);
    apr_pool_destroy(pool);
}

/* httpd forks processes that clear its pools, for example for CGI. */
static void test_fork(void)
{
    apr_pool_t *pool, *request;
    int status = -1;
    apr_pool_create(&pool, root);
    apr_pool_create(&request, pool);
    sr_pdf_pool_t *workers = help_pool(help_program(), 1, 5000, pool);
    sr_pdf_pool_t *own = sr_pdf_pool_for_request(workers, NULL, 0, request);
    sr_pdf_worker_t worker;
    if (sr_pdf_pool_lend(&worker, own, false, sr_time_steady() + LONG, pool)) abort();
    sr_pdf_pool_return(own, &worker, pool);
    const pid_t fork_pid = fork();
    if (!fork_pid) {
        apr_pool_destroy(request);
        apr_pool_destroy(pool);
        _exit(0);
    }
    ok(waitpid(fork_pid, &status, 0) == fork_pid && !status, "a fork clears the pools of the request");
    sr_pdf_probe_t probe;
    pdf_t sample = pdf_document(&(pdf_parts_t){.pages = 1});
    ok(!help_probe(&probe, own, sample.data, sample.size, pool) && own->worker.pid == worker.pid,
       "and the worker of the request answers its next request to the helper");
    free(sample.data);
    apr_pool_destroy(request);
    ok(kill(worker.pid, 0) && errno == ESRCH, "until the request ends");
    is_int(workers->shared->kept, 0, "no worker is counted as kept");
    apr_pool_destroy(pool);
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&root, NULL);
    test_order();
    test_newcomer();
    test_no_permit_stays_free();
    test_public();
    test_previews();
    test_latest();
    test_settings();
    test_no_worker();
    test_fork();
    apr_pool_destroy(root);
    return done();
}
