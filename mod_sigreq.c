/* SPDX-License-Identifier: Apache-2.0 */
/* mod_sigreq.c: the module record, its hooks, and the way of a request. The handler puts the service together from the
 * configuration of the location and the adapters, and the router finds the handler of the route. */
#include "mod_sigreq.h"

#include <http_core.h>
#include <http_main.h>
#include <http_protocol.h>
#include <http_request.h>
#include <mod_status.h>
#include <mpm_common.h>

#include "api/api.h"
#include "conf/conf.h"
#include "metrics/metrics.h"
#include "web/web.h"
#include "httpd/adapters.h"
#include "service/setup.h"

#define HANDLER "sigreq"

static sr_child_t child; /* the state of this child process */
static const sr_retention_t *child_retention;
static sr_timestamps_t *patient; /* timestamp authorities that may take longer, for archiving; or NULL */
static sr_archive_options_t archive_options;

static void *api_context(const sr_service_t *service, const sr_conf_t *conf, apr_pool_t *pool)
{
    sr_api_t *api = apr_palloc(pool, sizeof *api);
    *api = (sr_api_t){.service = service,
                      .max_file_size = conf->max_file_size,
                      .max_request_size = conf->max_request_size,
                      .max_files = (int)conf->max_files};
    return api;
}

static void *web_context(const sr_service_t *service, const sr_conf_t *conf, apr_pool_t *pool)
{
    const sr_web_t web = {.service = service,
                          .theme = conf->theme,
                          .frame_ancestors = conf->frame_ancestors,
                          .privacy_url = conf->privacy_url,
                          .help_url = conf->help_url,
                          .terms_url = conf->terms_url,
                          .verify_page = conf->verify_page,
                          .max_file_size = conf->max_file_size,
                          .max_request_size = conf->max_request_size};
    return apr_pmemdup(pool, &web, sizeof web);
}

/* The parts of a location. */
typedef struct area_t {
    const char *base;
    const sr_route_t *routes;
    void (*begin)(sr_http_t *http); /* or NULL */
    void *(*context)(const sr_service_t *service, const sr_conf_t *conf,
                     apr_pool_t *pool); /* makes the data of its handlers */
    bool secret;                        /* its paths begin with a secret */
    bool is_public;                     /* its requests need neither a signing link nor a token */
} area_t;
enum { AREA_API, AREA_SIGN, AREA_VERIFY, AREA_FRONT };
static const area_t areas[] = {
    [AREA_API] = {"/api/v3", sr_api_routes, NULL, api_context, false, false},
    [AREA_SIGN] = {"/sign", sr_web_routes, sr_web_begin, web_context, true, false},
    [AREA_VERIFY] = {"/verify", sr_web_verify_routes, sr_web_verify_begin, web_context, false, true},
    [AREA_FRONT] = {"/", sr_web_front_routes, sr_web_front_begin, web_context, false, true},
};

/* The requested path, below the base of the area, and r->uri without the secret that it may contain. */
typedef struct asked_t {
    const char *path, *shown;
} asked_t;

/* Returns the number of a route for metrics: 0 for none, then all routes, area by area. */
static int number_of(const area_t *area, const sr_route_t *route)
{
    int number = route ? (int)(route - area->routes) + 1 : 0;
    for (const area_t *before = areas; route && before < area; before++)
        for (const sr_route_t *row = before->routes; row->path; row++) number++;
    return number;
}

static void name_routes(apr_pool_t *pconf)
{
    sr_metrics_name(SR_LABEL_ROUTE, 0, "other");
    for (const area_t *area = areas; area < areas + sizeof areas / sizeof *areas; area++)
        for (const sr_route_t *row = area->routes; row->path; row++) {
            const char *method = row->method == M_GET ? "GET" : ap_method_name_of(pconf, row->method);
            sr_metrics_name(SR_LABEL_ROUTE, number_of(area, row),
                            apr_pstrcat(pconf, method, " ", area->base, row->path, NULL));
        }
}

/* Returns the part of the path below <location>/api/v3, <location>/sign or <location>/verify, or NULL if the module
 * does not handle the request. *area (may be NULL) is set to the area. */
