/* SPDX-License-Identifier: Apache-2.0 */
/* sharing.c: detects a documents folder that two virtual hosts use with different databases. Two databases count as
 * the same if the texts of DBDriver and DBDParams are equal. Other cases are detected when something is stored. */
#include "conf/conf.h"

#include <http_log.h>

#include "mod_sigreq.h"

APLOG_USE_MODULE(sigreq);

typedef struct use_t {
    const char *documents, *database;
    const server_rec *server;
} use_t;

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
            essence = apr_pstrcat(pool, essence, apr_pstrmemdup(pool, at, strcspn(at, " ")), " ", NULL);
            break;
        }
    return essence;
}

/* Returns the database of a server as text. `section` is the content of its <VirtualHost>, or NULL. */
static const char *database_of(apr_pool_t *pool, const ap_directive_t *section)
{
    static const char *const names[] = {"DBDriver", "DBDParams"};
    const char *texts[2];
    for (int i = 0; i < 2; i++) {
        texts[i] = argument_of(pool, section, names[i]);
        if (!texts[i]) texts[i] = argument_of(pool, ap_conftree, names[i]);
        if (!texts[i]) texts[i] = "";
    }
    if (!strcmp(texts[0], "pgsql")) texts[1] = essence_of(pool, texts[1]);
    return apr_pstrcat(pool, texts[0], " ", texts[1], NULL);
}

static const ap_directive_t *section_of(const server_rec *server)
{
    for (const ap_directive_t *section = ap_conftree; section; section = section->next)
        if (!strcasecmp(section->directive, "<VirtualHost") && server->defn_name
            && !strcmp(server->defn_name, section->filename) && server->defn_line_number == (unsigned)section->line_num)
            return section->first_child;
    return NULL;
}

static const char *name_of(apr_pool_t *pool, const server_rec *server, const server_rec *main_server)
{
    if (server == main_server) return "the main server";
    return apr_psprintf(pool, "the virtual host at %s:%u", server->defn_name, server->defn_line_number);
}

int sr_conf_check_sharing(apr_pool_t *ptemp, server_rec *main_server)
{
    apr_array_header_t *uses = apr_array_make(ptemp, 8, sizeof(use_t));
    for (server_rec *server = main_server; server; server = server->next) {
        const char *database = database_of(ptemp, server == main_server ? NULL : section_of(server));
        for (int i = 0; i < sr_conf_sections(); i++) {
            const char *documents = sr_conf_documents(ptemp, i, server, main_server);
            if (documents && *documents) *(use_t *)apr_array_push(uses) = (use_t){documents, database, server};
        }
    }
    for (int i = 1; i < uses->nelts; i++) {
        const use_t *one = &APR_ARRAY_IDX(uses, 0, use_t), *other = &one[i];
        while (one < other
               && (strcmp(one->documents, other->documents) != 0 || !strcmp(one->database, other->database)))
            one++;
        if (one == other) continue;
        ap_log_error(APLOG_MARK, APLOG_STARTUP | APLOG_ERR, 0, main_server,
                     "SR0701: SigreqDocuments %s is used with two databases, by %s and by %s: give each database a "
                     "folder of its own (or write DBDParams alike if they are the same)",
                     other->documents, name_of(ptemp, one->server, main_server),
                     name_of(ptemp, other->server, main_server));
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    return OK;
}
