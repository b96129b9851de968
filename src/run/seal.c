/* SPDX-License-Identifier: Apache-2.0 */
/* seal.c: the keys that seal documents. The parent reads them, usually as root, and children inherit them by fork. No
 * child opens a key file, so its user need not be able to read it. The keys are read again with every configuration.
 * A file that would make invalid seals stops `httpd -t` as well as the start. So a restart by apachectl, which runs
 * -t first, continues with the old key. */
#include <httpd.h>
#include <http_log.h>

#include "metrics/metrics.h"
#include "mod_sigreq.h"
#include "run/run.h"

APLOG_USE_MODULE(sigreq);

#define WARN_BEFORE apr_time_from_sec(30 * 24 * 3600)

static const sr_cms_identity_t *seals[2]; /* by environment; of the current configuration */

typedef struct pair_t {
    const char *name; /* of both directives, for messages */
    const char *certificate, *key;
} pair_t;

static pair_t pair_of(server_rec *main_server, sr_environment_t environment)
{
    const sr_conf_process_t *conf = sr_conf_of_process(main_server);
    if (environment == SR_TEST)
        return (pair_t){"SigreqTestSealCertificate and SigreqTestSealKey", conf->test_seal_certificate,
                        conf->test_seal_key};
    return (pair_t){"SigreqSealCertificate and SigreqSealKey", conf->seal_certificate, conf->seal_key};
}

/* Loads a pair. *identity is NULL if the pair is missing and may be. Returns the fault, or NULL. */
static const char *load(const sr_cms_identity_t **identity, server_rec *main_server, sr_environment_t environment,
                        apr_pool_t *pool)
{
    pair_t pair = pair_of(main_server, environment);
    *identity = NULL;
    if (!*pair.certificate && !*pair.key && environment == SR_TEST) return NULL;
    if (!*pair.certificate && !*pair.key)
        return apr_psprintf(pool, "Sigreq On needs %s: 'sigreqctl seal create' makes both files", pair.name);
    if (!*pair.certificate || !*pair.key) return apr_psprintf(pool, "%s need each other", pair.name);
    sr_error_t *error = sr_cms_identity_load(identity, pair.certificate, pair.key, pool);
    return error ? apr_psprintf(pool, "%s: %s", pair.name, error->message) : NULL;
}

int sr_run_seal_check(apr_pool_t *ptemp, server_rec *main_server)
{
    int result = OK;
    for (int i = SR_TEST; sr_conf_is_used() && i <= SR_PRODUCTION; i++) {
        const sr_cms_identity_t *unused;
        const char *fault = load(&unused, main_server, (sr_environment_t)i, ptemp);
        if (!fault) continue;
        ap_log_error(APLOG_MARK, APLOG_STARTUP | APLOG_ERR, 0, main_server, "SR0400: %s", fault);
        result = HTTP_INTERNAL_SERVER_ERROR;
    }
    return result;
}

static const char *make_test(const sr_cms_identity_t **identity, server_rec *main_server, apr_pool_t *pconf)
{
    sr_error_t *error = sr_cms_issue_identity(identity, SR_CMS_ISSUE_NAME SR_CMS_ISSUE_TEST, SR_CMS_ISSUE_DAYS, pconf);
    if (error) return error->message;
    ap_log_error(APLOG_MARK, APLOG_INFO, 0, main_server,
                 "SR0401: without SigreqTestSealCertificate, test documents are sealed by a certificate made for this "
                 "start");
    return NULL;
}

static void warn_of_end(const sr_cms_identity_t *identity, server_rec *main_server, apr_pool_t *pool)
{
    const sr_cms_certificate_t *about = sr_cms_identity_certificate(identity);
    if (about->until - sr_time_now() > WARN_BEFORE) return;
    ap_log_error(APLOG_MARK, APLOG_WARNING, 0, main_server,
                 "SR0402: the seal's certificate \"%s\" expires at %s: nothing can be sealed then, and httpd does not "
                 "start",
                 about->name, sr_time_format(about->until, pool));
}

int sr_run_seal_load(apr_pool_t *pconf, server_rec *main_server)
{
    for (int i = SR_TEST; sr_conf_is_used() && i <= SR_PRODUCTION; i++) {
        const char *fault = load(&seals[i], main_server, (sr_environment_t)i, pconf);
        if (!fault && !seals[i]) fault = make_test(&seals[i], main_server, pconf);
        if (!fault) {
            sr_metrics_set(SR_METRIC_SEAL_EXPIRES, i, 0, (apr_uint64_t)sr_cms_identity_certificate(seals[i])->until);
            warn_of_end(seals[i], main_server, pconf);
            continue;
        }
        ap_log_error(APLOG_MARK, APLOG_STARTUP | APLOG_ERR, 0, main_server, "SR0400: %s", fault);
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    return OK;
}

const sr_cms_identity_t *sr_run_seal(sr_environment_t environment)
{
    return seals[environment];
}
