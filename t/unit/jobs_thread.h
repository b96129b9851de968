/* SPDX-License-Identifier: Apache-2.0 */
/* jobs_thread.h: shared by the tests of a real job thread: the database that it borrows, and queries to it. */
#ifndef SR_TEST_JOBS_THREAD_H
#define SR_TEST_JOBS_THREAD_H

#include "jobs.h"
#include "jobs/jobs.h"

#include <apr_atomic.h>
#include <pthread.h>

typedef struct lender_t {
    sr_store_source_t source;
    link_t link;
    volatile apr_uint32_t reads, writes; /* how often it was borrowed to read and to write */
} lender_t;

static inline sr_error_t *borrow(sr_store_source_t *source, sr_store_t **store, apr_pool_t *pool)
{
    lender_t *lender = (lender_t *)source;
    link_t *link = &lender->link;

    (void)pool;
    apr_atomic_inc32(source->reads ? &lender->reads : &lender->writes);
    *store = link->store;
    return link->store ? NULL : link_open(link);
}

static inline void give_back(sr_store_source_t *source, sr_store_t *store)
{
    (void)source;
    (void)store;
}

static inline sr_store_source_t *database(void *baton, int number, apr_pool_t *pool)
{
    lender_t *lender = baton;

    (void)number;
    (void)pool;
    if (!lender->link.store) link_open(&lender->link);
    return &lender->source;
}

static inline void notice(void *baton, bool grave, const char *message)
{
    (void)baton;
    if (grave) printf("# %s\n", message);
}

static inline void *run(void *data)
{
    sr_jobs_run(data);
    return NULL;
}

/* A job thread over a database. */
typedef struct worker_t {
    lender_t lender;
    sr_jobs_t *jobs;
    apr_pool_t *pool;
    pthread_t thread;
} worker_t;

static inline void worker_start(worker_t *worker, const base_t *base, sr_jobs_options_t options)
{
    *worker = (worker_t){.lender = {.source = {.borrow = borrow, .give_back = give_back}}};
    link_connect(&worker->lender.link, base, base->pool);
    options.databases = 1;
    options.database = database;
    options.baton = &worker->lender;
    options.notice = notice;
    options.agent = "t";
    apr_pool_create_unmanaged_ex(&worker->pool, NULL, NULL);
    ok(!sr_jobs_create(&worker->jobs, &options, worker->pool), "a job thread");
    pthread_create(&worker->thread, NULL, run, worker->jobs);
}

static inline void worker_stop(worker_t *worker)
{
    sr_jobs_stop(worker->jobs, 0);
    pthread_join(worker->thread, NULL);
    apr_pool_destroy(worker->pool);
    link_close(&worker->lender.link);
}

static inline long ask(link_t *l, const char *sql)
{
    apr_dbd_results_t *results = NULL;
    apr_dbd_row_t *row = NULL;
    apr_pool_t *pool;
    long number = -1;

    apr_pool_create(&pool, l->pool);
    const int status = apr_dbd_select(l->base->driver, pool, l->handle, &results, sql, 1);
    if (status) die(sql, apr_dbd_error(l->base->driver, l->handle, status));
    while (apr_dbd_get_row(l->base->driver, pool, results, &row, -1) == 0)
        if (apr_dbd_get_entry(l->base->driver, row, 0)) number = atol(apr_dbd_get_entry(l->base->driver, row, 0));
    apr_pool_destroy(pool);
    return number;
}

static inline bool is_pgsql(const link_t *l)
{
    return strcmp(l->base->driver_name, "pgsql") == 0;
}

#endif
