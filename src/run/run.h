/* run.h: adapters between httpd and the layers below: mod_dbd's connections, the SQLite writer's lock, the pool of
 * PDF helpers of this child.
 *
 * Sections: database.c · helper.c
 */
#ifndef SR_RUN_H
#define SR_RUN_H

#include <httpd.h>

#include "conf/conf.h"
#include "pdf/pdf.h"
#include "store/store.h"

/* ---------------------------------------------------------------------------------------------- database.c */
/* pre_config and post_config: the lock that lets one SQLite writer in at a time, over all children. */
int sr_run_lock_register(apr_pool_t *pconf);
int sr_run_lock_create(server_rec *main_server);
void sr_run_lock_child_init(apr_pool_t *pchild, server_rec *main_server);
/* A source over mod_dbd's connections for one request (or one thread): it lends one connection at a time. */
sr_store_source_t *sr_run_database(server_rec *server, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ helper.c */
/* child_init: the child's pool of sigreq-pdfd workers; they start when first needed. */
void sr_run_helper_child_init(apr_pool_t *pchild, server_rec *main_server, const sr_conf_process_t *conf);
sr_pdf_pool_t *sr_run_helper(void);

#endif
