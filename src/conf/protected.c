/* SPDX-License-Identifier: Apache-2.0 */
/* protected.c: whether a login protects the desk, as far as the text of the configuration shows it. A section whose
 * path is a pattern or an expression may apply, so it is taken for one that does. */
#include "conf/conf.h"

#include <apr_fnmatch.h>
#include <http_log.h>
#include <strings.h>

#include "mod_sigreq.h"

APLOG_USE_MODULE(sigreq);

/* Returns true if a section may apply to requests for this path. */
static bool protected_applies(const ap_directive_t *section, const char *path, apr_pool_t *pool)
{
    static const char *const files[] = {"<Directory", "<DirectoryMatch", "<Files", "<FilesMatch", "<Proxy"};
    const char *rest = section->args, *prefix = ap_getword_conf(pool, &rest);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (!strcasecmp(section->directive, files[i])) return false;
    if (strcasecmp(section->directive, "<Location") != 0 || *prefix != '/' || apr_fnmatch_test(prefix)) return true;
    size_t length = strlen(prefix);
    while (length && prefix[length - 1] == '/') length--;
    return !strncmp(path, prefix, length) && (!path[length] || path[length] == '/');
}

/* Returns true if a directive that may apply to this path has another first argument than `off`. */
// NOLINTNEXTLINE(misc-no-recursion): the depth of the sections in the file
static bool protected_has(const ap_directive_t *directive, const char *path, const char *name, const char *off,
                          apr_pool_t *pool)
{
    for (; directive; directive = directive->next) {
        const char *rest = directive->args;
        if (!strcasecmp(directive->directive, "<VirtualHost")) continue;
        if (directive->first_child) {
            if (protected_applies(directive, path, pool)
                && protected_has(directive->first_child, path, name, off, pool))
                return true;
        } else if (!strcasecmp(directive->directive, name) && strcasecmp(ap_getword_conf(pool, &rest), off) != 0) {
            return true;
        }
    }
    return false;
}

/* Returns true for a directive in the main server, in this virtual host, or, if `server` is the main server, in any. */
static bool has(const server_rec *server, const server_rec *main_server, const char *path, const char *name,
                const char *off, apr_pool_t *pool)
{
    if (protected_has(ap_conftree, path, name, off, pool)) return true;
    for (const server_rec *host = main_server->next; host; host = host->next)
        if ((server == main_server || server == host) && protected_has(sr_conf_content(host), path, name, off, pool))
            return true;
    return false;
}

/* Returns the server of a section, or the main server if the section is in it and so in all. */
static server_rec *protected_server(apr_pool_t *pool, int section, server_rec *main_server)
{
    server_rec *server = main_server;
    while (server && !sr_conf_section(pool, section, server, main_server)) server = server->next;
    return server;
}

int sr_conf_check_desk(apr_pool_t *ptemp, server_rec *main_server)
{
    int result = OK;
    for (int i = 0; i < sr_conf_sections(); i++) {
        const char *where;
        const server_rec *server = protected_server(ptemp, i, main_server);
        const char *location = sr_conf_section_place(&where, ptemp, i)->location;
        const char *path = apr_pstrcat(ptemp, location, "/desk", NULL);
        if (!has(server, main_server, path, "SigreqDesk", "Off", ptemp)
            || has(server, main_server, path, "SSLVerifyClient", "none", ptemp)
            || (has(server, main_server, path, "AuthType", "None", ptemp)
                && has(server, main_server, path, "Require", "all", ptemp)))
            continue;
        ap_log_error(APLOG_MARK, APLOG_STARTUP | APLOG_ERR, 0, main_server,
                     "SR0006: %s: SigreqDesk needs a login: protect <Location \"%s\">, for example by AuthType and "
                     "Require valid-user",
                     where, path);
        result = HTTP_INTERNAL_SERVER_ERROR;
    }
    return result;
}
