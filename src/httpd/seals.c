/* SPDX-License-Identifier: Apache-2.0 */
/* seals.c: the seals. The signer process (signd.c) reads the keys, usually as root. The parent and its children have
 * only the certificates. No child opens a key file, so its user need not be able to read it. The keys are read again
 * with every configuration. A seal whose files would make invalid signatures is not used: its documents are not sealed,
 * and everything else goes on. `httpd -t` reports it and does not fail, because it also gates restarts for other sites.
 */
#include <httpd.h>
#include <ap_mpm.h>
#include <http_core.h>
#include <http_log.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "metrics/metrics.h"
#include "mod_sigreq.h"
#include "signer/protocol.h"
#include "httpd/adapters.h"

APLOG_USE_MODULE(sigreq);

#define WARN_BEFORE apr_time_from_sec(30 * 24 * 3600)
#define WARN_EACH apr_time_from_sec(24 * 3600)
#define CONNECTIONS 8                /* of one child to the signer process, at most */
#define TIMEOUT apr_time_from_sec(5) /* for a signature, the start of another signer process included */

/* By environment, of the current configuration. */
static const sr_cms_identity_t *seals[SR_SIGND_SEALS];
static apr_array_header_t *former;             /* const sr_cms_certificate_t *: of production; for verification */
static sr_signd_seal_t batons[SR_SIGND_SEALS]; /* who signs with them; of the current child */

typedef struct pair_t {
    const char *name;              /* of both directives, for messages */
    const char *certificate, *key; /* "": not given */
} pair_t;

static pair_t pair_of(server_rec *main_server, sr_environment_t environment)
{
    const sr_process_settings_t *conf = sr_conf_of_process(main_server);
    if (environment == SR_TEST)
        return (pair_t){"SigreqTestSealCertificate and SigreqTestSealKey", conf->test_seal_certificate,
                        conf->test_seal_key};
    return (pair_t){"SigreqSealCertificate and SigreqSealKey", conf->seal_certificate, conf->seal_key};
}

/* ------------------------------------------------------------------------------------------------ the check */

static const char *load_pair(const void *data, apr_pool_t *pool)
{
    const pair_t *pair = data;
    const sr_cms_identity_t *unused;
    sr_error_t *error = sr_cms_identity_load(&unused, pair->certificate, pair->key, pool);
    return error ? error->message : "";
}

/* Loads a pair in a forked process, so that the parent never has the key in its memory: children would inherit it.
 * Returns the fault, or NULL. */
static const char *try_pair(const pair_t *pair, apr_pool_t *pool)
{
    const char *fault = sr_run_forked(load_pair, pair, pool);
    if (!fault) return "they cannot be checked";
    return *fault ? fault : NULL;
}

static json_t *setup_of(server_rec *main_server, apr_pool_t *pool);

/* The same, also if the key is in a token. `seal` is the number of the pair in the setup. */
static const char *check_pair(const pair_t *pair, int seal, server_rec *main_server, apr_pool_t *pool)
{
    if (!sr_text_is_token(pair->key)) return try_pair(pair, pool);
    return sr_run_signd_check(seal, pool, main_server, setup_of(main_server, pool));
}

/* Returns what is missing of a pair, or NULL. Without a key for tests the signer process makes one. */
static const char *missing_of(const pair_t *pair, bool needed, apr_pool_t *pool)
{
    if (!*pair->certificate && !*pair->key && needed)
        return apr_psprintf(pool, "Sigreq On needs %s: 'sigreqctl seal create' creates both files", pair->name);
    return !*pair->certificate == !*pair->key ? NULL : apr_psprintf(pool, "%s must be set together", pair->name);
}

int sr_run_seal_require(apr_pool_t *ptemp, server_rec *main_server)
{
    if (!sr_conf_is_used()) return OK;
    int result = OK;
    for (int i = SR_TEST; i <= SR_PRODUCTION; i++) {
        const pair_t pair = pair_of(main_server, (sr_environment_t)i);
        const char *missing = missing_of(&pair, i == SR_PRODUCTION, ptemp);
        if (!missing) continue;
        ap_log_error(APLOG_MARK, APLOG_STARTUP | APLOG_ERR, 0, main_server, "SR0400: %s", missing);
        result = HTTP_INTERNAL_SERVER_ERROR;
    }
    return result;
}

