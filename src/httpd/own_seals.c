/* SPDX-License-Identifier: Apache-2.0 */
/* own_seals.c: the own seals of organisations (SigreqOrganizationSeals). The signer process reads their keys, the
 * parent and its children have the certificates. A seal that cannot be used stops the documents of its organisation,
 * which get 503, and nothing else: neither httpd nor other organisations, and no other seal takes its place. */
#include <httpd.h>
#include <http_core.h>
#include <http_log.h>
#include <pthread.h>
#include <string.h>

#include "metrics/metrics.h"
#include "mod_sigreq.h"
#include "signer/protocol.h"
#include "httpd/adapters.h"

APLOG_USE_MODULE(sigreq);

#define WARN_BEFORE apr_time_from_sec(30 * 24 * 3600)

static apr_array_header_t *own; /* sr_cms_own_t, of the current configuration; NULL: there are none */
static sr_signd_seal_t baton;   /* who signs with them, in the current child */

static const char *own_seals_folder_of(server_rec *main_server)
{
    return sr_conf_of_process(main_server)->organization_seals;
}

/* ------------------------------------------------------------------------------------------------ messages */

static void say_fault(const sr_cms_own_t *one, server_rec *main_server)
{
    if (one->fault)
        ap_log_error(APLOG_MARK, APLOG_ERR, 0, main_server,
                     "SR0440: the seal of organization %s cannot be used: %s. Its production documents are not sealed",
                     one->organization, one->fault);
}

static void say_strangers(const apr_array_header_t *strangers, server_rec *main_server)
{
    for (int i = 0; i < strangers->nelts; i++)
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, main_server,
                     "SR0442: SigreqOrganizationSeals %s: %s is ignored: its name is not the uuid of an organization",
                     own_seals_folder_of(main_server), APR_ARRAY_IDX(strangers, i, const char *));
}

/* ----------------------------------------------------------------------------------------------- the check */

/* With SigreqSealAuthorities the chain of each seal must reach one of them. Its fault is reported by proofs.c. */
static const char *chain_fault_of(const char *pem, server_rec *main_server, apr_pool_t *pool)
{
    const sr_process_settings_t *conf = sr_conf_of_process(main_server);
    const char *anchors;
    if (!*conf->seal_authorities || sr_cms_certificates_text(&anchors, conf->seal_authorities, pool)) return NULL;
    const char *fault = sr_proof_chain_fault(pem, anchors, pool);
    return fault ? apr_psprintf(pool, "its chain does not end at SigreqSealAuthorities: %s", fault) : NULL;
}

static void judge_chain(sr_cms_own_t *one, server_rec *main_server, apr_pool_t *pool)
{
    if (one->identity && !one->fault)
        one->fault = chain_fault_of(sr_cms_identity_pem(one->identity, pool), main_server, pool);
}

typedef struct check_t {
    server_rec *main_server;
    const apr_array_header_t *organizations;
} check_t;

/* Returns the faults of all seals as JSON text. */
static const char *check_keys(const void *data, apr_pool_t *pool)
{
    const check_t *check = data;
    json_t *faults = sr_json_own(json_array(), pool);
    for (int i = 0; i < check->organizations->nelts; i++) {
        sr_cms_own_t one;
        sr_cms_own_load(&one, own_seals_folder_of(check->main_server),
                        APR_ARRAY_IDX(check->organizations, i, const char *), pool);
        judge_chain(&one, check->main_server, pool);
        json_array_append_new(faults, sr_json_string_or_null(one.fault));
    }
    return sr_json_text(faults, pool);
}

/* Loads the keys in a forked process, so that the parent never has them. */
static void own_seals_check_all(const apr_array_header_t *organizations, server_rec *main_server, apr_pool_t *pool)
{
    const check_t check = {main_server, organizations};
    const char *text = sr_run_forked(check_keys, &check, pool);
    json_t *faults = NULL;
    if (!text || sr_json_parse(&faults, text, strlen(text), pool)) faults = NULL;
    for (int i = 0; i < organizations->nelts; i++) {
        const json_t *said = json_array_get(faults, (size_t)i);
        const sr_cms_own_t one = {.organization = APR_ARRAY_IDX(organizations, i, const char *),
                                  .fault = said ? json_string_value(said) : "it cannot be checked"};
        say_fault(&one, main_server);
    }
}

void sr_run_own_check(apr_pool_t *ptemp, server_rec *main_server)
{
    apr_array_header_t *organizations, *strangers;
    if (!*own_seals_folder_of(main_server)) return;
    sr_error_t *error = sr_cms_own_list(&organizations, &strangers, own_seals_folder_of(main_server), ptemp);
    if (error) {
        ap_log_error(APLOG_MARK, sr_conf_level(APLOG_ERR), 0, main_server,
                     "SR0444: SigreqOrganizationSeals: %s. Nothing is sealed", error->message);
        return;
    }
    if (ap_state_query(AP_SQ_RUN_MODE) != AP_SQ_RM_CONFIG_TEST) return; /* a start says it when it loads them */
    say_strangers(strangers, main_server);
    if (organizations->nelts) own_seals_check_all(organizations, main_server, ptemp);
}

