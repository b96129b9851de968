/* SPDX-License-Identifier: Apache-2.0 */
/* shared.c: memory that all children share. It survives graceful restarts, because old and new children count at the
 * same time and no count should be lost. Another version of the module, or another layout, begins with new memory. */
#include <httpd.h>
#include <apr_shm.h>
#include <http_log.h>
#include <string.h>

#include "mod_sigreq.h"
#include "httpd/adapters.h"

APLOG_USE_MODULE(sigreq);

void *sr_run_shared(server_rec *main_server, const char *name, apr_size_t size)
{
    apr_pool_t *process = main_server->process->pool;
    const char *key = apr_psprintf(process, "%s " MOD_SIGREQ_VERSION " %" APR_SIZE_T_FMT, name, size);
    apr_shm_t *memory;
    void *kept;
    apr_pool_userdata_get(&kept, key, process);
    memory = kept;
    if (!memory) {
        apr_status_t status = apr_shm_create(&memory, size, NULL, process);
        if (status) {
            ap_log_error(APLOG_MARK, APLOG_STARTUP | APLOG_ERR, status, main_server,
                         "SR0700: shared memory cannot be created");
            return NULL;
        }
        memset(apr_shm_baseaddr_get(memory), 0, size);
        apr_pool_userdata_set(memory, key, NULL, process);
    }
    return apr_shm_baseaddr_get(memory);
}

int sr_run_rates_create(server_rec *main_server)
{
    void *block = sr_run_shared(main_server, "sigreq-rates", sr_rate_size());
    if (!block) return HTTP_INTERNAL_SERVER_ERROR;
    sr_rate_use(block);
    return OK;
}