static void say_unusable(server_rec *main_server, int environment, const char *fault, bool heals)
{
    static const char *const what[] = {
        [SR_TEST] = "Documents of the test environment", [SR_PRODUCTION] = "Production documents"};
    ap_log_error(APLOG_MARK, sr_conf_level(APLOG_CRIT), 0, main_server,
                 "SR0400: %s: %s. %s cannot be signed (503) until this is repaired%s",
                 pair_of(main_server, (sr_environment_t)environment).name, fault, what[environment],
                 heals ? "" : " and httpd is restarted (graceful)");
}

void sr_run_seal_check(apr_pool_t *ptemp, server_rec *main_server)
{
    if (!sr_conf_is_used()) return;
    sr_run_own_check(ptemp, main_server);
    for (int i = SR_TEST; i <= SR_PRODUCTION; i++) {
        const pair_t pair = pair_of(main_server, (sr_environment_t)i);
        if (!*pair.certificate) continue;
        const char *fault = check_pair(&pair, i, main_server, ptemp);
        if (fault) say_unusable(main_server, i, fault, false);
    }
}

/* ------------------------------------------------------------------------------------------------ the start */

static apr_time_t warned; /* when the certificates were looked at for a warning */

static void warn_of_ends(server_rec *main_server, apr_pool_t *pool)
{
    warned = sr_time_now();
    sr_run_own_warn(main_server, pool);
    for (int i = SR_TEST; i <= SR_PRODUCTION; i++) {
        const sr_cms_certificate_t *about = seals[i] ? sr_cms_identity_certificate(seals[i]) : NULL;
        if (!about || about->until - warned > WARN_BEFORE) continue;
        const bool over = about->until < warned;
        ap_log_error(APLOG_MARK, over ? APLOG_CRIT : APLOG_WARNING, 0, main_server,
                     "SR0402: the %scertificate \"%s\" of the seal %s at %s: its documents cannot be signed %s (503)",
                     i == SR_TEST ? "test " : "", about->name, over ? "expired" : "expires",
                     sr_time_format(about->until, pool), over ? "until it is replaced" : "then");
    }
}

/* The parent has the certificates of this configuration since its start, so a later warning is about the same ones. */
int sr_run_seal_monitor(apr_pool_t *pool, server_rec *main_server)
{
    if (!sr_conf_is_used()) return DECLINED;
    sr_run_signd_monitor();
    sr_run_own_measure();
    if (sr_time_now() - warned >= WARN_EACH) warn_of_ends(main_server, pool);
    return DECLINED;
}

static json_t *setup_of(server_rec *main_server, apr_pool_t *pool)
{
    json_t *setup = sr_json_own(json_object(), pool), *list = json_array();
    for (int i = SR_TEST; i <= SR_PRODUCTION; i++) {
        const pair_t pair = pair_of(main_server, (sr_environment_t)i);
        json_array_append_new(list, *pair.certificate
                                        ? json_pack("{s:s,s:s}", "certificate", pair.certificate, "key", pair.key)
                                        : json_object());
    }
    json_object_set_new(setup, "seals", list);
    sr_run_signd_token(setup, main_server);
    return setup;
}

static void warn_of_former(const char *fault, server_rec *main_server)
{
    if (fault)
        ap_log_error(
            APLOG_MARK, APLOG_WARNING, 0, main_server,
            "SR0408: a former certificate of the seal cannot be read, so documents that it sealed are not recognized: "
            "%s",
            fault);
}

/* The certificate of a seal whose key cannot be used has sealed documents, too. */
static void add_present(server_rec *main_server, apr_pool_t *pconf)
{
    const sr_cms_certificate_t *present;
    if (!sr_cms_certificate_read(&present, pair_of(main_server, SR_PRODUCTION).certificate, pconf))
        APR_ARRAY_PUSH(former, const sr_cms_certificate_t *) = present;
}

/* Documents that a former certificate has sealed are still of this service. A fault is only a warning. */
static void seals_read_former(server_rec *main_server, apr_pool_t *pconf)
{
    const char *fault, *own = sr_conf_of_process(main_server)->organization_seals;
    former = sr_cms_former_read(&fault, pair_of(main_server, SR_PRODUCTION).certificate, pconf);
    warn_of_former(fault, main_server);
    add_present(main_server, pconf);
    if (!*own) return;
    apr_array_cat(former, sr_cms_former_of_own(&fault, own, pconf));
    warn_of_former(fault, main_server);
}

