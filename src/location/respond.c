/* SPDX-License-Identifier: Apache-2.0 */
/* respond.c: one request. The service is put together from the configuration of the location and the adapters, and the
 * router finds the handler of the route. */
#include "location/location.h"
#include "api/api.h"
#include "httpd/adapters.h"

#include <http_core.h>
#include <http_main.h>

void sr_location_name_request(request_rec *r, const sr_location_area_t *area, const char *path)
{
    path += *path == '/';
    sr_run_request_id(r, area->secret ? apr_pstrmemdup(r->pool, path, strcspn(path, "/")) : NULL);
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

int sr_location_respond(request_rec *r, const sr_conf_t *conf, const sr_location_area_t *area, const char *path)
{
    sr_location_name_request(r, area, path);
    const char *base = base_url(r, conf);
    if (!base) return HTTP_BAD_REQUEST;
    const char *folder = sr_run_documents_folder(conf->documents);
    const sr_child_t *child = sr_location_child();
    const sr_service_t service = {.child = child,
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
                                  .pdf = child->helpers,
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
    sr_http_t http = {
        .r = r,
        .pool = r->pool,
        .base_url = base,
        .path = path,
        .context = area->context(&service, conf, r->pool),
        .manual = area == &sr_location_areas[SR_LOCATION_API] ? apr_pstrcat(r->pool, base, "/api/v3/", NULL) : NULL,
        .folder = folder,
        .rates = &conf->rates,
        .secret_paths = area->secret,
        .is_public = area->is_public};
    if (area->begin) area->begin(&http);
    sr_run_request_begin(r);
    if (sr_run_disabled()) sr_api_refuse(&http, sr_run_disabled());
    else sr_http_dispatch(&http, area->routes);
    if (area == &sr_location_areas[SR_LOCATION_API]) sr_api_ended(&http);
    sr_run_request_end();
    sr_run_metrics_answered(r, sr_location_route_number(area, http.route));
    return OK;
}
