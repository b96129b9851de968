/* SPDX-License-Identifier: Apache-2.0 */
/* helper.c: one pool of PDF helpers for each httpd child. */
#include <httpd.h>
#include <ap_mpm.h>
#include <http_log.h>
#include <unistd.h>

#include "mod_sigreq.h"
#include "httpd/adapters.h"

APLOG_USE_MODULE(sigreq);

#define LEAST_VISITS 4
#define MESSAGE_MAX 1024

static void *visit_places; /* shared by all children */

static void helper_notice(void *baton, const char *message)
{
    char text[MESSAGE_MAX];
    apr_snprintf(text, sizeof text, "SR0300: PDF helper: %s", message);
    sr_run_log(baton, APLOG_WARNING, text);
}

int sr_run_helper_create(server_rec *main_server)
{
    visit_places = sr_run_shared(main_server, "sigreq-visits", sr_pdf_visits_size());
    return visit_places ? OK : HTTP_INTERNAL_SERVER_ERROR;
}

/* In a forked process, so that no worker and no thread stays. */
static const char *ping(const void *baton, apr_pool_t *pool)
{
    sr_pdf_options_t options = *(const sr_pdf_options_t *)baton;
    sr_pdf_pool_t *helpers;
    options.visit_places = apr_pcalloc(pool, sr_pdf_visits_size());
    if (!sr_conf_become_user()) return "";
    sr_error_t *error = sr_pdf_pool_create(&helpers, &options, pool);
    if (!error) error = sr_pdf_ping(helpers, pool);
    /* the message is for signers */
    return !error ? "" : error->cause ? error->cause : error->message;
}

static void ignore(void *baton, const char *message)
{
}

void sr_run_helper_check(apr_pool_t *ptemp, server_rec *main_server)
{
    const sr_process_settings_t *conf = sr_conf_of_process(main_server);
    const sr_pdf_options_t options = {.program = conf->helper,
                                      .workers = 1,
                                      .visits = 1,
                                      .visits_of_all = 1,
                                      .timeout = conf->helper_timeout,
                                      .show_timeout = conf->helper_show_timeout,
                                      .notice = ignore};
    if (!sr_conf_is_used() || access(conf->helper, X_OK) != 0) return; /* usable.c has reported that */
    const char *fault = sr_run_forked(ping, &options, ptemp);
    if (fault && !*fault) return;
    ap_log_error(APLOG_MARK, sr_conf_level(APLOG_CRIT), 0, main_server,
                 "SR0302: SigreqHelper %s does not work: %s. No document can be read (503) until it does", conf->helper,
                 fault ? fault : "it cannot be tested");
}

static int helper_half_of(int threads)
{
    return threads / 2 > LEAST_VISITS ? threads / 2 : LEAST_VISITS;
}

sr_pdf_pool_t *sr_run_helper_child_init(apr_pool_t *pchild, server_rec *main_server, const sr_process_settings_t *conf)
{
    int threads = 0, children = 0;
    sr_pdf_pool_t *helpers = NULL;
    ap_mpm_query(AP_MPMQ_MAX_THREADS, &threads);
    ap_mpm_query(AP_MPMQ_MAX_DAEMONS, &children);
    const sr_pdf_options_t options = {.program = conf->helper,
                                      .workers = conf->helper_workers,
                                      .keep = conf->helper_keep,
                                      .visits = helper_half_of(threads),
                                      .visits_of_all = helper_half_of((threads ? threads : 1) * children),
                                      .visit_places = visit_places,
                                      .timeout = conf->helper_timeout,
                                      .show_timeout = conf->helper_show_timeout,
                                      .notice = helper_notice,
                                      .baton = main_server};
    sr_error_t *error = sr_pdf_pool_create(&helpers, &options, pchild);
    if (error)
        ap_log_error(APLOG_MARK, APLOG_CRIT, 0, main_server, "SR0301: no PDF helper can be started: %s",
                     sr_error_text(error, false, pchild));
    return helpers;
}
