/* SPDX-License-Identifier: Apache-2.0 */
/* respond.c: one request. The service is put together from the configuration of the location and the adapters, and the
 * router finds the handler of the route. */
#include "location/location.h"
#include "api/api.h"
#include "httpd/adapters.h"

#include <http_core.h>

void sr_location_name_request(request_rec *r, const sr_location_area_t *area, const char *path)
{
    path += *path == '/';
    sr_run_request_id(r, area->secret ? apr_pstrmemdup(r->pool, path, strcspn(path, "/")) : NULL);
}

#define HOST_MAX 260 /* a DNS name and a port; limited because a response may contain thousands of links */

/* Returns the URL that links begin with. It is inserted into JSON and headers without escaping. Returns NULL if the
 * Host header is not a valid name; httpd itself refuses that unless "HttpProtocolOptions Unsafe" is set. */
static const char *base_url(request_rec *r, const sr_settings_t *settings)
{
    static const char of_hosts[] = "-._:[]0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    const char *host = ap_get_server_name_for_url(r);
    if (*settings->base_url) return settings->base_url;
    if (host[strspn(host, of_hosts)] || strlen(host) > HOST_MAX) return NULL;
    const char *base = ap_construct_url(r->pool, ap_os_escape_path(r->pool, settings->location, 1), r);
    sr_http_warn_of_proxy(r, base);
    return base;
}

/* Takes the session out of a path that begins with "/<uuid>~<session>", and returns it, or NULL. */
static const char *respond_session(const char **path, apr_pool_t *pool)
{
    const char *tilde = **path == '/' && strlen(*path) > SR_UUID_LENGTH ? *path + 1 + SR_UUID_LENGTH : NULL;
    const char *session = tilde && *tilde == '~' ? tilde + 1 : "";
    const size_t length = strcspn(session, "/");
    const char *text = apr_pstrmemdup(pool, session, length);
    if (!sr_text_is_hex(text, SR_SESSION_LENGTH)) return NULL;
    *path = apr_pstrcat(pool, apr_pstrmemdup(pool, *path, (apr_size_t)(tilde - *path)), session + length, NULL);
    return text;
}

int sr_location_respond(request_rec *r, const sr_settings_t *settings, const sr_location_area_t *area, const char *path)
{
    sr_location_name_request(r, area, path);
    const char *base = base_url(r, settings);
    if (!base) return HTTP_BAD_REQUEST;
    const sr_child_t *child = sr_location_child();
    const sr_storage_t storage = sr_run_storage(settings->documents);
    const char *session = area->secret ? respond_session(&path, r->pool) : NULL;
    const sr_service_t service = {
        .child = child,
        .settings = settings,
        .database = sr_run_database(r->server, r->pool),
        .base_url = base,
        .set_base_url = *settings->base_url ? settings->base_url : NULL,
        .storage = storage,
        .cache_root = *settings->cache ? settings->cache : apr_pstrcat(r->pool, storage.main.root, "/cache", NULL),
        .pdf = child->helpers,
        .session = session ? sr_session_hash(session, r->pool) : NULL};
    sr_http_t http = {
        .r = r,
        .pool = r->pool,
        .base_url = base,
        .path = path,
        .settings = settings,
        .service = &service,
        .manual = area == &sr_location_areas[SR_LOCATION_API] ? apr_pstrcat(r->pool, base, "/api/v3/", NULL) : NULL,
        .folder = storage.main.root,
        .secret_paths = area->secret,
        .session = session,
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
