/* SPDX-License-Identifier: Apache-2.0 */
/* adapters.h: adapters between httpd and the layers below it: mod_dbd's connections, the lock of SQLite's writers, the
 * PDF helpers of this child, the seal keys, the certificate authorities for outgoing calls, the job thread and the
 * metrics.
 *
 * Sections: connections.c · unusable.c · owned.c · helper.c · forked.c · seals.c · own_seals.c · signd.c ·
 * authorities.c · timestamps.c · proofs.c · log.c · request_id.c · thread.c · archive.c · jobs.c · mail.c · shared.c ·
 * metrics.c · status.c
 *
 * Each comment begins with the httpd hooks that call the function. */
#ifndef SR_HTTPD_ADAPTERS_H
#define SR_HTTPD_ADAPTERS_H

#include <httpd.h>
#include <apr_dbd.h>
#include <mod_dbd.h>

#include "blobs/blobs.h"
#include "conf/conf.h"
#include "jobs/jobs.h"
#include "helper/pdf.h"
#include "signer/protocol.h"
#include "store/store.h"
#include "authorities/proofs.h"
#include "authorities/timestamp.h"

/* ---------------------------------------------------------------------------------------------- connections.c */
/* pre_config, post_config: registers and creates the mutex that lets one process at a time write to SQLite. */
int sr_run_lock_register(apr_pool_t *pconf);
int sr_run_lock_create(server_rec *main_server);
/* post_config: sets libpq's default of connect_timeout, before children open connections. */
void sr_run_database_post_config(void);
/* child_init: opens the mutex in the child, and starts the limits on the time that the database may take. */
void sr_run_database_child_init(apr_pool_t *pchild, server_rec *main_server, const sr_process_settings_t *conf);
/* Returns the number of a server's database in sr_conf_databases, or -1 if it has none. */
int sr_run_database_number(const server_rec *server);
/* Opens a connection without mod_dbd, which is closed with `pool`. Returns NULL, or why that is not possible, in the
 * driver's words. */
