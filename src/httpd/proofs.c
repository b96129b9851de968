/* SPDX-License-Identifier: Apache-2.0 */
/* proofs.c: collects the proofs of the seals' chains, and notices that the certificate of a seal was revoked. Each
 * child has a thread that tries to take the lock of the folder. The one that has it collects for all processes of the
 * machine. If its child dies, the lock is free, and another one goes on. */
#include <httpd.h>
#include <http_log.h>
#include <curl/curl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

#include "metrics/metrics.h"
#include "mod_sigreq.h"
#include "signer/protocol.h"
#include "httpd/adapters.h"

APLOG_USE_MODULE(sigreq);

#define TICK apr_time_from_sec(1) /* how often a child looks whether it should collect, or whether something is due */

/* Of the current configuration. */
static const char *authorities; /* SigreqSealAuthorities as PEM text; NULL: no proofs are collected */

/* The SHA-256 of the last fault that was logged, or "". */
typedef struct said_t {
    char digest[SR_SHA256_HEX_LENGTH + 1];
} said_t;

static struct {
    server_rec *main_server;
    const sr_process_settings_t *conf;
    const sr_cms_identity_t *const *seals; /* as sr_run_seal_child_init has set them */
    const apr_array_header_t *own;         /* the same, sr_cms_own_t; or NULL */
    apr_thread_t *thread;
    apr_pool_t *pool; /* the pool of the thread */
    sr_proof_keeper_t *keeper;
    sr_fetcher_t *fetcher;
    bool stopped; /* under the mutex */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    apr_time_t next;        /* when something is due */
    struct timespec folder; /* the time of the folder after the last pass: a change means that a chain was asked for */
    said_t said[4];         /* of each seal, of the folder, and of the others */
    said_t *own_said;       /* of each own seal */
    said_t *own_revoked;    /* the same: its revocation */
} child = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* ------------------------------------------------------------------------------------------ configuration */

/* Returns the fault, or NULL. The seal of the test environment may be one that no authority has issued. */
static const char *proofs_load(const char **anchors, server_rec *main_server, apr_pool_t *pool)
{
    const sr_process_settings_t *conf = sr_conf_of_process(main_server);
    const char *pem;
    *anchors = NULL;
    if (!sr_conf_is_used() || !*conf->seal_authorities) return NULL;
    sr_error_t *error = sr_cms_certificates_text(anchors, conf->seal_authorities, pool);
    if (error) return apr_pstrcat(pool, "SigreqSealAuthorities: ", error->message, NULL);
    if (!sr_conf_can_write(conf->proofs))
        return apr_psprintf(pool, "SigreqProofs %s: httpd's user cannot write to this folder", conf->proofs);
    if (sr_cms_certificates_text(&pem, conf->seal_certificate, pool)) return NULL; /* seals.c reports it */
    const char *fault = sr_proof_chain_fault(pem, *anchors, pool);
    return fault
               ? apr_psprintf(pool, "SigreqSealCertificate: its chain does not end at SigreqSealAuthorities: %s", fault)
               : NULL;
}

int sr_run_proofs_require(server_rec *main_server)
{
    const sr_process_settings_t *conf = sr_conf_of_process(main_server);
    if (!sr_conf_is_used() || !*conf->seal_authorities || *conf->proofs) return OK;
    ap_log_error(APLOG_MARK, APLOG_STARTUP | APLOG_ERR, 0, main_server,
                 "SR0420: SigreqSealAuthorities needs SigreqProofs, a folder");
    return HTTP_INTERNAL_SERVER_ERROR;
}

static void proofs_report(const char *fault, server_rec *main_server, apr_pool_t *pool)
{
    if (fault) sr_run_unusable(main_server, apr_pstrcat(pool, "SR0420: ", fault, NULL));
}

void sr_run_proofs_check(apr_pool_t *ptemp, server_rec *main_server)
{
    const char *unused;
    proofs_report(proofs_load(&unused, main_server, ptemp), main_server, ptemp);
}

void sr_run_proofs_load(apr_pool_t *pconf, server_rec *main_server)
{
    proofs_report(proofs_load(&authorities, main_server, pconf), main_server, pconf);
}

