/* SPDX-License-Identifier: Apache-2.0 */
/* child.c: the state of a child of httpd, and what its job thread does with the service. */
#include "location/location.h"
#include "httpd/adapters.h"
#include "metrics/metrics.h"

static sr_child_t child; /* the state of this child process */
static const sr_retention_t *child_retention;
static sr_timestamps_t *patient; /* timestamp authorities that may take longer, for archiving; or NULL */
static sr_archive_options_t archive_options;

const sr_child_t *sr_location_child(void)
{
    return &child;
}

/* The job thread expires submissions and reminds signers. */
static sr_error_t *child_timer(sr_store_source_t *database, const char *kind, const char *submission,
                               apr_interval_time_t *again, apr_pool_t *pool)
{
    const sr_service_t service = {.child = &child, .database = database};
    return sr_service_timer(&service, again, kind, submission, pool);
}

/* The same for SigreqRetention. */
static sr_error_t *child_retain(sr_store_source_t *database, int *deleted, sr_retained_t *at, apr_pool_t *pool)
{
    const sr_service_t service = {.child = &child, .database = database};
    return sr_service_retain(&service, deleted, at, child_retention, pool);
}

/* The same for SigreqLongTerm lta, in threads of their own. */
static sr_error_t *child_archive(sr_store_source_t *database, const char *documents, const char *submission,
                                 apr_interval_time_t *again, apr_pool_t *pool)
{
    sr_child_t own = child;
    own.timestamps = patient;
    const sr_service_t service = {
        .child = &own, .database = database, .storage = sr_run_storage(documents), .pdf = child.helpers};
    return sr_service_archive_due(&service, again, submission, &archive_options, pool);
}

/* The same for the files of a mail, in threads of their own. */
static sr_error_t *child_files(sr_store_source_t *database, const char *documents, const char *submission,
                               const apr_array_header_t **files, apr_pool_t *pool)
{
    const sr_service_t service = {.child = &child, .database = database, .storage = sr_run_storage(documents)};
    return sr_service_attachments(&service, files, submission, pool);
}

static sr_error_t *child_queue(sr_store_source_t *database, apr_int64_t *due, apr_pool_t *pool)
{
    const sr_service_t service = {.child = &child, .database = database};
    return sr_service_archive_queue(&service, due, &archive_options, pool);
}

void sr_location_child_init(apr_pool_t *pchild, server_rec *main_server)
{
    static sr_run_tasks_t tasks = {
        .timer = child_timer, .retain = child_retain, .answered = sr_service_answered, .files = child_files};
    const sr_process_settings_t *conf = sr_conf_of_process(main_server);
    sr_metrics_join();
    sr_json_watch_memory();
    sr_sha256_prepare();
    sr_run_database_child_init(pchild, main_server, conf);
    if (sr_run_disabled()) return;
    sr_run_buckets_child_init(pchild, main_server);
    child = (sr_child_t){.helpers = sr_run_helper_child_init(pchild, main_server, conf),
                         .timestamps = sr_run_timestamps_child_init(pchild, main_server, conf),
                         .long_term = conf->long_term != SR_LONG_TERM_OFF,
                         .folders = sr_folders_create(pchild),
                         .access = sr_access_cache_create(pchild),
                         .versions = sr_version_cache_create(pchild),
                         .keys = sr_key_cache_create(pchild),
                         .trust = sr_run_trust(),
                         .sends_mail = *conf->smtp != '\0',
                         .draft_lifetime = apr_time_from_sec(conf->draft_days * APR_INT64_C(86400)),
                         .code_hook = sr_run_code_hook(),
                         .wake = sr_run_jobs_wake};
    sr_run_seal_child_init(child.seal, &child.own, pchild);
    child.former = sr_run_seal_former();
    child.proofs = sr_run_proofs_child_init(pchild, main_server, conf, child.seal, child.own);
    sr_http_readers_child_init();
    if (sr_run_disabled()) return; /* this child alone, without timestamps */
    child_retention = &conf->retention;
    patient = sr_run_archive_child_init(pchild, main_server, conf);
    archive_options.renew = conf->renew;
    tasks.archive = patient ? child_archive : NULL;
    tasks.queue = patient ? child_queue : NULL;
    sr_run_jobs_child_init(pchild, main_server, conf, &tasks);
}