static const char *own_path(const request_rec *r, const sr_conf_t *conf, const area_t **area)
{
    size_t location = conf->enabled && conf->location ? strlen(conf->location) : 0;
    if (!conf->enabled || strncmp(r->uri, conf->location, location) != 0) return NULL;
    for (int i = 0; i < AREA_FRONT; i++) {
        const char *path = r->uri + location;
        if (i == AREA_VERIFY && !conf->verify_page) continue;
        if (strncmp(path, areas[i].base, strlen(areas[i].base)) != 0) continue;
        path += strlen(areas[i].base);
        if (*path && *path != '/') continue;
        if (area) *area = &areas[i];
        return path;
    }
    return NULL;
}

/* Returns the part of the path below <location>, or NULL if it is not a client's request to this location. */
static const char *below_location(const request_rec *r, const sr_conf_t *conf)
{
    if (r->main || r->prev || !conf->enabled || !conf->location) return NULL;
    const size_t location = strlen(conf->location);
    return strncmp(r->uri, conf->location, location) != 0 ? NULL : r->uri + location;
}

/* Returns true if the request is GET or HEAD of <location> or <location>/: the front page, unless httpd has something
 * else there. */
static bool is_front(const request_rec *r, const sr_conf_t *conf)
{
    const char *path = below_location(r, conf);
    return path && r->method_number == M_GET && (!strcmp(path, "/") || (path != r->uri && !*path));
}

/* Returns true if the path gets a 404 of the API, unless httpd has something else there. */
static bool is_astray(const request_rec *r, const sr_conf_t *conf)
{
    return sr_api_is_astray(below_location(r, conf));
}

/* Runs before anything can refuse the request, so that the refusals of httpd have the id as well. */
static void name_request(request_rec *r, const area_t *area, const char *path)
{
    path += *path == '/';
    sr_run_request_id(r, area->secret ? apr_pstrmemdup(r->pool, path, strcspn(path, "/")) : NULL);
}

/* Called before the path is decoded. httpd refuses "%2F" with its own error page (AllowEncodedSlashes). DONE skips
 * the decoding, so that the module sends its own 404. */
static int pre_translate_name(request_rec *r)
{
    const area_t *area;
    const char *path = own_path(r, sr_conf_of_request(r), &area);
    if (path) name_request(r, area, path);
    return path && strchr(path, '%') && strcasestr(path, "%2f") ? DONE : DECLINED;
}

/* Requests of this module have no file, so httpd need not look for one, and <Directory> sections do not apply. The
 * hook runs before mod_proxy, so that "ProxyPass /" does not catch a <Location> of this module, and after
 * mod_rewrite, whose rules may change the path. Access control logs r->filename, so it must not contain the secret. */
static int translate_name(request_rec *r)
{
    const area_t *area;
    const char *path = own_path(r, sr_conf_of_request(r), &area);
    if (!path) return DECLINED;
    name_request(r, area, path); /* mod_rewrite may have changed the path */
    asked_t *asked = apr_palloc(r->pool, sizeof *asked);
    *asked = (asked_t){.path = path, .shown = r->uri};
    if (area->secret && *path) asked->shown = sr_run_log_hide(r, path + 1);
    ap_set_module_config(r->request_config, &sigreq_module, asked);
    r->filename = apr_pstrcat(r->pool, HANDLER ":", asked->shown, NULL);
    return OK;
}

/* The same for the front page. It runs when no module has mapped the path (mod_alias, mod_proxy, mod_rewrite …), and
 * takes the path only if there is no document root, in which something could be found. Otherwise front_handler decides.
 * Without a document root, httpd would look for the path in a folder that its <Directory> sections usually deny. */
static int translate_front(request_rec *r)
{
    const core_dir_config *core = ap_get_core_module_config(r->per_dir_config);
    const sr_conf_t *conf = sr_conf_of_request(r);
    apr_finfo_t found;
    if ((!is_front(r, conf) && !is_astray(r, conf)) || core->handler || core->expr_handler) return DECLINED;
    if (!APR_STATUS_IS_ENOENT(apr_stat(&found, ap_document_root(r), APR_FINFO_TYPE, r->pool))) return DECLINED;
    r->filename = apr_pstrcat(r->pool, HANDLER ":", r->uri, NULL);
    return OK;
}

