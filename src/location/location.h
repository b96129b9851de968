/* SPDX-License-Identifier: Apache-2.0 */
/* location.h: the requests to a location of this module, between the hooks of mod_sigreq.c and the handlers of src/api
 * and src/web.
 *
 * Sections: areas.c (which paths the module handles) · hooks.c (the hooks of a request) · respond.c (one request) ·
 * child.c (the state of a child, and what its job thread does)
 */
#ifndef SR_LOCATION_LOCATION_H
#define SR_LOCATION_LOCATION_H

#include <httpd.h>

#include "conf/conf.h"
#include "http/http.h"
#include "service/setup.h"

/* ------------------------------------------------------------------------------------------------ areas.c */
/* A part of a location. */
typedef struct sr_location_area_t {
    const char *base;
    const sr_route_t *routes;
    void (*begin)(sr_http_t *http); /* or NULL */
    bool secret;                    /* its paths begin with a secret */
    bool is_public;                 /* its requests need neither a signing link nor a token */
} sr_location_area_t;
enum {
    SR_LOCATION_API,
    SR_LOCATION_SIGN,
    SR_LOCATION_VIEW,
    SR_LOCATION_PLACE,
    SR_LOCATION_VERIFY,
    SR_LOCATION_DESK,
    SR_LOCATION_FRONT
};
extern const sr_location_area_t sr_location_areas[];
/* Returns the part of the path below <location>/api/v3 or the base of another area, or NULL if the module does not
 * handle the request. *area (may be NULL) is set to the area. */
const char *sr_location_path(const request_rec *r, const sr_settings_t *conf, const sr_location_area_t **area);
/* Returns true if the request is GET or HEAD of <location> or <location>/: the front page, unless httpd has something
 * else there. */
bool sr_location_is_front(const request_rec *r, const sr_settings_t *conf);
/* Returns true if the path gets a 404 of the API, unless httpd has something else there. */
bool sr_location_is_astray(const request_rec *r, const sr_settings_t *conf);
/* Returns the number of a route for metrics: 0 for none, then all routes, area by area. */
int sr_location_route_number(const sr_location_area_t *area, const sr_route_t *route);
/* Names the routes in the metrics. */
void sr_location_name_routes(apr_pool_t *pconf);

/* --------------------------------------------------------------------------------------------- hooks.c */
int sr_location_pre_translate(request_rec *r);
int sr_location_translate(request_rec *r);
int sr_location_translate_front(request_rec *r);
int sr_location_header_parser(request_rec *r);
int sr_location_map_to_storage(request_rec *r);
int sr_location_type_checker(request_rec *r);
int sr_location_handler(request_rec *r);
int sr_location_front_handler(request_rec *r);
int sr_location_log(request_rec *r);

/* ------------------------------------------------------------------------------------------------ respond.c */
/* Responds to a request. `path` is below the base of the area. */
int sr_location_respond(request_rec *r, const sr_settings_t *conf, const sr_location_area_t *area, const char *path);
/* Gives the request its id. It runs before anything can refuse the request, so that the responses of httpd have the id
 * as well. */
void sr_location_name_request(request_rec *r, const sr_location_area_t *area, const char *path);

/* ------------------------------------------------------------------------------------------------ child.c */
/* The state of this child process. */
const sr_child_t *sr_location_child(void);
void sr_location_child_init(apr_pool_t *pchild, server_rec *main_server);

#endif
