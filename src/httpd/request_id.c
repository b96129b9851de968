/* SPDX-License-Identifier: Apache-2.0 */
/* request_id.c: the id of a request. The response has it (X-Request-Id), and so have the lines of the error log that
 * the request causes, so that a report of a client leads to the log. httpd's own lines have it as %L of ErrorLogFormat.
 */
#include <httpd.h>
#include <http_log.h>
#include <string.h>

#include "mod_sigreq.h"
#include "httpd/adapters.h"

APLOG_USE_MODULE(sigreq);

#define HEADER "X-Request-Id"
#define VARIABLE "SIGREQ_REQUEST_ID"
#define LONGEST 128
/* Those of UUIDs, of base64, of mod_unique_id and of the trace ids of proxies. None of them can end a line or a quoted
 * text of a log. */
#define CHARACTERS "-._:@+/=0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

static _Thread_local const char *current; /* the id of the request that this thread answers, or NULL */

/* `secret` is the text that the id must not contain, because the log will have it; or NULL. */
static bool usable(const char *id, const char *secret)
{
    return id && *id && strlen(id) <= LONGEST && !id[strspn(id, CHARACTERS)] && (!secret || !strstr(id, secret));
}

static const char *choose(const request_rec *r, const char *secret)
{
    const char *id = apr_table_get(r->headers_in, HEADER);
    if (!usable(id, secret)) id = apr_table_get(r->subprocess_env, "UNIQUE_ID");
    return usable(id, NULL) ? id : sr_uuid_make_public(r->pool);
}

void sr_run_request_id(request_rec *r, const char *secret)
{
    const char *id = apr_table_get(r->err_headers_out, HEADER); /* set before, also before an internal redirect */
    if (!id) id = choose(r, secret && *secret ? secret : NULL);
    apr_table_setn(r->err_headers_out, HEADER, id);
    apr_table_setn(r->subprocess_env, VARIABLE, id);
    r->log_id = id;
}

void sr_run_request_id_again(request_rec *r)
{
    const char *id = apr_table_get(r->subprocess_env, VARIABLE);
    if (id) apr_table_setn(r->err_headers_out, HEADER, id);
}

void sr_run_request_begin(const request_rec *r)
{
    current = r->log_id;
}

void sr_run_request_end(void)
{
    current = NULL;
}

void sr_run_log(const server_rec *server, int level, const char *message)
{
    if (current) ap_log_error(APLOG_MARK, level, 0, server, "%s [request %s]", message, current);
    else ap_log_error(APLOG_MARK, level, 0, server, "%s", message);
}
