/* SPDX-License-Identifier: Apache-2.0 */
/* mod_sigreq.c: the module's record, its hooks, and the start of httpd. */
#include "mod_sigreq.h"

#include <http_core.h>
#include <http_protocol.h>
#include <http_request.h>
#include <mod_status.h>
#include <mpm_common.h>

#include "conf/conf.h"
#include "http/http.h"
#include "httpd/adapters.h"
#include "location/location.h"
#include "service/setup.h"

static int pre_config(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp)
{
    sr_conf_reset(pconf);
    return sr_run_lock_register(pconf);
}

/* Tries everything that a start needs besides the text of the configuration, and logs what does not work. None of it
 * stops httpd. */
static void rehearse(apr_pool_t *ptemp, server_rec *main_server)
{
    sr_conf_check_files(ptemp, main_server);
    sr_run_helper_check(ptemp, main_server);
    sr_run_seal_check(ptemp, main_server);
    sr_run_authorities_check(ptemp, main_server);
    sr_run_timestamps_check(ptemp, main_server);
    sr_run_proofs_check(ptemp, main_server);
    sr_run_buckets_load(ptemp, main_server);
    sr_run_code_hook_load(ptemp, main_server);
    if (ap_state_query(AP_SQ_RUN_MODE) == AP_SQ_RM_CONFIG_TEST) sr_run_owned_check(ptemp, main_server);
}

/* A missing directive stops httpd, like a misspelt one. */
static int check_config(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp, server_rec *main_server)
{
    if (sr_conf_is_dump()) return OK;
    int result = sr_conf_check(ptemp, main_server); /* each check logs the faults that it finds */
    if (sr_conf_check_sharing(ptemp, main_server) != OK) result = HTTP_INTERNAL_SERVER_ERROR;
    if (sr_conf_check_desk(ptemp, main_server) != OK) result = HTTP_INTERNAL_SERVER_ERROR;
    if (sr_run_seal_require(ptemp, main_server) != OK) result = HTTP_INTERNAL_SERVER_ERROR;
    if (sr_run_timestamps_require(main_server) != OK) result = HTTP_INTERNAL_SERVER_ERROR;
    if (sr_run_proofs_require(main_server) != OK) result = HTTP_INTERNAL_SERVER_ERROR;
    if (result == OK && sr_conf_is_rehearsal()) rehearse(ptemp, main_server);
    return result;
}

/* `httpd -t` calls it when nothing is wrong. */
static void test_config(apr_pool_t *ptemp, server_rec *main_server)
{
    if (sr_conf_is_dump()) sr_conf_dump(ptemp, main_server);
}

static int share(server_rec *main_server, const char *name, apr_size_t size, void (*use)(void *block))
{
    void *block = sr_run_shared(main_server, name, size);
    if (!block) return HTTP_INTERNAL_SERVER_ERROR;
    use(block);
    return OK;
}

/* Reads the files of the configuration. One that cannot be used stops this service, or a part of it, and not httpd. */
static int load(apr_pool_t *pconf, apr_pool_t *ptemp, server_rec *main_server)
{
    sr_run_enable();
    sr_conf_check_files(ptemp, main_server);
    sr_run_buckets_load(pconf, main_server);
    sr_run_code_hook_load(pconf, main_server);
    sr_run_owned_check(ptemp, main_server);
    sr_run_seal_load(pconf, main_server);
    sr_run_authorities_load(pconf, main_server);
    sr_run_proofs_load(pconf, main_server);
    return sr_run_timestamps_load(pconf, main_server);
}

static int post_config(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp, server_rec *main_server)
{
    if (ap_state_query(AP_SQ_MAIN_STATE) == AP_SQ_MS_CREATE_PRE_CONFIG)
        return OK; /* httpd reads the configuration twice at its start; this is the first time */
    ap_add_version_component(pconf, "mod_sigreq/" MOD_SIGREQ_VERSION);
    sr_location_name_routes(pconf);
    sr_run_database_post_config();
    int result = sr_run_lock_create(main_server);
    if (result == OK) result = sr_run_metrics_create(pconf, main_server);
    if (result == OK) result = sr_run_rates_create(main_server);
    if (result == OK) result = share(main_server, "sigreq-readers", sr_http_readers_size(), sr_http_readers_use);
    if (result == OK) result = share(main_server, "sigreq-standing", sr_version_cache_size(), sr_version_cache_use);
    if (result == OK) result = sr_run_helper_create(main_server);
    return result == OK ? load(pconf, ptemp, main_server) : result;
}

static void register_hooks(apr_pool_t *pool)
{
    static const char *const rewrite[] = {"mod_rewrite.c", NULL}, *const proxy[] = {"mod_proxy.c", NULL};
    static const char *const dbd[] = {"mod_dbd.c", NULL}, *const core[] = {"core.c", NULL};
    ap_hook_pre_config(pre_config, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_check_config(check_config, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_test_config(test_config, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_post_config(post_config, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_monitor(sr_run_seal_monitor, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_child_init(sr_location_child_init, dbd, NULL, APR_HOOK_LAST);
    ap_hook_child_stopping(sr_run_jobs_child_stopping, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_translate_name(sr_location_translate, rewrite, proxy, APR_HOOK_FIRST);
    ap_hook_translate_name(sr_location_translate_front, NULL, core, APR_HOOK_REALLY_LAST);
    ap_hook_pre_translate_name(sr_location_pre_translate, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_header_parser(sr_location_header_parser, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_map_to_storage(sr_location_map_to_storage, NULL, NULL, APR_HOOK_FIRST);
    ap_hook_type_checker(sr_location_type_checker, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_handler(sr_location_handler, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_handler(sr_location_front_handler, NULL, NULL, APR_HOOK_LAST);
    ap_hook_handler(sr_run_metrics_show, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_insert_error_filter(sr_run_request_id_again, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_log_transaction(sr_location_log, NULL, NULL, APR_HOOK_REALLY_FIRST);
    APR_OPTIONAL_HOOK(ap, status_hook, sr_run_status, NULL, NULL, APR_HOOK_MIDDLE);
}

AP_DECLARE_MODULE(sigreq) = {
    STANDARD20_MODULE_STUFF,
    sr_conf_create_location,
    sr_conf_merge_location,
    sr_conf_create_process,
    NULL, /* PROCESS directives are only in the main server */
    sr_conf_commands,
    register_hooks,
    0,
};
