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

/* By environment, and the next one of production (or NULL); of the current configuration. */
static const sr_cms_identity_t *seals[SR_SIGND_NEXT + 1];
static apr_array_header_t *former;             /* const sr_cms_certificate_t *: of production; for verification */
static bool next_unusable;                     /* there is a next certificate, which cannot be used */
static sr_signd_seal_t batons[SR_SIGND_SEALS]; /* who signs with them; of the current child */

typedef struct pair_t {
    const char *name;              /* of both directives, for messages */
    const char *certificate, *key; /* "": not given */
} pair_t;

static pair_t pair_of(server_rec *main_server, sr_environment_t environment)
{
    const sr_conf_process_t *conf = sr_conf_of_process(main_server);
    if (environment == SR_TEST)
        return (pair_t){"SigreqTestSealCertificate and SigreqTestSealKey", conf->test_seal_certificate,
                        conf->test_seal_key};
    return (pair_t){"SigreqSealCertificate and SigreqSealKey", conf->seal_certificate, conf->seal_key};
}

/* The files of the next certificate of production, whether they exist or not. */
static pair_t next_pair(server_rec *main_server)
{
    const sr_conf_process_t *conf = sr_conf_of_process(main_server);
    return (pair_t){"SigreqSealNextCertificate and SigreqSealNextKey", conf->seal_next_certificate,
                    conf->seal_next_key};
}

/* ------------------------------------------------------------------------------------------------ the check */

typedef struct trial_t {
    const pair_t *pair;
    sr_cms_when_t when;
} trial_t;

static const char *load_pair(const void *data, apr_pool_t *pool)
{
    const trial_t *trial = data;
    const sr_cms_identity_t *unused;
    sr_error_t *error =
        sr_cms_identity_load_when(&unused, trial->pair->certificate, trial->pair->key, trial->when, pool);
    return error ? error->message : "";
}

/* Loads a pair in a forked process, so that the parent never has the key in its memory: children would inherit it.
 * Returns the fault, or NULL. */
static const char *try_pair(const pair_t *pair, sr_cms_when_t when, apr_pool_t *pool)
{
    const trial_t trial = {pair, when};
    const char *fault = sr_run_forked(load_pair, &trial, pool);
    if (!fault) return "they cannot be checked";
    return *fault ? fault : NULL;
}

static json_t *setup_of(server_rec *main_server, apr_pool_t *pool);

/* The same, also if the key is in a token. `seal` is the number of the pair in the setup. */
static const char *check_pair(const pair_t *pair, int seal, sr_cms_when_t when, server_rec *main_server,
                              apr_pool_t *pool)
{
    if (!sr_text_is_token(pair->key)) return try_pair(pair, when, pool);
    json_t *setup = setup_of(main_server, pool);
    json_object_set_new(setup, "next", json_boolean(when == SR_CMS_NOW_OR_BEFORE));
    return sr_run_signd_check(seal, pool, main_server, setup);
}

static void warn_of_next(server_rec *main_server, const char *fault)
{
    ap_log_error(APLOG_MARK, APLOG_WARNING, 0, main_server,
                 "SR0406: the next certificate of the seal cannot be used: %s: %s. The current one continues to seal",
                 next_pair(main_server).name, fault);
}

/* Checks the next certificate, if its file exists. A fault is only a warning. Returns true if it could seal now. Then
 * the present one may have expired. */
