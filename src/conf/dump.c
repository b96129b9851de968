/* SPDX-License-Identifier: Apache-2.0 */
/* dump.c: `httpd -t -D DUMP_SIGREQ` prints the directives of this module and of mod_dbd as httpd has read them, for
 * sigreqctl: files that are included are read, sections such as <IfDefine> are decided, and variables have their
 * values. There is a block for each database, because a virtual host may have its own.
 */
#include "conf/conf.h"

#include <http_core.h>
#include <stdio.h>

#include "mod_sigreq.h"

bool sr_conf_is_dump(void)
{
    return ap_exists_config_define("DUMP_SIGREQ");
}

static bool is_wanted(const ap_directive_t *directive)
{
    return !strncasecmp(directive->directive, "DBD", 3) || !strncasecmp(directive->directive, "Sigreq", 6);
}

/* Prints the directives of a list and of the sections in it, except those of virtual hosts. */
static void print_list(const ap_directive_t *first)
{
    for (const ap_directive_t *at = first; at;) {
        const bool host = !strcasecmp(at->directive, "<VirtualHost");
        if (is_wanted(at)) printf("%s %s\n", at->directive, at->args);
        if (at->first_child && !host) {
            at = at->first_child;
            continue;
        }
        while (!at->next && at->parent && at->parent != first->parent) at = at->parent;
        at = at->next;
    }
}

static const char *dump_name_of(const server_rec *server, const server_rec *main_server)
{
    if (server == main_server) return "main";
    return server->server_hostname ? server->server_hostname : server->defn_name;
}

static const char *database_of(apr_pool_t *pool, const server_rec *server, const server_rec *main_server)
{
    return apr_pstrcat(pool, sr_conf_setting(pool, server, main_server, "DBDriver"), " ",
                       sr_conf_setting(pool, server, main_server, "DBDParams"), NULL);
}

/* Prints the block of a database: the names of the servers that use it, what applies to all servers, and what these
 * servers have in addition. */
static void print_database(apr_pool_t *pool, server_rec *main_server, const char *database)
{
    int connections = 0;
    printf("<Database");
    for (const server_rec *server = main_server; server; server = server->next)
        if (sr_conf_serves(server, main_server) && !strcmp(database, database_of(pool, server, main_server))) {
            printf(" %s", dump_name_of(server, main_server));
            connections = sr_conf_all_connections(pool, server, main_server);
        }
    printf(">\nSigreqConnections %d\n", connections);
    print_list(ap_conftree);
    for (const server_rec *server = main_server->next; server; server = server->next)
        if (sr_conf_serves(server, main_server) && !strcmp(database, database_of(pool, server, main_server)))
            print_list(sr_conf_content(server));
    printf("</Database>\n");
}

void sr_conf_dump(apr_pool_t *pool, server_rec *main_server)
{
    apr_array_header_t *printed = apr_array_make(pool, 4, sizeof(const char *));
    printf("# mod_sigreq " MOD_SIGREQ_VERSION "\n");
    for (const server_rec *server = main_server; server; server = server->next) {
        const char *database = database_of(pool, server, main_server);
        if (!sr_conf_serves(server, main_server) || ap_array_str_contains(printed, database)) continue;
        APR_ARRAY_PUSH(printed, const char *) = database;
        print_database(pool, main_server, database);
    }
    if (!printed->nelts) print_database(pool, main_server, database_of(pool, main_server, main_server));
    (void)fflush(stdout);
}