/* Reads the answer of the signer process about the seal of an environment. */
static void read_seal(const json_t *answer, int i, server_rec *main_server, apr_pool_t *pconf)
{
    const pair_t pair = pair_of(main_server, (sr_environment_t)i);
    const char *pem = json_string_value(json_array_get(json_object_get(answer, SR_SIGND_PEM), (size_t)i));
    const char *fault = json_string_value(json_array_get(json_object_get(answer, SR_SIGND_FAULTS), (size_t)i));
    sr_error_t *error =
        pem ? sr_cms_identity_without_key(&seals[i], pem, *pair.certificate ? pair.certificate : "memory",
                                          sr_signd_sign, &batons[i], pconf)
            : NULL;
    if (error) fault = error->message;
    if (!fault && !seals[i]) fault = "the signer process has no certificate";
    if (fault) say_unusable(main_server, i, fault, seals[i] != NULL);
    if (!*pair.certificate && seals[i])
        ap_log_error(APLOG_MARK, APLOG_INFO, 0, main_server,
                     "SR0401: SigreqTestSealCertificate is not set: test documents are sealed with a certificate "
                     "created for this start");
}

static void seals_read_answer(const json_t *answer, server_rec *main_server, apr_pool_t *pconf)
{
    for (int i = SR_TEST; i <= SR_PRODUCTION; i++) {
        read_seal(answer, i, main_server, pconf);
        sr_metrics_set(SR_METRIC_SEAL_EXPIRES, i, 0,
                       seals[i] ? (apr_uint64_t)sr_cms_identity_certificate(seals[i])->until : 0);
        sr_metrics_set(SR_METRIC_SEAL_UNUSABLE, i, 0, !seals[i]);
    }
    sr_run_own_read(answer, main_server, pconf);
    sr_run_own_measure();
    warn_of_ends(main_server, pconf);
}

void sr_run_seal_load(apr_pool_t *pconf, server_rec *main_server)
{
    const json_t *answer;
    memset(seals, 0, sizeof seals);
    sr_run_own_forget();
    former = NULL;
    if (!sr_conf_is_used()) return;
    seals_read_former(main_server, pconf);
    json_t *setup = setup_of(main_server, pconf);
    const char *folder = sr_conf_of_process(main_server)->organization_seals;
    if (*folder) json_object_set_new(setup, SR_SIGND_OWN_SEALS, json_string(folder));
    const char *fault = sr_run_signd_start(&answer, pconf, main_server, setup);
    if (!fault) {
        seals_read_answer(answer, main_server, pconf);
        return;
    }
    for (int i = SR_TEST; i <= SR_PRODUCTION; i++) sr_metrics_set(SR_METRIC_SEAL_UNUSABLE, i, 0, 1);
    ap_log_error(APLOG_MARK, sr_conf_level(APLOG_CRIT), 0, main_server,
                 "SR0400: %s. No document can be signed (503) until this is repaired and httpd is restarted (graceful)",
                 fault);
}

/* ------------------------------------------------------------------------------------------------ in children */

/* The signer process has another certificate than this child: it was started again, and has made another key for tests,
 * or read changed files. The child uses the new certificate for the next signature. */
static void seals_change(void *seals_of_child, int number, const sr_cms_identity_t *identity)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    const sr_cms_identity_t **used = seals_of_child;
    pthread_mutex_lock(&mutex);
    sr_signd_replace(&used[number], &batons[number], number, NULL);
    pthread_mutex_unlock(&mutex);
}

void sr_run_seal_child_init(const sr_cms_identity_t **used, const apr_array_header_t **own, apr_pool_t *pchild)
{
    int threads = 0;
    const int door = sr_run_signd_child_init();
    ap_mpm_query(AP_MPMQ_MAX_THREADS, &threads);
    sr_signd_t *signd =
        sr_signd_create(door, threads < CONNECTIONS ? (threads ? threads : 1) : CONNECTIONS, TIMEOUT, pchild);
    for (int i = SR_TEST; i <= SR_PRODUCTION; i++) {
        batons[i] = (sr_signd_seal_t){signd, i, seals_change, (void *)used};
        used[i] = seals[i];
    }
    *own = sr_run_own_child_init(signd);
}

const apr_array_header_t *sr_run_seal_former(void)
{
    return former;
}