static bool is_ours(const request_rec *r)
{
    return r->filename && !strncmp(r->filename, HANDLER ":", sizeof HANDLER);
}

/* Replaces r->uri by the form without secret. httpd has chosen the sections by path before, and access control, which
 * may log r->uri, runs later. */
static int header_parser(request_rec *r)
{
    const asked_t *asked = ap_get_module_config(r->request_config, &sigreq_module);
    if (asked && is_ours(r)) r->uri = apr_pstrdup(r->pool, asked->shown);
    return DECLINED;
}

static int map_to_storage(request_rec *r)
{
    return is_ours(r) ? OK : DECLINED;
}

/* Checks the path again, because a path that mod_rewrite has changed ("[PT]") gets the configuration of its location
 * only after translate_name. */
static int type_checker(request_rec *r)
{
    if (r->proxyreq) return DECLINED;
    if (!own_path(r, sr_conf_of_request(r), NULL)) return is_ours(r) ? OK : DECLINED; /* OK: the front page */
    r->handler = HANDLER;
    return OK;
}

#define HOST_MAX 260 /* a DNS name and a port; limited because a response may contain thousands of links */

/* Returns the URL that links begin with. It is inserted into JSON and headers without escaping. Returns NULL if the
 * Host header is not a valid name; httpd itself refuses that unless "HttpProtocolOptions Unsafe" is set. */
static const char *base_url(request_rec *r, const sr_conf_t *conf)
{
    static const char of_hosts[] = "-._:[]0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    const char *host = ap_get_server_name_for_url(r);
    if (*conf->base_url) return conf->base_url;
    if (host[strspn(host, of_hosts)] || strlen(host) > HOST_MAX) return NULL;
    const char *base = ap_construct_url(r->pool, ap_os_escape_path(r->pool, conf->location, 1), r);
    sr_http_warn_of_proxy(r, base);
    return base;
}

/* Returns the URL of the verification page. Certificates show it, so it is never derived from a Host header. */
static const char *verify_url(const request_rec *r, const sr_conf_t *conf)
{
    return *conf->base_url && conf->verify_page ? apr_pstrcat(r->pool, conf->base_url, "/verify", NULL) : NULL;
}

/* Answers a request. `path` is below the base of the area. */
static int serve(request_rec *r, const sr_conf_t *conf, const area_t *area, const char *path)
{
    name_request(r, area, path);
    const char *base = base_url(r, conf);
    if (!base) return HTTP_BAD_REQUEST;
    const char *folder = sr_run_documents_folder(conf->documents);
    const sr_service_t service = {.child = &child,
                                  .database = sr_run_database(r->server, r->pool),
                                  .base_url = base,
                                  .set_base_url = *conf->base_url ? conf->base_url : NULL,
                                  .verify_url = verify_url(r, conf),
                                  .wake = sr_run_jobs_wake,
                                  .wake_baton = r->server,
                                  .documents_root = folder,
                                  .bucket = sr_run_bucket(conf->documents),
                                  .also = sr_run_documents_also(conf->documents),
                                  .cache_root =
                                      *conf->cache ? conf->cache : apr_pstrcat(r->pool, folder, "/cache", NULL),
                                  .cache_size = conf->cache_size,
                                  .free_space = conf->free_space,
                                  .pdf = child.helpers,
                                  .database_key = r->server,
                                  .max_files = (int)conf->max_files,
                                  .max_signers = (int)conf->max_signers,
                                  .max_fields = (int)conf->max_fields,
                                  .max_pages = (int)conf->max_pages,
                                  .sends_mail = *sr_conf_of_process(ap_server_conf)->smtp != '\0',
                                  .theme = conf->theme,
                                  .mail_rates = &conf->mail_rates,
                                  .redirects = conf->redirects,
                                  .expiry = conf->expiry,
                                  .refuse_active = conf->refuse_active,
                                  .area_origin = conf->area_origin,
                                  .max_token_age = conf->max_token_age};
    sr_http_t http = {.r = r,
                      .pool = r->pool,
                      .base_url = base,
                      .path = path,
                      .context = area->context(&service, conf, r->pool),
                      .manual = area == &areas[AREA_API] ? apr_pstrcat(r->pool, base, "/api/v3/", NULL) : NULL,
                      .folder = folder,
                      .rates = &conf->rates,
                      .secret_paths = area->secret,
                      .is_public = area->is_public};
    if (area->begin) area->begin(&http);
    sr_run_request_begin(r);
    if (sr_run_disabled()) sr_api_refuse(&http, sr_run_disabled());
    else sr_http_dispatch(&http, area->routes);
    if (area == &areas[AREA_API]) sr_api_ended(&http);
    sr_run_request_end();
    sr_run_metrics_answered(r, number_of(area, http.route));
    return OK;
}

