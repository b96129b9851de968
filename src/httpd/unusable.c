/* SPDX-License-Identifier: Apache-2.0 */
/* unusable.c: what becomes of a file of the configuration that cannot be used. httpd goes on, for its other sites. This
 * service answers each request with 503, because without the file it would do something else than was configured: trust
 * other authorities, or sign without timestamps. (Seals, folders, databases and programs stop only what needs them.)
 * `httpd -t` reports the file and does not fail, because restarts for other sites depend on it. */
#include <httpd.h>
#include <http_log.h>

#include "metrics/metrics.h"
#include "mod_sigreq.h"
#include "httpd/adapters.h"

APLOG_USE_MODULE(sigreq);

#define TAG_LENGTH 6

static char disabled[TAG_LENGTH + 1]; /* the tag of the reason, of the current configuration; "": the service works */

void sr_run_enable(void)
{
    *disabled = '\0';
    sr_metrics_set(SR_METRIC_DISABLED, 0, 0, 0);
}

void sr_run_unusable(server_rec *main_server, const char *fault)
{
    ap_log_error(APLOG_MARK, sr_conf_level(APLOG_CRIT), 0, main_server,
                 "%s. Sigreq answers 503 until this is repaired and httpd is restarted (graceful)", fault);
    if (sr_conf_is_rehearsal()) return;
    apr_cpystrn(disabled, fault, sizeof disabled);
    sr_metrics_set(SR_METRIC_DISABLED, 0, 0, 1);
}

const char *sr_run_disabled(void)
{
    return *disabled ? disabled : NULL;
}
