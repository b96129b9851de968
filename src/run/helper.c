/* helper.c: one pool of PDF helpers for each httpd child. */
#include <httpd.h>
#include <ap_mpm.h>
#include <http_log.h>

#include "mod_sigreq.h"
#include "run/run.h"

APLOG_USE_MODULE(sigreq);

#define LEAST_VISITS 4

static sr_pdf_pool_t *helpers; /* of this child */

static void notice(void *baton, const char *message)
{
    ap_log_error(APLOG_MARK, APLOG_WARNING, 0, (server_rec *)baton, "SR0300: PDF helper: %s", message);
}

/* Half of this child's threads. */
static int visits(void)
{
    int threads = 0;
    ap_mpm_query(AP_MPMQ_MAX_THREADS, &threads);
    return threads / 2 > LEAST_VISITS ? threads / 2 : LEAST_VISITS;
}

void sr_run_helper_child_init(apr_pool_t *pchild, server_rec *main_server, const sr_conf_process_t *conf)
{
    const sr_pdf_options_t options = {.program = conf->helper,
                                      .workers = (int)conf->helper_workers,
                                      .visits = visits(),
                                      .timeout = conf->helper_timeout,
                                      .show_timeout = conf->helper_show_timeout,
                                      .notice = notice,
                                      .baton = main_server};
    sr_error_t *error = sr_pdf_pool_create(&helpers, &options, pchild);
    if (error)
        ap_log_error(APLOG_MARK, APLOG_CRIT, 0, main_server, "SR0301: no PDF helpers: %s (%s)", error->message,
                     error->cause ? error->cause : "no further cause");
}

sr_pdf_pool_t *sr_run_helper(void)
{
    return helpers;
}