/* ------------------------------------------------------------------------------------------------ fetching */

static bool proofs_is_stopped(const void *baton)
{
    pthread_mutex_lock(&child.mutex);
    const bool stopped = child.stopped;
    pthread_mutex_unlock(&child.mutex);
    return stopped;
}

/* The URLs are in certificates that reach our anchors. Nevertheless, only public addresses are called. */
static const char *forbidden(const struct sockaddr *address, const void *baton)
{
    return sr_address_forbidden(address, child.conf->proofs_allow);
}

static void proofs_fetch(void *baton, sr_fetch_t *request, apr_pool_t *pool)
{
    sr_fetch_all(child.fetcher, request, 1, pool);
}

/* -------------------------------------------------------------------------------------------------- a pass */

/* Notes a fault. Returns false if it is the last one that was noted. */
static bool is_news(said_t *said, const char *fault, apr_pool_t *pool)
{
    const char *digest = fault ? sr_sha256_hex(fault, strlen(fault), pool) : "";
    if (!strcmp(said->digest, digest)) return false;
    apr_cpystrn(said->digest, digest, sizeof said->digest);
    return true;
}

/* Logs a fault once, and that it is over. */
static void proofs_say(said_t *said, const char *what, const char *fault, apr_pool_t *pool)
{
    if (!is_news(said, fault, pool)) return;
    if (fault) ap_log_error(APLOG_MARK, APLOG_WARNING, 0, child.main_server, "SR0422: %s: %s", what, fault);
    else ap_log_error(APLOG_MARK, APLOG_NOTICE, 0, child.main_server, "SR0422: %s: complete again", what);
}

/* The gauge is in memory that all children share, so one of them logs a revocation, once. */
static void proofs_note_revocation(sr_environment_t environment, const sr_proofs_t *proofs)
{
    static const char *const names[] = {[SR_TEST] = "the test environment", [SR_PRODUCTION] = "production"};
    const bool before = sr_metrics_value(SR_METRIC_SEAL_REVOKED, environment, 0) != 0;
    sr_metrics_set(SR_METRIC_SEAL_REVOKED, environment, 0, proofs->revoked != NULL);
    if (proofs->revoked && !before)
        ap_log_error(
            APLOG_MARK, APLOG_ALERT, 0, child.main_server,
            "SR0421: the seal of %s: %s. Nothing is sealed with it: install another certificate and restart httpd",
            names[environment], proofs->revoked);
    else if (!proofs->revoked && before)
        ap_log_error(APLOG_MARK, APLOG_NOTICE, 0, child.main_server,
                     "SR0423: the seal of %s: its certificate is no longer revoked. Documents are sealed again",
                     names[environment]);
}

static const sr_cms_identity_t *proofs_seal_of(int number)
{
    return __atomic_load_n(&child.seals[number], __ATOMIC_ACQUIRE);
}

static sr_error_t *collect(const sr_proofs_t **proofs, const sr_cms_identity_t *seal, apr_pool_t *pool)
{
    apr_time_t next;
    SR_TRY(sr_proof_collect(proofs, &next, child.keeper, sr_cms_identity_pem(seal, pool), authorities, pool));
    if (next < child.next) child.next = next;
    return NULL;
}

/* Shows what the proofs of the certificate say that seals. */
static void proofs_note(sr_environment_t environment, const sr_proofs_t *proofs, apr_pool_t *pool)
{
    static const char *const names[] = {[SR_TEST] = "proofs of the test seal", [SR_PRODUCTION] = "proofs of the seal"};
    sr_metrics_set(SR_METRIC_PROOF_EXPIRES, environment, 0, (apr_uint64_t)proofs->until);
    proofs_note_revocation(environment, proofs);
    proofs_say(&child.said[environment], names[environment], proofs->missing, pool);
}

static sr_error_t *collect_test(apr_pool_t *pool)
{
    const sr_proofs_t *proofs;
    const sr_cms_identity_t *seal = proofs_seal_of(SR_TEST);
    if (!seal || sr_proof_chain_fault(sr_cms_identity_pem(seal, pool), authorities, pool))
        return NULL; /* it needs none */
    SR_TRY(collect(&proofs, seal, pool));
    proofs_note(SR_TEST, proofs, pool);
    return NULL;
}

