/* SPDX-License-Identifier: Apache-2.0 */
/* authorities.c: the certificate authorities that verify the servers of outgoing calls, and those that are trusted for
 * signatures in documents that are verified. Like the seal, they are read
 * by the parent with every configuration. So httpd's user need not be able to read the file, and all children use the
 * same version of it. */
#include <httpd.h>

#include "httpd/adapters.h"

/* of the current configuration */
static const char *authorities;
static sr_cms_anchors_t *trust;

static void authorities_load(const char **pem, sr_cms_anchors_t **anchors, apr_pool_t *pool, server_rec *main_server)
{
    const sr_process_settings_t *conf = sr_conf_of_process(main_server);
    const char *path = conf->ca_certificate_file;
    *pem = NULL;
    *anchors = NULL;
    if (!sr_conf_is_used()) return;
    sr_error_t *error = *path ? sr_cms_certificates_text(pem, path, pool) : NULL;
    if (error)
        sr_run_unusable(main_server, apr_pstrcat(pool, "SR0403: SigreqCACertificateFile: ", error->message, NULL));
    error = *conf->trust ? sr_cms_anchors_read(anchors, conf->trust, pool) : NULL;
    if (error) sr_run_unusable(main_server, apr_pstrcat(pool, "SR0430: SigreqTrust: ", error->message, NULL));
}

void sr_run_authorities_check(apr_pool_t *ptemp, server_rec *main_server)
{
    const char *unused;
    sr_cms_anchors_t *none;
    authorities_load(&unused, &none, ptemp, main_server);
}

void sr_run_authorities_load(apr_pool_t *pconf, server_rec *main_server)
{
    authorities_load(&authorities, &trust, pconf, main_server);
}

const sr_cms_anchors_t *sr_run_trust(void)
{
    return trust;
}

const char *sr_run_authorities(void)
{
    return authorities;
}
