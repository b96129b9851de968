/* SPDX-License-Identifier: Apache-2.0 */
/* enter.c: who uses the desk, and in which scope. Only httpd says who the user is: a module for logins sets r->user, or
 * mod_ssl verifies a certificate. SigreqDeskUser may take the name from elsewhere, but without one of both nobody
 * enters, so that a header of the client alone never makes a user. */
#include <http_core.h>
#include <http_log.h>
#include <string.h>

#include "desk/desk.h"
#include "mod_sigreq.h"

APLOG_USE_MODULE(sigreq);

#define KEY "sigreq-desk"

sr_desk_t *sr_desk_entered(sr_http_t *http)
{
    void *desk = NULL;
    apr_pool_userdata_get(&desk, KEY, http->pool);
    return desk;
}

static sr_error_t *enter_user(const char **user, sr_http_t *http)
{
    const char *by;
    if (sr_web_is_authenticated(http))
        return sr_web_user(user, &by, http, http->settings->desk_user, "SigreqDeskUser", "/desk");
    return sr_error_because(
        sr_error(http->pool, SR_EINTERNAL, "Signing in is not set up at this server"), http->pool,
        "SigreqDesk: httpd has authenticated nobody: protect <Location \"%s/desk\">, for example by "
        "AuthType and Require valid-user",
        http->settings->location);
}

/* Makes the desk of a user without a scope. */
static sr_error_t *enter_desk(sr_desk_t **entered, sr_http_t *http)
{
    sr_desk_t *desk = apr_pcalloc(http->pool, sizeof *desk);
    *desk = (sr_desk_t){.http = http, .read_only = http->settings->desk == SR_DESK_READ_ONLY};
    SR_TRY(enter_user(&desk->user, http));
    apr_pool_userdata_setn(desk, KEY, NULL, http->pool);
    SR_TRY(sr_service_desk_scopes(http->service, &desk->scopes, desk->user, http->pool));
    *entered = desk;
    if (desk->scopes->nelts) return NULL;
    ap_log_rerror(APLOG_MARK, APLOG_INFO, 0, http->r,
                  "SR0103: the user who has signed in at the desk is none of this service, or is disabled [request %s]",
                  http->r->log_id);
    return sr_error(http->pool, SR_EFORBIDDEN, "This service has no such user");
}

/* Returns the relative URL from the requested URL to the scope, which has a slash less than the path. */
static const char *enter_way(const sr_http_t *http)
{
    const char *way = "", *slash = strchr(http->path + 1, '/');
    while (slash && (slash = strchr(slash + 1, '/'))) way = apr_pstrcat(http->pool, way, "../", NULL);
    return way;
}

sr_error_t *sr_desk_may_write(const sr_desk_t *desk)
{
    if (!desk->read_only) return NULL;
    return sr_error(desk->http->pool, SR_EFORBIDDEN, "This desk shows requests and changes nothing");
}

sr_error_t *sr_desk_enter(sr_desk_t **entered, sr_http_t *http)
{
    sr_desk_t *desk;
    SR_TRY(enter_desk(&desk, http));
    if (http->r->method_number != M_GET) SR_TRY(sr_desk_may_write(desk));
    sr_desk_scope_t *scope = (sr_desk_scope_t *)desk->scopes->elts, *end = scope + desk->scopes->nelts;
    while (scope < end && strcmp(scope->name, http->params[0]) != 0) scope++;
    if (scope == end) return sr_error(http->pool, SR_ENOTFOUND, "Not found");
    if (!scope->token_hash) SR_TRY(sr_service_desk_token(http->service, scope, http->pool));
    desk->scope = scope->name;
    desk->token_hash = scope->token_hash;
    desk->caller = &scope->token;
    desk->way = enter_way(http);
    *entered = desk;
    return NULL;
}

sr_caller_t sr_desk_caller(const sr_desk_t *desk, const char *submission)
{
    return (sr_caller_t){.token_hash = desk->token_hash, .submission = submission, .client = sr_web_client(desk->http)};
}

sr_error_t *sr_desk_root(sr_http_t *http)
{
    sr_desk_t *desk;
    if (http->params[0]) SR_TRY(sr_desk_enter(&desk, http));
    else SR_TRY(enter_desk(&desk, http));
    const char *scope = desk->scope ? desk->scope : APR_ARRAY_IDX(desk->scopes, 0, sr_desk_scope_t).name;
    desk->way = apr_pstrcat(http->pool, *http->path ? "" : "desk/", scope, "/", NULL);
    return sr_desk_done(desk, "", NULL);
}
