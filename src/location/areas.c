/* SPDX-License-Identifier: Apache-2.0 */
/* areas.c: the areas of a location, and which requests the module handles. */
#include "location/location.h"
#include "api/api.h"
#include "desk/desk.h"
#include "metrics/metrics.h"
#include "web/web.h"

#include <http_protocol.h>

const sr_location_area_t sr_location_areas[] = {
    [SR_LOCATION_API] = {"/api/v3", sr_api_routes, NULL, false, false},
    [SR_LOCATION_SIGN] = {"/sign", sr_web_routes, sr_web_begin, true, false},
    [SR_LOCATION_VIEW] = {"/view", sr_web_view_routes, sr_web_view_begin, true, false},
    [SR_LOCATION_PLACE] = {"/place", sr_web_place_routes, sr_web_place_begin, true, false},
    [SR_LOCATION_VERIFY] = {"/verify", sr_web_verify_routes, sr_web_verify_begin, false, true},
    [SR_LOCATION_DESK] = {"/desk", sr_desk_routes, sr_desk_begin, false, true},
    [SR_LOCATION_FRONT] = {"/", sr_web_front_routes, sr_web_front_begin, false, true},
};

const char *sr_location_path(const request_rec *r, const sr_settings_t *conf, const sr_location_area_t **area)
{
    size_t location = conf->enabled && conf->location ? strlen(conf->location) : 0;
    if (!conf->enabled || strncmp(r->uri, conf->location, location) != 0) return NULL;
    for (int i = 0; i < SR_LOCATION_FRONT; i++) {
        const char *path = r->uri + location;
        if ((i == SR_LOCATION_VERIFY && !conf->verify_page) || (i == SR_LOCATION_DESK && !conf->desk)) continue;
        if (strncmp(path, sr_location_areas[i].base, strlen(sr_location_areas[i].base)) != 0) continue;
        path += strlen(sr_location_areas[i].base);
        if (*path && *path != '/') continue;
        if (area) *area = &sr_location_areas[i];
        return path;
    }
    return NULL;
}

/* Returns the part of the path below <location>, or NULL if it is not a client's request to this location. */
static const char *below_location(const request_rec *r, const sr_settings_t *conf)
{
    if (r->main || r->prev || !conf->enabled || !conf->location) return NULL;
    const size_t location = strlen(conf->location);
    return strncmp(r->uri, conf->location, location) != 0 ? NULL : r->uri + location;
}

bool sr_location_is_front(const request_rec *r, const sr_settings_t *conf)
{
    const char *path = below_location(r, conf);
    return path && r->method_number == M_GET && (!strcmp(path, "/") || (path != r->uri && !*path));
}

bool sr_location_is_astray(const request_rec *r, const sr_settings_t *conf)
{
    return sr_api_is_astray(below_location(r, conf));
}

int sr_location_route_number(const sr_location_area_t *area, const sr_route_t *route)
{
    int number = route ? (int)(route - area->routes) + 1 : 0;
    for (const sr_location_area_t *before = sr_location_areas; route && before < area; before++)
        for (const sr_route_t *row = before->routes; row->path; row++) number++;
    return number;
}

void sr_location_name_routes(apr_pool_t *pconf)
{
    sr_metrics_name(SR_LABEL_ROUTE, 0, "other");
    for (const sr_location_area_t *area = sr_location_areas;
         area < sr_location_areas + sizeof sr_location_areas / sizeof *sr_location_areas; area++)
        for (const sr_route_t *row = area->routes; row->path; row++) {
            const char *method = row->method == M_GET ? "GET" : ap_method_name_of(pconf, row->method);
            sr_metrics_name(SR_LABEL_ROUTE, sr_location_route_number(area, row),
                            apr_pstrcat(pconf, method, " ", area->base, row->path, NULL));
        }
}
