/* SPDX-License-Identifier: Apache-2.0 */
/* authorities.c: the certificate authorities that verify the servers of outgoing calls. Like the seal, they are read
 * by the parent with every configuration. So httpd's user need not be able to read the file, and all children use the
 * same version of it. */
#include <httpd.h>
#include <http_log.h>

#include "mod_sigreq.h"
#include "run/run.h"

APLOG_USE_MODULE(sigreq);

static const char *authorities; /* of the current configuration */

static int load(const char **pem, apr_pool_t *pool, server_rec *main_server)
{
    const char *path = sr_conf_of_process(main_server)->ca_certificate_file;
    *pem = NULL;
    sr_error_t *error = *path && sr_conf_is_used() ? sr_cms_certificates_text(pem, path, pool) : NULL;
    if (!error) return OK;
    ap_log_error(APLOG_MARK, APLOG_STARTUP | APLOG_ERR, 0, main_server, "SR0403: SigreqCACertificateFile: %s",
                 error->message);
    return HTTP_INTERNAL_SERVER_ERROR;
}

int sr_run_authorities_check(apr_pool_t *ptemp, server_rec *main_server)
{
    const char *unused;
    return load(&unused, ptemp, main_server);
}

int sr_run_authorities_load(apr_pool_t *pconf, server_rec *main_server)
{
    return load(&authorities, pconf, main_server);
}

const char *sr_run_authorities(void)
{
    return authorities;
}