static sr_error_t *collect_production(apr_pool_t *pool)
{
    const sr_proofs_t *proofs;
    const sr_cms_identity_t *seal = proofs_seal_of(SR_PRODUCTION);
    if (!seal) return NULL;
    SR_TRY(collect(&proofs, seal, pool));
    proofs_note(SR_PRODUCTION, proofs, pool);
    return NULL;
}

/* Logs what the proofs of an own seal say. Returns true if its certificate is revoked. */
static bool note_own(int i, const sr_cms_own_t *own, const sr_proofs_t *proofs, apr_pool_t *pool)
{
    const char *what = apr_pstrcat(pool, "proofs of the seal of organization ", own->organization, NULL);
    proofs_say(&child.own_said[i], what, proofs->missing, pool);
    /* whether, and not why: an authority may name another time or reason later */
    if (!is_news(&child.own_revoked[i], proofs->revoked ? "revoked" : NULL, pool)) return proofs->revoked != NULL;
    if (proofs->revoked)
        ap_log_error(APLOG_MARK, APLOG_ALERT, 0, child.main_server,
                     "SR0421: the seal of organization %s: %s. Nothing is sealed with it: install another "
                     "certificate and restart httpd",
                     own->organization, proofs->revoked);
    else
        ap_log_error(APLOG_MARK, APLOG_NOTICE, 0, child.main_server,
                     "SR0423: the seal of organization %s: its certificate is no longer revoked. Documents are "
                     "sealed again",
                     own->organization);
    return proofs->revoked != NULL;
}

static sr_error_t *collect_one(bool *revoked, int i, const sr_cms_own_t *own, apr_pool_t *pool)
{
    const sr_cms_identity_t *seal = __atomic_load_n(&own->identity, __ATOMIC_ACQUIRE);
    const sr_proofs_t *proofs;
    *revoked = false;
    if (!seal) return NULL;
    SR_TRY(collect(&proofs, seal, pool));
    *revoked = note_own(i, own, proofs, pool);
    return NULL;
}

/* Collects for the own seals of organisations, after everything else: a responder that is slow delays only these. */
static sr_error_t *collect_own(apr_pool_t *pool)
{
    const int count = child.own ? child.own->nelts : 0;
    sr_error_t *error = NULL;
    apr_uint64_t revoked = 0;
    apr_pool_t *each;
    if (count && !child.own_said) {
        child.own_said = apr_pcalloc(child.pool, sizeof(said_t) * (apr_size_t)count);
        child.own_revoked = apr_pcalloc(child.pool, sizeof(said_t) * (apr_size_t)count);
    }
    apr_pool_create(&each, pool);
    for (int i = 0; i < count && !error && !proofs_is_stopped(NULL); i++) {
        bool is;
        error = sr_error_copy(collect_one(&is, i, &APR_ARRAY_IDX(child.own, i, sr_cms_own_t), each), pool);
        revoked += is;
        apr_pool_clear(each);
    }
    apr_pool_destroy(each);
    if (!proofs_is_stopped(NULL)) sr_metrics_set(SR_METRIC_OWN_REVOKED, 0, 0, revoked);
    return error;
}

static sr_error_t *collect_all(apr_pool_t *pool)
{
    apr_time_t earliest, next;
    const char *missing;
    child.next = sr_time_now() + child.conf->proofs_refresh;
    SR_TRY(collect_test(pool));
    SR_TRY(collect_production(pool));
    SR_TRY(sr_proof_collect_wanted(&earliest, &missing, &next, child.keeper, sr_run_timestamps_authorities(), pool));
    if (next < child.next) child.next = next;
    sr_metrics_set(SR_METRIC_STAMP_PROOF_EXPIRES, 0, 0, (apr_uint64_t)earliest);
    proofs_say(&child.said[3], "proofs of a timestamp authority", missing, pool);
    return collect_own(pool);
}

static bool has_changed(void)
{
    struct stat folder;
    if (stat(child.conf->proofs, &folder) != 0) return true;
    const bool changed = folder.st_mtim.tv_sec != child.folder.tv_sec || folder.st_mtim.tv_nsec != child.folder.tv_nsec;
    child.folder = folder.st_mtim;
    return changed;
}