const char *sr_run_database_open(ap_dbd_t *connection, const char *driver, const char *params, apr_pool_t *pool);
/* Returns a source of mod_dbd's connections for one request or one thread. It lends one connection at a time. */
sr_store_source_t *sr_run_database(server_rec *server, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- unusable.c
 * The functions below that check something only log faults. They run in check_config, if sr_conf_is_rehearsal. Those
 * that load something log the faults again, in post_config, and disable the service if it cannot work without it.
 */
/* post_config: the service works, unless something is unusable. */
void sr_run_enable(void);
/* Logs why a file of the configuration cannot be used: `fault` begins with a tag. At a start it disables the service.
 */
void sr_run_unusable(server_rec *main_server, const char *fault);
/* Returns the tag of the reason why the service answers 503, or NULL. */
const char *sr_run_disabled(void);

/* ------------------------------------------------------------------------------------------------- owned.c */
/* check_config of `httpd -t`, and post_config of each start: asks each database whether the documents folders that are
 * used with it belong to it. A folder of another database is logged (SR0702): the service stores nothing there. A
 * database that does not answer within 5 s, or is not set up, is a warning (SR0703). */
void sr_run_owned_check(apr_pool_t *ptemp, server_rec *main_server);

/* ------------------------------------------------------------------------------------------------ helper.c */
/* check: tries the program, and logs that it does not work. */
void sr_run_helper_check(apr_pool_t *ptemp, server_rec *main_server);
/* post_config: creates the shared memory in which all children count their requests for page images. */
int sr_run_helper_create(server_rec *main_server);
/* child_init: creates the child's pool of sigreq-pdfd workers, which start when they are first needed. Returns NULL,
 * after a message in the log, if that fails. */
sr_pdf_pool_t *sr_run_helper_child_init(apr_pool_t *pchild, server_rec *main_server, const sr_process_settings_t *conf);

/* ------------------------------------------------------------------------------------------------ forked.c */
/* Calls `work` in a forked process, and returns the text that it returns. NULL: that was not possible, or the process
 * died. */
const char *sr_run_forked(const char *(*work)(const void *baton, apr_pool_t *pool), const void *baton,
                          apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- code_hook.c */
/* check, and post_config: reads the secret of SigreqCodeHook. */
void sr_run_code_hook_load(apr_pool_t *pool, server_rec *main_server);
/* child_init: returns the function that calls it (sr_child_t), or NULL. */
bool (*sr_run_code_hook(void))(const char *body, apr_pool_t *pool);

/* -------------------------------------------------------------------------------------------------- seals.c */
/* check_config, which `httpd -t` also runs: returns HTTP_INTERNAL_SERVER_ERROR, after one message in the log per fault,
 * if a directive of a seal is missing. */
int sr_run_seal_require(apr_pool_t *ptemp, server_rec *main_server);
/* check: tries the keys, and logs faults. */
void sr_run_seal_check(apr_pool_t *ptemp, server_rec *main_server);
/* post_config: starts the signer process, which reads the keys with the rights of the user who started httpd. A seal
 * that cannot be used is logged: its documents are not sealed. */
void sr_run_seal_load(apr_pool_t *pconf, server_rec *main_server);
/* monitor, which the parent runs every few seconds: warns once a day of a certificate that expires soon. */
int sr_run_seal_monitor(apr_pool_t *pool, server_rec *main_server);
/* child_init: sets the array of what seals documents, by environment. A member is replaced if the signer process has
 * another certificate later. *own has the own seals of organisations (sr_cms_own_t), or is NULL. */
void sr_run_seal_child_init(const sr_cms_identity_t **used, const apr_array_header_t **own, apr_pool_t *pchild);
/* Returns the certificates (const sr_cms_certificate_t *) that the seal of production had before, as the parent has
 * read them. */
const apr_array_header_t *sr_run_seal_former(void);

/* --------------------------------------------------------------------------------------------------- own_seals.c
 * The own seals of organisations, for seals.c.
 */
/* check: logs the seals that cannot be used, or that the folder cannot be read. */
void sr_run_own_check(apr_pool_t *ptemp, server_rec *main_server);
/* post_config: forgets the seals of the configuration before, and reads those of the signer process's answer. */
void sr_run_own_forget(void);
void sr_run_own_read(const json_t *answer, server_rec *main_server, apr_pool_t *pconf);
/* monitor: warns of those that expire soon, and sets the metrics. */
void sr_run_own_warn(server_rec *main_server, apr_pool_t *pool);
void sr_run_own_measure(void);
/* child_init: returns the seals (sr_cms_own_t), or NULL. `signd` signs with them. */
const apr_array_header_t *sr_run_own_child_init(sr_signd_t *signd);

/* ------------------------------------------------------------------------------------------------- signd.c */
/* post_config: starts the signer process (signer/protocol.h) with `setup`, a JSON object in `pconf`, and waits for its
 * answer. The parent starts it again when it dies. Returns the fault, and then there is no process; or NULL. */
const char *sr_run_signd_start(const json_t **answer, apr_pool_t *pconf, server_rec *main_server, json_t *setup);
/* check_config: checks the pair of one seal by a process that ends after its answer, and tries no
 * PIN. `setup` is as above. Returns the fault, or NULL. */
const char *sr_run_signd_check(int seal, apr_pool_t *ptemp, server_rec *main_server, json_t *setup);
/* Adds to a setup what is needed for keys in tokens (SigreqPKCS11Module, SigreqSealPIN), if there are any. */
void sr_run_signd_token(json_t *setup, server_rec *main_server);
/* child_init: returns the door to the signer process; -1: there is none. */
int sr_run_signd_child_init(void);
/* monitor: starts the signer process if it died and could not be started again. */
void sr_run_signd_monitor(void);

/* ------------------------------------------------------------------------------------------- authorities.c */
/* check, and post_config: checks and reads SigreqCACertificateFile and SigreqTrust. */
void sr_run_authorities_check(apr_pool_t *ptemp, server_rec *main_server);
void sr_run_authorities_load(apr_pool_t *pconf, server_rec *main_server);
/* Returns the certificates as PEM text; NULL: the system's authorities are trusted. */
const char *sr_run_authorities(void);
/* Returns the certificates of SigreqTrust, or NULL. */
const sr_cms_anchors_t *sr_run_trust(void);

/* -------------------------------------------------------------------------------------------- timestamps.c */
/* check_config: returns HTTP_INTERNAL_SERVER_ERROR, after a message in the log, if SigreqTimestamp lacks another
 * directive. */
int sr_run_timestamps_require(server_rec *main_server);
/* check, and post_config: checks and reads what SigreqTimestamp needs. No authority is asked. */
void sr_run_timestamps_check(apr_pool_t *ptemp, server_rec *main_server);
int sr_run_timestamps_load(apr_pool_t *pconf, server_rec *main_server);
/* child_init: makes the child's connections. Returns NULL if signatures get no timestamps. */
sr_timestamps_t *sr_run_timestamps_child_init(apr_pool_t *pchild, server_rec *main_server,
                                              const sr_process_settings_t *conf);
/* The same with longer time limits, for work that nobody waits for. `stopped`: as in sr_fetch_options_t. */
sr_timestamps_t *sr_run_timestamps_patient(apr_pool_t *pchild, server_rec *main_server,
                                           const sr_process_settings_t *conf, bool (*stopped)(const void *baton));
/* Returns SigreqTimestampAuthorities as PEM text; NULL: signatures get no timestamps. */
const char *sr_run_timestamps_authorities(void);

/* ------------------------------------------------------------------------------------------------ proofs.c */
/* check_config: returns HTTP_INTERNAL_SERVER_ERROR, after a message in the log, if SigreqSealAuthorities lacks another
 * directive. */
int sr_run_proofs_require(server_rec *main_server);
/* check, and post_config: checks and reads what SigreqSealAuthorities needs. Nothing is fetched. */
void sr_run_proofs_check(apr_pool_t *ptemp, server_rec *main_server);
void sr_run_proofs_load(apr_pool_t *pconf, server_rec *main_server);
/* child_init, after that of the seal: starts the thread that collects proofs in one child of the machine. `seals` are
 * those of the child, by environment, and `own` those of organisations (or NULL), which may be replaced. Returns the
 * child's memory of proofs; NULL: none are collected. */
sr_proof_cache_t *sr_run_proofs_child_init(apr_pool_t *pchild, server_rec *main_server,
                                           const sr_process_settings_t *conf, const sr_cms_identity_t *const *seals,
                                           const apr_array_header_t *own);

/* --------------------------------------------------------------------------------------------------- log.c */
/* Removes the signing link from the request line (r->the_request). `path` is the path below <location>/sign/. Returns
 * r->uri without the link. */
const char *sr_run_log_hide(request_rec *r, const char *path);
/* Does the same for a request that httpd refused before it parsed the path: it removes the text after each "/sign/". */
void sr_run_log_hide_refused(request_rec *r);

/* -------------------------------------------------------------------------------------------- request_id.c */
/* pre_translate_name, translate_name and handler: gives the request its id, if it has none yet. The response has it as
 * X-Request-Id, r->log_id and the variable SIGREQ_REQUEST_ID have it for logs. It is the X-Request-Id of the request,
 * if that is well-formed and does not contain `secret` (may be NULL), the link of a signer; else that of mod_unique_id;
 * else a random UUID. */
void sr_run_request_id(request_rec *r, const char *secret);
/* insert_error_filter: httpd has removed all headers, to answer with an error of its own, such as 416. */
void sr_run_request_id_again(request_rec *r);
/* handler: this thread begins and ends to answer the request. */
void sr_run_request_begin(const request_rec *r);
void sr_run_request_end(void);
/* Writes a message to the error log, with the id of the request that this thread answers, if any. */
void sr_run_log(const server_rec *server, int level, const char *message);

/* ------------------------------------------------------------------------------------------------ thread.c */
/* Starts a thread with all signals blocked, because only httpd's own threads handle them. */
apr_status_t sr_run_thread_start(apr_thread_t **thread, apr_thread_start_t function, void *data, apr_pool_t *pool);
/* Waits for the thread. A process that ends in a signal handler may hold a lock that the thread needs, such as
 * malloc's, and then the thread cannot end. In this case the process exits after a second, and the kernel releases
 * the locks that other children wait for. */
void sr_run_thread_join(apr_thread_t *thread, bool in_handler);
/* Returns true in the handler of a signal that ends this child. */
bool sr_run_in_handler(void);

/* ------------------------------------------------------------------------------------------------ buckets.c */
/* check, and post_config: reads the credentials of SigreqDocuments s3://. */
void sr_run_buckets_load(apr_pool_t *pool, server_rec *main_server);
/* child_init: makes the clients of all buckets. */
void sr_run_buckets_child_init(apr_pool_t *pchild, server_rec *main_server);
/* Returns the storage of a SigreqDocuments, with its SigreqDocumentsAlso. */
sr_storage_t sr_run_storage(const char *documents);
/* Opens the storage of a SigreqDocuments, also in a process that is no child. */
sr_error_t *sr_run_documents(sr_blobs_t **blobs, const char *documents, server_rec *main_server, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ archive.c */
/* child_init, before that of the jobs: prepares the child for archiving (SigreqLongTerm lta). Returns the timestamp
 * authorities for it; NULL: the child archives nothing. */
sr_timestamps_t *sr_run_archive_child_init(apr_pool_t *pchild, server_rec *main_server,
                                           const sr_process_settings_t *conf);
/* Returns true if this child archives for the machine. It takes the place of a child that has died. For the job
 * thread. */
bool sr_run_archive_leads(void);
/* Returns the folder with this uuid among the documents folders of a database (its number); NULL: it is none of them.
 */
const char *sr_run_archive_folder(int number, const char *uuid, apr_pool_t *pool);
/* The child ends: requests to timestamp authorities are given up. */
void sr_run_archive_stop(void);

/* -------------------------------------------------------------------------------------------------- jobs.c */
/* What the job thread calls (sr_jobs_options_t). */
typedef struct sr_run_tasks_t {
    sr_error_t *(*timer)(sr_store_source_t *database, const char *kind, const char *submission,
                         apr_interval_time_t *again, apr_pool_t *pool);
    void (*answered)(sr_store_source_t *database, apr_pool_t *pool);
    sr_error_t *(*retain)(sr_store_source_t *database, int *deleted, sr_retained_t *at, apr_pool_t *pool);
    /* Opens the files of a mail (sr_service_attachments). */
    sr_error_t *(*files)(sr_store_source_t *database, const char *documents, const char *submission,
                         const apr_array_header_t **files, apr_pool_t *pool);
    /* NULL: this child archives nothing. */
    sr_error_t *(*archive)(sr_store_source_t *database, const char *documents, const char *submission,
                           apr_interval_time_t *again, apr_pool_t *pool);
    /* Queues what is to be archived. *due is the number of such submissions. NULL with `archive`. */
    sr_error_t *(*queue)(sr_store_source_t *database, apr_int64_t *due, apr_pool_t *pool);
} sr_run_tasks_t;
/* child_init (after mod_dbd's) and child_stopping: starts and stops the job thread. */
void sr_run_jobs_child_init(apr_pool_t *pchild, server_rec *main_server, const sr_process_settings_t *conf,
                            const sr_run_tasks_t *tasks);
void sr_run_jobs_child_stopping(apr_pool_t *pchild, int graceful);
/* mail.c: returns the mail settings of the configuration; NULL: no mail is sent. */
const sr_mail_t *sr_run_mail(server_rec *main_server, const sr_process_settings_t *conf, apr_pool_t *pool);
/* The `wake` function of sr_child_t. */
void sr_run_jobs_wake(int database);

/* ------------------------------------------------------------------------------------------------ shared.c */
/* post_config: returns a block of memory that all children share, filled with zeros at first; NULL after a message in
 * the log. */
void *sr_run_shared(server_rec *main_server, const char *name, apr_size_t size);
/* post_config, before anything is counted: creates the shared table of sr_rate_take. */
int sr_run_rates_create(server_rec *main_server);

/* ----------------------------------------------------------------------------------------------- metrics.c */
/* post_config, before anything is counted: creates the shared memory of the metrics. */
int sr_run_metrics_create(apr_pool_t *pconf, server_rec *main_server);
/* Notes that the response is ready. `route` is a value of SR_LABEL_ROUTE. */
void sr_run_metrics_answered(request_rec *r, int route);
/* log_transaction of a request that this module has handled: counts it. */
void sr_run_metrics_count(request_rec *r);
/* handler: serves the metrics for `SetHandler sigreq-metrics`. */
int sr_run_metrics_show(request_rec *r);

/* ------------------------------------------------------------------------------------------------ status.c */
/* status_hook of mod_status. */
int sr_run_status(request_rec *r, int flags);

#endif