static bool check_next(server_rec *main_server, apr_pool_t *pool)
{
    const pair_t pair = next_pair(main_server);
    const sr_cms_certificate_t *about;
    if (!*pair.certificate || !*pair.key || access(pair.certificate, F_OK) != 0) return false;
    const char *fault = check_pair(&pair, SR_SIGND_NEXT, SR_CMS_NOW_OR_LATER, main_server, pool);
    /* a start warns when it loads it */
    if (fault && ap_state_query(AP_SQ_RUN_MODE) == AP_SQ_RM_CONFIG_TEST) warn_of_next(main_server, fault);
    return !fault && !sr_cms_certificate_read(&about, pair.certificate, pool) && about->from <= sr_time_now();
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
    const pair_t pairs[] = {pair_of(main_server, SR_TEST), pair_of(main_server, SR_PRODUCTION), next_pair(main_server)};
    for (int i = 0; i <= SR_SIGND_NEXT; i++) {
        const char *missing = missing_of(&pairs[i], i == SR_PRODUCTION, ptemp);
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
    const sr_cms_when_t when = check_next(main_server, ptemp) ? SR_CMS_NOW_OR_BEFORE : SR_CMS_NOW;
    for (int i = SR_TEST; i <= SR_PRODUCTION; i++) {
        const pair_t pair = pair_of(main_server, (sr_environment_t)i);
        if (!*pair.certificate) continue;
        const char *fault = check_pair(&pair, i, i == SR_PRODUCTION ? when : SR_CMS_NOW, main_server, ptemp);
        if (fault) say_unusable(main_server, i, fault, false);
    }
}

/* ------------------------------------------------------------------------------------------------ the start */

static apr_time_t warned;                   /* when the certificates were looked at for a warning */
static const sr_cms_identity_t *production; /* which one of production's has sealed when that was last looked at */

static apr_time_t wanted(server_rec *main_server)
{
    return sr_conf_of_process(main_server)->seal_next_from;
}

/* Returns the certificate that a seal has last. NULL: the seal cannot be used. */
static const sr_cms_certificate_t *seal_last(server_rec *main_server, int environment)
{
    if (!seals[environment]) return NULL;
    const sr_cms_certificate_t *present = sr_cms_identity_certificate(seals[environment]);
    if (environment != SR_PRODUCTION || !seals[SR_SIGND_NEXT]) return present;
    const sr_cms_certificate_t *next = sr_cms_identity_certificate(seals[SR_SIGND_NEXT]);
    return sr_cms_last(present, next, wanted(main_server), warned);
}

static void warn_of_ends(server_rec *main_server, apr_pool_t *pool)
{
    warned = sr_time_now();
    sr_run_own_warn(main_server, pool);
    for (int i = SR_TEST; i <= SR_PRODUCTION; i++) {
        const sr_cms_certificate_t *about = seal_last(main_server, i);
        if (!about || about->until - warned > WARN_BEFORE) continue;
        const bool over = about->until < warned;
        ap_log_error(APLOG_MARK, over ? APLOG_CRIT : APLOG_WARNING, 0, main_server,
                     "SR0402: the %scertificate \"%s\" of the seal %s at %s: its documents cannot be signed %s (503)",
                     i == SR_TEST ? "test " : "", about->name, over ? "expired" : "expires",
                     sr_time_format(about->until, pool), over ? "until it is replaced" : "then");
    }
}

/* Looks which certificate of production seals now, for the metric and the log. Children decide for each signature. */
static void look_at_next(server_rec *main_server, apr_pool_t *pool)
{
    const apr_time_t now = sr_time_now();
    const sr_cms_identity_t *present = seals[SR_PRODUCTION], *next = seals[SR_SIGND_NEXT];
    const sr_cms_identity_t *used = present ? sr_cms_identity_at(present, next, wanted(main_server), now) : NULL;
    const sr_cms_certificate_t *about = next ? sr_cms_identity_certificate(next) : NULL;
    if (!present || used == production) return;
    if (used == next)
        ap_log_error(APLOG_MARK, APLOG_NOTICE, 0, main_server,
                     "SR0407: the next certificate of the seal, \"%s\" %s, seals from now on: run 'sigreqctl seal "
                     "rotate'",
                     about->name, about->sha256);
    else if (next && now <= about->until)
        ap_log_error(
            APLOG_MARK, APLOG_NOTICE, 0, main_server,
            "SR0407: the next certificate of the seal, \"%s\" %s, seals from %s", about->name, about->sha256,
            sr_time_format(sr_cms_takeover(sr_cms_identity_certificate(present), about, wanted(main_server)), pool));
    sr_metrics_set(SR_METRIC_SEAL_EXPIRES, SR_PRODUCTION, 0, (apr_uint64_t)sr_cms_identity_certificate(used)->until);
    sr_metrics_set(SR_METRIC_SEAL_NEXT_EXPIRES, 0, 0, next && used != next ? (apr_uint64_t)about->until : 0);
    production = used;
}

/* The parent has the certificates of this configuration since its start, so a later warning is about the same ones. */
int sr_run_seal_monitor(apr_pool_t *pool, server_rec *main_server)
{
    if (!sr_conf_is_used()) return DECLINED;
    sr_run_signd_monitor();
    look_at_next(main_server, pool);
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
    const pair_t next = next_pair(main_server);
    if (*next.certificate && *next.key)
        json_array_append_new(list, json_pack("{s:s,s:s}", "certificate", next.certificate, "key", next.key));
    json_object_set_new(setup, "seals", list);
    sr_run_signd_token(setup, main_server);
    return setup;
}

/* Reads what the signer process says of the next certificate. A fault is only a warning. */
static void read_next(const json_t *answer, server_rec *main_server, apr_pool_t *pconf)
{
    const char *pem = json_string_value(json_array_get(json_object_get(answer, SR_SIGND_PEM), SR_SIGND_NEXT));
    const char *fault = sr_json_string(answer, SR_SIGND_NEXT_FAULT);
    sr_error_t *error =
        pem ? sr_cms_identity_without_key(&seals[SR_SIGND_NEXT], pem, next_pair(main_server).certificate, sr_signd_sign,
                                          &batons[SR_PRODUCTION], pconf)
            : NULL;
    if (error) fault = error->message;
    next_unusable = fault != NULL;
    if (fault) warn_of_next(main_server, fault);
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
static void read_former(server_rec *main_server, apr_pool_t *pconf)
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

static void read_answer(const json_t *answer, server_rec *main_server, apr_pool_t *pconf)
{
    for (int i = SR_TEST; i <= SR_PRODUCTION; i++) {
        read_seal(answer, i, main_server, pconf);
        sr_metrics_set(SR_METRIC_SEAL_EXPIRES, i, 0,
                       seals[i] ? (apr_uint64_t)sr_cms_identity_certificate(seals[i])->until : 0);
        sr_metrics_set(SR_METRIC_SEAL_UNUSABLE, i, 0, !seals[i]);
    }
    read_next(answer, main_server, pconf);
    look_at_next(main_server, pconf);
    sr_run_own_read(answer, main_server, pconf);
    sr_run_own_measure();
    warn_of_ends(main_server, pconf);
}

void sr_run_seal_load(apr_pool_t *pconf, server_rec *main_server)
{
    const json_t *answer;
    memset(seals, 0, sizeof seals);
    production = NULL;
    sr_run_own_forget();
    former = NULL;
    if (!sr_conf_is_used()) return;
    read_former(main_server, pconf);
    json_t *setup = setup_of(main_server, pconf);
    const char *folder = sr_conf_of_process(main_server)->organization_seals;
    if (*folder) json_object_set_new(setup, SR_SIGND_OWN_SEALS, json_string(folder));
    const char *fault = sr_run_signd_start(&answer, pconf, main_server, setup);
    if (!fault) {
        read_answer(answer, main_server, pconf);
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
static void change(void *seals_of_child, int number, const sr_cms_identity_t *identity)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    const sr_cms_identity_t **used = seals_of_child;
    pthread_mutex_lock(&mutex);
    sr_signd_replace(&used[number], &batons[number], number, NULL);
    if (number == SR_PRODUCTION) sr_signd_replace(&used[SR_SIGND_NEXT], &batons[SR_PRODUCTION], SR_SIGND_NEXT, NULL);
    pthread_mutex_unlock(&mutex);
}

bool sr_run_seal_child_init(const sr_cms_identity_t **used, const apr_array_header_t **own, apr_pool_t *pchild)
{
    int threads = 0;
    const int door = sr_run_signd_child_init();
    ap_mpm_query(AP_MPMQ_MAX_THREADS, &threads);
    sr_signd_t *signd =
        sr_signd_create(door, threads < CONNECTIONS ? (threads ? threads : 1) : CONNECTIONS, TIMEOUT, pchild);
    for (int i = SR_TEST; i <= SR_PRODUCTION; i++) {
        batons[i] = (sr_signd_seal_t){signd, i, change, (void *)used};
        used[i] = seals[i];
    }
    used[SR_SIGND_NEXT] = seals[SR_SIGND_NEXT];
    *own = sr_run_own_child_init(signd);
    return !next_unusable;
}

const apr_array_header_t *sr_run_seal_former(void)
{
    return former;
}
