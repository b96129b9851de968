/* SPDX-License-Identifier: Apache-2.0 */
/* run.h: adapters between httpd and the layers below: mod_dbd's connections, the SQLite writer's lock, the pool of
 * PDF helpers of this child, what documents are sealed with, whom calls trust, the delivery thread, what is counted.
 *
 * Sections: database.c · helper.c · seal.c · authorities.c · log.c · jobs.c · mail.c · shared.c ·
 * metrics.c · status.c
 */
#ifndef SR_RUN_H
#define SR_RUN_H

#include <httpd.h>

#include "conf/conf.h"
#include "jobs/jobs.h"
#include "pdf/pdf.h"
#include "store/store.h"

/* ---------------------------------------------------------------------------------------------- database.c */
/* pre_config and post_config: the lock that lets one SQLite writer in at a time, over all children. */
int sr_run_lock_register(apr_pool_t *pconf);
int sr_run_lock_create(server_rec *main_server);
/* post_config: libpq's default for connect_timeout, before children open connections. */
void sr_run_database_post_config(void);
/* child_init: that lock, and what limits the time that the database may take. */
void sr_run_database_child_init(apr_pool_t *pchild, server_rec *main_server, const sr_conf_process_t *conf);
/* The number of a server's database of those of sr_conf_databases; -1: it has none. */
int sr_run_database_number(const server_rec *server);
/* A source over mod_dbd's connections for one request (or one thread): it lends one connection at a time. */
sr_store_source_t *sr_run_database(server_rec *server, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ helper.c */
/* post_config: the memory in which all children count their requests for pages. */
int sr_run_helper_create(server_rec *main_server);
/* child_init: the child's pool of sigreq-pdfd workers; they start when first needed. NULL, with a line in the log, if
 * there can be none. */
sr_pdf_pool_t *sr_run_helper_child_init(apr_pool_t *pchild, server_rec *main_server, const sr_conf_process_t *conf);

/* -------------------------------------------------------------------------------------------------- seal.c */
/* check_config, which `httpd -t` runs too: OK, or HTTP_INTERNAL_SERVER_ERROR after one line per fault. */
int sr_run_seal_check(apr_pool_t *ptemp, server_rec *main_server);
/* post_config: reads the keys, by the user who started httpd, for all children. The same results. */
int sr_run_seal_load(apr_pool_t *pconf, server_rec *main_server);
/* What a document of this environment is sealed with. */
const sr_cms_identity_t *sr_run_seal(sr_environment_t environment);

/* ------------------------------------------------------------------------------------------- authorities.c */
/* check_config and post_config, as for the seal: reads SigreqCACertificateFile. */
int sr_run_authorities_check(apr_pool_t *ptemp, server_rec *main_server);
int sr_run_authorities_load(apr_pool_t *pconf, server_rec *main_server);
/* What was read, as PEM text; NULL: the system's are trusted. */
const char *sr_run_authorities(void);

/* --------------------------------------------------------------------------------------------------- log.c */
/* Takes a signing link out of the request line; `path` is what is below <location>/sign/. Returns r->uri without it. */
const char *sr_run_log_hide(request_rec *r, const char *path);
/* The same where httpd has answered without looking at the path: of anything below any …/sign/. */
void sr_run_log_hide_refused(request_rec *r);

/* -------------------------------------------------------------------------------------------------- jobs.c */
/* child_init (after mod_dbd's), child_stopping: the thread that calls webhooks. */
void sr_run_jobs_child_init(apr_pool_t *pchild, server_rec *main_server, const sr_conf_process_t *conf);
void sr_run_jobs_child_stopping(apr_pool_t *pchild, int graceful);
/* mail.c: what the configuration says of it; NULL: none is sent. */
const sr_mail_t *sr_run_mail(server_rec *main_server, const sr_conf_process_t *conf, apr_pool_t *pool);
/* sr_service_t's wake; the baton is the request's server_rec. */
void sr_run_jobs_wake(void *server);

/* ------------------------------------------------------------------------------------------------ shared.c */
/* post_config: a block of memory that all children share, of zeros at first; NULL after a line in the log. */
void *sr_run_shared(server_rec *main_server, const char *name, apr_size_t size);
/* post_config, before anything counts: the table of sr_rate_take. */
int sr_run_rates_create(server_rec *main_server);

/* ----------------------------------------------------------------------------------------------- metrics.c */
/* post_config, before anything counts. */
int sr_run_metrics_create(apr_pool_t *pconf, server_rec *main_server);
/* The answer is ready; route is a number of SR_LABEL_ROUTE. */
void sr_run_metrics_answered(request_rec *r, int route);
/* log_transaction of a request of ours. */
void sr_run_metrics_count(request_rec *r);
/* The handler sigreq-metrics. */
int sr_run_metrics_show(request_rec *r);

/* ------------------------------------------------------------------------------------------------ status.c */
/* mod_status's hook. */
int sr_run_status(request_rec *r, int flags);

#endif