static int handler(request_rec *r)
{
    if (!r->handler || strcmp(r->handler, HANDLER) != 0) return DECLINED;
    const sr_conf_t *conf = sr_conf_of_request(r);
    const area_t *area;
    const asked_t *asked = ap_get_module_config(r->request_config, &sigreq_module);
    const char *path = own_path(r, conf, &area);
    if (!path) return DECLINED;
    return serve(r, conf, area, asked ? asked->path : path);
}

/* Runs after the handlers of all other modules, before httpd's own one, which would answer 404: nothing has this path,
 * neither a file nor a folder, and no handler is configured for it. */
static int front_handler(request_rec *r)
{
    const sr_conf_t *conf = sr_conf_of_request(r);
    if (r->proxyreq || !AP_IS_DEFAULT_HANDLER_NAME(r->handler) || r->finfo.filetype != APR_NOFILE) return DECLINED;
    if (!is_front(r, conf) && !is_astray(r, conf)) return DECLINED;
    r->filename = apr_pstrcat(r->pool, HANDLER ":", r->uri, NULL); /* is_ours: the metrics count the request */
    return is_front(r, conf) ? serve(r, conf, &areas[AREA_FRONT], "") : serve(r, conf, &areas[AREA_API], "//");
}

/* Runs before any other logging. After an internal redirect, each step of the request is counted. */
static int log_transaction(request_rec *r)
{
    if (!r->filename) sr_run_log_hide_refused(r);
    for (request_rec *step = r; step; step = step->next) {
        if (!is_ours(step)) continue;
        sr_run_metrics_count(step);
        r->the_request = step->the_request; /* the form without the secret */
    }
    return DECLINED;
}

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
    if (ap_state_query(AP_SQ_RUN_MODE) == AP_SQ_RM_CONFIG_TEST) sr_run_owned_check(ptemp, main_server);
}

/* A missing directive stops httpd, like a misspelt one. */
static int check_config(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp, server_rec *main_server)
{
    if (sr_conf_is_dump()) return OK;
    /* each check logs the faults that it finds; OK is 0 */
    int result = sr_conf_check(ptemp, main_server) | sr_conf_check_sharing(ptemp, main_server);
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
    name_routes(pconf);
    sr_run_database_post_config();
    int result = sr_run_lock_create(main_server);
    if (result == OK) result = sr_run_metrics_create(pconf, main_server);
    if (result == OK) result = sr_run_rates_create(main_server);
    if (result == OK) result = share(main_server, "sigreq-readers", sr_http_readers_size(), sr_http_readers_use);
    if (result == OK) result = share(main_server, "sigreq-standing", sr_standing_size(), sr_standing_use);
    if (result == OK) result = sr_run_helper_create(main_server);
    return result == OK ? load(pconf, ptemp, main_server) : result;
}

/* The job thread expires submissions and reminds signers. */
static sr_error_t *timer(sr_store_source_t *database, const char *kind, const char *submission,
                         apr_interval_time_t *again, apr_pool_t *pool)
{
    const sr_service_t service = {.child = &child, .database = database};
    return sr_service_timer(&service, again, kind, submission, pool);
}

