/* SPDX-License-Identifier: Apache-2.0 */
/* log.c: removes the links of signers, viewers and placement pages from request lines. Everybody who knows one can use
 * it, and access logs (%r) and mod_status show request lines to other people. So only the beginning of the secret is
 * kept, before anything is logged. */
#include <httpd.h>
#include <scoreboard.h>
#include <string.h>

#include "httpd/adapters.h"

const char *sr_run_log_hide(request_rec *r, const char *path)
{
    const char *secret = apr_pstrmemdup(r->pool, path, strcspn(path, "/"));
    const char *uri = sr_secret_hide(r->uri, secret, r->pool);
    if (!r->the_request) return uri;
    const char *line = sr_secret_hide(r->the_request, secret, r->pool);
    if (line
        == r->the_request) { /* the link is written in another way, such as "%41" for "A", or is too short to be one */
        if (uri == r->uri) return uri;
        line = apr_pstrcat(r->pool, r->method, " ", ap_os_escape_path(r->pool, uri, 1), " ", r->protocol, NULL);
    }
    r->the_request = apr_pstrdup(r->pool, line);
    ap_update_child_status(r->connection->sbh, SERVER_BUSY_WRITE, r);
    return uri;
}

/* httpd refused the request before it parsed the path. */
void sr_run_log_hide_refused(request_rec *r)
{
    if (!r->the_request) return;
    const char *line = sr_secret_hide_after(r->the_request, "/sign/", r->pool);
    line = sr_secret_hide_after(line, "/view/", r->pool);
    line = sr_secret_hide_after(line, "/place/", r->pool);
    if (line == r->the_request) return;
    r->the_request = apr_pstrdup(r->pool, line);
    ap_update_child_status(r->connection->sbh, SERVER_BUSY_LOG, r);
}
