/* SPDX-License-Identifier: Apache-2.0 */
/* work.c: jobs whose work may block, such as archiving a submission, which asks helpers and timestamp authorities, or
 * reading the files of a mail. The thread that serves all jobs must not wait for them, so each has a thread of its own.
 * A kind has few of them at a time (kinds.def). */
#include "jobs/work.h"
#include "jobs/attached.h"

#include <apr_atomic.h>
#include <pthread.h>
#include <signal.h>

struct sr_work_t {
    const sr_jobs_options_t *options;
    CURLM *multi;
    apr_pool_t *pool; /* of the thread: it has no parent, because pools are not safe to share */
    pthread_t thread;
    int database;
    const char *kind, *submission, *folder;
    bool reads; /* the files of a mail, without other work */
    apr_interval_time_t again;
    const sr_mail_files_t *files;
    sr_error_t *error;
    volatile apr_uint32_t ended;
};

static sr_error_t *work_read(sr_work_t *work)
{
    const apr_array_header_t *files;
    SR_TRY(
        work->options->files(work->options->baton, work->database, work->submission, work->folder, &files, work->pool));
    return sr_mail_files(&work->files, files, work->pool);
}

static void *work_run(void *data)
{
    sr_work_t *work = data;
    work->error = work->reads ? work_read(work)
                              : work->options->work(work->options->baton, work->database, work->kind, work->submission,
                                                    work->folder, &work->again, work->pool);
    apr_atomic_set32(&work->ended, 1);
    curl_multi_wakeup(work->multi);
    return NULL;
}

/* Starts the thread with all signals blocked, because only other threads handle them. */
static bool work_start(sr_work_t *work)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = !pthread_create(&work->thread, NULL, work_run, work);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

sr_work_t *sr_work_begin(const sr_jobs_options_t *options, CURLM *multi, const sr_job_t *job)
{
    apr_pool_t *pool = sr_pool_alone();
    const char *read = sr_json_string(job->body, "shows");
    if (!pool) return NULL;
    sr_work_t *work = apr_pcalloc(pool, sizeof *work);
    *work = (sr_work_t){.options = options,
                        .multi = multi,
                        .pool = pool,
                        .database = job->database,
                        .kind = job->kind->name,
                        .reads = read != NULL,
                        .submission = apr_pstrdup(pool, read ? read : sr_json_string(job->body, "submission")),
                        .folder = apr_pstrdup(pool, sr_json_string(job->body, "folder"))};
    if (work_start(work)) return work;
    apr_pool_destroy(pool);
    return NULL;
}

bool sr_work_has_ended(const sr_work_t *work)
{
    return apr_atomic_read32((volatile apr_uint32_t *)&work->ended) != 0;
}

static apr_status_t work_free(void *pool)
{
    apr_pool_destroy(pool);
    return APR_SUCCESS;
}

void sr_work_end(sr_work_t *work, sr_call_result_t *result, apr_pool_t *pool)
{
    pthread_join(work->thread, NULL);
    if (!result) {
        apr_pool_destroy(work->pool);
        return;
    }
    const sr_error_t *error = work->error;
    *result = (sr_call_result_t){.success = !error,
                                 .again = work->again,
                                 .unaccepted = error && error->code != SR_ENOTFOUND && error->code != SR_EGONE,
                                 .error = error ? error->message : NULL,
                                 .detail = error ? sr_error_text(error, false, work->pool) : NULL,
                                 .files = work->files};
    apr_pool_cleanup_register(pool, work->pool, work_free, apr_pool_cleanup_null);
}
