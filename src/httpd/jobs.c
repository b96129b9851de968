/* SPDX-License-Identifier: Apache-2.0 */
/* jobs.c: the job thread of this child. It is started with the child and stopped before mod_dbd closes its
 * connections. Each child has one. They share only the database. */
#include <httpd.h>
#include <http_log.h>
#include <ap_mpm.h>
#include <apr_signal.h>

#include "metrics/metrics.h"
#include "mod_sigreq.h"
#include "httpd/adapters.h"

APLOG_USE_MODULE(sigreq);

/* The time that calls under way get when the child ends. A graceful end costs only the child's place, so they get as
 * long as a call can take. Otherwise httpd checks after 0.34 s whether the child has ended, and again after 1.4 s. */
#define GRACE apr_time_from_sec(21)
#define HASTE apr_time_from_msec(250)

static struct {
    server_rec *main_server;
    const apr_array_header_t *databases; /* server_rec * */
    sr_jobs_t *jobs;                     /* NULL: the thread is not running */
    apr_thread_t *thread;
    apr_pool_t *pool; /* the pool of the thread */
    const sr_run_tasks_t *tasks;
    bool graceful, in_handler;
} child;

static sr_store_source_t *database(void *baton, int number, apr_pool_t *pool)
{
    return sr_run_database(APR_ARRAY_IDX(child.databases, number, server_rec *), pool);
}

static sr_error_t *jobs_timer(void *baton, int number, const char *kind, const char *submission,
                              apr_interval_time_t *again, apr_pool_t *pool)
{
    return child.tasks->timer(database(baton, number, pool), kind, submission, again, pool);
}

static void answered(void *baton, int number, apr_pool_t *pool)
{
    child.tasks->answered(database(baton, number, pool), pool);
}

/* All children continue the same run, whose place is in gauges, because each of them may be the next that is called. */
static void jobs_retain(void *baton, int number, apr_pool_t *pool)
{
    sr_retained_t at = {(int)sr_metrics_value(SR_METRIC_RETAINED_KIND, number, 0),
                        (apr_time_t)sr_metrics_value(SR_METRIC_RETAINED_TIME, number, 0),
                        (apr_int64_t)sr_metrics_value(SR_METRIC_RETAINED_ID, number, 0)};
    int deleted;
    sr_error_t *error = child.tasks->retain(database(baton, number, pool), &deleted, &at, pool);
    sr_metrics_set(SR_METRIC_RETAINED_KIND, number, 0, (apr_uint64_t)at.kind);
    sr_metrics_set(SR_METRIC_RETAINED_TIME, number, 0, (apr_uint64_t)at.closed_at);
    sr_metrics_set(SR_METRIC_RETAINED_ID, number, 0, (apr_uint64_t)at.id);
    if (deleted)
        ap_log_error(APLOG_MARK, APLOG_INFO, 0, child.main_server,
                     "SR0603: %d submissions deleted after their retention period", deleted);
    if (error)
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, child.main_server,
                     "SR0603: a submission could not be deleted after its retention period: %s",
                     sr_error_text(error, false, pool));
}

static bool runs(void *baton, const char *kind)
{
    return strcmp(kind, "archive") != 0 || (child.tasks->archive && sr_run_archive_leads());
}

static sr_error_t *jobs_archive(void *baton, int number, const char *kind, const char *submission, const char *folder,
                                apr_interval_time_t *again, apr_pool_t *pool)
{
    const char *documents = sr_run_archive_folder(number, folder, pool);
    if (!documents)
        return sr_error(pool, SR_EINTERNAL,
                        "the documents of submission %s are in a folder that is not a SigreqDocuments", submission);
    return child.tasks->archive(database(baton, number, pool), documents, submission, again, pool);
}

static sr_error_t *jobs_files(void *baton, int number, const char *submission, const char *folder,
                              const apr_array_header_t **files, apr_pool_t *pool)
{
    const char *documents = sr_run_archive_folder(number, folder, pool);
    if (!documents)
        return sr_error(pool, SR_EUNAVAILABLE, "The documents are in a folder that is not a SigreqDocuments");
    return child.tasks->files(database(baton, number, pool), documents, submission, files, pool);
}

