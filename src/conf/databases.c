/* SPDX-License-Identifier: Apache-2.0 */
/* databases.c: finds the databases. mod_dbd gives a virtual host its own connections if its section has directives of
 * mod_dbd, but offers no function that tells which hosts have them. The job thread must poll each database, so this
 * file searches the configuration. */
#include "conf/conf.h"

/* Returns true if a list of directives has one of mod_dbd's that select another database. */
static bool has_database(const ap_directive_t *directive)
{
    for (; directive; directive = directive->next)
        if (!strcasecmp(directive->directive, "DBDriver") || !strcasecmp(directive->directive, "DBDParams"))
            return true;
    return false;
}

static server_rec *databases_server_of(const ap_directive_t *section, server_rec *main_server)
{
    for (server_rec *server = main_server->next; server; server = server->next)
        if (server->defn_name && !strcmp(server->defn_name, section->filename)
            && server->defn_line_number == (unsigned)section->line_num)
            return server;
    return NULL;
}

const apr_array_header_t *sr_conf_databases(apr_pool_t *pool, server_rec *main_server)
{
    apr_array_header_t *servers = apr_array_make(pool, 2, sizeof(server_rec *));
    bool used = false;
    for (const server_rec *server = main_server; server && !used; server = server->next)
        used = sr_conf_serves(server, main_server);
    if (used && has_database(ap_conftree)) APR_ARRAY_PUSH(servers, server_rec *) = main_server;
    for (const ap_directive_t *section = ap_conftree; section; section = section->next) {
        if (strcasecmp(section->directive, "<VirtualHost") != 0 || !has_database(section->first_child)) continue;
        server_rec *server = databases_server_of(section, main_server);
        if (server && sr_conf_serves(server, main_server)) APR_ARRAY_PUSH(servers, server_rec *) = server;
    }
    return servers;
}
