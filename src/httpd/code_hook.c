/* SPDX-License-Identifier: Apache-2.0 */
/* code_hook.c: the administrator's service that delivers codes to signers (SigreqCodeHook). The parent reads its
 * secret, usually as root, with every configuration, so httpd's user need not be able to read the file. */
#include <httpd.h>
#include <http_log.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "jobs/jobs.h"
#include "metrics/metrics.h"
#include "mod_sigreq.h"
#include "httpd/adapters.h"

APLOG_USE_MODULE(sigreq);

#define SECRET_MOST 1000 /* bytes of the file */
#define LETTERS "-._~+/=0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

static sr_code_hook_t hook; /* of the current configuration; without a URL there is none */
static server_rec *hook_server;

/* Sets *secret to the only line of the file. Returns the fault, which has nothing of the file, or NULL. */
static const char *hook_read(const char **secret, const char *path, apr_pool_t *pool)
{
    char *text = apr_pcalloc(pool, SECRET_MOST + 1);
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    const apr_ssize_t got = descriptor < 0 ? -1 : sr_descriptor_read(descriptor, text, SECRET_MOST, 0);
    const apr_status_t reason = errno;
    if (descriptor >= 0) close(descriptor);
    if (got < 0) return apr_psprintf(pool, "%s: %pm", path, &reason);
    text[strcspn(text, "\r\n")] = '\0';
    if (got == SECRET_MOST || !*text || text[strspn(text, LETTERS)])
        return apr_pstrcat(pool, path, " must have a bearer token (RFC 6750, 2.1) as its first line", NULL);
    *secret = text;
    return NULL;
}

void sr_run_code_hook_load(apr_pool_t *pool, server_rec *main_server)
{
    const sr_process_settings_t *conf = sr_conf_of_process(main_server);
    hook =
        (sr_code_hook_t){.url = *conf->code_hook ? conf->code_hook : NULL, .agent = "mod_sigreq/" MOD_SIGREQ_VERSION};
    hook_server = main_server;
    if (!sr_conf_is_used() || !hook.url) return;
    const char *fault = hook_read(&hook.secret, conf->code_hook_secret, pool);
    if (fault) sr_run_unusable(main_server, apr_pstrcat(pool, "SR0740: SigreqCodeHookSecret: ", fault, NULL));
}

/* The message in the log has nothing of the body. */
static bool hook_call(const char *body, apr_pool_t *pool)
{
    const apr_time_t begun = sr_time_steady();
    sr_call_result_t result;
    const sr_code_hook_t called = {hook.url, hook.secret, hook.agent, sr_run_authorities()};
    sr_code_hook_call(&result, &called, body, pool);
    sr_metrics_count(SR_METRIC_DELIVERIES, SR_KIND_CODE_HOOK,
                     result.success  ? SR_ENDING_SUCCESS
                     : result.status ? SR_ENDING_REJECTED
                                     : SR_ENDING_UNANSWERED,
                     1);
    sr_metrics_observe(SR_METRIC_DELIVERY_SECONDS, SR_KIND_CODE_HOOK, sr_time_steady() - begun);
    if (!result.success)
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, hook_server, "SR0607: SigreqCodeHook has not sent a code: %s",
                     result.detail ? result.detail : result.error);
    return result.success;
}

bool (*sr_run_code_hook(void))(const char *body, apr_pool_t *pool)
{
    return hook.url ? hook_call : NULL;
}