/* The same for SigreqRetention. */
static sr_error_t *retain(sr_store_source_t *database, int *deleted, sr_retained_t *at, apr_pool_t *pool)
{
    const sr_service_t service = {.child = &child, .database = database};
    return sr_service_retain(&service, deleted, at, child_retention, pool);
}

/* The same for SigreqLongTerm lta, in threads of their own. */
static sr_error_t *archive(sr_store_source_t *database, const void *server, const char *documents,
                           const char *submission, apr_interval_time_t *again, apr_pool_t *pool)
{
    sr_child_t own = child;
    own.timestamps = patient;
    const sr_service_t service = {.child = &own,
                                  .database = database,
                                  .database_key = server,
                                  .documents_root = sr_run_documents_folder(documents),
                                  .bucket = sr_run_bucket(documents),
                                  .also = sr_run_documents_also(documents),
                                  .pdf = child.helpers};
    return sr_service_archive_due(&service, again, submission, &archive_options, pool);
}

static sr_error_t *queue(sr_store_source_t *database, const void *server, apr_int64_t *due, apr_pool_t *pool)
{
    const sr_service_t service = {
        .child = &child, .database = database, .wake = sr_run_jobs_wake, .wake_baton = (void *)server};
    return sr_service_archive_queue(&service, due, &archive_options, pool);
}

static void child_init(apr_pool_t *pchild, server_rec *main_server)
{
    static sr_run_tasks_t tasks = {.timer = timer, .retain = retain, .answered = sr_service_answered};
    const sr_conf_process_t *conf = sr_conf_of_process(main_server);
    sr_metrics_join();
    sr_json_watch_memory();
    sr_sha256_prepare();
    sr_run_database_child_init(pchild, main_server, conf);
    if (sr_run_disabled()) return;
    sr_run_buckets_child_init(pchild, main_server);
    child = (sr_child_t){.helpers = sr_run_helper_child_init(pchild, main_server, conf),
                         .timestamps = sr_run_timestamps_child_init(pchild, main_server, conf),
                         .long_term = conf->long_term != SR_LONG_TERM_OFF,
                         .next_from = conf->seal_next_from,
                         .folders = sr_folders_create(pchild),
                         .access = sr_access_cache_create(pchild),
                         .standing = sr_standing_create(pchild),
                         .keys = sr_key_cache_create(pchild),
                         .trust = sr_run_trust()};
    child.next_unusable = !sr_run_seal_child_init(child.seal, &child.own, pchild);
    child.former = sr_run_seal_former();
    child.proofs = sr_run_proofs_child_init(pchild, main_server, conf, child.seal, child.own);
    sr_http_readers_child_init();
    if (sr_run_disabled()) return; /* this child alone, without timestamps */
    child_retention = &conf->retention;
    patient = sr_run_archive_child_init(pchild, main_server, conf);
    archive_options.renew = conf->renew;
    tasks.archive = patient ? archive : NULL;
    tasks.queue = patient ? queue : NULL;
    sr_run_jobs_child_init(pchild, main_server, conf, &tasks);
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
    ap_hook_child_init(child_init, dbd, NULL, APR_HOOK_LAST);
    ap_hook_child_stopping(sr_run_jobs_child_stopping, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_translate_name(translate_name, rewrite, proxy, APR_HOOK_FIRST);
    ap_hook_translate_name(translate_front, NULL, core, APR_HOOK_REALLY_LAST);
    ap_hook_pre_translate_name(pre_translate_name, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_header_parser(header_parser, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_map_to_storage(map_to_storage, NULL, NULL, APR_HOOK_FIRST);
    ap_hook_type_checker(type_checker, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_handler(handler, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_handler(front_handler, NULL, NULL, APR_HOOK_LAST);
    ap_hook_handler(sr_run_metrics_show, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_insert_error_filter(sr_run_request_id_again, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_log_transaction(log_transaction, NULL, NULL, APR_HOOK_REALLY_FIRST);
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