static void jobs_queue(void *baton, int number, apr_pool_t *pool)
{
    apr_int64_t due = 0;
    sr_error_t *error = child.tasks->queue(database(baton, number, pool), &due, pool);
    if (!error) sr_metrics_set(SR_METRIC_ARCHIVE_DUE, number, 0, (apr_uint64_t)due);
    else
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, child.main_server,
                     "SR0605: cannot query the submissions to be archived: %s", sr_error_text(error, false, pool));
}

static void jobs_notice(void *baton, bool grave, const char *message)
{
    ap_log_error(APLOG_MARK, grave ? APLOG_WARNING : APLOG_INFO, 0, child.main_server, "SR0600: %s", message);
}

static void *APR_THREAD_FUNC run(apr_thread_t *thread, void *data)
{
    sr_jobs_run(data);
    return NULL;
}

/* Handles a signal to end httpd that arrives during a graceful end of the child. */
static void hasten(int number)
{
    sr_run_archive_stop();
    sr_jobs_stop(child.jobs, HASTE);
}

static void on_signals(apr_sigfunc_t *function)
{
    apr_signal(SIGTERM, function);
    apr_signal(SIGHUP, function);
}

/* A pre-cleanup, because cleanups of the same pool close mod_dbd's connections. The MPM does not handle signals any
 * more at this time. */
static apr_status_t jobs_stop(void *data)
{
    if (child.graceful) on_signals(hasten);
    else sr_run_archive_stop();
    sr_jobs_stop(child.jobs, child.graceful ? GRACE : HASTE);
    sr_run_thread_join(child.thread, child.in_handler);
    if (child.graceful) on_signals(SIG_IGN);
    child.jobs = NULL;
    apr_pool_destroy(child.pool);
    return APR_SUCCESS;
}

static sr_error_t *jobs_start(apr_pool_t *pchild, const sr_process_settings_t *conf)
{
    const sr_jobs_options_t options = {.databases = child.databases->nelts,
                                       .database = database,
                                       .notice = jobs_notice,
                                       .answered = answered,
                                       .agent = "mod_sigreq/" MOD_SIGREQ_VERSION,
                                       .allowed = conf->webhook_allow,
                                       .authorities = sr_run_authorities(),
                                       .timer = jobs_timer,
                                       .work = child.tasks->archive ? jobs_archive : NULL,
                                       .files = jobs_files,
                                       .runs = runs,
                                       .queue = child.tasks->archive ? jobs_queue : NULL,
                                       .retain = conf->retention.limited ? jobs_retain : NULL,
                                       .mail = sr_run_mail(child.main_server, conf, child.pool)};
    if (curl_global_init(CURL_GLOBAL_DEFAULT)) return sr_error(pchild, SR_EINTERNAL, "libcurl cannot be used");
    SR_TRY(sr_jobs_create(&child.jobs, &options, child.pool));
    apr_status_t status = sr_run_thread_start(&child.thread, run, child.jobs, child.pool);
    if (!status) return NULL;
    child.jobs = NULL;
    return sr_error(pchild, SR_EINTERNAL, "cannot start a thread: %pm", &status);
}

void sr_run_jobs_child_init(apr_pool_t *pchild, server_rec *main_server, const sr_process_settings_t *conf,
                            const sr_run_tasks_t *tasks)
{
    child.tasks = tasks;
    child.main_server = main_server;
    child.databases = sr_conf_databases(pchild, main_server);
    if (!child.databases->nelts) return;
    for (int i = 0; !tasks->archive && i < child.databases->nelts; i++)
        sr_metrics_set(SR_METRIC_ARCHIVE_DUE, i, 0, 0); /* that of another configuration */
    child.pool = sr_pool_alone();
    sr_error_t *error = jobs_start(pchild, conf);
    if (!error) apr_pool_pre_cleanup_register(pchild, NULL, jobs_stop);
    else
        ap_log_error(APLOG_MARK, APLOG_CRIT, 0, main_server, "SR0601: this child sends no webhooks and no mail: %s",
                     error->message);
}

/* prefork reports every end of a child as not graceful. But only a signal ends a child at once there, and this
 * function then runs in its handler, which may have interrupted any code. */
void sr_run_jobs_child_stopping(apr_pool_t *pchild, int graceful)
{
    int threads = 0;
    ap_mpm_query(AP_MPMQ_IS_THREADED, &threads);
    child.in_handler = sr_run_in_handler();
    child.graceful = threads ? graceful : !child.in_handler;
}

void sr_run_jobs_wake(int database)
{
    if (child.jobs && database >= 0) sr_jobs_wake(child.jobs, database);
}