/* ----------------------------------------------------------------------------------------------- the start */

static void own_seals_read_one(sr_cms_own_t *one, const json_t *said, server_rec *main_server, apr_pool_t *pconf)
{
    const sr_cms_identity_t *made;
    const char *pem = sr_json_string(said, SR_SIGND_PEM);
    *one = (sr_cms_own_t){.organization = sr_json_string(said, "organization"),
                          .fault = sr_json_string(said, SR_SIGND_FAULT)};
    if (pem) {
        sr_error_t *error =
            sr_cms_identity_without_key(&made, pem, own_seals_folder_of(main_server), sr_signd_sign, &baton, pconf);
        one->fault = error ? error->message : chain_fault_of(pem, main_server, pconf);
        if (!one->fault) one->identity = made;
    }
    say_fault(one, main_server);
}

void sr_run_own_read(const json_t *answer, server_rec *main_server, apr_pool_t *pconf)
{
    const json_t *list = json_object_get(answer, SR_SIGND_OWN_SEALS);
    apr_array_header_t *organizations, *strangers;
    own = NULL;
    if (!*own_seals_folder_of(main_server)) return;
    if (!sr_cms_own_list(&organizations, &strangers, own_seals_folder_of(main_server), pconf))
        say_strangers(strangers, main_server);
    own = apr_array_make(pconf, (int)json_array_size(list) + 1, sizeof(sr_cms_own_t));
    for (size_t i = 0; i < json_array_size(list); i++)
        own_seals_read_one(apr_array_push(own), json_array_get(list, i), main_server, pconf);
    ap_log_error(APLOG_MARK, APLOG_INFO, 0, main_server, "SR0443: %d organizations have their own seals in %s",
                 own->nelts, own_seals_folder_of(main_server));
}

void sr_run_own_forget(void)
{
    own = NULL;
}

/* ------------------------------------------------------------------------------------------------ watching */

void sr_run_own_warn(server_rec *main_server, apr_pool_t *pool)
{
    const apr_time_t now = sr_time_now();
    for (int i = 0; own && i < own->nelts; i++) {
        const sr_cms_own_t *one = &APR_ARRAY_IDX(own, i, sr_cms_own_t);
        const sr_cms_certificate_t *about = one->identity ? sr_cms_identity_certificate(one->identity) : NULL;
        if (!about || about->until - now > WARN_BEFORE) continue;
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, main_server,
                     "SR0445: the certificate \"%s\" of the seal of organization %s %s at %s. After that, its "
                     "production documents are not sealed",
                     about->name, one->organization, about->until < now ? "expired" : "expires",
                     sr_time_format(about->until, pool));
    }
}

void sr_run_own_measure(void)
{
    const apr_time_t now = sr_time_now();
    apr_uint64_t unusable = 0;
    apr_time_t first = 0;
    for (int i = 0; own && i < own->nelts; i++) {
        const sr_cms_own_t *one = &APR_ARRAY_IDX(own, i, sr_cms_own_t);
        const sr_cms_certificate_t *about = one->identity ? sr_cms_identity_certificate(one->identity) : NULL;
        unusable += !about || about->until < now;
        if (about && (!first || about->until < first)) first = about->until;
    }
    sr_metrics_set(SR_METRIC_OWN_SEALS, 0, 0, own ? (apr_uint64_t)own->nelts : 0);
    sr_metrics_set(SR_METRIC_OWN_UNUSABLE, 0, 0, unusable);
    sr_metrics_set(SR_METRIC_OWN_EXPIRES, 0, 0, (apr_uint64_t)first);
}

/* ------------------------------------------------------------------------------------------------ in children */

/* The signer process does not have the certificate of this identity: it was started again, and has read changed files.
 * The child uses the new one for the next signature. */
static void own_seals_change(void *unused, int number, const sr_cms_identity_t *identity)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < own->nelts; i++) {
        sr_cms_own_t *one = &APR_ARRAY_IDX(own, i, sr_cms_own_t);
        if (one->identity != identity) continue;
        sr_signd_replace(&one->identity, &baton, SR_SIGND_OWN, one->organization);
    }
    pthread_mutex_unlock(&mutex);
}

const apr_array_header_t *sr_run_own_child_init(sr_signd_t *signd)
{
    baton = (sr_signd_seal_t){signd, SR_SIGND_OWN, own_seals_change, NULL};
    return own;
}
