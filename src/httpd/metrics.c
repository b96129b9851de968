/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.c: the metrics, in memory that all children share, and the handler of `SetHandler sigreq-metrics` for
 * Prometheus. The handler queries neither the database nor a file system. */
#include <httpd.h>
#include <http_protocol.h>
#include <http_request.h>
#include <string.h>

#include "metrics/metrics.h"
#include "mod_sigreq.h"
#include "httpd/adapters.h"

#define HANDLER "sigreq-metrics"
#define ANSWER "sigreq-answer" /* the key of answer_t in the pool of the request */

/* Data that a handler stores for log_transaction. */
typedef struct answer_t {
    int route;
    apr_time_t ready;
} answer_t;

static void name_servers(apr_pool_t *pconf, server_rec *main_server)
{
    const apr_array_header_t *databases = sr_conf_databases(pconf, main_server);
    for (int i = 0; i < databases->nelts; i++) {
        const server_rec *server = APR_ARRAY_IDX(databases, i, server_rec *);
        const char *name = server->server_hostname ? server->server_hostname : "";
        sr_metrics_name(SR_LABEL_SERVER, i,
                        server == main_server ? "main" : apr_psprintf(pconf, "%s:%u", name, (unsigned)server->port));
    }
}

int sr_run_metrics_create(apr_pool_t *pconf, server_rec *main_server)
{
    void *block = sr_run_shared(main_server, HANDLER, sr_metrics_size());
    if (!block) return HTTP_INTERNAL_SERVER_ERROR;
    sr_metrics_use(block);
    name_servers(pconf, main_server);
    const apr_uint64_t started = sr_metrics_value(SR_METRIC_STARTED, 0, 0);
    sr_metrics_forget(); /* the gauges may be wrong for the new configuration */
    sr_metrics_set(SR_METRIC_STARTED, 0, 0, started ? started : (apr_uint64_t)sr_time_now());
    sr_metrics_name(SR_LABEL_VERSION, 0, MOD_SIGREQ_VERSION);
    sr_metrics_set(SR_METRIC_INFO, 0, 0, 1);
    return OK;
}

void sr_run_metrics_answered(request_rec *r, int route)
{
    answer_t *answer = apr_palloc(r->pool, sizeof *answer);
    *answer = (answer_t){route, apr_time_now()}; /* the clock of r->request_time */
    apr_pool_userdata_setn(answer, ANSWER, NULL, r->pool);
}

void sr_run_metrics_count(request_rec *r)
{
    void *found = NULL;
    apr_pool_userdata_get(&found, ANSWER, r->pool); /* NULL if httpd refused the request */
    const answer_t *answer = found;
    const int code =
        r->connection->aborted ? sr_metrics_number(SR_LABEL_CODE, "aborted") : sr_metrics_number_of_status(r->status);
    sr_metrics_count(SR_METRIC_REQUESTS, answer ? answer->route : 0, code, 1);
    if (answer) sr_metrics_observe(SR_METRIC_REQUEST_SECONDS, answer->route, answer->ready - r->request_time);
}

int sr_run_metrics_show(request_rec *r)
{
    if (!r->handler || strcmp(r->handler, HANDLER) != 0) return DECLINED;
    ap_allow_standard_methods(r, REPLACE_ALLOW, M_GET, -1);
    if (r->method_number != M_GET) return HTTP_METHOD_NOT_ALLOWED;
    const char *text = sr_metrics_text(r->pool);
    ap_set_content_type(r, SR_METRICS_TYPE);
    apr_table_setn(r->headers_out, "Cache-Control", "no-store");
    ap_set_content_length(r, (apr_off_t)strlen(text));
    if (!r->header_only) ap_rputs(text, r);
    return OK;
}