static void proofs_pass(apr_pool_t *pool)
{
    if (sr_time_now() < child.next && !has_changed()) return;
    sr_error_t *error = collect_all(pool);
    if (proofs_is_stopped(NULL)) return;
    proofs_say(&child.said[2], "collecting proofs", error ? error->message : NULL, pool);
    if (error) child.next = sr_time_now() + SR_PROOF_HASTY;
    (void)has_changed(); /* this pass itself may have written files */
}

/* Waits for a second, or until the child ends. Returns false if it ends. */
static bool wait_for_tick(void)
{
    const apr_time_t until = sr_time_steady() + TICK;
    const struct timespec end = {apr_time_sec(until), apr_time_usec(until) * 1000};
    pthread_mutex_lock(&child.mutex);
    if (!child.stopped) (void)pthread_cond_clockwait(&child.changed, &child.mutex, CLOCK_MONOTONIC, &end);
    const bool goes_on = !child.stopped;
    pthread_mutex_unlock(&child.mutex);
    return goes_on;
}

static void *APR_THREAD_FUNC run(apr_thread_t *thread, void *data)
{
    apr_pool_t *pool, *locked;
    bool leads = false;
    apr_pool_create(&pool, child.pool);
    apr_pool_create(&locked, child.pool);
    do {
        const char *fault = NULL;
        if (!leads) leads = sr_proof_lock(&fault, child.conf->proofs, SR_PROOF_COLLECTS, locked);
        if (!leads) apr_pool_clear(locked);
        if (fault) proofs_say(&child.said[2], "collecting proofs", fault, pool);
        if (leads) proofs_pass(pool);
        apr_pool_clear(pool);
    } while (wait_for_tick());
    return NULL;
}

/* ----------------------------------------------------------------------------------------------- the child */

static apr_status_t proofs_stop(void *data)
{
    pthread_mutex_lock(&child.mutex);
    child.stopped = true;
    pthread_cond_broadcast(&child.changed);
    pthread_mutex_unlock(&child.mutex);
    sr_run_thread_join(child.thread, sr_run_in_handler());
    apr_pool_destroy(child.pool);
    return APR_SUCCESS;
}

static sr_error_t *proofs_start(apr_pool_t *pchild)
{
    const sr_fetch_options_t fetching = {.agent = "mod_sigreq/" MOD_SIGREQ_VERSION,
                                         .proxy = child.conf->proxy,
                                         .forbidden = forbidden,
                                         .stopped = proofs_is_stopped};
    const sr_proof_options_t options = {
        .folder = child.conf->proofs, .longest = child.conf->proofs_refresh, .fetch = proofs_fetch};
    if (curl_global_init(CURL_GLOBAL_DEFAULT)) return sr_error(pchild, SR_EINTERNAL, "libcurl cannot be used");
    pthread_cond_init(&child.changed, NULL);
    child.pool = sr_pool_alone();
    child.keeper = sr_proof_keeper_create(&options, child.pool);
    SR_TRY(sr_fetcher_create(&child.fetcher, &fetching, child.pool));
    sr_address_refresh();
    apr_status_t status = sr_run_thread_start(&child.thread, run, NULL, child.pool);
    return status ? sr_error(pchild, SR_EINTERNAL, "cannot start a thread: %pm", &status) : NULL;
}

sr_proof_cache_t *sr_run_proofs_child_init(apr_pool_t *pchild, server_rec *main_server,
                                           const sr_process_settings_t *conf, const sr_cms_identity_t *const *seals,
                                           const apr_array_header_t *own)
{
    if (!authorities) return NULL;
    child.main_server = main_server;
    child.seals = seals;
    child.own = own;
    child.conf = conf;
    sr_error_t *error = proofs_start(pchild);
    if (!error) apr_pool_pre_cleanup_register(pchild, NULL, proofs_stop);
    else
        ap_log_error(APLOG_MARK, APLOG_CRIT, 0, main_server, "SR0420: this child collects no proofs: %s",
                     error->message);
    return sr_proof_cache_create(conf->proofs, pchild);
}
