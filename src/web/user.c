/* SPDX-License-Identifier: Apache-2.0 */
/* user.c: who has signed in at this server. httpd has modules for logins, which protect a location. */
#include <ap_expr.h>
#include <http_core.h>
#include <http_ssl.h>
#include <string.h>

#include "web/web.h"

/* Returns the result of the check of the client's certificate, or NULL if the client has shown none. */
static const char *user_certificate(const request_rec *r)
{
    const char *verified = ap_ssl_var_lookup(r->pool, r->server, r->connection, (request_rec *)r, "SSL_CLIENT_VERIFY");
    return verified && *verified && strcmp(verified, "NONE") != 0 ? verified : NULL;
}

/* Returns true for the page of an error (ErrorDocument). httpd gives it the user whom it has refused, and asks for no
 * login again if the page is in the same location. */
static bool user_was_refused(const request_rec *r)
{
    while ((r = r->prev) != NULL)
        if (ap_is_HTTP_ERROR(r->status)) return true;
    return false;
}

bool sr_web_is_authenticated(const sr_http_t *http)
{
    const char *verified = user_certificate(http->r);
    if (user_was_refused(http->r)) return false;
    return (http->r->user && *http->r->user) || (verified && !strcmp(verified, "SUCCESS"));
}

sr_error_t *sr_web_user(const char **user, const char **by, sr_http_t *http, const void *expression,
                        const char *directive, const char *path)
{
    request_rec *r = http->r;
    const char *verified = user_certificate(r), *fault = NULL;
    *by = ap_auth_type(r);
    if (!*by && verified && !strcmp(verified, "SUCCESS")) *by = "certificate";
    *user = (verified && !*by) || user_was_refused(r) ? NULL : ap_expr_str_exec(r, expression, &fault);
    if (!fault && *user && **user) return NULL;
    return sr_error_because(sr_error(http->pool, SR_EINTERNAL, "Signing in is not set up at this server"), http->pool,
                            "%s%s%s gives no user: protect <Location \"%s%s\">, for example by AuthType and Require "
                            "valid-user",
                            fault ? fault : "", fault ? ": " : "", directive, http->settings->location, path);
}
