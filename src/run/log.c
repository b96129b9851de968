/* log.c: signing links in the request line. Whoever knows one can sign, and the request line is what access logs (%r)
 * and mod_status show to others. So all but the beginning of the secret is taken out of it, before anybody looks. */
#include <httpd.h>
#include <scoreboard.h>
#include <string.h>

#include "run/run.h"

#define BEFORE "/sign/"
#define SHOWN 8 /* characters of a uuid: enough to find it again, too few to guess the rest */

/* A line without what follows the first characters of `length` of them at `at`. */
static char *cut(const char *line, const char *at, size_t length, apr_pool_t *pool)
{
    return apr_pstrcat(pool, apr_pstrmemdup(pool, line, (apr_size_t)(at - line) + SHOWN), "...", at + length, NULL);
}

void sr_run_log_hide(request_rec *r, const char *path)
{
    const size_t length = strcspn(path, "/");
    const char *secret = apr_pstrmemdup(r->pool, path, length), *at;
    bool found = false;
    if (length <= SHOWN || !r->the_request) return;
    for (; (at = strstr(r->the_request, secret)) != NULL; found = true)
        r->the_request = cut(r->the_request, at, length, r->pool);
    if (!found) { /* written in another way, "%41" for "A" */
        const char *uri = cut(r->uri, strstr(r->uri, secret), length, r->pool);
        r->the_request =
            apr_pstrcat(r->pool, r->method, " ", ap_os_escape_path(r->pool, uri, 1), " ", r->protocol, NULL);
    }
    ap_update_child_status(r->connection->sbh, SERVER_BUSY_WRITE, r);
}

/* httpd has refused it before there was a path. */
void sr_run_log_hide_refused(request_rec *r)
{
    const char *at = r->the_request;
    while (at && (at = strstr(at, BEFORE)) != NULL) {
        at += sizeof BEFORE - 1;
        const size_t length = strcspn(at, "/? ");
        if (length <= SHOWN) continue;
        const size_t offset = (size_t)(at - r->the_request);
        r->the_request = cut(r->the_request, at, length, r->pool);
        at = r->the_request + offset;
        ap_update_child_status(r->connection->sbh, SERVER_BUSY_LOG, r);
    }
}
