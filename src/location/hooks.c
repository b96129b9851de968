/* SPDX-License-Identifier: Apache-2.0 */
/* hooks.c: the hooks of a request. The configuration of the location decides whether the module handles a request.
 */
#include "location/location.h"
#include "api/api.h"
#include "httpd/adapters.h"

#include <http_core.h>
#include <http_request.h>

#include "mod_sigreq.h"

#define HANDLER "sigreq"

/* The requested path, below the base of the area, and r->uri without the secret that it may contain. */
typedef struct asked_t {
    const char *path, *shown;
} asked_t;

/* Called before the path is decoded. httpd refuses "%2F" with its own error page (AllowEncodedSlashes). DONE skips
 * the decoding, so that the module sends its own 404. */
int sr_location_pre_translate(request_rec *r)
{
    const sr_location_area_t *area;
    const char *path = sr_location_path(r, sr_conf_of_request(r), &area);
    if (path) sr_location_name_request(r, area, path);
    return path && strchr(path, '%') && strcasestr(path, "%2f") ? DONE : DECLINED;
}

/* Requests of this module have no file, so httpd need not look for one, and <Directory> sections do not apply. The
 * hook runs before mod_proxy, so that "ProxyPass /" does not catch a <Location> of this module, and after
 * mod_rewrite, whose rules may change the path. Access control logs r->filename, so it must not contain the secret. */
int sr_location_translate(request_rec *r)
{
    const sr_location_area_t *area;
    const char *path = sr_location_path(r, sr_conf_of_request(r), &area);
    if (!path) return DECLINED;
    sr_location_name_request(r, area, path); /* mod_rewrite may have changed the path */
    asked_t *asked = apr_palloc(r->pool, sizeof *asked);
    *asked = (asked_t){.path = path, .shown = r->uri};
    if (area->secret && *path) asked->shown = sr_run_log_hide(r, path + 1);
    ap_set_module_config(r->request_config, &sigreq_module, asked);
    r->filename = apr_pstrcat(r->pool, HANDLER ":", asked->shown, NULL);
    return OK;
}

/* The same for the front page. It runs when no module has mapped the path (mod_alias, mod_proxy, mod_rewrite …), and
 * takes the path only if there is no document root, in which something could be found. Otherwise
 * sr_location_front_handler decides. Without a document root, httpd would look for the path in a folder that its
 * <Directory> sections usually deny. */
int sr_location_translate_front(request_rec *r)
{
    const core_dir_config *core = ap_get_core_module_config(r->per_dir_config);
    const sr_settings_t *conf = sr_conf_of_request(r);
    apr_finfo_t found;
    if ((!sr_location_is_front(r, conf) && !sr_location_is_astray(r, conf)) || core->handler || core->expr_handler)
        return DECLINED;
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
int sr_location_header_parser(request_rec *r)
{
    const asked_t *asked = ap_get_module_config(r->request_config, &sigreq_module);
    if (asked && is_ours(r)) r->uri = apr_pstrdup(r->pool, asked->shown);
    return DECLINED;
}

int sr_location_map_to_storage(request_rec *r)
{
    return is_ours(r) ? OK : DECLINED;
}

/* Checks the path again, because a path that mod_rewrite has changed ("[PT]") gets the configuration of its location
 * only after sr_location_translate. */
int sr_location_type_checker(request_rec *r)
{
    if (r->proxyreq) return DECLINED;
    if (!sr_location_path(r, sr_conf_of_request(r), NULL)) return is_ours(r) ? OK : DECLINED; /* OK: the front page */
    r->handler = HANDLER;
    return OK;
}

int sr_location_handler(request_rec *r)
{
    if (!r->handler || strcmp(r->handler, HANDLER) != 0) return DECLINED;
    const sr_settings_t *conf = sr_conf_of_request(r);
    const sr_location_area_t *area;
    const asked_t *asked = ap_get_module_config(r->request_config, &sigreq_module);
    const char *path = sr_location_path(r, conf, &area);
    if (!path) return DECLINED;
    return sr_location_respond(r, conf, area, asked ? asked->path : path);
}

/* Runs after the handlers of all other modules, before httpd's own one, which would answer 404: nothing has this path,
 * neither a file nor a folder, and no handler is configured for it. */
int sr_location_front_handler(request_rec *r)
{
    const sr_settings_t *conf = sr_conf_of_request(r);
    if (r->proxyreq || !AP_IS_DEFAULT_HANDLER_NAME(r->handler) || r->finfo.filetype != APR_NOFILE) return DECLINED;
    if (!sr_location_is_front(r, conf) && !sr_location_is_astray(r, conf)) return DECLINED;
    r->filename = apr_pstrcat(r->pool, HANDLER ":", r->uri, NULL); /* is_ours: the metrics count the request */
    return sr_location_is_front(r, conf) ? sr_location_respond(r, conf, &sr_location_areas[SR_LOCATION_FRONT], "")
                                         : sr_location_respond(r, conf, &sr_location_areas[SR_LOCATION_API], "//");
}

/* Runs before any other logging. After an internal redirect, each step of the request is counted. */
int sr_location_log(request_rec *r)
{
    if (!r->filename) sr_run_log_hide_refused(r);
    for (request_rec *step = r; step; step = step->next) {
        if (!is_ours(step)) continue;
        sr_run_metrics_count(step);
        r->the_request = step->the_request; /* the form without the secret */
    }
    return DECLINED;
}
