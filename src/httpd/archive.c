/* SPDX-License-Identifier: Apache-2.0 */
/* archive.c: what a child needs to archive completed submissions (SigreqLongTerm lta): which child of the machine does
 * it, its connections to timestamp authorities, and the documents folders of each database,
 * which the files of mails need, too. */
#include <httpd.h>
#include <apr_atomic.h>
#include <http_log.h>
#include <string.h>
#include <strings.h>

#include "blobs/blobs.h"
#include "mod_sigreq.h"
#include "httpd/adapters.h"

APLOG_USE_MODULE(sigreq);

static struct {
    server_rec *main_server;
    const char *proofs; /* the folder that has the lock */
    apr_pool_t *locked; /* holds the lock */
    bool leads, said;
    volatile apr_uint32_t stopped;
    const apr_array_header_t *folders; /* for each database: an array of const char * */
} child;

static bool archive_is_stopped(const void *baton)
{
    return apr_atomic_read32(&child.stopped) != 0;
}

void sr_run_archive_stop(void)
{
    apr_atomic_set32(&child.stopped, 1);
}

/* One process archives, because it competes for helpers and processors with people who wait. */
bool sr_run_archive_leads(void)
{
    const char *fault = NULL;
    if (child.leads || archive_is_stopped(NULL)) return child.leads;
    child.leads = sr_proof_lock(&fault, child.proofs, SR_PROOF_ARCHIVES, child.locked);
    if (fault && !child.said)
        ap_log_error(APLOG_MARK, APLOG_ERR, 0, child.main_server, "SR0606: nothing is archived: %s", fault);
    child.said = fault != NULL;
    if (!child.leads) apr_pool_clear(child.locked);
    return child.leads;
}

const char *sr_run_archive_folder(int number, const char *uuid, apr_pool_t *pool)
{
    const apr_array_header_t *folders = APR_ARRAY_IDX(child.folders, number, const apr_array_header_t *);
    for (int i = 0; uuid && i < folders->nelts; i++) {
        const char *folder = APR_ARRAY_IDX(folders, i, const char *), *database, *own;
        sr_blobs_t *blobs;
        if (!sr_run_documents(&blobs, folder, child.main_server, pool)
            && !sr_blobs_binding(&database, &own, blobs, pool) && own && !strcasecmp(own, uuid))
            return folder;
    }
    return NULL;
}

sr_timestamps_t *sr_run_archive_child_init(apr_pool_t *pchild, server_rec *main_server,
                                           const sr_process_settings_t *conf)
{
    const apr_array_header_t *databases = sr_conf_databases(pchild, main_server);
    apr_array_header_t *folders = apr_array_make(pchild, 2, sizeof(const apr_array_header_t *));
    child.main_server = main_server;
    for (int i = 0; i < databases->nelts; i++)
        APR_ARRAY_PUSH(folders, const apr_array_header_t *) =
            sr_conf_folders(pchild, APR_ARRAY_IDX(databases, i, server_rec *), main_server);
    child.folders = folders;
    if (conf->long_term != SR_LONG_TERM_LTA || !sr_run_timestamps_authorities()) return NULL;
    child.proofs = conf->proofs;
    child.locked = sr_pool_alone();
    return sr_run_timestamps_patient(pchild, main_server, conf, archive_is_stopped);
}
