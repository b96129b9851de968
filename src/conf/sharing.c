/* SPDX-License-Identifier: Apache-2.0 */
/* sharing.c: which documents folder is used with which database, and a folder that two virtual hosts use with different
 * databases. Two databases count as the same if the texts of DBDriver and DBDParams are equal. In other cases the
 * databases must be asked (httpd/owned.c), or the folder is refused when something is stored. */
#include "conf/conf.h"

#include <ap_mpm.h>
#include <http_log.h>
#include <stdlib.h>

#include "mod_sigreq.h"

APLOG_USE_MODULE(sigreq);

static const char *argument_of(apr_pool_t *pool, const ap_directive_t *directive, const char *name)
{
    const char *found = NULL;
    for (; directive; directive = directive->next) {
        const char *arguments = directive->args;
        if (!strcasecmp(directive->directive, name)) found = ap_getword_conf(pool, &arguments);
    }
    return found;
}

/* Returns the parameters that identify a PostgreSQL database. Others may differ. */
static const char *essence_of(apr_pool_t *pool, const char *params)
{
    static const char *const keys[] = {"host=", "hostaddr=", "port=", "dbname=", "service="};
    const char *essence = "";
    if (!strchr(params, '=') || strstr(params, "://")) return params;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        for (const char *at = params; (at = strstr(at, keys[i])) != NULL; at++) {
            if (at > params && at[-1] != ' ') continue;
            essence = apr_pstrcat(pool, essence, *essence ? " " : "", apr_pstrmemdup(pool, at, strcspn(at, " ")), NULL);
            break;
        }
    return essence;
}

/* Returns an argument of mod_dbd for a server, "" if it is not given. `section` is the content of its <VirtualHost>, or
 * NULL. */
static const char *setting_of(apr_pool_t *pool, const ap_directive_t *section, const char *name)
{
    const char *text = argument_of(pool, section, name);
    if (!text) text = argument_of(pool, ap_conftree, name);
    return text ? text : "";
}

/* Sets the members of a use that tell its database. */
static void set_database(apr_pool_t *pool, sr_conf_use_t *use, const ap_directive_t *section)
{
    use->driver = setting_of(pool, section, "DBDriver");
    use->params = setting_of(pool, section, "DBDParams");
    const bool pgsql = !strcmp(use->driver, "pgsql");
    const char *essence = pgsql ? essence_of(pool, use->params) : use->params;
    use->database = apr_pstrcat(pool, use->driver, " ", essence, NULL);
    use->shown = pgsql && essence == use->params ? "pgsql" : use->database; /* a URL may have a password */
}

const ap_directive_t *sr_conf_content(const server_rec *server)
{
    for (const ap_directive_t *section = ap_conftree; section; section = section->next)
        if (!strcasecmp(section->directive, "<VirtualHost") && server->defn_name
            && !strcmp(server->defn_name, section->filename) && server->defn_line_number == (unsigned)section->line_num)
            return section->first_child;
    return NULL;
}

const char *sr_conf_setting(apr_pool_t *pool, const server_rec *server, const server_rec *main_server, const char *name)
{
    return setting_of(pool, server == main_server ? NULL : sr_conf_content(server), name);
}

int sr_conf_connections(apr_pool_t *pool, const server_rec *server, const server_rec *main_server)
{
    const char *text = sr_conf_setting(pool, server, main_server, "DBDMax");
    return *text ? (int)strtol(text, NULL, 10) : 10; /* the default of mod_dbd */
}

int sr_conf_all_connections(apr_pool_t *pool, const server_rec *server, const server_rec *main_server)
{
    int children = 1, threads = 1;
    ap_mpm_query(AP_MPMQ_MAX_DAEMONS, &children);
    ap_mpm_query(AP_MPMQ_MAX_THREADS, &threads);
    const int most = sr_conf_connections(pool, server, main_server), used = (threads > 1 ? threads : 1) + 2;
    return children * (most < used ? most : used);
}

static const char *sharing_name_of(apr_pool_t *pool, const server_rec *server, const server_rec *main_server)
{
    if (server == main_server) return "the main server";
    return apr_psprintf(pool, "the virtual host at %s:%u", server->defn_name, server->defn_line_number);
}

const apr_array_header_t *sr_conf_uses(apr_pool_t *pool, server_rec *main_server)
{
    apr_array_header_t *uses = apr_array_make(pool, 8, sizeof(sr_conf_use_t));
    for (server_rec *server = main_server; server; server = server->next) {
        sr_conf_use_t use = {.where = sharing_name_of(pool, server, main_server),
                             .connections = sr_conf_all_connections(pool, server, main_server)};
        set_database(pool, &use, server == main_server ? NULL : sr_conf_content(server));
        for (int i = 0; i < sr_conf_sections(); i++) {
            const sr_settings_t *conf = sr_conf_section(pool, i, server, main_server);
            use.documents = conf ? conf->documents : "";
            use.also = conf ? conf->documents_also : "";
            if (*use.documents) *(sr_conf_use_t *)apr_array_push(uses) = use;
        }
    }
    return uses;
}

const apr_array_header_t *sr_conf_folders(apr_pool_t *pool, server_rec *server, server_rec *main_server)
{
    const apr_array_header_t *uses = sr_conf_uses(pool, main_server);
    apr_array_header_t *folders = apr_array_make(pool, 2, sizeof(const char *));
    sr_conf_use_t own = {0};
    set_database(pool, &own, server == main_server ? NULL : sr_conf_content(server));
    for (int i = 0; i < uses->nelts; i++) {
        const sr_conf_use_t *use = &APR_ARRAY_IDX(uses, i, sr_conf_use_t);
        int at = 0;
        if (strcmp(use->database, own.database) != 0) continue;
        while (at < folders->nelts && strcmp(APR_ARRAY_IDX(folders, at, const char *), use->documents) != 0) at++;
        if (at == folders->nelts) APR_ARRAY_PUSH(folders, const char *) = use->documents;
    }
    return folders;
}

int sr_conf_check_sharing(apr_pool_t *ptemp, server_rec *main_server)
{
    const apr_array_header_t *uses = sr_conf_uses(ptemp, main_server);
    for (int i = 1; i < uses->nelts; i++) {
        const sr_conf_use_t *one = &APR_ARRAY_IDX(uses, 0, sr_conf_use_t), *other = &one[i];
        while (one < other
               && (strcmp(one->documents, other->documents) != 0 || !strcmp(one->database, other->database)))
            one++;
        if (one == other) continue;
        ap_log_error(APLOG_MARK, APLOG_STARTUP | APLOG_ERR, 0, main_server,
                     "SR0701: SigreqDocuments %s is used with two databases, by %s and by %s: give each database its "
                     "own folder (or write the same DBDParams if it is one database)",
                     other->documents, one->where, other->where);
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    return OK;
}
